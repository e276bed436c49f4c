#include "platform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int weft_has_exited(pid_t pid, int *code) {
  siginfo_t exited;
  exited.si_pid = 0;
  while (waitid(P_PID, (id_t)pid, &exited, WEXITED | WNOHANG | WNOWAIT) < 0)
    if (errno != EINTR) return -errno;
  *code = exited.si_code == CLD_EXITED ? exited.si_status : -1;
  return exited.si_pid == pid;
}

int weft_has_children(void) {
  siginfo_t any;
  while (waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) < 0)
    if (errno != EINTR) return errno != ECHILD;
  return 1;
}

pid_t weft_exited_child(void) {
  siginfo_t exited;
  exited.si_pid = 0;
  while (waitid(P_ALL, 0, &exited, WEXITED | WNOHANG | WNOWAIT) < 0)
    if (errno != EINTR) return 0;
  return exited.si_pid;
}

void weft_reap(pid_t pid) {
  while (waitpid(pid, NULL, WNOHANG) < 0 && errno == EINTR) continue;
}

static pthread_rwlock_t start_gate = PTHREAD_RWLOCK_INITIALIZER;

void weft_start_gate_pass(void) { pthread_rwlock_rdlock(&start_gate); }
void weft_start_gate_passed(void) { pthread_rwlock_unlock(&start_gate); }
void weft_start_gate_shut(void) { pthread_rwlock_wrlock(&start_gate); }
void weft_start_gate_open(void) { pthread_rwlock_unlock(&start_gate); }

#if defined(__linux__)

#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

int weft_become_subreaper(void) {
  return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 ? -errno : 0;
}

void weft_hide_memory(void) { prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

int weft_signal_held(int descriptor, int signal) {
  return syscall(SYS_pidfd_send_signal, descriptor, signal, NULL, 0U) < 0 ? -errno : 0;
}

int weft_exit_descriptor(pid_t pid) {
  long descriptor = syscall(SYS_pidfd_open, pid, 0U);
  return descriptor < 0 ? -errno : (int)descriptor;
}

// Whether the zombie leader, at the nice value `value`, has the highest priority in its group.
static int leads_at(pid_t leader, int value) {
  if (setpriority(PRIO_PROCESS, (id_t)leader, value) < 0) return 0;
  errno = 0;
  int highest = getpriority(PRIO_PGRP, (id_t)leader);
  return highest == value && errno == 0;
}

// kill(-group, 0) counts the zombie leader, and walking /proc is a thousand times more expensive. So the zombie, which
// does not run any more, gets the second-lowest priority, and the group is queried for its highest: that finds any
// process with a higher one. Then the whole group is raised to that priority. The call is refused if it finds a process
// below, unless this process has the privilege to raise it, which makes it visible to the last query. A leader that had
// the lowest priority itself cannot be raised; then only a walk over /proc can tell.
int weft_group_has_others(pid_t leader) {
  enum { lowest = 19, second = lowest - 1 };
  if (!leads_at(leader, second)) return 1;
  if (setpriority(PRIO_PGRP, (id_t)leader, second) < 0) return 1;
  return !leads_at(leader, lowest);
}

#elif defined(__APPLE__)

#include <stdlib.h>
#include <sys/event.h>
#include <sys/sysctl.h>

int weft_become_subreaper(void) { return -ENOSYS; }

void weft_hide_memory(void) {}

int weft_signal_held(int descriptor, int signal) {
  (void)descriptor, (void)signal;
  return -ENOSYS;
}

int weft_exit_descriptor(pid_t pid) {
  int queue = kqueue();
  if (queue < 0) return -errno;
  struct kevent exit;
  EV_SET(&exit, pid, EVFILT_PROC, EV_ADD, NOTE_EXIT, 0, NULL);
  if (kevent(queue, &exit, 1, NULL, 0, NULL) == 0) return queue;
  int error = errno;
  close(queue);
  return -error;
}

int weft_group_has_others(pid_t leader) {
  int query[] = {CTL_KERN, KERN_PROC, KERN_PROC_PGRP, leader};
  size_t size = 0;
  if (sysctl(query, 4, NULL, &size, NULL, 0) < 0) return 1;
  return size > sizeof(struct kinfo_proc);
}

#endif
