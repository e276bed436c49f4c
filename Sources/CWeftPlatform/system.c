#include "platform.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int64_t reading(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t weft_monotonic_nanoseconds(void) { return reading(CLOCK_MONOTONIC); }

int64_t weft_boot_nanoseconds(void) {
#if defined(CLOCK_BOOTTIME)
  return reading(CLOCK_BOOTTIME);
#else
  return 0;
#endif
}

int64_t weft_wall_nanoseconds(void) { return reading(CLOCK_REALTIME); }

void weft_sleep(int64_t nanoseconds) {
  struct timespec left = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  while (nanosleep(&left, &left) < 0 && errno == EINTR) continue;
}

#if defined(__linux__)

#include <sched.h>

const char *weft_error_name(int error) { return strerrorname_np(error); }

void weft_error_text(int error, char *text, size_t size) {
  const char *known = strerrordesc_np(error);
  snprintf(text, size, "%s", known ? known : "unknown error");
}

int weft_processor_count(void) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  long online = sysconf(_SC_NPROCESSORS_ONLN);  // more processors than a cpu_set_t holds
  return online > 0 ? (int)online : 1;
}

ssize_t weft_executable_path(char *path, size_t size) {
  ssize_t length = readlink("/proc/self/exe", path, size);
  return length < 0 ? -errno : length;
}

char **weft_environment(void) { return environ; }

void weft_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

#elif defined(__APPLE__)

#include <crt_externs.h>
#include <mach-o/dyld.h>

const char *weft_error_name(int error) {
  (void)error;
  return NULL;
}

void weft_error_text(int error, char *text, size_t size) { strerror_r(error, text, size); }

int weft_processor_count(void) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

ssize_t weft_executable_path(char *path, size_t size) {
  uint32_t room = (uint32_t)size;
  return _NSGetExecutablePath(path, &room) == 0 ? (ssize_t)strlen(path) : -ENAMETOOLONG;
}

char **weft_environment(void) { return *_NSGetEnviron(); }

void weft_name_thread(const char *name) { pthread_setname_np(name); }

#endif

static int argument_count;
static char **argument_list;

#if defined(__GLIBC__)
// The C library passes these to constructors, too: without /proc, Swift knows no arguments.
__attribute__((constructor)) static void keep_arguments(int count, char **list) {
  argument_count = count;
  argument_list = list;
}
#endif

char **weft_arguments(int *count) {
  *count = argument_count;
  return argument_list;
}
