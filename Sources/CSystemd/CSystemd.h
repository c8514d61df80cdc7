// libsystemd's D-Bus, its word to the service manager and the journal, as the distribution ships them.
#pragma once
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
