/* A desktop's authentication agent of polkit's, without a desktop: what it would show is a line on standard output, and a
 * line of standard input is what the person types; "@dismiss" closes the dialogue. The helper that it starts, PAM and the
 * registration for the session are the real ones.
 *
 * pkttyagent is no such: it registers for a process, and polkit does not find it when asked about a session. */
#define POLKIT_AGENT_I_KNOW_API_IS_SUBJECT_TO_CHANGE
#include <polkitagent/polkitagent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    PolkitAgentListener parent;
    /* Of the dialogue that is shown. */
    GTask *task;
    PolkitAgentSession *session;
    gboolean is_dismissed, is_withdrawn;
} Desktop;
typedef struct { PolkitAgentListenerClass parent; } DesktopClass;
G_DEFINE_TYPE(Desktop, desktop, POLKIT_AGENT_TYPE_LISTENER)

static void on_request(PolkitAgentSession *session, const char *prompt, gboolean echo, Desktop *desktop)
{
    printf("prompt: %s\n", prompt);
}

static void on_text(PolkitAgentSession *session, const char *text, Desktop *desktop)
{
    printf("text: %s\n", text);
}

static void on_completed(PolkitAgentSession *session, gboolean gained, Desktop *desktop)
{
    GTask *task = desktop->task;
    printf("closed: %s\n", desktop->is_withdrawn ? "withdrawn" : desktop->is_dismissed ? "dismissed" : gained ? "let through" : "refused");
    desktop->task = NULL;
    g_clear_object(&desktop->session);
    if (desktop->is_dismissed || desktop->is_withdrawn)
        g_task_return_new_error(task, POLKIT_ERROR, POLKIT_ERROR_CANCELLED, "the dialogue was closed");
    else
        g_task_return_boolean(task, TRUE);
    g_object_unref(task);
}

static gboolean cancel(Desktop *desktop)
{
    if (desktop->session)
        polkit_agent_session_cancel(desktop->session);
    return G_SOURCE_REMOVE;
}

static void on_withdrawn(GCancellable *cancellable, Desktop *desktop)
{
    desktop->is_withdrawn = TRUE;
    /* Not from within the signal: what is cancelled at once would disconnect it. */
    g_idle_add((GSourceFunc)cancel, desktop);
}

static void ask(PolkitAgentListener *listener, const char *action, const char *message, const char *icon,
    PolkitDetails *details, const char *cookie, GList *identities, GCancellable *cancellable,
    GAsyncReadyCallback callback, gpointer data)
{
    Desktop *desktop = (Desktop *)listener;
    GTask *task = g_task_new(listener, NULL, callback, data);
    char *who = polkit_identity_to_string(identities->data);
    printf("%s: %s (%s, %s)\n", desktop->task ? "a second dialogue" : "dialogue", message, action, who);
    g_free(who);
    if (desktop->task) {
        g_task_return_new_error(task, POLKIT_ERROR, POLKIT_ERROR_FAILED, "one at a time");
        g_object_unref(task);
        return;
    }
    desktop->task = task;
    desktop->is_dismissed = desktop->is_withdrawn = FALSE;
    desktop->session = polkit_agent_session_new(identities->data, cookie);
    g_signal_connect(desktop->session, "request", G_CALLBACK(on_request), desktop);
    g_signal_connect(desktop->session, "show-error", G_CALLBACK(on_text), desktop);
    g_signal_connect(desktop->session, "show-info", G_CALLBACK(on_text), desktop);
    g_signal_connect(desktop->session, "completed", G_CALLBACK(on_completed), desktop);
    if (cancellable)
        g_signal_connect_object(cancellable, "cancelled", G_CALLBACK(on_withdrawn), desktop, 0);
    polkit_agent_session_initiate(desktop->session);
}

static gboolean asked(PolkitAgentListener *listener, GAsyncResult *result, GError **error)
{
    return g_task_propagate_boolean(G_TASK(result), error);
}

static void desktop_init(Desktop *desktop) {}

static void desktop_class_init(DesktopClass *class)
{
    PolkitAgentListenerClass *listener = POLKIT_AGENT_LISTENER_CLASS(class);
    listener->initiate_authentication = ask;
    listener->initiate_authentication_finish = asked;
}

static gboolean typed(GIOChannel *channel, GIOCondition condition, Desktop *desktop)
{
    char *line = NULL;
    gsize end;
    if (g_io_channel_read_line(channel, &line, NULL, &end, NULL) != G_IO_STATUS_NORMAL)
        exit(EXIT_SUCCESS);
    line[end] = '\0';
    if (!desktop->session) {
        printf("nobody asked\n");
    } else if (strcmp(line, "@dismiss") == 0) {
        desktop->is_dismissed = TRUE;
        polkit_agent_session_cancel(desktop->session);
    } else {
        polkit_agent_session_response(desktop->session, line);
    }
    g_free(line);
    return G_SOURCE_CONTINUE;
}

int main(void)
{
    GError *error = NULL;
    setlinebuf(stdout);
    PolkitSubject *session = polkit_unix_session_new_for_process_sync(getpid(), NULL, &error);
    Desktop *desktop = g_object_new(desktop_get_type(), NULL);
    if (!session || !polkit_agent_listener_register((PolkitAgentListener *)desktop, POLKIT_AGENT_REGISTER_FLAGS_NONE, session, NULL, NULL, &error)) {
        printf("not registered: %s\n", error->message);
        return EXIT_FAILURE;
    }
    char *name = polkit_subject_to_string(session);
    printf("registered for %s\n", name);
    GIOChannel *input = g_io_channel_unix_new(STDIN_FILENO);
    g_io_channel_set_encoding(input, NULL, NULL);
    g_io_add_watch(input, G_IO_IN | G_IO_HUP, (GIOFunc)typed, desktop);
    g_main_loop_run(g_main_loop_new(NULL, FALSE));
}
