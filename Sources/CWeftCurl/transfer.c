#include "curl_abi.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The maximum number of bytes passed to one callback.
enum { BUFFER_BYTES = 32 * 1024 };

struct weft_curl_transfer *weft_curl_transfer_create(void) {
  struct weft_curl_transfer *transfer = calloc(1, sizeof *transfer);
  if (!transfer) return NULL;
  transfer->easy = weft_curl.easy_init();
  if (transfer->easy) return transfer;
  free(transfer);
  return NULL;
}

static void forget_headers(struct weft_curl_transfer *transfer) {
  weft_curl.slist_free_all(transfer->headers);
  transfer->headers = NULL;
}

void weft_curl_transfer_destroy(struct weft_curl_transfer *transfer) {
  weft_curl.easy_cleanup(transfer->easy);
  forget_headers(transfer);
  free(transfer);
}

// MARK: called by libcurl

static size_t counted(enum weft_curl_answer answer, size_t count) {
  switch (answer) {
    case WEFT_CURL_GO_ON: return count;
    case WEFT_CURL_PAUSE: return FUNC_PAUSE;
    case WEFT_CURL_ABORT: break;
  }
  return count ? 0 : 1;  // any number other than `count` aborts the transfer
}

static size_t header_came(char *bytes, size_t one, size_t count, void *context) {
  struct weft_curl_transfer *transfer = context;
  return counted(transfer->callbacks->header(transfer->context, bytes, one * count), one * count);
}

static size_t body_came(char *bytes, size_t one, size_t count, void *context) {
  struct weft_curl_transfer *transfer = context;
  return counted(transfer->callbacks->body(transfer->context, bytes, one * count), one * count);
}

static size_t body_wanted(char *bytes, size_t one, size_t count, void *context) {
  struct weft_curl_transfer *transfer = context;
  ptrdiff_t put = transfer->callbacks->read(transfer->context, bytes, one * count);
  return put >= 0 ? (size_t)put : put == -1 ? FUNC_PAUSE : READ_ABORT;
}

static int body_sought(void *context, int64_t offset, int origin) {
  struct weft_curl_transfer *transfer = context;
  if (offset != 0 || origin != SEEK_SET) return SEEK_CANNOT;
  return transfer->callbacks->rewind(transfer->context) ? SEEK_DONE : SEEK_CANNOT;
}

static int will_send(void *context, char *address, char *local, int port, int local_port) {
  struct weft_curl_transfer *transfer = context;
  (void)local;
  (void)local_port;
  return transfer->callbacks->will_send(transfer->context, address, port) != WEFT_CURL_GO_ON;
}

static int is_admitted(struct weft_curl_transfer *transfer, const struct weft_curl_sockaddr *to) {
  if (to->family == AF_INET) {
    struct sockaddr_in four;
    memcpy(&four, &to->addr, sizeof four);
    const unsigned char *bytes = (const unsigned char *)&four.sin_addr;
    return transfer->callbacks->admit(transfer->context, bytes, 4);
  }
  if (to->family == AF_INET6) {
    struct sockaddr_in6 six;
    memcpy(&six, &to->addr, sizeof six);
    return transfer->callbacks->admit(transfer->context, six.sin6_addr.s6_addr, 16);
  }
  return 0;
}

// Only newer versions of libcurl set close-on-exec on their own sockets.
static int open_socket(void *context, int purpose, struct weft_curl_sockaddr *to) {
  (void)purpose;
  if (!is_admitted(context, to)) return -1;
#if defined(SOCK_CLOEXEC)
  return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
#else
  int made = socket(to->family, to->socktype, to->protocol);
  if (made >= 0) fcntl(made, F_SETFD, FD_CLOEXEC);
  return made;
#endif
}

// MARK: setting up

static int add_headers(struct weft_curl_transfer *transfer, const char *const *headers) {
  for (; *headers; headers++) {
    struct weft_slist *longer = weft_curl.slist_append(transfer->headers, *headers);
    if (!longer) return WEFT_CURLE_OUT_OF_MEMORY;
    transfer->headers = longer;
  }
  return 0;
}

#define SET(option, value)                                                \
  do {                                                                    \
    int failed = weft_curl.easy_setopt(transfer->easy, (option), (value)); \
    if (failed) return failed;                                            \
  } while (0)

