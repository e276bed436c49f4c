#include "curl_abi.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/eventfd.h>
#else
#include <sys/event.h>
#endif

enum { EVENTS_AT_ONCE = 64 };

// libcurl says which sockets it waits for and until when, and is called for those with which something has
// happened: its own loop would look at every transfer at every turn.
struct weft_curl_loop {
  weft_multi *multi;
  int queue;      // of sockets: epoll or kqueue
  int wakeup;     // an eventfd; -1 where the queue can be woken by itself
  int64_t alarm;  // when libcurl wants to be called, in nanoseconds; -1: not at any time
  int broken;     // libcurl's code
  // What has happened since libcurl was called.
  int count;
  struct {
    int socket, what;
  } events[EVENTS_AT_ONCE];
};

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void note(struct weft_curl_loop *loop, int socket, int what) {
  loop->events[loop->count].socket = socket;
  loop->events[loop->count++].what = what;
}

static void act(struct weft_curl_loop *loop, int socket, int what) {
  int running;
  int code = weft_curl.multi_socket_action(loop->multi, socket, what, &running);
  if (code != 0 && loop->broken == 0) loop->broken = code;
}

// MARK: the queue

#if defined(__linux__)

static int open_queue(struct weft_curl_loop *loop) {
  loop->queue = epoll_create1(EPOLL_CLOEXEC);
  loop->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (loop->queue < 0 || loop->wakeup < 0) return -1;
  struct epoll_event event = {.events = EPOLLIN, .data.fd = loop->wakeup};
  return epoll_ctl(loop->queue, EPOLL_CTL_ADD, loop->wakeup, &event);
}

static void watch(struct weft_curl_loop *loop, int socket, int what) {
  struct epoll_event event = {.data.fd = socket};
  if (what & POLL_FOR_IN) event.events |= EPOLLIN;
  if (what & POLL_FOR_OUT) event.events |= EPOLLOUT;
  if (epoll_ctl(loop->queue, EPOLL_CTL_MOD, socket, &event) < 0 && errno == ENOENT)
    epoll_ctl(loop->queue, EPOLL_CTL_ADD, socket, &event);
}

static void unwatch(struct weft_curl_loop *loop, int socket) {
  epoll_ctl(loop->queue, EPOLL_CTL_DEL, socket, NULL);
}

static void wait_for_events(struct weft_curl_loop *loop, int64_t nanoseconds) {
  struct epoll_event events[EVENTS_AT_ONCE];
  // Not less: a turn in which nothing is due yet would be for nothing.
  int milliseconds = (int)((nanoseconds + 999999) / 1000000);
  int count = epoll_wait(loop->queue, events, EVENTS_AT_ONCE, milliseconds);
  for (int at = 0; at < count; at++) {
    if (events[at].data.fd == loop->wakeup) {
      uint64_t wakes;
      if (read(loop->wakeup, &wakes, sizeof wakes) < 0) continue;
      continue;
    }
    int what = 0;
    if (events[at].events & (EPOLLIN | EPOLLHUP)) what |= SELECT_IN;
    if (events[at].events & EPOLLOUT) what |= SELECT_OUT;
    if (events[at].events & EPOLLERR) what |= SELECT_ERROR;
    note(loop, events[at].data.fd, what);
  }
}

void weft_curl_wake(struct weft_curl_loop *loop) {
  uint64_t one = 1;
  // It fails only where it has been woken very often, and is awake.
  if (write(loop->wakeup, &one, sizeof one) < 0) return;
}

#else

static int open_queue(struct weft_curl_loop *loop) {
  loop->wakeup = -1;
  loop->queue = kqueue();
  struct kevent event;
  EV_SET(&event, 0, EVFILT_USER, EV_ADD | EV_CLEAR, 0, 0, NULL);
  return loop->queue < 0 ? -1 : kevent(loop->queue, &event, 1, NULL, 0, NULL);
}

static void set_filter(struct weft_curl_loop *loop, int socket, int filter, int is_wanted) {
  struct kevent event;
  EV_SET(&event, socket, filter, is_wanted ? EV_ADD : EV_DELETE, 0, 0, NULL);
  kevent(loop->queue, &event, 1, NULL, 0, NULL);
}

static void watch(struct weft_curl_loop *loop, int socket, int what) {
  set_filter(loop, socket, EVFILT_READ, what & POLL_FOR_IN);
  set_filter(loop, socket, EVFILT_WRITE, what & POLL_FOR_OUT);
}

