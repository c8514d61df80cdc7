#define _GNU_SOURCE
#include "CPlatform.h"
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int vicinity_pidfd_open(pid_t pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

int vicinity_peer_credentials(int socket, pid_t *pid, uid_t *uid, gid_t *gid) {
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

int vicinity_peer_groups(int socket, gid_t *groups, int capacity) {
    socklen_t length = (socklen_t)capacity * sizeof *groups;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0) return -1;
    return (int)(length / sizeof *groups);
}

ssize_t vicinity_receive(int socket, void *buffer, size_t capacity, uint32_t *port, uint32_t *groups) {
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

int vicinity_epoll_control(int epoll, int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data.fd = descriptor};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int vicinity_epoll_wait(int epoll, int *descriptors, uint32_t *events, int capacity) {
    struct epoll_event ready[64];
    int count = epoll_wait(epoll, ready, capacity < 64 ? capacity : 64, -1);
    for (int position = 0; position < count; position++) {
        descriptors[position] = ready[position].data.fd;
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
