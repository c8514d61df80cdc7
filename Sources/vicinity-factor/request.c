#define _GNU_SOURCE
#include "request.h"

#include <Assuan.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/* Octets of a line: every octet of the message may be escaped. */
enum { LINE_LIMIT = 4096, GREATEST_TIME = 24 * 60 * 60 };

/* Nobody but root may have somebody asked. Who connected is what the kernel says, unix(7). */
static bool is_roots(int connection)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && size == sizeof peer && peer.uid == 0;
}

/* The descriptor that came with the octets, -1 where none did; -2 where there are several. */
static int descriptor_in(struct msghdr *header)
{
    int found = -1;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(header); part != NULL; part = CMSG_NXTHDR(header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        if (part->cmsg_len != CMSG_LEN(sizeof found) || found >= 0)
            return -2;
        memcpy(&found, CMSG_DATA(part), sizeof found);
    }
    return (header->msg_flags & MSG_CTRUNC) != 0 ? -2 : found;
}

/* The whole line, up to its LF, which becomes a NUL. */
static bool receive_line(int connection, char *line, int *descriptor)
{
    size_t length = 0;
    *descriptor = -1;
    while (length < LINE_LIMIT) {
        union {
            char octets[CMSG_SPACE(sizeof(int)) * 2];
            struct cmsghdr alignment;
        } control;
        struct iovec part = { line + length, LINE_LIMIT - length };
        struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.octets,
            .msg_controllen = sizeof control.octets };
        ssize_t count = recvmsg(connection, &header, MSG_CMSG_CLOEXEC);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        int received = descriptor_in(&header);
        if (received == -2 || (received >= 0 && *descriptor >= 0))
            return false;
        if (received >= 0)
            *descriptor = received;
        length += (size_t)count;
        if (line[length - 1] == '\n') {
            line[length - 1] = '\0';
            return strlen(line) == length - 1 && strchr(line, '\n') == NULL;
        }
    }
    return false;
}

static bool parse_number(const char *text, uint64_t greatest, uint64_t *number)
{
    char *end = NULL;
    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && *number <= greatest;
}

static bool unescape(const char *word, char *text, size_t capacity)
{
    long length = assuan_unescape(word, strlen(word), text, capacity - 1);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return true;
}

/* "dialogue USER UID SECONDS MESSAGE", or "console …"; the user and the message escaped. */
static bool parse(char *line, struct request *request, int descriptor)
{
    char *words[5];
    char *rest = line;
    uint64_t uid, seconds;
    for (size_t count = 0; count < 5; count++)
        if ((words[count] = strsep(&rest, " ")) == NULL)
            return false;
    if (rest != NULL || !parse_number(words[2], UINT32_MAX - 1, &uid)
        || !parse_number(words[3], GREATEST_TIME, &seconds) || seconds == 0
        || !unescape(words[1], request->user, sizeof request->user)
        || !unescape(words[4], request->message, sizeof request->message))
        return false;
    request->uid = (uid_t)uid;
    request->seconds = (unsigned)seconds;
    request->dialogue = descriptor;
    /* One without the other would ask somebody else. */
    return strcmp(words[0], descriptor >= 0 ? "dialogue" : "console") == 0;
}

bool receive_request(int connection, struct request *request)
{
    static char line[LINE_LIMIT];
    int descriptor;
    const struct timeval patience = { .tv_sec = 5 };
    setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return is_roots(connection) && receive_line(connection, line, &descriptor) && parse(line, request, descriptor);
}