static void unwatch(struct weft_curl_loop *loop, int socket) { watch(loop, socket, 0); }

static void wait_for_events(struct weft_curl_loop *loop, int64_t nanoseconds) {
  struct kevent events[EVENTS_AT_ONCE];
  struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  int count = kevent(loop->queue, NULL, 0, events, EVENTS_AT_ONCE, &limit);
  for (int at = 0; at < count; at++) {
    if (events[at].filter == EVFILT_USER) continue;
    int what = events[at].filter == EVFILT_READ ? SELECT_IN : SELECT_OUT;
    note(loop, (int)events[at].ident, what);
  }
}

void weft_curl_wake(struct weft_curl_loop *loop) {
  struct kevent event;
  EV_SET(&event, 0, EVFILT_USER, 0, NOTE_TRIGGER, 0, NULL);
  kevent(loop->queue, &event, 1, NULL, 0, NULL);
}

#endif

// MARK: called by libcurl

static int socket_changed(weft_easy *easy, int socket, int what, void *context, void *of_socket) {
  (void)easy;
  (void)of_socket;
  if (what == POLL_FOR_NOTHING) unwatch(context, socket);
  else watch(context, socket, what);
  return 0;
}

static int timer_changed(weft_multi *multi, long milliseconds, void *context) {
  (void)multi;
  struct weft_curl_loop *loop = context;
  loop->alarm = milliseconds < 0 ? -1 : now() + milliseconds * (int64_t)1000000;
  return 0;
}

// MARK: its life

static int set_up(struct weft_curl_loop *loop) {
  loop->multi = weft_curl.multi_init();
  if (!loop->multi || open_queue(loop) < 0) return -1;
  weft_curl.multi_setopt(loop->multi, MOPT_SOCKETFUNCTION, socket_changed);
  weft_curl.multi_setopt(loop->multi, MOPT_SOCKETDATA, loop);
  weft_curl.multi_setopt(loop->multi, MOPT_TIMERFUNCTION, timer_changed);
  weft_curl.multi_setopt(loop->multi, MOPT_TIMERDATA, loop);
  return 0;
}

struct weft_curl_loop *weft_curl_loop_create(void) {
  struct weft_curl_loop *loop = calloc(1, sizeof *loop);
  if (!loop) return NULL;
  loop->queue = loop->wakeup = -1;
  loop->alarm = -1;
  if (set_up(loop) == 0) return loop;
  weft_curl_loop_destroy(loop);
  return NULL;
}

void weft_curl_loop_destroy(struct weft_curl_loop *loop) {
  if (loop->multi) weft_curl.multi_cleanup(loop->multi);
  if (loop->queue >= 0) close(loop->queue);
  if (loop->wakeup >= 0) close(loop->wakeup);
  free(loop);
}

void weft_curl_keep_connections(struct weft_curl_loop *loop, long count) {
  weft_curl.multi_setopt(loop->multi, MOPT_MAXCONNECTS, count);
}

int weft_curl_add(struct weft_curl_loop *loop, struct weft_curl_transfer *transfer) {
  return weft_curl.multi_add_handle(loop->multi, transfer->easy);
}

void weft_curl_remove(struct weft_curl_loop *loop, struct weft_curl_transfer *transfer) {
  weft_curl.multi_remove_handle(loop->multi, transfer->easy);
}

// MARK: its turns

int weft_curl_perform(struct weft_curl_loop *loop) {
  int count = loop->count;
  loop->count = 0;
  for (int at = 0; at < count; at++) act(loop, loop->events[at].socket, loop->events[at].what);
  if (loop->alarm >= 0 && loop->alarm <= now()) {
    loop->alarm = -1;
    act(loop, NO_SOCKET, 0);
  }
  return loop->broken;
}

void weft_curl_wait(struct weft_curl_loop *loop, int milliseconds) {
  int64_t limit = milliseconds * (int64_t)1000000;
  if (loop->alarm >= 0) {
    int64_t left = loop->alarm - now();
    if (left < limit) limit = left > 0 ? left : 0;
  }
  wait_for_events(loop, limit);
}

void *weft_curl_next_ended(struct weft_curl_loop *loop, int *code) {
  int left;
  struct weft_curl_msg *message;
  while ((message = weft_curl.multi_info_read(loop->multi, &left))) {
    if (message->msg != MESSAGE_DONE) continue;
    *code = message->data.result;
    void *context = NULL;
    weft_curl.easy_getinfo(message->easy, INFO_PRIVATE, &context);
    return context;
  }
  return NULL;
}
