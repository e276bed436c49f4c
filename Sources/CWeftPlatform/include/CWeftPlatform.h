// What Swift's Glibc overlay does not reach, or cannot do: starting a program out of a vfork, and the
// descriptors that only Linux has. Every function that can fail returns a negated errno, or says so.
#ifndef CWEFT_PLATFORM_H
#define CWEFT_PLATFORM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// MARK: spawn.c

/// How far a child had come when it could not go on.
enum weft_spawn_stage {
  WEFT_SPAWN_PROCESS = 1,      // no process could be made
  WEFT_SPAWN_SESSION = 2,      // setsid
  WEFT_SPAWN_DIRECTORY = 3,    // chdir
  WEFT_SPAWN_DESCRIPTORS = 4,  // dup2 to 0-2, or closing the rest
  WEFT_SPAWN_PROGRAM = 5,      // execve
  WEFT_SPAWN_CGROUP = 6,       // entering the cgroup
};

struct weft_spawn_failure {
  int stage;
  int error;
};

/// What a child is made of. Everything is borrowed until `weft_spawn` returns.
struct weft_spawn_request {
  const char *program;    // execve's path: not searched for; relative to `directory`
  char *const *arguments;
  char *const *environment;
  const char *directory;  // NULL: the caller's
  int input;              // become the child's 0, 1 and 2, and stay the caller's to close
  int output;
  int errors;
  const int *further;     // become the child's 3, 4 ...; `WEFT_SPAWN_FURTHER_LIMIT` at most
  int further_count;
  int terminal;           // -1: a session of its own. Else a group of its own in this session, which
                          // becomes the foreground group of this terminal, the session's
  int cgroup;             // -1, or the directory of the cgroup (v2) that it begins its life in
};

enum { WEFT_SPAWN_FURTHER_LIMIT = 4 };

/// Starts a program as leader of its own session and group, with no descriptors but those named,
/// default dispositions and an empty mask. Returns its pid once it has become that program, or -1 with
/// `failure` filled in; the failed child has then been reaped.
pid_t weft_spawn(const struct weft_spawn_request *request, struct weft_spawn_failure *failure);

/// Whether a child can begin its life in the cgroup (v2) of that directory: 0, or a negated errno. Where a
/// child would have to enter it by itself, that is not tried. A kernel may kill whoever begins in another
/// group than one that was killed once, if its parent is in that (Linux 6.18): -EOWNERDEAD.
int weft_probe_cgroup(int directory);

/// Promises that what this process does at signals will not change any more; programs are then started
/// without asking for it each time.
void weft_spawn_settle_dispositions(void);

// MARK: process.c

/// A descriptor that polls readable once the child `pid` has exited and, until it is reaped, ever after.
int weft_exit_descriptor(pid_t pid);

/// 1 when the child `pid` has exited and waits to be reaped, 0 when it runs. It is not reaped.
/// `*code` is then its exit code, or -1 if a signal ended it. -ECHILD if this process has no such child: it
/// was reaped elsewhere, or by the kernel, because SIGCHLD is ignored.
int weft_has_exited(pid_t pid, int *code);

/// Sends a signal to the process that a `weft_exit_descriptor` stands for, which need not be a child;
/// -ENOSYS where the system has no such thing.
int weft_signal_held(int descriptor, int signal);

/// Whether this process has a child at all, alive or not.
int weft_has_children(void);

/// A child that has exited and waits to be reaped, or 0. It is not reaped.
pid_t weft_exited_child(void);

/// Reaps the child `pid` if it has exited.
void weft_reap(pid_t pid);

/// From now on this process is the parent of all descendants that lose theirs (Linux).
int weft_become_subreaper(void);

/// From now on no other process of the same user may look into this one, and it leaves no core file (Linux).
void weft_hide_memory(void);

/// Who passes the gate may have made a child that is not registered yet; who has shut it knows that
/// there is none. Any number may pass at once.
void weft_start_gate_pass(void);
void weft_start_gate_passed(void);
void weft_start_gate_shut(void);
void weft_start_gate_open(void);

/// Whether a process other than `leader`, which has exited and is not yet reaped, is in its group.
/// 1 also for zombies, and where it cannot be told. May raise those at the lowest priority by one.
int weft_group_has_others(pid_t leader);

// MARK: descriptors.c

/// Both ends are closed on exec.
int weft_pipe(int ends[2]);

/// A descriptor pair that wakes a poll: write to `*signal`, poll and drain `*wait`. One eventfd on Linux.
int weft_wake_open(int *wait, int *signal);
void weft_wake_signal(int signal);
void weft_wake_drain(int wait);

/// Asks for a pipe of `bytes`; the kernel may refuse, and the pipe then stays as it is.
void weft_pipe_grow(int descriptor, int bytes);

/// Writes like write(2), but a pipe without a reader is -EPIPE and no signal, whatever SIGPIPE does here.
ssize_t weft_write_quietly(int descriptor, const void *bytes, size_t count);

/// Polls one descriptor for `events`; returns 1 when ready, 0 after `milliseconds` (-1: never).
int weft_poll_one(int descriptor, short events, int milliseconds);

/// Whether somebody has a FIFO open for writing, or has written into it, or had it open since `fifo` was
/// opened without waiting. Nothing is read.
int weft_fifo_is_fed(int fifo);

