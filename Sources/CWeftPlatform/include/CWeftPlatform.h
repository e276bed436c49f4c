// Functions that Swift's Glibc overlay lacks or that Swift cannot express: spawning with vfork, and the descriptors
// that only Linux has. A function that can fail returns a negated errno unless its comment says otherwise.
#ifndef CWEFT_PLATFORM_H
#define CWEFT_PLATFORM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// MARK: spawn.c

/// The stage at which a spawn failed.
enum weft_spawn_stage {
  WEFT_SPAWN_PROCESS = 1,      // no process could be created
  WEFT_SPAWN_SESSION = 2,      // setsid
  WEFT_SPAWN_DIRECTORY = 3,    // chdir
  WEFT_SPAWN_DESCRIPTORS = 4,  // dup2 to 0-2, or closing the others
  WEFT_SPAWN_PROGRAM = 5,      // execve
  WEFT_SPAWN_CGROUP = 6,       // entering the cgroup
};

struct weft_spawn_failure {
  int stage;
  int error;
};

/// The properties of a child. Everything is borrowed until `weft_spawn` returns.
struct weft_spawn_request {
  const char *program;    // execve's path: not searched for; relative to `directory`
  char *const *arguments;
  char *const *environment;
  const char *directory;  // NULL: the caller's
  int input;              // become the child's 0, 1 and 2; the caller still has to close its own
  int output;
  int errors;
  const int *further;     // become the child's 3, 4 ...; at most `WEFT_SPAWN_FURTHER_LIMIT`
  int further_count;
  int terminal;           // -1: a new session. Otherwise a new group in this session, which becomes
                          // the foreground group of this terminal, the session's controlling one
  int cgroup;             // -1, or the directory of the cgroup (v2) that it is created in
};

enum { WEFT_SPAWN_FURTHER_LIMIT = 4 };

/// Spawns a program as leader of its own session and group, with only the descriptors named, default signal
/// dispositions and an empty signal mask. Returns its pid after a successful execve, or -1 with `failure` filled in;
/// the failed child has then been reaped.
pid_t weft_spawn(const struct weft_spawn_request *request, struct weft_spawn_failure *failure);

/// Whether a child can be created in the cgroup (v2) of that directory: 0, or a negated errno. Not tested on systems
/// where a child has to enter the cgroup by itself. If the parent is in a cgroup that was killed once, the kernel may
/// kill children created in a different one (Linux 6.18): -EOWNERDEAD.
int weft_probe_cgroup(int directory);

/// Promises that the signal dispositions of this process will not change any more; spawning then does not query them
/// each time.
void weft_spawn_settle_dispositions(void);

// MARK: process.c

/// A descriptor that becomes readable when the child `pid` exits, and stays readable until the child is reaped.
int weft_exit_descriptor(pid_t pid);

/// 1 if the child `pid` has exited and has not been reaped, 0 if it is running. Does not reap it. `*code` is then its
/// exit code, or -1 if it was killed by a signal. -ECHILD if this process has no such child: it was reaped elsewhere,
/// or by the kernel, because SIGCHLD is ignored.
int weft_has_exited(pid_t pid, int *code);

/// Sends a signal to the process behind a `weft_exit_descriptor`, which need not be a child; -ENOSYS if the system does
/// not support that.
int weft_signal_held(int descriptor, int signal);

/// Whether this process has any child, running or not yet reaped.
int weft_has_children(void);

/// A child that has exited and has not been reaped, or 0. Does not reap it.
pid_t weft_exited_child(void);

/// Reaps the child `pid` if it has exited.
void weft_reap(pid_t pid);

/// Makes this process the parent of all its descendants that lose their own from now on (Linux).
int weft_become_subreaper(void);

/// Denies other processes of the same user access to the memory of this one, and disables core files (Linux).
void weft_hide_memory(void);

/// A gate around the start of children. A thread that has passed it may have a child that is not registered yet; while
/// the gate is shut, there is none. Any number of threads may pass at the same time.
void weft_start_gate_pass(void);
void weft_start_gate_passed(void);
void weft_start_gate_shut(void);
void weft_start_gate_open(void);

