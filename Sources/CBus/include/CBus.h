// sd-bus's table of methods, sd_bus_add_object_vtable(3), which is made of macros that Swift does not import.
// Pointers are plain: the types of sd-bus would be this module's instead of CSystemd's.
#pragma once
#include <stddef.h>

/// A method: its name, what it takes and returns as D-Bus signatures, and the names of both, each ended by NUL.
/// The texts have to outlive the object.
struct vicinity_bus_method {
    const char *name;
    const char *takes;
    const char *returns;
    const char *parameters;
};

/// Exports an object on an `sd_bus *`. `take` is given each call, as an `sd_bus_message *`, whose arguments have the
/// method's signature, and answers as an sd_bus_message_handler_t does. NULL with errno.
void *vicinity_bus_export(void *bus, const char *path, const char *interface,
                          const struct vicinity_bus_method *methods, size_t count,
                          int (*take)(void *message, void *context), void *context);
/// Takes it away again, be the connection open or closed.
void vicinity_bus_withdraw(void *object);