static int set_always(struct weft_curl_transfer *transfer) {
  SET(OPT_ERRORBUFFER, transfer->message);
  SET(OPT_NOSIGNAL, 1L);
  SET(OPT_PROTOCOLS, (long)PROTO_HTTP_AND_HTTPS);
  SET(OPT_HTTP_VERSION, (long)HTTP_VERSION_2TLS);
  SET(OPT_HTTP09_ALLOWED, 0L);
  SET(OPT_FOLLOWLOCATION, 0L);
  SET(OPT_SSL_VERIFYPEER, 1L);
  SET(OPT_SSL_VERIFYHOST, 2L);
  SET(OPT_PATH_AS_IS, 1L);
  SET(OPT_SUPPRESS_CONNECT_HEADERS, 1L);
  // Refused while the buffer of an earlier request exists, which already has this size.
  weft_curl.easy_setopt(transfer->easy, OPT_BUFFERSIZE, (long)BUFFER_BYTES);
  SET(OPT_CONNECTTIMEOUT_MS, (long)INT32_MAX);  // callers have their own deadlines
  SET(OPT_OPENSOCKETFUNCTION, open_socket);
  SET(OPT_OPENSOCKETDATA, transfer);
  SET(OPT_HEADERFUNCTION, header_came);
  SET(OPT_HEADERDATA, transfer);
  SET(OPT_WRITEFUNCTION, body_came);
  SET(OPT_WRITEDATA, transfer);
  if (weft_curl_tells_sending()) {
    SET(OPT_PREREQFUNCTION, will_send);
    SET(OPT_PREREQDATA, transfer);
  }
  if (weft_curl_leaves_lookups()) SET(OPT_QUICK_EXIT, 1L);
  return 0;
}

static int set_method(struct weft_curl_transfer *transfer, const struct weft_curl_setup *setup) {
  if (setup->body_size >= 0) {
    SET(OPT_POST, 1L);
    SET(OPT_POSTFIELDSIZE_LARGE, setup->body_size);
    SET(OPT_READFUNCTION, body_wanted);
    SET(OPT_READDATA, transfer);
    SET(OPT_SEEKFUNCTION, body_sought);
    SET(OPT_SEEKDATA, transfer);
  } else if (strcmp(setup->method, "HEAD") == 0) {
    SET(OPT_NOBODY, 1L);
    return 0;
  } else {
    SET(OPT_HTTPGET, 1L);
  }
  SET(OPT_CUSTOMREQUEST, setup->method);
  return 0;
}

// Clears libcurl's built-in directory of authorities. It would be trusted in addition to the named file; and if there
// is a bundle too, the directory keeps libcurl from caching the bundle, which costs 30 ms for every connection.
static void do_without_directory(weft_easy *easy, const char *named_file) {
  const char *bundle = NULL;
  if (weft_curl_version() >= VERSION_WITH_INFO_CAINFO)
    weft_curl.easy_getinfo(easy, INFO_CAINFO, &bundle);
  if (named_file || bundle) weft_curl.easy_setopt(easy, OPT_CAPATH, NULL);
}

// Whether to wait for a connection in progress because requests may be able to share it: with TLS, both sides have
// agreed on that as soon as the connection is established; without, it is unknown before the first response.
static int may_share(const struct weft_curl_setup *setup) {
  return strncmp(setup->url, "https:", 6) == 0;
}

static int set_asked(struct weft_curl_transfer *transfer, const struct weft_curl_setup *setup) {
  if (setup->proxy) {
    SET(OPT_PROXY, setup->proxy);
    SET(OPT_NOPROXY, "");  // also ignore the exceptions in the environment
  }
  do_without_directory(transfer->easy, setup->ca_file);
  if (setup->ca_file) SET(OPT_CAINFO, setup->ca_file);
  if (setup->certificate_file) SET(OPT_SSLCERT, setup->certificate_file);
  if (setup->key_file) SET(OPT_SSLKEY, setup->key_file);
  // Without a password, OpenSSL prompts for the key's at the terminal, and this thread would wait for it.
  if (setup->certificate_file || setup->key_file) SET(OPT_KEYPASSWD, "");
  // libcurl does not detect a truncated compressed body, so it must pass on the bytes as they arrive.
  SET(OPT_HTTP_CONTENT_DECODING, 0L);
  if (setup->accept_encoding) SET(OPT_ACCEPT_ENCODING, setup->accept_encoding);
  if (setup->needs_fresh_connection) SET(OPT_FRESH_CONNECT, 1L);
  return 0;
}

