#include "CWeftBenchmarks.h"

#if defined(__APPLE__)
#include <malloc/malloc.h>

size_t weft_allocated_bytes(void) { return mstats().bytes_used; }
#else
#include <malloc.h>

size_t weft_allocated_bytes(void) {
  struct mallinfo2 use = mallinfo2();
  return use.uordblks + use.hblkhd;
}
#endif

void weft_release_free_memory(void) {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
}
