#include "CWeftBenchmarks.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// libcurl's numbers, from its public ABI.
enum {
  OPT_WRITEDATA = 10001,
  OPT_URL = 10002,
  OPT_USERAGENT = 10018,
  OPT_NOSIGNAL = 99,
  OPT_ACCEPT_ENCODING = 10102,
  OPT_WRITEFUNCTION = 20011,
  INFO_RESPONSE_CODE = 0x200002,
  MESSAGE_DONE = 1,
  GLOBAL_DEFAULT = 3,
};

struct message {
  int msg;
  void *easy;
  union {
    void *whatever;
    int result;
  } data;
};

static struct {
  int (*global_init)(long);
  void *(*easy_init)(void);
  void (*easy_cleanup)(void *);
  int (*easy_setopt)(void *, int, ...);
  int (*easy_getinfo)(void *, int, ...);
  void *(*multi_init)(void);
  int (*multi_cleanup)(void *);
  int (*multi_add_handle)(void *, void *);
  int (*multi_remove_handle)(void *, void *);
  int (*multi_perform)(void *, int *);
  int (*multi_poll)(void *, void *, unsigned, int, int *);
  struct message *(*multi_info_read)(void *, int *);
} curl;

static int find(void *library, const char *name, void *place) {
  void *function = dlsym(library, name);
  memcpy(place, &function, sizeof function);
  return function != NULL;
}

static int open_curl(void) {
  if (curl.global_init) return 1;
  void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
#define FIND(name) find(library, "curl_" #name, &curl.name)
  int found = library && FIND(easy_init) && FIND(easy_cleanup) && FIND(easy_setopt)
              && FIND(easy_getinfo) && FIND(multi_init) && FIND(multi_cleanup)
              && FIND(multi_add_handle) && FIND(multi_remove_handle) && FIND(multi_perform)
              && FIND(multi_poll) && FIND(multi_info_read) && FIND(global_init);
  return found && curl.global_init(GLOBAL_DEFAULT) == 0;
}

static size_t count_bytes(char *bytes, size_t one, size_t count, void *total) {
  (void)bytes;
  *(size_t *)total += one * count;
  return one * count;
}

// The same request as Weft's.
static void *make_request(const char *url, size_t *total) {
  void *easy = curl.easy_init();
  curl.easy_setopt(easy, OPT_URL, url);
  curl.easy_setopt(easy, OPT_NOSIGNAL, 1L);
  curl.easy_setopt(easy, OPT_USERAGENT, "weft");
  curl.easy_setopt(easy, OPT_ACCEPT_ENCODING, "");
  curl.easy_setopt(easy, OPT_WRITEFUNCTION, count_bytes);
  curl.easy_setopt(easy, OPT_WRITEDATA, total);
  return easy;
}

static int was_answered(void *easy, int result) {
  long status = 0;
  curl.easy_getinfo(easy, INFO_RESPONSE_CODE, &status);
  return result == 0 && status == 200;
}

int weft_bench_requests(const char *url, int count, int at_once) {
  if (!open_curl()) return -1;
  void *multi = curl.multi_init();
  void **handles = calloc((size_t)at_once, sizeof *handles);
  size_t total = 0;
  int left = count, answered = 0, running = 0;
  for (int slot = 0; slot < at_once; slot++) {
    handles[slot] = make_request(url, &total);
    if (left-- > 0) curl.multi_add_handle(multi, handles[slot]);
  }
  do {
    curl.multi_perform(multi, &running);
    struct message *message;
    int more;
    while ((message = curl.multi_info_read(multi, &more))) {
      if (message->msg != MESSAGE_DONE) continue;
      void *easy = message->easy;
      answered += was_answered(easy, message->data.result);
      curl.multi_remove_handle(multi, easy);
      if (left-- > 0 && curl.multi_add_handle(multi, easy) == 0) running++;
    }
    if (running > 0) curl.multi_poll(multi, NULL, 0, 1000, NULL);
  } while (running > 0);
  for (int slot = 0; slot < at_once; slot++) {
    curl.multi_remove_handle(multi, handles[slot]);
    curl.easy_cleanup(handles[slot]);
  }
  free(handles);
  curl.multi_cleanup(multi);
  return answered;
}