// Whether everything but the address, method and headers of a request is as in most requests.
static int is_plain(const struct weft_curl_setup *setup) {
  return setup->body_size < 0 && strcmp(setup->method, "HEAD") != 0 && setup->proxy &&
         setup->proxy[0] == 0 && !setup->ca_file && !setup->certificate_file && !setup->key_file &&
         setup->accept_encoding && !setup->needs_fresh_connection;
}

static int set_up(struct weft_curl_transfer *transfer, const struct weft_curl_setup *setup) {
  int failed = set_always(transfer);
  if (!failed) failed = set_method(transfer, setup);
  return failed ? failed : set_asked(transfer, setup);
}

int weft_curl_configure(struct weft_curl_transfer *transfer, const struct weft_curl_setup *setup) {
  // Setting all options costs as much as a small request, so those that already fit are kept.
  int stays = transfer->is_plain && is_plain(setup);
  if (!stays) weft_curl.easy_reset(transfer->easy);
  forget_headers(transfer);
  transfer->callbacks = setup->callbacks;
  transfer->context = setup->context;
  transfer->message[0] = 0;
  transfer->is_plain = 0;
  int failed = add_headers(transfer, setup->headers);
  if (!failed && !stays) failed = set_up(transfer, setup);
  if (failed) return failed;
  SET(OPT_PRIVATE, transfer->context);
  SET(OPT_URL, setup->url);
  SET(OPT_HTTPHEADER, transfer->headers);
  SET(OPT_PIPEWAIT, (long)may_share(setup));
  if (stays) SET(OPT_CUSTOMREQUEST, setup->method);
  transfer->is_plain = is_plain(setup);
  return 0;
}

// MARK: results

const char *weft_curl_message(const struct weft_curl_transfer *transfer) {
  return transfer->message;
}

const char *weft_curl_code_text(int code) { return weft_curl.easy_strerror(code); }

int weft_curl_resume(struct weft_curl_transfer *transfer) {
  return weft_curl.easy_pause(transfer->easy, PAUSE_NOTHING);
}

static int64_t whole(struct weft_curl_transfer *transfer, int info) {
  int64_t value = 0;
  weft_curl.easy_getinfo(transfer->easy, info, &value);
  return value;
}

static long number(struct weft_curl_transfer *transfer, int info) {
  long value = 0;
  weft_curl.easy_getinfo(transfer->easy, info, &value);
  return value;
}

static long readable_version(long version) {
  switch (version) {
    case 1: return 10;
    case 2: return 11;
    case 3: return 20;
    case 30: return 30;
    default: return 0;
  }
}

void weft_curl_read_report(struct weft_curl_transfer *transfer, struct weft_curl_report *report) {
  memset(report, 0, sizeof *report);
  const char *address = NULL;
  weft_curl.easy_getinfo(transfer->easy, INFO_PRIMARY_IP, &address);
  if (address) strncpy(report->address, address, sizeof report->address - 1);
  report->port = (int)number(transfer, INFO_PRIMARY_PORT);
  report->http_version = readable_version(number(transfer, INFO_HTTP_VERSION));
  report->name_resolved = whole(transfer, INFO_NAMELOOKUP_TIME);
  report->connected = whole(transfer, INFO_CONNECT_TIME);
  report->secured = whole(transfer, INFO_APPCONNECT_TIME);
  report->sent = whole(transfer, INFO_PRETRANSFER_TIME);
  report->first_byte = whole(transfer, INFO_STARTTRANSFER_TIME);
  report->total = whole(transfer, INFO_TOTAL_TIME);
  report->body_received = whole(transfer, INFO_SIZE_DOWNLOAD);
  report->body_sent = whole(transfer, INFO_SIZE_UPLOAD);
  report->headers_received = number(transfer, INFO_HEADER_SIZE);
  report->request_sent = number(transfer, INFO_REQUEST_SIZE);
  report->system_error = number(transfer, INFO_OS_ERRNO);
  report->verify_result = number(transfer, INFO_SSL_VERIFYRESULT);
}
