/* A desktop that shows notifications, as far as who sends them can tell: each is a line on standard output.
 * Desktop Notifications Specification 1.2. */
#include <stdio.h>
#include <stdlib.h>
#include <systemd/sd-bus.h>

static int notify(sd_bus_message *message, void *context, sd_bus_error *error)
{
    static uint32_t number;
    const char *application, *icon, *summary, *body;
    uint32_t replaced;
    int result = sd_bus_message_read(message, "susss", &application, &replaced, &icon, &summary, &body);
    if (result < 0)
        return result;
    printf("notification from %s: %s: %s\n", application, summary, body);
    return sd_bus_reply_method_return(message, "u", ++number);
}

static const sd_bus_vtable table[] = {
    SD_BUS_VTABLE_START(0),
    SD_BUS_METHOD("Notify", "susssasa{sv}i", "u", notify, SD_BUS_VTABLE_UNPRIVILEGED),
    SD_BUS_VTABLE_END
};

int main(void)
{
    sd_bus *bus = NULL;
    setlinebuf(stdout);
    if (sd_bus_open_user(&bus) < 0
        || sd_bus_add_object_vtable(bus, NULL, "/org/freedesktop/Notifications", "org.freedesktop.Notifications", table, NULL) < 0
        || sd_bus_request_name(bus, "org.freedesktop.Notifications", 0) < 0)
        return EXIT_FAILURE;
    while (sd_bus_process(bus, NULL) > 0 || sd_bus_wait(bus, UINT64_MAX) >= 0)
        ;
    return EXIT_FAILURE;
}
