#include "CBus.h"
#include <errno.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

struct object {
    int (*take)(void *message, void *context);
    void *context;
    sd_bus_slot *slot;
    sd_bus_vtable table[];
};

static int take(sd_bus_message *message, void *context, sd_bus_error *error) {
    (void)error;
    struct object *object = context;
    return object->take(message, object->context);
}

void *vicinity_bus_export(void *bus, const char *path, const char *interface,
                          const struct vicinity_bus_method *methods, size_t count,
                          int (*receive)(void *message, void *context), void *context) {
    struct object *object = calloc(1, sizeof *object + (count + 2) * sizeof *object->table);
    if (!object) return NULL;
    object->take = receive;
    object->context = context;
    object->table[0] = (sd_bus_vtable)SD_BUS_VTABLE_START(0);
    for (size_t place = 0; place < count; place++) {
        const struct vicinity_bus_method *method = &methods[place];
        sd_bus_vtable *entry = &object->table[place + 1];
        *entry = (sd_bus_vtable)SD_BUS_METHOD_WITH_NAMES(NULL, NULL, "", NULL, "", take, SD_BUS_VTABLE_UNPRIVILEGED);
        entry->x.method.member = method->name;
        entry->x.method.signature = method->takes;
        entry->x.method.result = method->returns;
        entry->x.method.names = method->parameters;
    }
    object->table[count + 1] = (sd_bus_vtable)SD_BUS_VTABLE_END;
    int code = sd_bus_add_object_vtable(bus, &object->slot, path, interface, object->table, object);
    if (code < 0) {
        free(object);
        errno = -code;
        return NULL;
    }
    return object;
}

void vicinity_bus_withdraw(void *pointer) {
    struct object *object = pointer;
    sd_bus_slot_unref(object->slot);
    free(object);
}
