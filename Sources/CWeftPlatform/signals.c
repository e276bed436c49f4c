#include "platform.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int weft_signal_is_ignored(int number) {
  struct sigaction action;
  return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

int weft_signal_block(int number) {
  sigset_t one;
  sigemptyset(&one);
  if (sigaddset(&one, number) < 0) return -errno;
  return -pthread_sigmask(SIG_BLOCK, &one, NULL);
}

int weft_signal_wait(uint64_t mask) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (int number = 1; number <= 64; number++)
    if (mask & (UINT64_C(1) << (number - 1))) sigaddset(&wanted, number);
  int number;
  int failed = sigwait(&wanted, &number);
  return failed ? -failed : number;
}

void weft_signal_ignore(int number) { signal(number, SIG_IGN); }

void weft_signal_restore(int number) { signal(number, SIG_DFL); }
