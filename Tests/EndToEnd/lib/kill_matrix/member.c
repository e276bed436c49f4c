// A process of a step, for the kill matrix. It holds the lock that proves its life, reports when it is up and which
// signal ended it, and misbehaves as the words after its name say.
//
//   member DIRECTORY NAME [ignore-term] [ignore-int] [silent] [session] [leave-group] [daemon] [write] [stop]
//          [multiply]
//
// In DIRECTORY: `lock`, held shared for life; `up.fifo`, gets the line "NAME up TIME"; `told`, gets "NAME SIGNAL TIME"
// when a signal that can be caught ends it. Times are nanoseconds of the system-wide clock.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

static const char *directory, *name;
static int told = -1;

static void fail(const char *what) {
  fprintf(stderr, "member %s: %s: %s\n", name, what, strerror(errno));
  _exit(99);
}

static int opened(const char *file, int flags) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, file);
  int descriptor = open(path, flags | O_CLOEXEC, 0600);
  if (descriptor < 0) fail(path);
  return descriptor;
}

// One write, shorter than PIPE_BUF, so that lines of several members do not mix.
static void tell(int descriptor, const char *what) {
  char line[256];
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  int length = snprintf(line, sizeof line, "%s %s %lld\n", name, what,
                        now.tv_sec * 1000000000LL + now.tv_nsec);
  if (write(descriptor, line, (size_t)length) != length) _exit(98);
}

static void report_up(void) {
  int fifo = opened("up.fifo", O_WRONLY);
  tell(fifo, "up");
  close(fifo);
}

static void end_by(int signal_number) {
  tell(told, signal_number == SIGTERM ? "TERM" : signal_number == SIGHUP ? "HUP" : "PIPE");
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

static void catch(int signal_number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(signal_number, &action, NULL);
}

static void be_silent(void) {
  int null = open("/dev/null", O_RDWR);
  for (int descriptor = 0; descriptor < 3; descriptor++) dup2(null, descriptor);
  close(null);
}

// Moves to the top of the tree of control groups (cgroup v2), where that exists and is permitted.
static void leave_group(void) {
  char path[4096 + sizeof "/cgroup.procs"], line[8192], top[4096];
  FILE *mounts = fopen("/proc/mounts", "re");
  while (mounts != NULL && fgets(line, sizeof line, mounts) != NULL) {
    if (sscanf(line, "%*s %4095s cgroup2 ", top) != 1 || strstr(line, " cgroup2 ") == NULL) continue;
    snprintf(path, sizeof path, "%s/cgroup.procs", top);
    int group = open(path, O_WRONLY | O_CLOEXEC);
    if (group >= 0 && write(group, "0", 1) < 0) fail(path);
    if (group >= 0) close(group);
  }
  if (mounts != NULL) fclose(mounts);
}

// Like daemon(3), with the second fork that daemon(3) omits.
static void become_daemon(void) {
  if (fork() != 0) _exit(0);
  setsid();
  if (fork() != 0) _exit(0);
  if (chdir("/") != 0) fail("chdir");
  be_silent();
}

// Stops a child, and then the whole group.
static void stop(void) {
  pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    for (;;) pause();
  }
  int status;
  if (waitpid(child, &status, WUNTRACED) != child || !WIFSTOPPED(status)) fail("stop");
  report_up();
  kill(0, SIGSTOP);
  for (;;) pause();
}

// Whenever one of them receives TERM, or a parent, child or sibling of one dies, it forks, up to this total. Every
// second one gets a session of its own.
enum { first_of_all = 8, most_of_all = 400 };
static int *made;

static void multiply_once(int signal_number) {
  (void)signal_number;
  int number = __atomic_add_fetch(made, 1, __ATOMIC_SEQ_CST);
  if (number > most_of_all || fork() != 0) return;
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGUSR1);
#endif
  if (number % 2 != 0) setsid();
}

static void multiply(void) {
  made = mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) fail("mmap");
  catch(SIGTERM, multiply_once);
  catch(SIGUSR1, multiply_once);
  catch(SIGCHLD, multiply_once);
  pid_t maker = getpid();
  for (int i = 0; i < first_of_all; i++)
    if (getpid() == maker) multiply_once(0);
  if (getpid() == maker) report_up();
  for (;;) {
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
    pause();
  }
}

int main(int count, char **words) {
  if (count < 3) return 97;
  directory = words[1];
  name = words[2];
  int lock = opened("lock", O_RDONLY);
  fcntl(lock, F_SETFD, 0);
  if (flock(lock, LOCK_SH) != 0) fail("flock");
  told = opened("told", O_WRONLY | O_APPEND | O_CREAT);
  catch(SIGTERM, end_by);
  catch(SIGHUP, end_by);
  catch(SIGPIPE, end_by);
  int writes = 0;
  for (int i = 3; i < count; i++) {
    const char *word = words[i];
    if (strcmp(word, "ignore-term") == 0) signal(SIGTERM, SIG_IGN);
    else if (strcmp(word, "ignore-int") == 0) signal(SIGINT, SIG_IGN);
    else if (strcmp(word, "silent") == 0) be_silent();
    else if (strcmp(word, "session") == 0) setsid();
    else if (strcmp(word, "leave-group") == 0) leave_group();
    else if (strcmp(word, "daemon") == 0) become_daemon();
    else if (strcmp(word, "write") == 0) writes = 1;
    else if (strcmp(word, "stop") == 0) stop();
    else if (strcmp(word, "multiply") == 0) multiply();
    else return 96;
  }
  report_up();
  while (writes) {
    static const char line[] = "a line of the many that fill a pipe\n";
    if (write(1, line, sizeof line - 1) < 0 && errno != EINTR) fail("write");
  }
  for (;;) pause();
}
