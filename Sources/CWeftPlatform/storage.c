#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

int weft_lock(int file) {
  int result;
  do result = flock(file, LOCK_EX | LOCK_NB);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : 0;
}

void weft_unlock(int file) { flock(file, LOCK_UN); }

int weft_is_locked(int file) {
  int result;
  do result = flock(file, LOCK_SH | LOCK_NB);
  while (result < 0 && errno == EINTR);
  if (result < 0) return errno == EWOULDBLOCK ? 1 : -errno;
  flock(file, LOCK_UN);
  return 0;
}

int64_t weft_free_bytes(int file) {
  struct statvfs room;
  if (fstatvfs(file, &room) < 0) return -errno;
  return (int64_t)room.f_bavail * (int64_t)room.f_frsize;
}

#if defined(__linux__)

int weft_synchronize_data(int file) { return fdatasync(file) < 0 ? -errno : 0; }

int weft_reserve(int file, int64_t bytes) {
  // Not posix_fallocate: where the file system cannot, that would write zeros one by one.
  return fallocate(file, 0, 0, bytes) < 0 ? -errno : 0;
}

#else

// fsync leaves it in the drive's cache here (fsync(2) of macOS).
int weft_synchronize_data(int file) { return fcntl(file, F_FULLFSYNC) < 0 ? -errno : 0; }

int weft_reserve(int file, int64_t bytes) {
  struct fstore room = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, bytes, 0};
  return fcntl(file, F_PREALLOCATE, &room) < 0 ? -errno : 0;
}

#endif
