// libcurl, opened when a program first needs it.
// Nothing is linked: a program that does no HTTP maps nothing of it, and builds where it is not installed.
#ifndef CWEFT_CURL_H
#define CWEFT_CURL_H

#include <stddef.h>
#include <stdint.h>

// MARK: library.c

/// Opens libcurl, once in a process. 0, or -1 with a sentence in `why`; then the next call tries again.
int weft_curl_open(char *why, size_t size);

/// 0x075801 for 7.88.1; 0 while it is not open.
unsigned weft_curl_version(void);
/// Whether a transfer can be removed while its host's name is looked up. An older libcurl than 7.87 does not
/// return from that before the name server has answered.
int weft_curl_leaves_lookups(void);
/// Whether callbacks are told that a request is about to be sent.
int weft_curl_tells_sending(void);
/// "7.88.1".
const char *weft_curl_version_text(void);

// MARK: transfer.c

/// One request and its answer. Reused for any number of them, one after another.
struct weft_curl_transfer;

/// What a callback tells libcurl.
enum weft_curl_answer {
  WEFT_CURL_GO_ON = 0,
  WEFT_CURL_PAUSE = 1,  // the same bytes come again after weft_curl_resume; not for header lines
  WEFT_CURL_ABORT = 2,
};

/// Called on the thread that drives the loop, with the `context` of the setup.
struct weft_curl_callbacks {
  /// A connection is there and the request is about to be sent on it; not before libcurl 7.80.
  enum weft_curl_answer (*will_send)(void *context, const char *address, int port);
  /// A status line, a header line with its line end, or the empty line after them.
  enum weft_curl_answer (*header)(void *context, const char *bytes, size_t count);
  enum weft_curl_answer (*body)(void *context, const char *bytes, size_t count);
  /// The next bytes of the request's body: how many were put at `bytes`, -1 to pause, -2 to abort.
  ptrdiff_t (*read)(void *context, char *bytes, size_t room);
  /// The body is to be sent again from its beginning; 0 if it cannot be.
  int (*rewind)(void *context);
  /// Whether an address (4 or 16 bytes) may be connected to.
  int (*admit)(void *context, const unsigned char *address, size_t count);
};

/// What is asked. Everything is borrowed until weft_curl_configure returns, except callbacks and context.
struct weft_curl_setup {
  const char *url;
  const char *method;
  const char *const *headers;      // "Name: value", ends with NULL
  int64_t body_size;               // -1: no body
  const char *proxy;               // NULL: as the environment says; "": none
  const char *ca_file;             // NULL: the system's authorities
  const char *certificate_file;    // NULL: none
  const char *key_file;
  const char *accept_encoding;     // NULL: not said
  int needs_fresh_connection;      // not one that another request has used
  const struct weft_curl_callbacks *callbacks;
  void *context;
};

/// How it went, as far as it went. Times are microseconds since the start; 0: not reached.
struct weft_curl_report {
  char address[64];
  int port;
  long http_version;  // 10, 11, 20, 30; 0 unknown
  int64_t name_resolved, connected, secured, sent, first_byte, total;
  int64_t body_received, body_sent;
  long headers_received, request_sent;
  long system_error;   // errno of the connection, 0 if there was none
  long verify_result;  // of the TLS library, 0 if it was content
};

/// NULL when there is no memory.
struct weft_curl_transfer *weft_curl_transfer_create(void);
void weft_curl_transfer_destroy(struct weft_curl_transfer *transfer);
/// 0, or libcurl's code with its words in weft_curl_message.
int weft_curl_configure(struct weft_curl_transfer *transfer, const struct weft_curl_setup *setup);
/// What libcurl said last about this request; empty if nothing.
const char *weft_curl_message(const struct weft_curl_transfer *transfer);
/// libcurl's general words for a code.
const char *weft_curl_code_text(int code);
void weft_curl_read_report(struct weft_curl_transfer *transfer, struct weft_curl_report *report);
/// Goes on after a pause, in both directions. May call back before it returns.
int weft_curl_resume(struct weft_curl_transfer *transfer);

// MARK: loop.c

/// Any number of transfers, driven by one thread, and the connections that they leave to others.
struct weft_curl_loop;

/// NULL when there is no memory or no descriptor.
struct weft_curl_loop *weft_curl_loop_create(void);
/// How many connections may be there at most when no transfer uses them.
void weft_curl_keep_connections(struct weft_curl_loop *loop, long count);
/// All transfers must have been removed.
void weft_curl_loop_destroy(struct weft_curl_loop *loop);
int weft_curl_add(struct weft_curl_loop *loop, struct weft_curl_transfer *transfer);
/// Whatever state it is in; its callbacks are called no more.
void weft_curl_remove(struct weft_curl_loop *loop, struct weft_curl_transfer *transfer);
/// Does all that can be done without waiting. 0, or libcurl's code for a broken loop.
int weft_curl_perform(struct weft_curl_loop *loop);
/// Waits until something can be done, somebody wakes the loop, or the time has passed.
int weft_curl_wait(struct weft_curl_loop *loop, int milliseconds);
/// From any thread, as long as the loop is there.
void weft_curl_wake(struct weft_curl_loop *loop);
/// The context of a transfer that has ended, with its code; NULL when there is none. It is still added.
void *weft_curl_next_ended(struct weft_curl_loop *loop, int *code);

/// libcurl's codes that something depends on.
enum weft_curl_code {
  WEFT_CURLE_OK = 0,
  WEFT_CURLE_UNSUPPORTED_PROTOCOL = 1,
  WEFT_CURLE_URL_MALFORMAT = 3,
  WEFT_CURLE_COULDNT_RESOLVE_PROXY = 5,
  WEFT_CURLE_COULDNT_RESOLVE_HOST = 6,
  WEFT_CURLE_COULDNT_CONNECT = 7,
  WEFT_CURLE_WEIRD_SERVER_REPLY = 8,
  WEFT_CURLE_HTTP2 = 16,
  WEFT_CURLE_PARTIAL_FILE = 18,
  WEFT_CURLE_WRITE_ERROR = 23,
  WEFT_CURLE_OUT_OF_MEMORY = 27,
  WEFT_CURLE_OPERATION_TIMEDOUT = 28,
  WEFT_CURLE_SSL_CONNECT_ERROR = 35,
  WEFT_CURLE_ABORTED_BY_CALLBACK = 42,
  WEFT_CURLE_GOT_NOTHING = 52,
  WEFT_CURLE_SSL_ENGINE_NOTFOUND = 53,
  WEFT_CURLE_SEND_ERROR = 55,
  WEFT_CURLE_RECV_ERROR = 56,
  WEFT_CURLE_SSL_CERTPROBLEM = 58,
  WEFT_CURLE_SSL_CIPHER = 59,
  WEFT_CURLE_PEER_FAILED_VERIFICATION = 60,
  WEFT_CURLE_BAD_CONTENT_ENCODING = 61,
  WEFT_CURLE_SEND_FAIL_REWIND = 65,
  WEFT_CURLE_SSL_CACERT_BADFILE = 77,
  WEFT_CURLE_SSL_ISSUER_ERROR = 83,
  WEFT_CURLE_HTTP2_STREAM = 92,
  WEFT_CURLE_PROXY = 97,
  WEFT_CURLE_SSL_CLIENTCERT = 98,
  WEFT_CURLE_TOO_LARGE = 100,
};

#endif
