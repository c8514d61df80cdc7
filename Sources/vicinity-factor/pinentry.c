/* A strict client of the Assuan protocol. The program at the other end is the user's own and may say anything. */
#define _GNU_SOURCE
#include "asking.h"

#include <Assuan.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

const char dismissed[] = "dismissed", timed_out[] = "timeout", no_dialogue[] = "dialogue", garbled[] = "garbled";

/* Lines that mean nothing, before one that does. */
enum { PATIENCE = 64 };

static const char *send_line(int descriptor, const char *command, const char *text)
{
    char line[ASSUAN_LINE_LIMIT + 2];
    size_t length = strlen(command);
    memcpy(line, command, length);
    if (text != NULL) {
        line[length++] = ' ';
        length += assuan_escape(text, line + length, ASSUAN_LINE_LIMIT + 1 - length);
    }
    line[length++] = '\n';
    for (size_t sent = 0; sent < length;) {
        ssize_t count = send(descriptor, line + sent, length - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return no_dialogue;
        sent += (size_t)count;
    }
    return NULL;
}

/* What is left unread between two calls: nothing that a server says may come before it is asked. */
static char input[ASSUAN_LINE_LIMIT + 1];
static size_t input_length;

static void wipe_input(void)
{
    explicit_bzero(input, sizeof input);
    input_length = 0;
}

/* The next line stands at the beginning of `input`; its length, its LF included, or 0. */
static size_t next_line(int descriptor, const char **problem)
{
    for (;;) {
        char *end = memchr(input, '\n', input_length);
        if (end != NULL)
            return (size_t)(end - input) + 1;
        if (input_length == sizeof input) {
            *problem = garbled;
            return 0;
        }
        ssize_t count = read(descriptor, input + input_length, sizeof input - input_length);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            *problem = no_dialogue;
            return 0;
        }
        input_length += (size_t)count;
    }
}

static const char *reason(AssuanError error)
{
    switch (error) {
    case ASSUAN_DISMISSED: return dismissed;
    case ASSUAN_TIMED_OUT: return timed_out;
    default: return no_dialogue;
    }
}

/* Up to the line that ends the reply. `answer` is NULL where none belongs to it. */
static const char *read_reply(int descriptor, char *answer)
{
    size_t length = 0;
    for (unsigned lines = 0; lines < PATIENCE; lines++) {
        const char *problem = NULL;
        size_t size = next_line(descriptor, &problem);
        if (size == 0)
            return problem;
        AssuanReply reply = assuan_parse(input, size - 1);
        if (reply.kind == ASSUAN_DATA) {
            long count = -1;
            if (answer != NULL)
                count = assuan_unescape(input + reply.start, size - 1 - reply.start, answer + length,
                    ANSWER_LIMIT - 1 - length);
            if (count < 0)
                return garbled;
            length += (size_t)count;
        }
        memmove(input, input + size, input_length - size);
        explicit_bzero(input + input_length - size, size);
        input_length -= size;
        switch (reply.kind) {
        case ASSUAN_OK:
            if (input_length > 0)
                return garbled;
            if (answer != NULL)
                answer[length] = '\0';
            return NULL;
        case ASSUAN_ERROR: return reason(reply.error);
        case ASSUAN_GARBAGE: return garbled;
        case ASSUAN_DATA:
        case ASSUAN_NOTHING: break;
        }
    }
    return garbled;
}

static const char *command(struct pinentry *pinentry, const char *name, const char *text)
{
    const char *problem = send_line(pinentry->descriptor, name, text);
    return problem != NULL ? problem : read_reply(pinentry->descriptor, NULL);
}

static const char *begin(struct pinentry *pinentry)
{
    char limit[16];
    const char *problem = NULL;
    if (pinentry->is_showing) {
        pinentry->is_showing = false;
        return read_reply(pinentry->descriptor, NULL);
    }
    if (pinentry->has_begun)
        return NULL;
    pinentry->has_begun = true;
    /* Where that is refused the unit's MemorySwapMax= keeps it from being written anywhere. */
    (void)mlock(input, sizeof input);
    snprintf(limit, sizeof limit, "%u", pinentry->seconds);
    /* The greeting comes unasked. */
    problem = read_reply(pinentry->descriptor, NULL);
    if (problem == NULL)
        problem = command(pinentry, "SETTITLE", "Vicinity");
    if (problem == NULL)
        problem = command(pinentry, "SETTIMEOUT", limit);
    return problem;
}

/* The rule's message first, so that it is whole. */
static const char *describe(struct pinentry *pinentry)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s%s", pinentry->message, pinentry->notes[0] != '\0' ? "\n" : "", pinentry->notes);
    pinentry->notes[0] = '\0';
    return command(pinentry, "SETDESC", text);
}

const char *pinentry_ask(struct pinentry *pinentry, const char *prompt, char answer[ANSWER_LIMIT])
{
    const char *problem = begin(pinentry);
    if (problem == NULL)
        problem = describe(pinentry);
    if (problem == NULL)
        problem = command(pinentry, "SETPROMPT", prompt);
    if (problem == NULL)
        problem = send_line(pinentry->descriptor, "GETPIN", NULL);
    if (problem == NULL)
        problem = read_reply(pinentry->descriptor, answer);
    wipe_input();
    return problem;
}

const char *pinentry_show(struct pinentry *pinentry, const char *text)
{
    size_t length = strlen(pinentry->notes);
    const char *problem = NULL;
    snprintf(pinentry->notes + length, sizeof pinentry->notes - length, "%s%s", length > 0 ? "\n" : "", text);
    /* What comes while one is shown is shown with the next. */
    if (pinentry->is_showing)
        return NULL;
    problem = begin(pinentry);
    if (problem == NULL)
        problem = describe(pinentry);
    if (problem == NULL)
        problem = send_line(pinentry->descriptor, "MESSAGE", NULL);
    pinentry->is_showing = problem == NULL;
    return problem;
}
