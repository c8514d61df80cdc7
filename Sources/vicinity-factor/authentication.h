/* A request of vicinity-act's, and the transaction of PAM's that answers it. */
#ifndef AUTHENTICATION_H
#define AUTHENTICATION_H

#include <stddef.h>
#include <sys/types.h>

struct request {
    char user[256];
    char message[1024];
    uid_t uid;
    unsigned seconds;
    /* A pinentry's end; -1: the machine's console is asked. */
    int dialogue;
};

/* "right", "wrong" or "failed …". Takes as long as it takes; loads modules, so it runs in a process of its own. */
const char *authenticate(const struct request *request);

#endif
