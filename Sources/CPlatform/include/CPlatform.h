// What Swift's Glibc module does not import: inline functions, macros and headers it leaves out.
#pragma once
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/un.h>

/// pidfd_open(2); glibc 2.36 declares it in a header that Swift's module lacks.
int vicinity_pidfd_open(pid_t pid);

/// Peer of a connected Unix socket, SO_PEERCRED of unix(7). 0, or -1 with errno.
int vicinity_peer_credentials(int socket, pid_t *pid, uid_t *uid, gid_t *gid);

/// One datagram of a netlink socket (or of any datagram socket: then `port` is 0).
/// Returns its length, which is larger than `capacity` when it was cut (MSG_TRUNC), or -1 with errno.
ssize_t vicinity_receive(int socket, void *buffer, size_t capacity, uint32_t *port, uint32_t *groups);

/// epoll_ctl(2) and epoll_wait(2) without their union; the wait has no time-out.
int vicinity_epoll_control(int epoll, int operation, int descriptor, uint32_t events);
int vicinity_epoll_wait(int epoll, int *descriptors, uint32_t *events, int capacity);

/// SO_ATTACH_FILTER of socket(7). 0, or -1 with errno.
int vicinity_attach_filter(int socket, const struct sock_filter *program, unsigned short count);

/// waitpid status, taken apart (the macros are not imported). -1 where the process was killed by a signal.
int vicinity_exit_code(int status);
int vicinity_exit_signal(int status);

/// pipe2(2) with O_CLOEXEC. 0, or -1 with errno.
int vicinity_pipe(int *reading, int *writing);

/// posix_spawn(3) with the extensions that Swift's module lacks: a process group of its own, no signal blocked or
/// ignored, `/` as directory, these three descriptors and no other. 0, or an error number. Where standard descriptors
/// are closed, `output` must not be 0 nor `errors` 0 or 1: they would be overwritten before they are used.
int vicinity_spawn(const char *program, char *const *arguments, char *const *variables, int input, int output,
                   int errors, pid_t *pid);

/// prctl(PR_SET_DUMPABLE, 0) and RLIMIT_CORE 0: no core dump of this process is ever written.
void vicinity_refuse_core_dumps(void);
