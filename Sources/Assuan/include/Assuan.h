/* Lines of the Assuan protocol as a client of pinentry's needs them: what we say is escaped, what we are told is taken
 * apart. Pure functions; whoever is at the other end is not trusted. */
#ifndef ASSUAN_H
#define ASSUAN_H

#include <stddef.h>

/* Octets of a line without its LF, "ASSUAN_LINELENGTH" of the protocol. */
#define ASSUAN_LINE_LIMIT 1000

typedef enum {
    ASSUAN_OK,
    ASSUAN_ERROR,
    /* A piece of the answer, escaped. */
    ASSUAN_DATA,
    /* A comment or a status, which mean nothing to us. */
    ASSUAN_NOTHING,
    /* No line that a server says to a client, or a question of its own. */
    ASSUAN_GARBAGE,
} AssuanKind;

/* What is the matter, by the error's lower 16 bits, gpg-error(1). */
typedef enum { ASSUAN_FAILED, ASSUAN_DISMISSED, ASSUAN_TIMED_OUT } AssuanError;

typedef struct {
    AssuanKind kind;
    AssuanError error;
    /* Where the data begins within the line; they go on to its end. */
    size_t start;
} AssuanReply;

/* A line without its LF. */
AssuanReply assuan_parse(const char *line, size_t length);

/* Undoes the escapes of data: how many octets it comes to, or -1 where an escape is none, a NUL or a control character
 * is among them, or they are more than `capacity`. */
long assuan_unescape(const char *data, size_t length, char *octets, size_t capacity);

/* A text for people as the argument of a command: valid UTF-8 on one line, control characters but LF shown as "?", and
 * as many characters as fit. Ends it with a NUL, which `capacity` counts. How many octets it comes to without. */
size_t assuan_escape(const char *text, char *escaped, size_t capacity);

#endif
