#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/eventfd.h>
#include <sys/random.h>
#endif

#if !defined(__linux__)
static int close_on_exec(int descriptor) { return fcntl(descriptor, F_SETFD, FD_CLOEXEC); }
#endif

int weft_pipe(int ends[2]) {
#if defined(__linux__)
  return pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0;
#else
  if (pipe(ends) < 0) return -errno;
  close_on_exec(ends[0]);
  close_on_exec(ends[1]);
  return 0;
#endif
}

int weft_wake_open(int *wait, int *signal) {
#if defined(__linux__)
  int descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (descriptor < 0) return -errno;
  *wait = *signal = descriptor;
  return 0;
#else
  int ends[2];
  int failed = weft_pipe(ends);
  if (failed) return failed;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fcntl(ends[1], F_SETFL, O_NONBLOCK);
  *wait = ends[0];
  *signal = ends[1];
  return 0;
#endif
}

// A write that fails because the pipe or counter is full is fine: the poll wakes anyway.
void weft_wake_signal(int signal) {
  uint64_t one = 1;
  while (write(signal, &one, sizeof one) < 0 && errno == EINTR) continue;
}

void weft_wake_drain(int wait) {
  uint64_t bytes[8];
#if defined(__linux__)
  while (read(wait, bytes, sizeof bytes[0]) < 0 && errno == EINTR) continue;
#else
  ssize_t count;
  while ((count = read(wait, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR)) continue;
#endif
}

void weft_pipe_grow(int descriptor, int bytes) {
#if defined(F_SETPIPE_SZ)
  fcntl(descriptor, F_SETPIPE_SZ, bytes);
#else
  (void)descriptor, (void)bytes;
#endif
}

// The signal of a failed write is sent to the writing thread. So the thread can block and consume it without changing
// the process's disposition, which may belong to the embedding program.
ssize_t weft_write_quietly(int descriptor, const void *bytes, size_t count) {
  sigset_t broken, before, pending;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  sigpending(&pending);
  int waiting = sigismember(&pending, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  ssize_t written = write(descriptor, bytes, count);
  ssize_t result = written < 0 ? -errno : written;
  if (result == -EPIPE && !waiting) {
#if defined(__linux__)
    struct timespec at_once = {0, 0};
    while (sigtimedwait(&broken, NULL, &at_once) < 0 && errno == EINTR) continue;
#else
    int taken;
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE)) sigwait(&broken, &taken);
#endif
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return result;
}

int weft_fifo_is_fed(int fifo) {
  struct pollfd polled = {.fd = fifo, .events = POLLIN};
  if (poll(&polled, 1, 0) > 0) return 1;
#if defined(__linux__)
  // poll does not show a writer that has written nothing, but tee(2) distinguishes "nothing yet" from "no writer".
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) return 0;
  int fed = tee(fifo, ends[1], 1, SPLICE_F_NONBLOCK) < 0 && errno == EAGAIN;
  close(ends[0]);
  close(ends[1]);
  return fed;
#else
  return 0;
#endif
}

int weft_poll(struct pollfd *descriptors, unsigned count, int64_t nanoseconds) {
#if defined(__linux__)
  struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  int ready = ppoll(descriptors, count, nanoseconds < 0 ? NULL : &limit, NULL);
#else
  const int64_t longest = 1000000;
  int64_t milliseconds = nanoseconds < 0 ? -1 : (nanoseconds + 999999) / 1000000;
  int ready = poll(descriptors, count, (int)(milliseconds > longest ? longest : milliseconds));
#endif
  return ready < 0 ? -errno : ready;
}

int weft_poll_one(int descriptor, short events, int milliseconds) {
  struct pollfd one = {.fd = descriptor, .events = events};
  int ready = poll(&one, 1, milliseconds);
  return ready < 0 ? -errno : ready > 0;
}

#if defined(O_PATH)
enum { searching = O_PATH };
#elif defined(O_SEARCH)
enum { searching = O_SEARCH };
#else
enum { searching = O_RDONLY };
#endif

int weft_enter(int directory, const char *name) {
  int entered;
  do entered = openat(directory, name, searching | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  while (entered < 0 && errno == EINTR);
  return entered < 0 ? -errno : entered;
}

int weft_enter_following(const char *path) {
  int entered;
  do entered = open(path, searching | O_DIRECTORY | O_CLOEXEC);
  while (entered < 0 && errno == EINTR);
  return entered < 0 ? -errno : entered;
}

int weft_nameless_file(const char *directory) {
#if defined(O_TMPFILE)
  int nameless = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  // Not every file system supports these files, and a kernel without the flag takes the call for an attempt to open a
  // directory for writing.
  if (nameless >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT))
    return nameless < 0 ? -errno : nameless;
#endif
  char path[4096];
  int length = snprintf(path, sizeof path, "%s/.weft-XXXXXX", directory);
  if (length < 0 || (size_t)length >= sizeof path) return -ENAMETOOLONG;
  int named = mkostemp(path, O_CLOEXEC);
  if (named < 0) return -errno;
  unlink(path);
  return named;
}

int weft_terminal_size(int descriptor, unsigned short *columns, unsigned short *rows) {
  struct winsize size;
  if (ioctl(descriptor, TIOCGWINSZ, &size) < 0) return -errno;
  *columns = size.ws_col;
  *rows = size.ws_row;
  return 0;
}

int weft_random(void *bytes, size_t count) {
#if defined(__linux__)
  for (size_t filled = 0; filled < count;) {
    ssize_t got = getrandom((char *)bytes + filled, count - filled, 0);
    if (got < 0 && errno != EINTR) return -errno;
    if (got > 0) filled += (size_t)got;
  }
#else
  arc4random_buf(bytes, count);
#endif
  return 0;
}
