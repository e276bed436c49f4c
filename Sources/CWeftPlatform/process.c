#include "platform.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int weft_has_exited(pid_t pid) {
  siginfo_t exited;
  exited.si_pid = 0;
  while (waitid(P_PID, (id_t)pid, &exited, WEXITED | WNOHANG | WNOWAIT) < 0)
    if (errno != EINTR) return -errno;
  return exited.si_pid == pid;
}

#if defined(__linux__)

#include <sys/syscall.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int weft_exit_descriptor(pid_t pid) {
  long descriptor = syscall(SYS_pidfd_open, pid, 0U);
  return descriptor < 0 ? -errno : (int)descriptor;
}

// kill(-group, 0) counts the zombie leader, and a walk over /proc is a thousand times dearer. So the
// zombie, which no longer minds, gets the lowest priority, and the group is asked for its highest.
int weft_group_has_others(pid_t leader) {
  enum { lowest = 19 };
  if (setpriority(PRIO_PROCESS, (id_t)leader, lowest) < 0) return 1;
  errno = 0;
  int highest = getpriority(PRIO_PGRP, (id_t)leader);
  if (highest == -1 && errno != 0) return 1;
  return highest != lowest;
}

#elif defined(__APPLE__)

#include <stdlib.h>
#include <sys/event.h>
#include <sys/sysctl.h>

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
