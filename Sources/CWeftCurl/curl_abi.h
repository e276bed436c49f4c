// The part of libcurl's stable ABI in use. Declared here, so that the package builds on a machine that has a Swift
// toolchain and no libcurl; if its header is installed, abi_check.c compares every number with it.
#ifndef CWEFT_CURL_ABI_H
#define CWEFT_CURL_ABI_H

#include "CWeftCurl.h"

#include <sys/socket.h>

typedef void weft_easy;
typedef void weft_multi;

struct weft_slist;

enum weft_option {
  OPT_WRITEDATA = 10001,
  OPT_URL = 10002,
  OPT_PROXY = 10004,
  OPT_READDATA = 10009,
  OPT_ERRORBUFFER = 10010,
  OPT_WRITEFUNCTION = 20011,
  OPT_READFUNCTION = 20012,
  OPT_HTTPHEADER = 10023,
  OPT_SSLCERT = 10025,
  OPT_KEYPASSWD = 10026,
  OPT_HEADERDATA = 10029,
  OPT_CUSTOMREQUEST = 10036,
  OPT_NOBODY = 44,
  OPT_POST = 47,
  OPT_FOLLOWLOCATION = 52,
  OPT_SSL_VERIFYPEER = 64,
  OPT_CAINFO = 10065,
  OPT_FRESH_CONNECT = 74,
  OPT_HEADERFUNCTION = 20079,
  OPT_HTTPGET = 80,
  OPT_SSL_VERIFYHOST = 81,
  OPT_HTTP_VERSION = 84,
  OPT_SSLKEY = 10087,
  OPT_CAPATH = 10097,
  OPT_BUFFERSIZE = 98,
  OPT_NOSIGNAL = 99,
  OPT_ACCEPT_ENCODING = 10102,
  OPT_PRIVATE = 10103,
  OPT_POSTFIELDSIZE_LARGE = 30120,
  OPT_CONNECTTIMEOUT_MS = 156,
  OPT_HTTP_CONTENT_DECODING = 158,
  OPT_OPENSOCKETFUNCTION = 20163,
  OPT_OPENSOCKETDATA = 10164,
  OPT_SEEKFUNCTION = 20167,
  OPT_SEEKDATA = 10168,
  OPT_NOPROXY = 10177,
  OPT_PROTOCOLS = 181,
  OPT_PATH_AS_IS = 234,
  OPT_PIPEWAIT = 237,
  OPT_SUPPRESS_CONNECT_HEADERS = 265,
  OPT_HTTP09_ALLOWED = 285,
  OPT_PREREQFUNCTION = 20312,
  OPT_PREREQDATA = 10313,
  OPT_QUICK_EXIT = 322,
};

enum weft_multi_option { MOPT_MAXCONNECTS = 6 };

enum weft_info {
  INFO_SIZE_UPLOAD = 0x600000 + 7,
  INFO_SIZE_DOWNLOAD = 0x600000 + 8,
  INFO_HEADER_SIZE = 0x200000 + 11,
  INFO_REQUEST_SIZE = 0x200000 + 12,
  INFO_SSL_VERIFYRESULT = 0x200000 + 13,
  INFO_PRIVATE = 0x100000 + 21,
  INFO_OS_ERRNO = 0x200000 + 25,
  INFO_PRIMARY_IP = 0x100000 + 32,
  INFO_PRIMARY_PORT = 0x200000 + 40,
  INFO_HTTP_VERSION = 0x200000 + 46,
  INFO_TOTAL_TIME = 0x600000 + 50,
  INFO_NAMELOOKUP_TIME = 0x600000 + 51,
  INFO_CONNECT_TIME = 0x600000 + 52,
  INFO_PRETRANSFER_TIME = 0x600000 + 53,
  INFO_STARTTRANSFER_TIME = 0x600000 + 54,
  INFO_APPCONNECT_TIME = 0x600000 + 56,
  INFO_CAINFO = 0x100000 + 61,
};

enum {
  ERROR_SIZE = 256,
  PROTO_HTTP_AND_HTTPS = 3,
  HTTP_VERSION_2TLS = 4,
  READ_ABORT = 0x10000000,
  FUNC_PAUSE = 0x10000001,
  PAUSE_NOTHING = 0,
  SEEK_DONE = 0,
  SEEK_CANNOT = 2,
  GLOBAL_DEFAULT = 3,
  VERSION_AT_FIRST = 0,
  MESSAGE_DONE = 1,
  VERSION_WITH_PREREQ = 0x075000,
  VERSION_WITH_INFO_CAINFO = 0x075400,
  VERSION_WITH_QUICK_EXIT = 0x075700,
};

struct weft_curl_sockaddr {
  int family;
  int socktype;
  int protocol;
  unsigned int addrlen;
  struct sockaddr addr;
};

struct weft_curl_msg {
  int msg;
  weft_easy *easy;
  union {
    void *whatever;
    int result;
  } data;
};

// The beginning of curl_version_info_data; newer versions append members.
struct weft_version {
  int age;
  const char *version;
  unsigned version_num;
};

// libcurl's functions. Those with `...` are variadic in libcurl too and must be called as such.
struct weft_curl_functions {
  int (*global_init)(long flags);
  const struct weft_version *(*version_info)(int age);
  weft_easy *(*easy_init)(void);
  void (*easy_cleanup)(weft_easy *);
  void (*easy_reset)(weft_easy *);
  int (*easy_setopt)(weft_easy *, int option, ...);
  int (*easy_getinfo)(weft_easy *, int info, ...);
  int (*easy_pause)(weft_easy *, int what);
  const char *(*easy_strerror)(int code);
  struct weft_slist *(*slist_append)(struct weft_slist *, const char *);
  void (*slist_free_all)(struct weft_slist *);
  weft_multi *(*multi_init)(void);
  int (*multi_cleanup)(weft_multi *);
  int (*multi_setopt)(weft_multi *, int option, ...);
  int (*multi_add_handle)(weft_multi *, weft_easy *);
  int (*multi_remove_handle)(weft_multi *, weft_easy *);
  int (*multi_perform)(weft_multi *, int *running);
  int (*multi_poll)(weft_multi *, void *extra, unsigned count, int milliseconds, int *ready);
  int (*multi_wakeup)(weft_multi *);
  struct weft_curl_msg *(*multi_info_read)(weft_multi *, int *left);
};

/// Filled in once weft_curl_open has returned 0.
extern struct weft_curl_functions weft_curl;

struct weft_curl_transfer {
  weft_easy *easy;
  struct weft_slist *headers;
  const struct weft_curl_callbacks *callbacks;
  void *context;
  int is_plain;  // the options already set suit the next plain request
  char message[ERROR_SIZE];
};

#endif
