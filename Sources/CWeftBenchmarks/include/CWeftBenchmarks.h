// What the engine is measured against: the same work with nothing around it.
#ifndef CWEFT_BENCHMARKS_H
#define CWEFT_BENCHMARKS_H

#include <stddef.h>

/// Runs `arguments` `count` times on `threads` threads: vfork, execve, read its output to the end of
/// file if `capture`, wait. `arguments[0]` is a path. Returns how many exited with 0.
int weft_bench_c_loop(int count, int threads, char *const arguments[], int capture);

/// Asks for `url` `count` times, `at_once` at a time, with libcurl's multi interface and nothing around it.
/// Returns how many answers were 200; -1 if there is no libcurl.
int weft_bench_requests(const char *url, int count, int at_once);

/// Bytes that the allocator has given out to the main thread, its own headers included.
size_t weft_allocated_bytes(void);

/// Gives memory that is free in the allocator back to the system, where it can.
void weft_release_free_memory(void);

#endif
