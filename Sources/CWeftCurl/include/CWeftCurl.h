// libcurl, opened when it is first needed.
// Nothing is linked: a program that does no HTTP maps none of it, and builds where it is not installed.
#ifndef CWEFT_CURL_H
#define CWEFT_CURL_H

#include <stddef.h>
#include <stdint.h>

// MARK: library.c

/// Opens libcurl, once per process. Returns 0, or -1 with a sentence in `why`; the next call then tries again.
int weft_curl_open(char *why, size_t size);

/// 0x075801 for 7.88.1; 0 while libcurl is not open.
unsigned weft_curl_version(void);
/// Whether a transfer can be removed during the lookup of its host name. libcurl before 7.87 blocks in the removal
/// until the name server has answered.
int weft_curl_leaves_lookups(void);
/// Whether libcurl calls back before it sends a request.
int weft_curl_tells_sending(void);
/// "7.88.1".
const char *weft_curl_version_text(void);

// MARK: transfer.c

/// One HTTP request and its response. May be reused for any number of them in sequence.
struct weft_curl_transfer;

/// The result of a callback.
enum weft_curl_answer {
  WEFT_CURL_GO_ON = 0,
  WEFT_CURL_PAUSE = 1,  // the same bytes are passed again after weft_curl_resume; not for header lines
  WEFT_CURL_ABORT = 2,
};

/// Functions called on the thread that drives the loop, with the `context` of the setup.
struct weft_curl_callbacks {
  /// Called once connected, before the request is sent; not before libcurl 7.80.
  enum weft_curl_answer (*will_send)(void *context, const char *address, int port);
  /// Called with a status line, a header line with its line ending, or the empty line after them.
  enum weft_curl_answer (*header)(void *context, const char *bytes, size_t count);
  enum weft_curl_answer (*body)(void *context, const char *bytes, size_t count);
  /// Writes the next bytes of the request's body to `bytes` and returns their number; -1 to pause, -2 to abort.
  ptrdiff_t (*read)(void *context, char *bytes, size_t room);
  /// Restarts the body from its beginning; 0 if that is impossible.
  int (*rewind)(void *context);
  /// Whether connecting to an address (4 or 16 bytes) is allowed.
  int (*admit)(void *context, const unsigned char *address, size_t count);
};

/// A request. Everything is borrowed until weft_curl_configure returns, except callbacks and context.
struct weft_curl_setup {
  const char *url;
  const char *method;
  const char *const *headers;      // "Name: value", ends with NULL
  int64_t body_size;               // -1: no body
  const char *proxy;               // NULL: from the environment; "": none
  const char *ca_file;             // NULL: the system's authorities
  const char *certificate_file;    // NULL: none
  const char *key_file;
  const char *accept_encoding;     // NULL: no such header
  int needs_fresh_connection;      // do not reuse a connection
  const struct weft_curl_callbacks *callbacks;
  void *context;
};

/// The progress and result of a transfer. Times are in microseconds since the start; 0: not reached.
struct weft_curl_report {
  char address[64];
  int port;
  long http_version;  // 10, 11, 20, 30; 0 unknown
  int64_t name_resolved, connected, secured, sent, first_byte, total;
  int64_t body_received, body_sent;
  long headers_received, request_sent;
  long system_error;   // errno of the connection, 0 if there was none
  long verify_result;  // of the TLS library, 0 for success
};

/// Creates a transfer; NULL if there is no memory.
struct weft_curl_transfer *weft_curl_transfer_create(void);
void weft_curl_transfer_destroy(struct weft_curl_transfer *transfer);
/// Returns 0, or libcurl's code with its text in weft_curl_message.
int weft_curl_configure(struct weft_curl_transfer *transfer, const struct weft_curl_setup *setup);
/// libcurl's last message about this request; empty if there is none.
const char *weft_curl_message(const struct weft_curl_transfer *transfer);
/// libcurl's general text for a code.
const char *weft_curl_code_text(int code);
void weft_curl_read_report(struct weft_curl_transfer *transfer, struct weft_curl_report *report);
/// Resumes after a pause, in both directions. May call back before it returns.
int weft_curl_resume(struct weft_curl_transfer *transfer);

// MARK: loop.c

/// A loop that drives any number of transfers on one thread and keeps their connections for reuse.
struct weft_curl_loop;

/// Creates a loop; NULL if there is no memory or no descriptor.
struct weft_curl_loop *weft_curl_loop_create(void);
/// Limits the number of idle connections that are kept.
void weft_curl_keep_connections(struct weft_curl_loop *loop, long count);
/// Destroys the loop. All transfers must have been removed.
void weft_curl_loop_destroy(struct weft_curl_loop *loop);
int weft_curl_add(struct weft_curl_loop *loop, struct weft_curl_transfer *transfer);
/// Removes a transfer in any state; its callbacks are no longer called.
void weft_curl_remove(struct weft_curl_loop *loop, struct weft_curl_transfer *transfer);
/// Does all work that needs no waiting. Returns 0, or libcurl's code for a broken loop.
int weft_curl_perform(struct weft_curl_loop *loop);
/// Waits until there is work, the loop is woken, or the time has passed.
int weft_curl_wait(struct weft_curl_loop *loop, int milliseconds);
/// Wakes the loop; from any thread, as long as the loop exists.
void weft_curl_wake(struct weft_curl_loop *loop);
/// The context of a transfer that has ended, with its code; NULL if there is none. The transfer is still added.
void *weft_curl_next_ended(struct weft_curl_loop *loop, int *code);

/// The libcurl codes in use.
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
