// Begun by the room's first file.
