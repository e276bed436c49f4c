#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)

#include <linux/sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

// Written by the child and read by the parent: they share memory until execve.
struct child_report {
  volatile int stage;
  volatile int error;
};

enum { first_realtime = 32, signal_count = 64 };

// The kernel's own struct. Its first member is the handler on every architecture, and all members are zero for the
// default.
union disposition {
  void *handler;
  char bytes[64];
};

// Not sigaction(): glibc hides the two signals that it uses itself, and they can be inherited as ignored.
static void *handler_of(int number) {
  union disposition now = {.bytes = {0}};
  if (syscall(SYS_rt_sigaction, number, NULL, &now, sizeof(uint64_t)) < 0) return SIG_DFL;
  return now.handler;
}

static void reset(int number) {
  union disposition standard = {.bytes = {0}};
  syscall(SYS_rt_sigaction, number, &standard, NULL, sizeof(uint64_t));
}

// The signals from `first` on that do not have the default action, one bit each.
static unsigned long changed_from(int first) {
  unsigned long changed = 0;
  for (int number = first; number <= signal_count; number++)
    if (handler_of(number) != (void *)SIG_DFL) changed |= 1UL << (number - 1);
  return changed;
}

// The known dispositions of the process. Querying all 64 costs a spawn some 20 us; so the realtime ones are queried
// once, and the others each time unless the program has promised not to change them.
static atomic_ulong changed;
static atomic_int are_settled;
static pthread_once_t asked = PTHREAD_ONCE_INIT;

static void ask_for_realtime(void) { atomic_fetch_or(&changed, changed_from(first_realtime)); }

void weft_spawn_settle_dispositions(void) {
  atomic_store(&changed, changed_from(1));
  atomic_store(&are_settled, 1);
}

// Resets handlers too, although execve does: after vfork one might run in the child, on the parent's memory, once the
// mask is empty.
static void reset_dispositions(void) {
  unsigned long known = atomic_load_explicit(&changed, memory_order_relaxed);
  int first = 1;
  if (!atomic_load_explicit(&are_settled, memory_order_relaxed))
    for (; first < first_realtime; first++)
      if (handler_of(first) != (void *)SIG_DFL) reset(first);
  for (known >>= first - 1; known; known &= known - 1) reset(first + __builtin_ctzl(known));
}

struct directory_entry {  // linux_dirent64, which no header declares
  uint64_t inode;
  int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

// For kernels before 5.9. Does not use opendir: it allocates, and the memory is the parent's.
static int close_listed_from(int first) {
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
      if (descriptor >= first && descriptor != listing) close(descriptor);
      at += entry->length;
    }
  }
  close(listing);
  return count == 0 ? 0 : -1;
}

static int close_from(int first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0) return 0;
#endif
  if (close_listed_from(first) == 0) return 0;
  long limit = sysconf(_SC_OPEN_MAX);
  if (limit < 0) return -1;
  for (int descriptor = first; descriptor < limit; descriptor++) close(descriptor);
  return 0;
}

// Moves the program's descriptors to their numbers. A descriptor that already has such a number is moved up first, so
// that no dup2 overwrites one that is still needed and none keeps its close-on-exec flag.
static int place_descriptors(const struct weft_spawn_request *request) {
  const int count = 3 + request->further_count;
  int from[3 + WEFT_SPAWN_FURTHER_LIMIT] = {request->input, request->output, request->errors};
  for (int target = 3; target < count; target++) from[target] = request->further[target - 3];
  for (int target = 0; target < count; target++) {
    if (from[target] >= count) continue;
    from[target] = fcntl(from[target], F_DUPFD_CLOEXEC, count);
    if (from[target] < 0) return -1;
  }
  for (int target = 0; target < count; target++)
    if (dup2(from[target], target) < 0) return -1;
  return close_from(count);
}

// Enters the cgroup from inside the child, as its first act, if the child was not created in it.
static int enter_cgroup(int directory) {
  int processes = openat(directory, "cgroup.procs", O_WRONLY | O_CLOEXEC);
  if (processes < 0) return -1;
  return write(processes, "0", 1) == 1 ? 0 : -1;
}

