#define _GNU_SOURCE
#include "CPlatform.h"
#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

int vicinity_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int vicinity_boottime_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int vicinity_clock_watch(void) {
    const int watch = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (watch >= 0) vicinity_clock_rearm(watch);
    return watch;
}

void vicinity_clock_rearm(int watch) {
    // Not the time matters, which never comes, but that setting the clock cancels it.
    const struct itimerspec never = {.it_value = {.tv_sec = INT64_MAX / 2}};
    timerfd_settime(watch, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

int vicinity_arm_timer(int timer, int64_t microseconds) {
    struct itimerspec due = {
        .it_value = {.tv_sec = microseconds / 1000000, .tv_nsec = microseconds % 1000000 * 1000}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &due, NULL);
}

int vicinity_signals(const int *signals, int count) {
    sigset_t mask;
    sigemptyset(&mask);
    for (int position = 0; position < count; position++) sigaddset(&mask, signals[position]);
    errno = pthread_sigmask(SIG_BLOCK, &mask, NULL);
    return errno ? -1 : signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

int vicinity_next_signal(int descriptor) {
    struct signalfd_siginfo information;
    return read(descriptor, &information, sizeof information) == sizeof information ? (int)information.ssi_signo : 0;
}

int vicinity_pidfd_open(int32_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int vicinity_peer_credentials(int socket, int32_t *pid, uint32_t *uid, uint32_t *gid) {
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) return -1;
    *pid = credentials.pid;
    *uid = credentials.uid;
    *gid = credentials.gid;
    return 0;
}

static int unix_address(struct sockaddr_un *address, const char *path) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address->sun_path, path);
    return 0;
}

int vicinity_bind(int socket, const char *path) {
    struct sockaddr_un address;
    if (unix_address(&address, path) < 0) return -1;
    return bind(socket, (struct sockaddr *)&address, sizeof address);
}

int vicinity_connect(int socket, const char *path) {
    struct sockaddr_un address;
    if (unix_address(&address, path) < 0) return -1;
    return connect(socket, (struct sockaddr *)&address, sizeof address);
}

int vicinity_accept(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

int vicinity_peer_groups(int socket, uint32_t *groups, int capacity) {
    socklen_t length = (socklen_t)capacity * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0) return -1;
    return (int)(length / sizeof *groups);
}

long vicinity_receive(int socket, void *buffer, size_t capacity, uint32_t *port, uint32_t *groups) {
    struct sockaddr_nl sender;
    memset(&sender, 0, sizeof sender);
    struct iovec vector = {.iov_base = buffer, .iov_len = capacity};
    struct msghdr message = {
        .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &vector, .msg_iovlen = 1};
    ssize_t length;
    do {
        // MSG_TRUNC on input makes recvmsg return the real length, netlink(7).
        length = recvmsg(socket, &message, MSG_TRUNC | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (length < 0 && errno == EINTR);
    *port = sender.nl_family == AF_NETLINK ? sender.nl_pid : 0;
    *groups = sender.nl_family == AF_NETLINK ? sender.nl_groups : 0;
    return length;
}

int vicinity_epoll(void) { return epoll_create1(EPOLL_CLOEXEC); }

int vicinity_epoll_watch(int epoll, int descriptor, uint64_t registration, uint32_t events, int isNew) {
    struct epoll_event event = {.events = events, .data.u64 = registration};
    return epoll_ctl(epoll, isNew ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, descriptor, &event);
}

int vicinity_epoll_forget(int epoll, int descriptor) { return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, NULL); }

int vicinity_epoll_wait(int epoll, uint64_t *registrations, uint32_t *events, int capacity) {
    struct epoll_event ready[64];
    int count = epoll_wait(epoll, ready, capacity < 64 ? capacity : 64, -1);
    for (int position = 0; position < count; position++) {
        registrations[position] = ready[position].data.u64;
        events[position] = ready[position].events;
    }
    return count;
}

int vicinity_attach_filter(int socket, const struct sock_filter *program, unsigned short count) {
    struct sock_fprog filter = {.len = count, .filter = (struct sock_filter *)program};
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

int vicinity_exit_code(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : -1; }
int vicinity_exit_signal(int status) { return WIFSIGNALED(status) ? WTERMSIG(status) : 0; }

void vicinity_refuse_core_dumps(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
}

int vicinity_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

static socklen_t internet_address(struct sockaddr_storage *storage, const char *address, uint16_t port) {
    struct sockaddr_in *v4 = (struct sockaddr_in *)storage;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)storage;
    memset(storage, 0, sizeof *storage);
    if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        return sizeof *v4;
    }
    memset(storage, 0, sizeof *storage);
    if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        return sizeof *v6;
    }
    errno = EINVAL;
    return 0;
}

int vicinity_tcp_socket(const char *address, const char *interface, unsigned index) {
    struct sockaddr_storage storage;
    if (!internet_address(&storage, address, 0)) return -1;
    int descriptor = socket(storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (descriptor < 0) return -1;
    int bound = 0;
    socklen_t length = sizeof bound;
    // Bound by name, then asked which one that was: between two look-ups the name could change hands.
    if (setsockopt(descriptor, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface)) == 0 &&
        getsockopt(descriptor, SOL_SOCKET, SO_BINDTOIFINDEX, &bound, &length) == 0) {
        if (bound > 0 && (unsigned)bound == index) return descriptor;
        errno = ENODEV;
    }
    int error = errno;
    close(descriptor);
    errno = error;
    return -1;
}

int vicinity_tcp_connect(int socket, const char *address, uint16_t port) {
    struct sockaddr_storage storage;
    socklen_t length = internet_address(&storage, address, port);
    return length ? connect(socket, (struct sockaddr *)&storage, length) : -1;
}

int vicinity_socket_error(int socket) {
    int error = 0;
    socklen_t length = sizeof error;
    return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) < 0 ? errno : error;
}

int vicinity_socket_pair(int *first, int *second) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    *first = ends[0];
    *second = ends[1];
    return 0;
}

int vicinity_confine(unsigned descriptors, uint64_t address_space, unsigned processor_seconds) {
    struct rlimit none = {0, 0}, files = {descriptors, descriptors}, memory = {address_space, address_space},
                  processor = {processor_seconds, processor_seconds};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return -1;
    // Lowering a limit is always allowed, but for a filter of system calls; who sets one sets limits as well.
    if ((setrlimit(RLIMIT_CORE, &none) < 0 || setrlimit(RLIMIT_FSIZE, &none) < 0 ||
         setrlimit(RLIMIT_NPROC, &none) < 0 || setrlimit(RLIMIT_NOFILE, &files) < 0 ||
         setrlimit(RLIMIT_AS, &memory) < 0 || setrlimit(RLIMIT_CPU, &processor) < 0) &&
        errno != EPERM)
        return -1;
    return 0;
}

long vicinity_send_descriptor(int socket, const void *octets, size_t count, int descriptor) {
    union {
        char octets[CMSG_SPACE(sizeof(int))];
        struct cmsghdr alignment;
    } control = {.octets = {0}};
    struct iovec part = {.iov_base = (void *)octets, .iov_len = count};
    struct msghdr header = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.octets, .msg_controllen = sizeof control.octets};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    return sendmsg(socket, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
}
