// libsystemd's D-Bus, as the distribution ships it.
#pragma once
#include <systemd/sd-bus.h>
