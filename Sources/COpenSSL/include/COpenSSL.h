// One TLS handshake as a client, which shows that the peer holds the key it claims; OpenSSL behind few functions, since
// most of what it takes is macros.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct copenssl_session copenssl_session;

typedef enum {
    copenssl_done,
    /// To be called again when the socket can be read, or written to.
    copenssl_wants_to_read,
    copenssl_wants_to_write,
    copenssl_failed,
} copenssl_progress;

/// A client on a connected, non-blocking socket, which the caller keeps. `name` is told to the server (SNI); NULL for
/// none. NULL where memory is short or the library refuses.
copenssl_session *copenssl_open(int socket, const char *name);
void copenssl_close(copenssl_session *session);

copenssl_progress copenssl_handshake(copenssl_session *session);

/// SHA-256 of the SubjectPublicKeyInfo (DER) whose private key the peer has just proved to hold. 1, or 0 where this
/// handshake proves nothing of the kind.
int copenssl_proven_key(copenssl_session *session, uint8_t digest[32]);

/// OpenSSL's word for why the last call failed, ended by a NUL; empty where it has none.
void copenssl_reason(char *text, size_t capacity);
