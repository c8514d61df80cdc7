/* Whether a PAM stack has to ask for the second factor: exits with 0 only where it may be skipped. For pam_exec(8) with
 * a jump; docs/second-factor.md has the lines.
 *
 * It believes nobody but the agent's own user at the other end of a socket that nobody but root could have put there,
 * and only what was read from the kernel within the last minute. Whatever else happens, the factor is needed. It reads
 * no environment and no argument, and prints nothing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MAY_BE_SKIPPED = 0, NEEDED = 1 };

static const char path[] = "/run/vicinity/second-factor.sock";
static const char user[] = "vicinity";
static const char greeting[] = "vicinity-second-factor/1 skip ";

static const int64_t patience = 500000;    /* us for everything */
static const int64_t greatest_age = 60000000; /* us */

static int64_t now(void)
{
    struct timespec time;
    /* Goes on while the machine sleeps: what was true before is old after it. */
    if (clock_gettime(CLOCK_BOOTTIME, &time) != 0)
        return INT64_MAX;
    return (int64_t)time.tv_sec * 1000000 + time.tv_nsec / 1000;
}

/* Nobody but root can have put something else in its place. */
static bool is_roots(void)
{
    char prefix[sizeof path];
    for (size_t length = 1; length < sizeof path - 1; length++) {
        if (path[length] != '/' && length != 1)
            continue;
        /* "/" first, then each directory. */
        memcpy(prefix, path, length);
        prefix[length] = '\0';
        struct stat status;
        if (lstat(prefix, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != 0
            || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
            return false;
    }
    return true;
}

/* By the machine's own file: a directory service is slow when the network is, and could name anybody. */
static bool is_agent(uid_t who)
{
    FILE *file = fopen("/etc/passwd", "re");
    bool found = false;
    if (file == NULL)
        return false;
    for (struct passwd *entry; !found && (entry = fgetpwent(file)) != NULL;)
        found = strcmp(entry->pw_name, user) == 0 && entry->pw_uid == who;
    fclose(file);
    return found;
}

static bool wait_for(int descriptor, short event, int64_t deadline)
{
    for (;;) {
        int64_t left = deadline - now();
        if (left <= 0)
            return false;
        struct pollfd poller = { .fd = descriptor, .events = event };
        int count = poll(&poller, 1, (int)(left / 1000) + 1);
        if (count > 0)
            return true;
        if (count < 0 && errno != EINTR)
            return false;
    }
}

static int connected(int64_t deadline)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    memcpy(address.sun_path, path, sizeof path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0)
        return -1;
    struct ucred peer;
    socklen_t size = sizeof peer;
    /* A listener whose queue is full says EAGAIN, unix(7): it is too busy to be asked. */
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) != 0
        || getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer
        || !is_agent(peer.uid) || now() >= deadline) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/* The whole answer, up to its end; -1 where it is longer than any. */
static ssize_t answer(int descriptor, char *text, size_t capacity, int64_t deadline)
{
    size_t length = 0;
    for (;;) {
        if (!wait_for(descriptor, POLLIN, deadline))
            return -1;
        ssize_t count = recv(descriptor, text + length, capacity - length, 0);
        if (count == 0)
            return (ssize_t)length;
        if (count < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        if (count > 0)
            length += (size_t)count;
        if (length == capacity)
            return -1;
    }
}

/* "vicinity-second-factor/1 skip 123456789\n", the number when the oldest of the evidence was read (us, boot time). */
static bool may_be_skipped(const char *text, size_t length)
{
    size_t start = sizeof greeting - 1;
    if (length < start + 2 || memcmp(text, greeting, start) != 0 || text[length - 1] != '\n')
        return false;
    int64_t stamp = 0;
    for (size_t place = start; place < length - 1; place++) {
        if (text[place] < '0' || text[place] > '9' || stamp > INT64_MAX / 10 - 1)
            return false;
        stamp = stamp * 10 + (text[place] - '0');
    }
    int64_t age = now() - stamp;
    return age >= 0 && age <= greatest_age;
}

int main(void)
{
    int64_t deadline = now() + patience;
    char text[96];
    /* Should anything above hang all the same: dying is as good as saying that it is needed. */
    signal(SIGALRM, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    alarm(2);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0);
    if (!is_roots())
        return NEEDED;
    int descriptor = connected(deadline);
    if (descriptor < 0)
        return NEEDED;
    ssize_t length = answer(descriptor, text, sizeof text, deadline);
    return length > 0 && may_be_skipped(text, (size_t)length) ? MAY_BE_SKIPPED : NEEDED;
}
