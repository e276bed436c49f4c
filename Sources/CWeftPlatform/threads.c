#include "platform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

struct thread_body {
  void (*run)(void *);
  void *context;
};

static void *run_body(void *argument) {
  struct thread_body body = *(struct thread_body *)argument;
  free(argument);
  body.run(body.context);
  return NULL;
}

// All signals except those that a fault raises: if blocked, they would kill the process without running its crash
// handler.
//
// Nor CHLD while it has no handler: the kernel discards it unless the thread that started the child blocks it. In that
// case it would needlessly wake a different thread at the end of every child (Linux: prepare_signal).
static void most_signals(sigset_t *set) {
  static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
  sigfillset(set);
  for (size_t at = 0; at < sizeof faults / sizeof *faults; at++) sigdelset(set, faults[at]);
  struct sigaction child;
  if (sigaction(SIGCHLD, NULL, &child) == 0 && child.sa_handler == SIG_DFL)
    sigdelset(set, SIGCHLD);
}

int weft_thread_start(size_t stack, void (*run)(void *), void *context) {
  struct thread_body *body = malloc(sizeof *body);
  if (body == NULL) return -ENOMEM;
  *body = (struct thread_body){run, context};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, stack);
  sigset_t blocked, before;
  most_signals(&blocked);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);  // inherited
  pthread_t thread;
  int failed = pthread_create(&thread, &attributes, run_body, body);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  if (failed) free(body);
  return -failed;
}

struct weft_parking {
  pthread_mutex_t mutex;
  pthread_cond_t woken;
  int has_wake;
};

struct weft_parking *weft_parking_create(void) {
  struct weft_parking *place = malloc(sizeof *place);
  if (place == NULL) return NULL;
  pthread_mutex_init(&place->mutex, NULL);
#if defined(__APPLE__)
  pthread_cond_init(&place->woken, NULL);
#else
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&place->woken, &attributes);
  pthread_condattr_destroy(&attributes);
#endif
  place->has_wake = 0;
  return place;
}

void weft_parking_destroy(struct weft_parking *place) {
  pthread_cond_destroy(&place->woken);
  pthread_mutex_destroy(&place->mutex);
  free(place);
}

static int wait_until(struct weft_parking *place, int64_t deadline) {
#if defined(__APPLE__)
  int64_t left = deadline - weft_monotonic_nanoseconds();
  if (left <= 0) return ETIMEDOUT;
  struct timespec time = {left / 1000000000, left % 1000000000};
  return pthread_cond_timedwait_relative_np(&place->woken, &place->mutex, &time);
#else
  struct timespec time = {deadline / 1000000000, deadline % 1000000000};
  return pthread_cond_timedwait(&place->woken, &place->mutex, &time);
#endif
}

int weft_parking_park(struct weft_parking *place, int64_t nanoseconds) {
  int64_t deadline = nanoseconds < 0 ? 0 : weft_monotonic_nanoseconds() + nanoseconds;
  pthread_mutex_lock(&place->mutex);
  while (!place->has_wake) {
    if (nanoseconds < 0) pthread_cond_wait(&place->woken, &place->mutex);
    else if (wait_until(place, deadline) == ETIMEDOUT) break;
  }
  int woken = place->has_wake;
  place->has_wake = 0;
  pthread_mutex_unlock(&place->mutex);
  return woken;
}

void weft_parking_unpark(struct weft_parking *place) {
  pthread_mutex_lock(&place->mutex);
  place->has_wake = 1;
  pthread_cond_signal(&place->woken);
  pthread_mutex_unlock(&place->mutex);
}

long weft_thread_key_create(void (*release)(void *)) {
  pthread_key_t key;
  int failed = pthread_key_create(&key, release);
  return failed ? -failed : (long)key;
}

void *weft_thread_key_get(unsigned long key) { return pthread_getspecific((pthread_key_t)key); }

void weft_thread_key_set(unsigned long key, void *value) {
  pthread_setspecific((pthread_key_t)key, value);
}
