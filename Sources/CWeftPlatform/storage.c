#include "platform.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

// Locks of an open file description (fcntl(2)). They work like those of flock(2), but can be queried without taking
// them: a mere query never keeps an engine from its run.
static struct flock whole_file(short type) {
  return (struct flock){.l_type = type, .l_whence = SEEK_SET};
}

int weft_lock(int file) {
  struct flock lock = whole_file(F_WRLCK);
  int result;
  do result = fcntl(file, F_OFD_SETLK, &lock);
  while (result < 0 && errno == EINTR);
  if (result == 0) return 0;
  return errno == EACCES ? -EWOULDBLOCK : -errno;
}

void weft_unlock(int file) {
  struct flock lock = whole_file(F_UNLCK);
  fcntl(file, F_OFD_SETLK, &lock);
}

int weft_is_locked(int file) {
  struct flock lock = whole_file(F_WRLCK);
  int result;
  do result = fcntl(file, F_OFD_GETLK, &lock);
  while (result < 0 && errno == EINTR);
  return result < 0 ? -errno : lock.l_type != F_UNLCK;
}

int64_t weft_free_bytes(int file) {
  struct statvfs room;
  if (fstatvfs(file, &room) < 0) return -errno;
  return (int64_t)room.f_bavail * (int64_t)room.f_frsize;
}

#if defined(__linux__)

int weft_synchronize_data(int file) { return fdatasync(file) < 0 ? -errno : 0; }

int weft_reserve(int file, int64_t bytes) {
  // Not posix_fallocate: on file systems without support, that would write the zeros itself.
  return fallocate(file, 0, 0, bytes) < 0 ? -errno : 0;
}

int weft_free_start(int file, int64_t bytes) {
  return fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, bytes) < 0 ? -errno : 0;
}

#else

// fsync leaves the data in the drive's cache on macOS (fsync(2)).
int weft_synchronize_data(int file) { return fcntl(file, F_FULLFSYNC) < 0 ? -errno : 0; }

int weft_reserve(int file, int64_t bytes) {
  struct fstore room = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, bytes, 0};
  return fcntl(file, F_PREALLOCATE, &room) < 0 ? -errno : 0;
}

int weft_free_start(int file, int64_t bytes) {
  struct fpunchhole hole = {0, 0, 0, bytes};
  return fcntl(file, F_PUNCHHOLE, &hole) < 0 ? -errno : 0;
}

#endif
