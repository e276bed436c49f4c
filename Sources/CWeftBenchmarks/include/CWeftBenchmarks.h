// What the engine is measured against: the same work with nothing around it.
#ifndef CWEFT_BENCHMARKS_H
#define CWEFT_BENCHMARKS_H

#include <stddef.h>

/// Runs `arguments` `count` times on `threads` threads: vfork, execve, read its output to the end of
/// file if `capture`, wait. `arguments[0]` is a path. Returns how many exited with 0.
int weft_bench_c_loop(int count, int threads, char *const arguments[], int capture);

/// Bytes that the allocator has given out to the main thread, its own headers included.
size_t weft_allocated_bytes(void);

/// Gives memory that is free in the allocator back to the system, where it can.
void weft_release_free_memory(void);

#endif