/// Whether a process other than `leader`, which has exited and is not yet reaped, is in its group. 1 also for zombies,
/// and if the answer is unknown. May raise the priority of lowest-priority processes by one.
int weft_group_has_others(pid_t leader);

// MARK: descriptors.c

/// Creates a pipe; both ends are closed on exec.
int weft_pipe(int ends[2]);

/// Creates a descriptor pair that wakes a poll: write to `*signal`, poll and drain `*wait`. One eventfd on Linux.
int weft_wake_open(int *wait, int *signal);
void weft_wake_signal(int signal);
void weft_wake_drain(int wait);

/// Requests a pipe size of `bytes`; if the kernel refuses, the pipe keeps its size.
void weft_pipe_grow(int descriptor, int bytes);

/// Writes like write(2), but a pipe without a reader is -EPIPE and raises no signal, whatever the disposition of
/// SIGPIPE.
ssize_t weft_write_quietly(int descriptor, const void *bytes, size_t count);

/// Polls one descriptor for `events`; returns 1 when ready, 0 after `milliseconds` (-1: never).
int weft_poll_one(int descriptor, short events, int milliseconds);

/// Whether a process has a FIFO open for writing, or has written to it, or had it open since `fifo` was opened without
/// waiting. Reads nothing.
int weft_fifo_is_fed(int fifo);

/// Polls; waits forever if `nanoseconds` is negative.
struct pollfd;
int weft_poll(struct pollfd *descriptors, unsigned count, int64_t nanoseconds);

/// Opens a directory in order to open files in it; search permission is enough. Links are not followed.
int weft_enter(int directory, const char *name);
/// Opens a directory as `weft_enter` does, but by path, and follows links.
int weft_enter_following(const char *path);

/// Opens a read-write file without a name in `directory`, mode 0600.
int weft_nameless_file(const char *directory);

/// Reads the columns and rows of the terminal; 0 on success.
int weft_terminal_size(int descriptor, unsigned short *columns, unsigned short *rows);

/// The mode of a file that is created without an explicit one.
unsigned weft_mode_of_new_files(void);

/// Fills `bytes` from the kernel's random number generator; 0 on success.
int weft_random(void *bytes, size_t count);

// MARK: checksum.c

/// Continues a CRC-32C (Castagnoli; RFC 3720, appendix B.4) with `bytes`; the first `checksum` is 0.
uint32_t weft_crc32c(uint32_t checksum, const void *bytes, size_t count);
/// Does the work of `weft_crc32c` without the processor's instruction, for tests.
uint32_t weft_crc32c_by_table(uint32_t checksum, const void *bytes, size_t count);

// MARK: search.c

/// Whether `wanted`, of one byte at least, occurs in `bytes`.
int weft_contains(const void *bytes, size_t count, const void *wanted, size_t wanted_count);

// MARK: sha256.c

/// Adds `count` blocks of 64 bytes to the eight words of a SHA-256 (FIPS 180-4 §6.2.2).
void weft_sha256(uint32_t state[8], const void *blocks, size_t count);
/// Does the work of `weft_sha256` without the processor's instructions, for tests.
void weft_sha256_portably(uint32_t state[8], const void *blocks, size_t count);

// MARK: storage.c

/// Makes the data written to the file survive a power loss, but perhaps not its timestamps.
int weft_synchronize_data(int file);
/// Reserves `bytes` of disk space for a file without writing to it; 0 or a negated errno.
int weft_reserve(int file, int64_t bytes);
/// Gives back the disk space of the first `bytes` of a file, whose length stays the same; 0 or a negated errno.
int weft_free_start(int file, int64_t bytes);
/// Locks the file for this open file description only, which must be open for writing; -EWOULDBLOCK if a different one
/// holds the lock. The lock ends with the last descriptor of the open file description (fcntl(2)).
int weft_lock(int file);
/// Releases the file's lock.
void weft_unlock(int file);
/// 1 if a different open file description holds the file's lock; otherwise 0 or a negated errno. Does not affect the
/// lock.
int weft_is_locked(int file);
/// The free bytes on the file's disk for this user, or a negated errno.
int64_t weft_free_bytes(int file);

