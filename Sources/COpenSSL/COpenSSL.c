#include "COpenSSL.h"
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

struct copenssl_session {
    SSL_CTX *context;
    SSL *connection;
};

// Any chain will do, and none is built: who the peer is follows from its key alone. That it holds the key is checked
// by the handshake itself, whatever this answers.
static int accept_chain(X509_STORE_CTX *store, void *argument) {
    (void)store;
    (void)argument;
    return 1;
}

static int prepare(copenssl_session *session, int socket, const char *name) {
    session->context = SSL_CTX_new(TLS_client_method());
    if (!session->context) return 0;
    // Only what signs the handshake with the certificate's key: no anonymous suite, no pre-shared key, no password.
    if (!SSL_CTX_set_min_proto_version(session->context, TLS1_2_VERSION) ||
        !SSL_CTX_set_cipher_list(session->context, "ECDHE:DHE:!aNULL:!eNULL:!PSK:!SRP:!aDSS") ||
        !SSL_CTX_set_ciphersuites(session->context,
                                  "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"))
        return 0;
    // A resumed session proves the key of an earlier handshake, not of this one.
    SSL_CTX_set_session_cache_mode(session->context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(session->context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_max_cert_list(session->context, 64 << 10);
    SSL_CTX_set_verify(session->context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(session->context, accept_chain, NULL);
    session->connection = SSL_new(session->context);
    if (!session->connection) return 0;
    if (name && !SSL_set_tlsext_host_name(session->connection, name)) return 0;
    SSL_set_connect_state(session->connection);
    return SSL_set_fd(session->connection, socket);
}

copenssl_session *copenssl_open(int socket, const char *name) {
    ERR_clear_error();
    // The machine's configuration may load engines and lower what is asked for here.
    if (!OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG, NULL)) return NULL;
    copenssl_session *session = calloc(1, sizeof *session);
    if (!session) return NULL;
    if (prepare(session, socket, name)) return session;
    copenssl_close(session);
    return NULL;
}

void copenssl_close(copenssl_session *session) {
    // Without a word of good-bye: nothing is sent after the handshake.
    SSL_free(session->connection);
    SSL_CTX_free(session->context);
    free(session);
}

copenssl_progress copenssl_handshake(copenssl_session *session) {
    ERR_clear_error();
    int code = SSL_do_handshake(session->connection);
    if (code == 1) return copenssl_done;
    switch (SSL_get_error(session->connection, code)) {
    case SSL_ERROR_WANT_READ: return copenssl_wants_to_read;
    case SSL_ERROR_WANT_WRITE: return copenssl_wants_to_write;
    default: return copenssl_failed;
    }
}

int copenssl_proven_key(copenssl_session *session, uint8_t digest[32]) {
    SSL *connection = session->connection;
    if (!SSL_is_init_finished(connection) || SSL_session_reused(connection)) return 0;
    if (SSL_version(connection) < TLS1_2_VERSION) return 0;
    const SSL_CIPHER *cipher = SSL_get_current_cipher(connection);
    if (!cipher) return 0;
    switch (SSL_CIPHER_get_auth_nid(cipher)) {
    case NID_auth_any: break;  // TLS 1.3: by the certificate, as nothing else was offered.
    case NID_auth_rsa:
    case NID_auth_ecdsa: break;
    default: return 0;
    }
    X509 *certificate = SSL_get0_peer_certificate(connection);
    if (!certificate) return 0;
    unsigned char *key = NULL;
    int length = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &key);
    if (length <= 0) return 0;
    unsigned written = 0;
    int code = EVP_Digest(key, (size_t)length, digest, &written, EVP_sha256(), NULL);
    OPENSSL_free(key);
    return code == 1 && written == 32;
}

void copenssl_reason(char *text, size_t capacity) {
    unsigned long code = ERR_peek_last_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    size_t length = reason ? strlen(reason) : 0;
    if (length >= capacity) length = capacity - 1;
    if (length) memcpy(text, reason, length);
    text[length] = 0;
}