/// Polls; `nanoseconds` below zero waits for ever.
struct pollfd;
int weft_poll(struct pollfd *descriptors, unsigned count, int64_t nanoseconds);

/// Opens a directory to open others in, for which the right to search it is enough; no link is followed.
int weft_enter(int directory, const char *name);
/// The same by a path, whose links are followed.
int weft_enter_following(const char *path);

/// A read-write file without a name in `directory`, mode 0600.
int weft_nameless_file(const char *directory);

/// Columns and rows of the terminal; 0 on success.
int weft_terminal_size(int descriptor, unsigned short *columns, unsigned short *rows);

/// The mode that a file gets which is made without one.
unsigned weft_mode_of_new_files(void);

/// Fills `bytes` from the kernel's generator; 0 on success.
int weft_random(void *bytes, size_t count);

// MARK: checksum.c

/// Goes on with a CRC-32C (Castagnoli; RFC 3720, appendix B.4) over `bytes`; the first begins with 0.
uint32_t weft_crc32c(uint32_t checksum, const void *bytes, size_t count);
/// The same without the processor's own instruction, for tests.
uint32_t weft_crc32c_by_table(uint32_t checksum, const void *bytes, size_t count);

// MARK: storage.c

/// Makes what was written to the file survive a loss of power, its times perhaps not.
int weft_synchronize_data(int file);
/// Gives a file `bytes` of the disk's room without writing to it; a negated errno.
int weft_reserve(int file, int64_t bytes);
/// Takes the file's lock for this opening of it alone, which must be for writing; -EWOULDBLOCK where another has it.
/// It ends with the last descriptor of the opening (an open file description's lock, fcntl(2)).
int weft_lock(int file);
/// Gives the file's lock back.
void weft_unlock(int file);
/// 1 if another opening of the file has its lock; 0 or a negated errno if not. Nobody notices the question.
int weft_is_locked(int file);
/// The bytes that are free on the file's disk for this user, or a negated errno.
int64_t weft_free_bytes(int file);

// MARK: limits.c

/// How many descriptors the process may number: the soft RLIMIT_NOFILE.
int weft_descriptor_limit(void);
/// Raises it as far as this process may; programs started from now on get back what it was before.
int weft_descriptor_limit_raise(void);
/// For a child between its making and execve.
void weft_descriptor_limit_give_back(void);
/// How many descriptors with numbers below `below` are open.
int weft_open_descriptors(int below);

// MARK: threads.c

/// Starts a detached thread that blocks all signals but those that faults raise, and CHLD while it has no
/// handler.
int weft_thread_start(size_t stack, void (*run)(void *context), void *context);

/// Where one thread waits for a wake; one that comes before the wait is kept.
struct weft_parking;
struct weft_parking *weft_parking_create(void);
void weft_parking_destroy(struct weft_parking *place);
/// 1 after a wake, 0 when `nanoseconds` have passed without one; below zero waits for ever.
int weft_parking_park(struct weft_parking *place, int64_t nanoseconds);
void weft_parking_unpark(struct weft_parking *place);

/// Thread-specific pointers; a key, or a negated errno.
long weft_thread_key_create(void (*release)(void *value));
void *weft_thread_key_get(unsigned long key);
void weft_thread_key_set(unsigned long key, void *value);

// MARK: signals.c

int weft_signal_is_ignored(int number);
/// Blocks on the calling thread, and on those that it makes from now on.
int weft_signal_block(int number);
/// Waits for one of the signals of `mask` (bit n-1: signal n), which must be blocked; its number.
int weft_signal_wait(uint64_t mask);
void weft_signal_ignore(int number);
/// Gives the signal its default effect.
void weft_signal_restore(int number);
/// Ends the process by the signal's default action.
void weft_signal_die(int number) __attribute__((noreturn));

// MARK: jobs.c

/// Makes `group` the foreground group of the terminal, also when the caller is not in it.
int weft_terminal_lend(int terminal, pid_t group);
/// Takes effect at once, also when the caller is in the background.
struct termios;
int weft_terminal_set_modes(int terminal, const struct termios *modes);
/// The signal that has stopped the child `pid`; 0 when it runs, has been continued or has exited. May be
/// asked again and again.
int weft_stopped_by(pid_t pid);
/// Stops this process by the default action of `number`, which must be in force, and returns when it has
/// been continued; at once where the system does not stop it (TSTP of an orphaned group).
void weft_signal_stop(int number);

// MARK: system.c

/// CLOCK_MONOTONIC and CLOCK_REALTIME.
int64_t weft_monotonic_nanoseconds(void);
int64_t weft_wall_nanoseconds(void);
/// Since the machine was started, time in which it slept included; 0 where there is no such clock.
int64_t weft_boot_nanoseconds(void);
/// Blocks the calling thread, however often signals interrupt it.
void weft_sleep(int64_t nanoseconds);

/// "ENOENT", or NULL for a number without a name.
const char *weft_error_name(int error);
/// "No such file or directory", written into `text`.
void weft_error_text(int error, char *text, size_t size);
/// Processors this process may run on; at least 1.
int weft_processor_count(void);
/// The path of the running program, written into `path`; its length, or a negated errno.
ssize_t weft_executable_path(char *path, size_t size);
/// The process's environment as execve takes it.
char **weft_environment(void);
/// Names the calling thread in debuggers and top; at most 15 bytes count.
void weft_name_thread(const char *name);

#endif
