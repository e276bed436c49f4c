#include "platform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

// A background process that changes the terminal is stopped by TTOU, unless the calling thread blocks the signal
// (POSIX, General Terminal Interface §11.1.4).
static void block(int number, sigset_t *before) {
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_BLOCK, &one, before);
}

int weft_terminal_lend(int terminal, pid_t group) {
  sigset_t before;
  block(SIGTTOU, &before);
  int error = tcsetpgrp(terminal, group) < 0 ? -errno : 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

int weft_terminal_set_modes(int terminal, const struct termios *modes) {
  sigset_t before;
  block(SIGTTOU, &before);
  int error = tcsetattr(terminal, TCSANOW, modes) < 0 ? -errno : 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return error;
}

int weft_stopped_by(pid_t pid) {
  siginfo_t stopped;
  stopped.si_pid = 0;
  while (waitid(P_PID, (id_t)pid, &stopped, WSTOPPED | WNOHANG | WNOWAIT) < 0)
    if (errno != EINTR) return 0;
  return stopped.si_pid == pid ? stopped.si_status : 0;
}

static void ignore_signal(int number) { (void)number; }

void weft_interrupt_on_continue(struct sigaction *before) {
  struct sigaction action = {.sa_handler = ignore_signal};
  sigemptyset(&action.sa_mask);
  sigaction(SIGCONT, &action, before);
}

void weft_signal_stop(int number) {
  sigset_t one, before;
  sigemptyset(&one);
  sigaddset(&one, number);
  pthread_sigmask(SIG_UNBLOCK, &one, &before);
  raise(number);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}