// Creates a new session; or, at a terminal, a new foreground group in this session. The latter with all signals
// blocked, so that TTOU does not stop a process that is not in the foreground yet.
static int leave_group(int terminal) {
  if (terminal < 0) return setsid() < 0 ? -1 : 0;
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, NULL);
  if (setpgid(0, 0) < 0) return -1;
  pid_t own = getpid();
  return ioctl(terminal, TIOCSPGRP, &own);
}

// Forgets signals that were sent to the group which the child has left, as by ^C or timeout(1): they are not meant for the
// program. They are blocked; ignoring one discards it, and the dispositions are the child's own.
static void forget_pending_signals(void) {
  sigset_t pending;
  if (sigpending(&pending) < 0) return;
  for (int number = 1; number <= signal_count; number++) {
    if (sigismember(&pending, number) != 1) continue;
    union disposition ignored = {.handler = (void *)SIG_IGN};
    syscall(SYS_rt_sigaction, number, &ignored, NULL, sizeof(uint64_t));
    reset(number);
  }
}

static void take_no_notice(int number) { (void)number; }

// Ignores ^Z until execve. It would stop a child that is in the foreground but is not the program yet, and forever,
// because the thread that could notice waits for the execve. So that key press is lost; execve restores the default.
static void outlast_terminal_stop(void) {
  struct sigaction action = {.sa_handler = take_no_notice};
  sigaction(SIGTSTP, &action, NULL);
}

static int become(
    const struct weft_spawn_request *request, int is_in_cgroup, struct child_report *report) {
  report->stage = WEFT_SPAWN_CGROUP;
  if (!is_in_cgroup && enter_cgroup(request->cgroup) < 0) return -1;
  report->stage = WEFT_SPAWN_SESSION;
  if (request->terminal >= 0 && leave_group(request->terminal) < 0) return -1;
  // As early as possible: until then this child holds the pipes of every running program and keeps their output from
  // ending.
  report->stage = WEFT_SPAWN_DESCRIPTORS;
  if (place_descriptors(request) < 0) return -1;
  report->stage = WEFT_SPAWN_SESSION;
  if (request->terminal < 0 && leave_group(-1) < 0) return -1;
  forget_pending_signals();
  weft_descriptor_limit_give_back();
  reset_dispositions();
  if (request->terminal >= 0) outlast_terminal_stop();
  report->stage = WEFT_SPAWN_DIRECTORY;
  if (request->directory != NULL && chdir(request->directory) < 0) return -1;
  report->stage = WEFT_SPAWN_PROGRAM;
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  return execve(request->program, request->arguments, request->environment);
}

// Calls clone3(2) like vfork, on the same stack; 0 in the child. Inline, because the child must not return from any
// function but those it calls itself; libc's syscall() would be such a function.
#if defined(__x86_64__)
#define WEFT_HAS_CLONE 1
static inline __attribute__((always_inline)) long clone_here(struct clone_args *arguments) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "0"(SYS_clone3), "D"(arguments), "S"(sizeof *arguments)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
#define WEFT_HAS_CLONE 1
static inline __attribute__((always_inline)) long clone_here(struct clone_args *arguments) {
  register long number __asm__("x8") = SYS_clone3;
  register long first __asm__("x0") = (long)arguments;
  register long second __asm__("x1") = sizeof *arguments;
  __asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second) : "memory");
  return first;
}
#endif

// The next two functions have frames of their own: the child runs on this same stack, and the compiler must not keep
// anything else there.
#if defined(WEFT_HAS_CLONE)
static __attribute__((noinline)) long start_by_clone(
    const struct weft_spawn_request *request, struct clone_args *arguments,
    struct child_report *report) {
  long child = clone_here(arguments);
  if (child != 0) return child;
  become(request, 1, report);
  report->error = errno;
  _exit(127);
}
#endif

static __attribute__((noinline)) pid_t start_by_vfork(
    const struct weft_spawn_request *request, struct child_report *report) {
  pid_t child = vfork();
  if (child != 0) return child;
  become(request, request->cgroup < 0, report);
  report->error = errno;
  _exit(127);
}

