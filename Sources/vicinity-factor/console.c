/* The last resort: systemd-ask-password(1), whose question every password agent of the machine shows. */
#define _GNU_SOURCE
#include "asking.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

const char no_console[] = "console";

static const char program[] = "/usr/bin/systemd-ask-password";

/* It is written to every terminal: neither the rule's message nor a module's prompt, which names the user. */
static const char *question(const char *prompt)
{
    return strcmp(prompt, "Password: ") == 0 ? "Vicinity: password of who sits at this machine:"
                                             : "Vicinity: second factor of who sits at this machine:";
}

static pid_t start(const char *prompt, unsigned seconds, int output)
{
    char limit[32];
    snprintf(limit, sizeof limit, "--timeout=%u", seconds);
    /* Neither --keyname nor --accept-cached: an answer is good for one question. */
    const char *arguments[] = { program, "--no-tty", limit, "--id=vicinity:second-factor", "--icon=dialog-password",
        question(prompt), NULL };
    pid_t child = fork();
    if (child == 0) {
        if (dup2(output, STDOUT_FILENO) >= 0)
            execv(program, (char *const *)arguments);
        _exit(127);
    }
    return child;
}

/* One line, and nothing after it. */
static const char *read_answer(int descriptor, char answer[ANSWER_LIMIT])
{
    size_t length = 0;
    for (;;) {
        ssize_t count = read(descriptor, answer + length, ANSWER_LIMIT - length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            break;
        length += (size_t)count;
        if (length == ANSWER_LIMIT)
            return garbled;
    }
    if (length == 0 || memchr(answer, '\n', length) != answer + length - 1 || memchr(answer, '\0', length) != NULL)
        return no_console;
    answer[length - 1] = '\0';
    return NULL;
}

const char *console_ask(const char *prompt, unsigned seconds, char answer[ANSWER_LIMIT])
{
    int ends[2];
    int status = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return no_console;
    pid_t child = start(prompt, seconds, ends[1]);
    close(ends[1]);
    const char *problem = child < 0 ? no_console : read_answer(ends[0], answer);
    close(ends[0]);
    if (child < 0)
        return problem;
    /* It may have said too much. */
    if (problem != NULL)
        kill(child, SIGTERM);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return problem == NULL && !(WIFEXITED(status) && WEXITSTATUS(status) == 0) ? no_console : problem;
}
