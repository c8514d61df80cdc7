"""A web server of one page: `python3 -m vicinity_lab.page ADDRESS FILE`. What the file holds is sent to whoever asks."""

import socket
import sys
from pathlib import Path


def main(address: str, path: str) -> None:
    with socket.create_server((address, 80)) as server:
        print("SERVING", flush=True)
        while True:
            connection, _ = server.accept()
            with connection:
                # The head comes in one piece: it is shorter than any segment.
                request = connection.recv(4096).decode("ascii", "backslashreplace").splitlines()
                print("asked", request[0] if request else "nothing", flush=True)
                connection.sendall(Path(path).read_bytes())


main(*sys.argv[1:])
