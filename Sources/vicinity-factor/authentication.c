#define _GNU_SOURCE
#include "authentication.h"
#include "asking.h"

#include <pwd.h>
#include <security/pam_appl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char service[] = "vicinity";
static const char *const files[] = { "/etc/pam.d/vicinity", "/usr/lib/pam.d/vicinity" };

struct conversation {
    struct pinentry pinentry;
    unsigned seconds;
    /* Why there is no answer, once there was none: whatever PAM makes of that. */
    const char *problem;
};

static const char *ask(struct conversation *conversation, const struct pam_message *message, char *answer)
{
    const char *text = message->msg != NULL ? message->msg : "";
    bool has_dialogue = conversation->pinentry.descriptor >= 0;
    switch (message->msg_style) {
    case PAM_PROMPT_ECHO_OFF:
    case PAM_PROMPT_ECHO_ON:
        return has_dialogue ? pinentry_ask(&conversation->pinentry, text, answer)
                           : console_ask(text, conversation->seconds, answer);
    case PAM_TEXT_INFO:
    case PAM_ERROR_MSG:
        /* On a console it would be told to everybody. */
        return has_dialogue ? pinentry_show(&conversation->pinentry, text) : NULL;
    default: return garbled;
    }
}

static void discard(struct pam_response *responses, int count)
{
    for (int place = 0; place < count; place++) {
        if (responses[place].resp == NULL)
            continue;
        explicit_bzero(responses[place].resp, strlen(responses[place].resp));
        free(responses[place].resp);
    }
    free(responses);
}

/* pam_conv(3) */
static int converse(int count, const struct pam_message **messages, struct pam_response **answers, void *data)
{
    struct conversation *conversation = data;
    static char answer[ANSWER_LIMIT];
    if (count <= 0 || count > PAM_MAX_NUM_MSG || conversation->problem != NULL)
        return PAM_CONV_ERR;
    struct pam_response *responses = calloc((size_t)count, sizeof *responses);
    if (responses == NULL)
        return PAM_BUF_ERR;
    (void)mlock(answer, sizeof answer);
    for (int place = 0; place < count; place++) {
        const struct pam_message *message = messages[place];
        bool is_question = message->msg_style == PAM_PROMPT_ECHO_OFF || message->msg_style == PAM_PROMPT_ECHO_ON;
        conversation->problem = ask(conversation, message, answer);
        if (conversation->problem == NULL && is_question && (responses[place].resp = strdup(answer)) == NULL)
            conversation->problem = no_dialogue;
        explicit_bzero(answer, sizeof answer);
        if (conversation->problem != NULL) {
            discard(responses, count);
            return PAM_CONV_ERR;
        }
    }
    *answers = responses;
    return PAM_SUCCESS;
}

/* Without a file of its own libpam would ask by those of the service "other". */
static bool has_service(void)
{
    for (size_t place = 0; place < sizeof files / sizeof *files; place++)
        if (access(files[place], R_OK) == 0)
            return true;
    return false;
}

static bool is_user(const struct request *request)
{
    const struct passwd *entry = getpwnam(request->user);
    return entry != NULL && entry->pw_uid == request->uid;
}

static const char *verdict(int result)
{
    switch (result) {
    case PAM_SUCCESS: return "right";
    case PAM_AUTH_ERR:
    case PAM_CRED_INSUFFICIENT:
    case PAM_USER_UNKNOWN:
    case PAM_PERM_DENIED: return "wrong";
    case PAM_MAXTRIES: return "failed tries";
    case PAM_ACCT_EXPIRED:
    case PAM_NEW_AUTHTOK_REQD: return "failed account";
    default: return "failed pam";
    }
}

const char *authenticate(const struct request *request)
{
    static char failure[32] = "failed ";
    struct conversation conversation = { .seconds = request->seconds };
    conversation.pinentry = (struct pinentry) { .descriptor = request->dialogue, .message = request->message,
        .seconds = request->seconds };
    const struct pam_conv conv = { converse, &conversation };
    pam_handle_t *handle = NULL;
    if (!has_service())
        return "failed service";
    if (!is_user(request))
        return "failed account";
    int result = pam_start(service, request->user, &conv, &handle);
    if (result != PAM_SUCCESS)
        return "failed pam";
    result = pam_authenticate(handle, PAM_DISALLOW_NULL_AUTHTOK);
    if (result == PAM_SUCCESS)
        result = pam_acct_mgmt(handle, 0);
    /* A module may have made somebody else of the user. */
    const void *user = NULL;
    if (result == PAM_SUCCESS
        && (pam_get_item(handle, PAM_USER, &user) != PAM_SUCCESS || user == NULL || strcmp(user, request->user) != 0))
        result = PAM_ABORT;
    pam_end(handle, result);
    if (conversation.problem == NULL)
        return verdict(result);
    strncat(failure, conversation.problem, sizeof failure - strlen(failure) - 1);
    return failure;
}
