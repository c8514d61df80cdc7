// What Swift's Glibc module does not import: inline functions, macros and headers it leaves out.
// It includes no header of the C library, whose declarations would then be this module's instead of Glibc's.
#pragma once
#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>

/// eventfd(2) and timerfd_create(2) on CLOCK_BOOTTIME; both close-on-exec and non-blocking. -1 with errno on failure.
int vicinity_eventfd(void);
int vicinity_boottime_timer(void);

/// A descriptor that becomes readable when the civil time is set, timerfd_create(2). -1 with errno on failure.
int vicinity_clock_watch(void);
/// Makes it ready for the next time.
void vicinity_clock_rearm(int watch);

/// Arms a timer for a moment of CLOCK_BOOTTIME in µs; 0 disarms it. 0, or -1 with errno.
int vicinity_arm_timer(int timer, int64_t microseconds);

/// Blocks these signals for this thread and those it starts, and delivers them by a descriptor, signalfd(2). -1 with errno.
int vicinity_signals(const int *signals, int count);
/// The next signal of such a descriptor; 0 where there is none.
int vicinity_next_signal(int descriptor);

/// pidfd_open(2); glibc 2.36 declares it in a header that Swift's module lacks.
int vicinity_pidfd_open(int32_t pid);

/// Peer of a connected Unix socket, SO_PEERCRED of unix(7). 0, or -1 with errno.
int vicinity_peer_credentials(int socket, int32_t *pid, uint32_t *uid, uint32_t *gid);

/// bind(2) and connect(2) of a unix(7) address; ENAMETOOLONG where the path does not fit. 0, or -1 with errno.
int vicinity_bind(int socket, const char *path);
int vicinity_connect(int socket, const char *path);

/// accept4(2), close-on-exec and non-blocking.
int vicinity_accept(int listener);

/// SO_PEERGROUPS of socket(7): how many groups, or -1 with errno.
int vicinity_peer_groups(int socket, uint32_t *groups, int capacity);

/// One datagram of a netlink socket (or of any datagram socket: then `port` is 0).
/// Returns its length, which is larger than `capacity` when it was cut (MSG_TRUNC), or -1 with errno.
long vicinity_receive(int socket, void *buffer, size_t capacity, uint32_t *port, uint32_t *groups);

/// epoll(7) without its union: watching (anew, or for something else), forgetting, and waiting without a time-out.
/// `registration` comes back with the events of the descriptor, whose number may be another's by then.
int vicinity_epoll(void);
int vicinity_epoll_watch(int epoll, int descriptor, uint64_t registration, uint32_t events, int isNew);
int vicinity_epoll_forget(int epoll, int descriptor);
int vicinity_epoll_wait(int epoll, uint64_t *registrations, uint32_t *events, int capacity);

/// SO_ATTACH_FILTER of socket(7). 0, or -1 with errno.
int vicinity_attach_filter(int socket, const struct sock_filter *program, unsigned short count);

/// waitpid status, taken apart (the macros are not imported). -1 where the process was killed by a signal.
int vicinity_exit_code(int status);
int vicinity_exit_signal(int status);

/// memfd_create(2), close-on-exec. A descriptor, or -1 with errno.
int vicinity_memory_file(const char *name);

/// pipe2(2) with O_CLOEXEC. 0, or -1 with errno.
int vicinity_pipe(int *reading, int *writing);

/// posix_spawn(3) with the extensions that Swift's module lacks: a process group of its own, no signal blocked or
/// ignored, `/` as directory, these three descriptors and no other. 0, or an error number. Where standard descriptors
/// are closed, `output` must not be 0 nor `errors` 0 or 1: they would be overwritten before they are used.
int vicinity_spawn(const char *program, char *const *arguments, char *const *variables, int input, int output,
                   int errors, int32_t *pid);

/// prctl(PR_SET_DUMPABLE, 0) and RLIMIT_CORE 0: no core dump of this process is ever written.
void vicinity_refuse_core_dumps(void);

/// A TCP socket that uses one interface only (SO_BINDTODEVICE of socket(7), which takes no capability since Linux 5.7)
/// and does not block, for a numeric address of either family. ENODEV where no interface has that name and that number
/// together, EINVAL where the text is no address. A descriptor, or -1 with errno.
int vicinity_tcp_socket(const char *address, const char *interface, unsigned index);
/// connect(2) of such a socket: 0, or -1 with errno, EINPROGRESS among them.
int vicinity_tcp_connect(int socket, const char *address, uint16_t port);
/// SO_ERROR of socket(7): what became of a connect(2) in progress, 0 for success.
int vicinity_socket_error(int socket);

/// Two connected unix(7) stream sockets, close-on-exec. 0, or -1 with errno.
int vicinity_socket_pair(int *first, int *second);

/// For a process that has little to do: no new privileges, prctl(2), and limits, setrlimit(2): no core dump, no file
/// written, no process started, these descriptors, octets of address space and seconds of processor. 0, or -1 with
/// errno.
int vicinity_confine(unsigned descriptors, uint64_t address_space, unsigned processor_seconds);

/// Sends octets, and with them a descriptor that the other side gets a copy of, SCM_RIGHTS of unix(7). Without waiting,
/// and without SIGPIPE. How many octets, or -1 with errno.
long vicinity_send_descriptor(int socket, const void *octets, size_t count, int descriptor);
