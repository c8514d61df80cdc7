#define _GNU_SOURCE
#include "CPlatform.h"
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

int vicinity_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -1;
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

int vicinity_spawn(const char *program, char *const *arguments, char *const *variables, int input, int output,
                   int errors, int32_t *pid) {
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t actions;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int code = posix_spawnattr_init(&attributes);
    if (code) return code;
    code = posix_spawn_file_actions_init(&actions);
    if (code) {
        posix_spawnattr_destroy(&attributes);
        return code;
    }
    if (!code)
        code = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!code) code = posix_spawnattr_setpgroup(&attributes, 0);
    if (!code) code = posix_spawnattr_setsigmask(&attributes, &none);
    if (!code) code = posix_spawnattr_setsigdefault(&attributes, &all);
    if (!code) code = posix_spawn_file_actions_addchdir_np(&actions, "/");
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, input, 0);
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, output, 1);
    if (!code) code = posix_spawn_file_actions_adddup2(&actions, errors, 2);
    if (!code) code = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (!code) code = posix_spawn(pid, program, &actions, &attributes, arguments, variables);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return code;
}
