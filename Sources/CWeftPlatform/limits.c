#include "platform.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

// The soft limit before it was raised here; 0 if it has not been raised.
static _Atomic rlim_t original_soft_limit;

static int shown(rlim_t limit) {
  return limit == RLIM_INFINITY || limit > INT_MAX ? INT_MAX : (int)limit;
}

int weft_descriptor_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? INT_MAX : shown(limit.rlim_cur);
}

int weft_descriptor_limit_raise(void) {
#if defined(__linux__)
  // Linux's default maximum (fs.nr_open): some containers have a thousand times that.
  const rlim_t most = 1 << 20;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
  rlim_t before = limit.rlim_cur;
  rlim_t wanted = limit.rlim_max < most ? limit.rlim_max : most;
  if (before >= wanted) return 0;
  limit.rlim_cur = wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
  rlim_t none = 0;
  atomic_compare_exchange_strong(&original_soft_limit, &none, before);
#endif
  // Not raised elsewhere, because children could not get the original limit back: posix_spawn cannot set limits.
  return 0;
}

void weft_descriptor_limit_give_back(void) {
  rlim_t original = atomic_load_explicit(&original_soft_limit, memory_order_relaxed);
  if (original == 0) return;
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
  limit.rlim_cur = original;
  setrlimit(RLIMIT_NOFILE, &limit);
}

static int count_by_asking(int below) {
  const int most = 1 << 16;
  int count = 0;
  for (int number = 0; number < below && number < most; number++)
    count += fcntl(number, F_GETFD) >= 0;
  return count;
}

int weft_open_descriptors(int below) {
  DIR *listing = opendir("/dev/fd");
  if (listing == NULL) return count_by_asking(below);
  int count = 0;
  for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    int number = atoi(entry->d_name);
    count += number < below && number != dirfd(listing);
  }
  closedir(listing);
  return count;
}