// Starts the child with vfork. Signals are blocked meanwhile, because no handler may run in the child, and for
// forget_pending_signals.
static long start_masked(const struct weft_spawn_request *request, struct child_report *report) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t child = start_by_vfork(request, report);
  int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return child < 0 ? -error : child;
}

#if defined(WEFT_HAS_CLONE)
// Set once clone3 was refused where vfork succeeded: kernels before 5.7, some sandboxes.
static atomic_int clone_is_refused;

static int is_refusal(int error) { return error == ENOSYS || error == EINVAL || error == EPERM; }

// The child's pid, or a negated errno. No signal can run a handler in the child while it shares this memory: it is
// created without handlers.
static long start(const struct weft_spawn_request *request, struct child_report *report) {
  if (atomic_load_explicit(&clone_is_refused, memory_order_relaxed))
    return start_masked(request, report);
  struct clone_args arguments = {
      .flags = CLONE_VM | CLONE_VFORK | CLONE_CLEAR_SIGHAND
               | (request->cgroup >= 0 ? CLONE_INTO_CGROUP : 0),
      .exit_signal = SIGCHLD,
      .cgroup = request->cgroup >= 0 ? (uint64_t)request->cgroup : 0,
  };
  // Blocked until the child has left this group, so that it can forget what is sent to the group.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  long child = start_by_clone(request, &arguments, report);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (child >= 0 || !is_refusal((int)-child)) return child;
  child = start_masked(request, report);
  if (child >= 0) atomic_store(&clone_is_refused, 1);
  return child;
}

static __attribute__((noinline)) long end_at_once(struct clone_args *arguments) {
  long child = clone_here(arguments);
  if (child == 0) _exit(0);
  return child;
}

int weft_probe_cgroup(int directory) {
  struct clone_args arguments = {
      .flags = CLONE_VM | CLONE_VFORK | CLONE_CLEAR_SIGHAND | CLONE_INTO_CGROUP,
      .exit_signal = SIGCHLD,
      .cgroup = (uint64_t)directory,
  };
  long child = end_at_once(&arguments);
  if (child < 0) return is_refusal((int)-child) ? 0 : (int)child;
  int status = 0;
  while (waitpid((pid_t)child, &status, 0) < 0)
    if (errno != EINTR) return -errno;
  return status == 0 ? 0 : -EOWNERDEAD;
}
#else
#define start start_masked

int weft_probe_cgroup(int directory) {
  (void)directory;
  return 0;
}
#endif

pid_t weft_spawn(const struct weft_spawn_request *request, struct weft_spawn_failure *failure) {
  pthread_once(&asked, ask_for_realtime);
  struct child_report report = {.stage = 0, .error = 0};
  long child = start(request, &report);
  if (child > 0 && report.error == 0) return (pid_t)child;
  failure->stage = child < 0 ? WEFT_SPAWN_PROCESS : report.stage;
  failure->error = child < 0 ? (int)-child : report.error;
  if (child > 0)
    while (waitpid((pid_t)child, NULL, 0) < 0 && errno == EINTR) continue;
  return -1;
}

#elif defined(__APPLE__)

#include <spawn.h>

int weft_probe_cgroup(int directory) {
  (void)directory;
  return -ENOSYS;
}

// posix_spawn always resets all of them in one call.
void weft_spawn_settle_dispositions(void) {}

// posix_spawn reports one error for all stages; a second call finds out if the directory was at fault.
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
  for (int further = 0; further < request->further_count; further++)
    posix_spawn_file_actions_adddup2(&actions, request->further[further], 3 + further);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  // The parent makes the group the terminal's foreground group: posix_spawn cannot.
  int own = request->terminal < 0 ? POSIX_SPAWN_SETSID : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(
      &attributes, own | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK
                       | POSIX_SPAWN_CLOEXEC_DEFAULT);
  pid_t child = -1;
  int error = posix_spawn(
      &child, request->program, &actions, &attributes, request->arguments, request->environment);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0 && request->terminal >= 0) tcsetpgrp(request->terminal, child);
  if (error == 0) return child;
  failure->stage = failed_stage(request, error);
  failure->error = error;
  return -1;
}

#else
#error "weft_spawn knows Linux and macOS"
#endif
