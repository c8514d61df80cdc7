/* Has PAM's service "vicinity" ask one person once, for vicinity-act; docs/second-factor.md says how.
 *
 * Two processes: PAM's modules run in a child, in a group of its own, which this one kills with everything that they
 * started when vicinity-act hangs up or the time is over. Whatever else happens, there is no "right". */
#define _GNU_SOURCE
#include "authentication.h"
#include "request.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Root's connection: the service manager's, or a test's. */
enum { CONNECTION = STDIN_FILENO, ANSWER = 64 };

static const int64_t kindness = 1000; /* ms that what runs has to tidy up after itself */

static int64_t now(void)
{
    struct timespec time;
    /* Goes on while the machine sleeps. */
    if (clock_gettime(CLOCK_BOOTTIME, &time) != 0)
        return INT64_MAX;
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Nothing of the environment reaches a module, and nothing of a secret a file. */
static void settle_down(void)
{
    const struct rlimit none = { 0, 0 };
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    umask(077);
    clearenv();
    setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
    setenv("LANG", "C.UTF-8", 1);
}

/* In the child. */
static void run(const struct request *request, int result, pid_t parent)
{
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    /* A module that reads or writes those meets nobody, above all not vicinity-act. */
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0)
        _exit(1);
    /* The other end does not have to mind what vicinity-act set. */
    if (request->dialogue >= 0)
        fcntl(request->dialogue, F_SETFL, 0);
    const char *answer = authenticate(request);
    _exit(write(result, answer, strlen(answer)) == (ssize_t)strlen(answer) ? 0 : 1);
}

static bool has_hung_up(void)
{
    struct pollfd poller = { .fd = CONNECTION, .events = POLLIN };
    /* Whoever says more than a request is not to be understood. */
    return poll(&poller, 1, 0) != 0;
}

/* Everything up to the child's end; true where it said something in time and vicinity-act still wants to know. */
static bool wait_for_answer(int result, char answer[ANSWER], int64_t deadline)
{
    size_t length = 0;
    for (;;) {
        int64_t left = deadline - now();
        if (left <= 0)
            return false;
        struct pollfd pollers[] = { { .fd = CONNECTION, .events = POLLIN }, { .fd = result, .events = POLLIN } };
        int count = poll(pollers, 2, left > 60000 ? 60000 : (int)left + 1);
        if (count < 0 && errno != EINTR)
            return false;
        if (count <= 0)
            continue;
        if (pollers[0].revents != 0)
            return false;
        ssize_t size = read(result, answer + length, ANSWER - 1 - length);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0)
            return false;
        if (size == 0) {
            answer[length] = '\0';
            return length > 0;
        }
        length += (size_t)size;
        if (length == ANSWER - 1)
            return false;
    }
}

/* Kills what is left. Programs of modules may have left the group; with their parents gone they are children of this
 * process. */
static void end_orphans(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (;;) {
        int child, count = 0;
        FILE *file = fopen(path, "re");
        while (file != NULL && fscanf(file, "%d", &child) == 1) {
            count++;
            kill(child, SIGKILL);
        }
        if (file != NULL)
            fclose(file);
        if (count == 0)
            return;
        while (waitpid(-1, NULL, 0) > 0)
            ;
    }
}

/* Ends the child and what it started; how it ended, or -1. */
static int end(pid_t child)
{
    int status = -1;
    int64_t deadline = now() + kindness;
    /* What modules started may have files to take away; it is told first. */
    kill(-child, SIGTERM);
    while (now() < deadline) {
        int one = 0;
        pid_t ended = waitpid(-1, &one, WNOHANG);
        if (ended == child)
            status = one;
        if (ended < 0 && errno == ECHILD)
            return status;
        const struct timespec pause = { .tv_nsec = 2000000 };
        if (ended == 0)
            nanosleep(&pause, NULL);
    }
    end_orphans();
    return status;
}

int main(void)
{
    static struct request request;
    char answer[ANSWER] = "";
    int result[2];
    settle_down();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!receive_request(CONNECTION, &request))
        return 65; /* EX_DATAERR */
    /* The agent's time ends first; this is for one that does not count. */
    int64_t deadline = now() + (int64_t)request.seconds * 1000 + 5000;
    if (pipe2(result, O_CLOEXEC) != 0)
        return 71; /* EX_OSERR */
    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0)
        return 71;
    if (child == 0) {
        close(result[0]);
        run(&request, result[1], parent);
    }
    close(result[1]);
    if (request.dialogue >= 0)
        close(request.dialogue);
    bool has_answer = wait_for_answer(result[0], answer, deadline);
    int status = end(child);
    if (has_hung_up())
        return 0;
    /* A child that was killed after it had answered may have been somebody's at the end. */
    if (!has_answer || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        snprintf(answer, sizeof answer, "%s", now() >= deadline ? "failed timeout" : "failed pam");
    size_t length = strlen(answer);
    answer[length++] = '\n';
    return send(CONNECTION, answer, length, MSG_NOSIGNAL) == (ssize_t)length ? 0 : 71;
}