// MARK: limits.c

/// The limit of descriptor numbers: the soft RLIMIT_NOFILE.
int weft_descriptor_limit(void);
/// Raises the limit as far as this process may; programs spawned from now on get the original limit.
int weft_descriptor_limit_raise(void);
/// Restores the original limit. For a child before its execve.
void weft_descriptor_limit_give_back(void);
/// The number of open descriptors with numbers below `below`.
int weft_open_descriptors(int below);

// MARK: threads.c

/// Starts a detached thread that blocks all signals except those raised by faults, and except CHLD while it has no
/// handler.
int weft_thread_start(size_t stack, void (*run)(void *context), void *context);

/// A place for one thread to wait for a wake; a wake that arrives before the wait is kept.
struct weft_parking;
struct weft_parking *weft_parking_create(void);
void weft_parking_destroy(struct weft_parking *place);
/// Returns 1 after a wake, 0 when `nanoseconds` have passed without one; waits forever if negative.
int weft_parking_park(struct weft_parking *place, int64_t nanoseconds);
void weft_parking_unpark(struct weft_parking *place);

/// Creates a key for thread-specific pointers; returns the key or a negated errno.
long weft_thread_key_create(void (*release)(void *value));
void *weft_thread_key_get(unsigned long key);
void weft_thread_key_set(unsigned long key, void *value);

// MARK: signals.c

int weft_signal_is_ignored(int number);
/// Blocks the signal on the calling thread, and on threads that it creates from now on.
int weft_signal_block(int number);
/// Waits for one of the signals in `mask` (bit n-1: signal n), which must be blocked; returns its number.
int weft_signal_wait(uint64_t mask);
void weft_signal_ignore(int number);
/// Restores the signal's default action.
void weft_signal_restore(int number);

// MARK: jobs.c

/// Makes `group` the foreground group of the terminal, even if the caller is not in the foreground.
int weft_terminal_lend(int terminal, pid_t group);
/// Sets the terminal's modes immediately, even if the caller is in the background.
struct sigaction;
struct termios;
int weft_terminal_set_modes(int terminal, const struct termios *modes);
/// The signal that stopped the child `pid`; 0 if it is running, has been continued or has exited. May be called
/// repeatedly.
int weft_stopped_by(pid_t pid);
/// Stops this process by the default action of `number`, which must be in effect, and returns once it has been
/// continued; immediately if the system does not stop it (TSTP of an orphaned group).
void weft_signal_stop(int number);

/// Makes blocking calls of the main thread fail with EINTR when this process continues after a stop; `before` is the
/// action to restore.
void weft_interrupt_on_continue(struct sigaction *before);

// MARK: system.c

/// The times of CLOCK_MONOTONIC and CLOCK_REALTIME.
int64_t weft_monotonic_nanoseconds(void);
int64_t weft_wall_nanoseconds(void);
/// The time since boot, including sleep; 0 if there is no such clock.
int64_t weft_boot_nanoseconds(void);
/// Blocks the calling thread for the full time, even if signals interrupt it.
void weft_sleep(int64_t nanoseconds);

/// "ENOENT"; NULL for a number without a name.
const char *weft_error_name(int error);
/// "No such file or directory", written into `text`.
void weft_error_text(int error, char *text, size_t size);
/// The number of processors this process may run on; at least 1.
int weft_processor_count(void);
/// Writes the path of the running program to `path`; returns its length or a negated errno.
ssize_t weft_executable_path(char *path, size_t size);
/// The process's environment in the form that execve takes.
char **weft_environment(void);
/// The arguments of the process, and their number with the name of the program; `NULL` if the C library does not pass
/// them on.
char **weft_arguments(int *count);
/// Names the calling thread in debuggers and top; `name` may have at most 15 bytes.
void weft_name_thread(const char *name);

#endif
