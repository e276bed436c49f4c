#include "curl_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct weft_curl_functions weft_curl;

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static const struct weft_version *opened;

// The current ABI only. Debian's GnuTLS build has the same ABI under a different name.
static const char *const names[] = {
#if defined(__APPLE__)
    "/usr/lib/libcurl.4.dylib", "libcurl.4.dylib",
#else
    "libcurl.so.4", "libcurl-gnutls.so.4",
#endif
};

static const struct {
  const char *name;
  size_t place;
} functions[] = {
#define FUNCTION(name) {"curl_" #name, offsetof(struct weft_curl_functions, name)}
    FUNCTION(global_init),   FUNCTION(version_info),        FUNCTION(easy_init),
    FUNCTION(easy_cleanup),  FUNCTION(easy_reset),          FUNCTION(easy_setopt),
    FUNCTION(easy_getinfo),  FUNCTION(easy_pause),          FUNCTION(easy_strerror),
    FUNCTION(slist_append),  FUNCTION(slist_free_all),      FUNCTION(multi_init),
    FUNCTION(multi_cleanup), FUNCTION(multi_setopt),        FUNCTION(multi_add_handle),
    FUNCTION(multi_perform), FUNCTION(multi_remove_handle), FUNCTION(multi_poll),
    FUNCTION(multi_wakeup),  FUNCTION(multi_info_read),
};

static void *open_any(char *why, size_t size) {
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    // Never unloaded: the TLS libraries it loads leave handlers that run at process exit.
    void *library = dlopen(names[at], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library) return library;
    const char *reason = dlerror();
    if (at == 0) snprintf(why, size, "%s", reason ? reason : names[at]);
  }
  return NULL;
}

static int find_functions(void *library, char *why, size_t size) {
  struct weft_curl_functions found;
  for (size_t at = 0; at < sizeof functions / sizeof *functions; at++) {
    void *function = dlsym(library, functions[at].name);
    if (!function) {
      snprintf(why, size, "it has no %s, which came with libcurl 7.68", functions[at].name);
      return -1;
    }
    memcpy((char *)&found + functions[at].place, &function, sizeof function);
  }
  weft_curl = found;
  return 0;
}

static int open_once(char *why, size_t size) {
  if (opened) return 0;
  void *library = open_any(why, size);
  if (!library) return -1;
  int failed = find_functions(library, why, size);
  if (!failed && weft_curl.global_init(GLOBAL_DEFAULT) != 0) {
    snprintf(why, size, "it does not initialise");
    failed = -1;
  }
  if (!failed) opened = weft_curl.version_info(VERSION_AT_FIRST);
  if (failed) dlclose(library);
  return failed;
}

int weft_curl_open(char *why, size_t size) {
  pthread_mutex_lock(&opening);
  int failed = open_once(why, size);
  pthread_mutex_unlock(&opening);
  return failed;
}

static const struct weft_version *version(void) {
  pthread_mutex_lock(&opening);
  const struct weft_version *found = opened;
  pthread_mutex_unlock(&opening);
  return found;
}

unsigned weft_curl_version(void) {
  const struct weft_version *found = version();
  return found ? found->version_num : 0;
}

int weft_curl_tells_sending(void) { return weft_curl_version() >= VERSION_WITH_PREREQ; }

int weft_curl_leaves_lookups(void) { return weft_curl_version() >= VERSION_WITH_QUICK_EXIT; }

const char *weft_curl_version_text(void) {
  const struct weft_version *found = version();
  return found ? found->version : "";
}
