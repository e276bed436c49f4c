#define _GNU_SOURCE
#include "CWeftBenchmarks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct loop {
  atomic_int left;
  atomic_int succeeded;
  char *const *arguments;
  int capture;
};

static __attribute__((noinline)) pid_t start(char *const *arguments, int output) {
  pid_t child = vfork();
  if (child != 0) return child;
  if (output >= 0) {
    dup2(output, 1);
    dup2(output, 2);
  }
  execve(arguments[0], arguments, environ);
  _exit(127);
}

static int open_pipe(int ends[2]) {
#if defined(__linux__)
  return pipe2(ends, O_CLOEXEC);
#else
  if (pipe(ends) < 0) return -1;
  return fcntl(ends[0], F_SETFD, FD_CLOEXEC) | fcntl(ends[1], F_SETFD, FD_CLOEXEC);
#endif
}

static int run_once(const struct loop *loop, char *buffer, size_t size) {
  int ends[2] = {-1, -1};
  if (loop->capture && open_pipe(ends) < 0) return 0;
  pid_t child = start(loop->arguments, ends[1]);
  if (loop->capture) {
    close(ends[1]);
    while (child > 0 && read(ends[0], buffer, size) > 0) continue;
    close(ends[0]);
  }
  int status;
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static void *run_slot(void *argument) {
  struct loop *loop = argument;
  enum { size = 65536 };
  char *buffer = malloc(size);
  while (buffer != NULL && atomic_fetch_sub(&loop->left, 1) > 0)
    if (run_once(loop, buffer, size)) atomic_fetch_add(&loop->succeeded, 1);
  free(buffer);
  return NULL;
}

int weft_bench_c_loop(int count, int threads, char *const arguments[], int capture) {
  struct loop loop = {.arguments = arguments, .capture = capture};
  atomic_init(&loop.left, count);
  atomic_init(&loop.succeeded, 0);
  pthread_t *slots = calloc((size_t)threads, sizeof *slots);
  int started = 0;
  while (slots != NULL && started < threads
         && pthread_create(&slots[started], NULL, run_slot, &loop) == 0)
    started++;
  for (int slot = 0; slot < started; slot++) pthread_join(slots[slot], NULL);
  free(slots);
  return atomic_load(&loop.succeeded);
}
