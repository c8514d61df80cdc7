#include "Assuan.h"

#include <stdbool.h>
#include <string.h>

/* gpg-error's codes. */
enum { TIMEOUT = 62, CANCELED = 99, FULLY_CANCELED = 198, NOT_CONFIRMED = 114 };

static bool begins(const char *line, size_t length, const char *word)
{
    size_t count = strlen(word);
    return length >= count && memcmp(line, word, count) == 0 && (length == count || line[count] == ' ');
}

/* "ERR 83886179 Operation cancelled <Pinentry>": a number is needed, words are not. */
static bool parse_error(const char *line, size_t length, AssuanError *error)
{
    unsigned long code = 0;
    size_t place = 4;
    if (length < 5)
        return false;
    for (; place < length && line[place] != ' '; place++) {
        if (line[place] < '0' || line[place] > '9' || place >= 14)
            return false;
        code = code * 10 + (unsigned long)(line[place] - '0');
    }
    if (place == 4)
        return false;
    switch (code & 0xFFFF) {
    case TIMEOUT: *error = ASSUAN_TIMED_OUT; break;
    case CANCELED:
    case FULLY_CANCELED:
    case NOT_CONFIRMED: *error = ASSUAN_DISMISSED; break;
    default: *error = ASSUAN_FAILED; break;
    }
    return true;
}

AssuanReply assuan_parse(const char *line, size_t length)
{
    AssuanReply reply = { .kind = ASSUAN_GARBAGE, .error = ASSUAN_FAILED, .start = 0 };
    if (length > ASSUAN_LINE_LIMIT || memchr(line, '\0', length) != NULL || memchr(line, '\n', length) != NULL)
        return reply;
    if (begins(line, length, "OK")) {
        reply.kind = ASSUAN_OK;
    } else if (begins(line, length, "ERR")) {
        if (parse_error(line, length, &reply.error))
            reply.kind = ASSUAN_ERROR;
    } else if (length >= 2 && line[0] == 'D' && line[1] == ' ') {
        reply.kind = ASSUAN_DATA;
        reply.start = 2;
    } else if (begins(line, length, "S") || (length >= 1 && line[0] == '#')) {
        reply.kind = ASSUAN_NOTHING;
    }
    return reply;
}

static int digit(char character)
{
    if (character >= '0' && character <= '9')
        return character - '0';
    if (character >= 'A' && character <= 'F')
        return character - 'A' + 10;
    if (character >= 'a' && character <= 'f')
        return character - 'a' + 10;
    return -1;
}

long assuan_unescape(const char *data, size_t length, char *octets, size_t capacity)
{
    size_t count = 0;
    for (size_t place = 0; place < length; place++) {
        unsigned octet = (unsigned char)data[place];
        if (octet == '%') {
            if (length - place < 3)
                return -1;
            int high = digit(data[place + 1]), low = digit(data[place + 2]);
            if (high < 0 || low < 0)
                return -1;
            octet = (unsigned)(high * 16 + low);
            place += 2;
        }
        /* No key types these, and a NUL would end the answer before its end. */
        if (octet < 0x20 || octet == 0x7F || count == capacity)
            return -1;
        octets[count++] = (char)octet;
    }
    return (long)count;
}

/* The octets of the character that stands there; 0 where that is none, RFC 3629. */
static size_t character(const unsigned char *text)
{
    size_t count = text[0] < 0x80 ? 1 : text[0] >= 0xC2 && text[0] < 0xE0 ? 2
        : (text[0] & 0xF0) == 0xE0 ? 3 : text[0] >= 0xF0 && text[0] < 0xF5 ? 4 : 0;
    for (size_t place = 1; place < count; place++)
        if ((text[place] & 0xC0) != 0x80)
            return 0;
    if ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] >= 0xA0)
        || (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] >= 0x90))
        return 0;
    return count;
}

/* Control characters of both sets; U+0080 to U+009F are two octets. */
static bool is_control(const unsigned char *text)
{
    return (text[0] < 0x20 && text[0] != '\n') || text[0] == 0x7F || (text[0] == 0xC2 && text[1] < 0xA0);
}

size_t assuan_escape(const char *text, char *escaped, size_t capacity)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t length = 0;
    const unsigned char *rest = (const unsigned char *)text;
    while (*rest != '\0') {
        size_t count = character(rest);
        bool is_shown = count > 0 && !is_control(rest);
        size_t size = !is_shown ? 1 : *rest == '%' || *rest == '\n' ? 3 : count;
        if (length + size >= capacity)
            break;
        if (!is_shown) {
            escaped[length++] = '?';
        } else if (size == 3 && count == 1) {
            escaped[length++] = '%';
            escaped[length++] = digits[*rest >> 4];
            escaped[length++] = digits[*rest & 15];
        } else {
            memcpy(escaped + length, rest, count);
            length += count;
        }
        rest += count > 0 ? count : 1;
    }
    if (capacity > 0)
        escaped[length] = '\0';
    return length;
}
