/* Who is asked what a module of PAM's wants to know, and what became of that. */
#ifndef ASKING_H
#define ASKING_H

#include <security/pam_appl.h>
#include <stdbool.h>
#include <stddef.h>

/* Octets of an answer, its NUL included. */
enum { ANSWER_LIMIT = PAM_MAX_RESP_SIZE };

/* Words of the answer to vicinity-act, after "failed ". */
extern const char dismissed[], timed_out[], no_dialogue[], garbled[], no_console[];

/* A dialogue with a pinentry program that somebody else started at the other end of a socket. */
struct pinentry {
    int descriptor;
    /* What the person is told besides the question, not escaped. */
    const char *message;
    unsigned seconds;
    bool has_begun;
    /* A message is shown whose end has not been heard of. */
    bool is_showing;
    /* Texts of modules that have not been shown with a question yet. */
    char notes[1024];
};

/* All of these return NULL, or why there is no answer. The answer is ended by a NUL; the caller wipes it. */
const char *pinentry_ask(struct pinentry *pinentry, const char *prompt, char answer[ANSWER_LIMIT]);
/* Without waiting until it was read: a module that tells people to touch something waits for that itself. */
const char *pinentry_show(struct pinentry *pinentry, const char *text);

/* By whoever answers for the whole machine. */
const char *console_ask(const char *prompt, unsigned seconds, char answer[ANSWER_LIMIT]);

#endif
