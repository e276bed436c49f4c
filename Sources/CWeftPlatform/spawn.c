#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)

#include <stdatomic.h>
#include <sys/syscall.h>

// What the child writes and the parent reads: they share memory until execve.
struct child_report {
  volatile int stage;
  volatile int error;
};

// Realtime signals that did not have their default effect when the first program was started. Asking
// for all 64 dispositions costs a spawn some 10 us; the standard ones are asked for each time.
static atomic_ulong changed_realtime;
static pthread_once_t realtime_asked = PTHREAD_ONCE_INIT;

enum { first_realtime = 32, signal_count = 64 };

// The kernel's own struct, whose first member is the handler on every architecture, and all of whose
// members are zero for the default.
union disposition {
  void *handler;
  char bytes[64];
};

// Not sigaction(): glibc hides the two signals that it uses itself, and they can be inherited ignored.
static int has_default(int number) {
  union disposition now = {.bytes = {0}};
  if (syscall(SYS_rt_sigaction, number, NULL, &now, sizeof(uint64_t)) < 0) return 1;
  return now.handler == (void *)SIG_DFL;
}

static void ask_for_realtime(void) {
  unsigned long changed = 0;
  for (int number = first_realtime; number <= signal_count; number++)
    if (!has_default(number)) changed |= 1UL << (number - 1);
  atomic_store(&changed_realtime, changed);
}

static void reset(int number) {
  union disposition standard = {.bytes = {0}};
  syscall(SYS_rt_sigaction, number, &standard, NULL, sizeof(uint64_t));
}

// Handlers too, although execve resets them: once the mask is empty one might run in the child, on
// the parent's memory.
static void reset_dispositions(void) {
  for (int number = 1; number < first_realtime; number++)
    if (!has_default(number)) reset(number);
  unsigned long realtime = atomic_load_explicit(&changed_realtime, memory_order_relaxed);
  for (int number = first_realtime; realtime && number <= signal_count; number++)
    if (realtime & (1UL << (number - 1))) reset(number);
}

struct directory_entry {  // linux_dirent64, which no header declares
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

// For kernels before 5.9. No opendir: it allocates, and the memory is the parent's.
static int close_listed_from_3(void) {
  int listing = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listing < 0) return -1;
  char entries[2048] __attribute__((aligned(8)));
  long count;
  while ((count = syscall(SYS_getdents64, listing, entries, sizeof entries)) > 0) {
    for (long at = 0; at < count;) {
      struct directory_entry *entry = (struct directory_entry *)(entries + at);
      int descriptor = 0;
      for (const char *digit = entry->name; *digit >= '0' && *digit <= '9'; digit++)
        descriptor = descriptor * 10 + (*digit - '0');
      if (descriptor > 2 && descriptor != listing) close(descriptor);
      at += entry->length;
    }
  }
  close(listing);
  return count == 0 ? 0 : -1;
}

static int close_from_3(void) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, 3U, ~0U, 0U) == 0) return 0;
#endif
  if (close_listed_from_3() == 0) return 0;
  long limit = sysconf(_SC_OPEN_MAX);
  if (limit < 0) return -1;
  for (int descriptor = 3; descriptor < limit; descriptor++) close(descriptor);
  return 0;
}

// Puts the three where they belong. One that stands at 0-2 already is moved up first, so that no
// dup2 tramples on another and none keeps its close-on-exec flag.
static int place_descriptors(const struct weft_spawn_request *request) {
  int from[3] = {request->input, request->output, request->errors};
  for (int target = 0; target < 3; target++) {
    if (from[target] > 2) continue;
    from[target] = fcntl(from[target], F_DUPFD_CLOEXEC, 3);
    if (from[target] < 0) return -1;
  }
  for (int target = 0; target < 3; target++)
    if (dup2(from[target], target) < 0) return -1;
  return close_from_3();
}

static int become(const struct weft_spawn_request *request, struct child_report *report) {
  // First of all: until then this child holds the pipes of every program that runs, and keeps their
  // output from ending.
  report->stage = WEFT_SPAWN_DESCRIPTORS;
  if (place_descriptors(request) < 0) return -1;
  report->stage = WEFT_SPAWN_SESSION;
  if (setsid() < 0) return -1;
  reset_dispositions();
  report->stage = WEFT_SPAWN_DIRECTORY;
  if (request->directory != NULL && chdir(request->directory) < 0) return -1;
  report->stage = WEFT_SPAWN_PROGRAM;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  return execve(request->program, request->arguments, request->environment);
}

// Alone in its frame: after vfork the child runs on this very stack, and the compiler must have
// nothing else to keep there.
static __attribute__((noinline)) pid_t start(
    const struct weft_spawn_request *request, struct child_report *report) {
  pid_t child = vfork();
  if (child != 0) return child;
  become(request, report);
  report->error = errno;
  _exit(127);
}

pid_t weft_spawn(const struct weft_spawn_request *request, struct weft_spawn_failure *failure) {
  pthread_once(&realtime_asked, ask_for_realtime);
  struct child_report report = {.stage = 0, .error = 0};
  // A signal must not run a handler in the child while it borrows this memory.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t child = start(request, &report);
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);

  if (child > 0 && report.error == 0) return child;
  failure->stage = child < 0 ? WEFT_SPAWN_PROCESS : report.stage;
  failure->error = child < 0 ? error : report.error;
  if (child > 0)
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  return -1;
}

#elif defined(__APPLE__)

#include <spawn.h>

// posix_spawn tells one error for all stages; the directory is told apart by asking again.
static int failed_stage(const struct weft_spawn_request *request, int error) {
  if (error == EAGAIN || error == ENOMEM) return WEFT_SPAWN_PROCESS;
  if (request->directory != NULL && access(request->directory, X_OK) != 0)
    return WEFT_SPAWN_DIRECTORY;
  return WEFT_SPAWN_PROGRAM;
}

pid_t weft_spawn(const struct weft_spawn_request *request, struct weft_spawn_failure *failure) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  if (request->directory != NULL)
    posix_spawn_file_actions_addchdir_np(&actions, request->directory);
  posix_spawn_file_actions_adddup2(&actions, request->input, 0);
  posix_spawn_file_actions_adddup2(&actions, request->output, 1);
  posix_spawn_file_actions_adddup2(&actions, request->errors, 2);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
                       | POSIX_SPAWN_CLOEXEC_DEFAULT);
  pid_t child = -1;
  int error = posix_spawn(
      &child, request->program, &actions, &attributes, request->arguments, request->environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return child;
  failure->stage = failed_stage(request, error);
  failure->error = error;
  return -1;
}

#else
#error "weft_spawn knows Linux and macOS"
#endif
