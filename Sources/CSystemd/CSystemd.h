// libsystemd's D-Bus and its word to the service manager, as the distribution ships them.
#pragma once
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
