#include "curl_abi.h"

// The loop is libcurl's multi handle, under a type that Swift can tell from others.

static weft_multi *handle(struct weft_curl_loop *loop) { return (weft_multi *)loop; }

struct weft_curl_loop *weft_curl_loop_create(void) {
  return (struct weft_curl_loop *)weft_curl.multi_init();
}

void weft_curl_loop_destroy(struct weft_curl_loop *loop) { weft_curl.multi_cleanup(handle(loop)); }

void weft_curl_keep_connections(struct weft_curl_loop *loop, long count) {
  weft_curl.multi_setopt(handle(loop), MOPT_MAXCONNECTS, count);
}

int weft_curl_add(struct weft_curl_loop *loop, struct weft_curl_transfer *transfer) {
  return weft_curl.multi_add_handle(handle(loop), transfer->easy);
}

void weft_curl_remove(struct weft_curl_loop *loop, struct weft_curl_transfer *transfer) {
  weft_curl.multi_remove_handle(handle(loop), transfer->easy);
}

int weft_curl_perform(struct weft_curl_loop *loop) {
  int running;
  return weft_curl.multi_perform(handle(loop), &running);
}

int weft_curl_wait(struct weft_curl_loop *loop, int milliseconds) {
  return weft_curl.multi_poll(handle(loop), NULL, 0, milliseconds, NULL);
}

void weft_curl_wake(struct weft_curl_loop *loop) { weft_curl.multi_wakeup(handle(loop)); }

void *weft_curl_next_ended(struct weft_curl_loop *loop, int *code) {
  int left;
  struct weft_curl_msg *message;
  while ((message = weft_curl.multi_info_read(handle(loop), &left))) {
    if (message->msg != MESSAGE_DONE) continue;
    *code = message->data.result;
    void *context = NULL;
    weft_curl.easy_getinfo(message->easy, INFO_PRIVATE, &context);
    return context;
  }
  return NULL;
}
