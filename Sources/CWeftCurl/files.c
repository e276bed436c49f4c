#if defined(__linux__)
#define _GNU_SOURCE
#endif
#include "CWeftCurl.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/random.h>
#endif

int weft_http_open_source(const char *path, int64_t *size) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return -errno;
  struct stat status;
  int failed = fstat(file, &status) < 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
  if (!failed && !S_ISREG(status.st_mode)) failed = EINVAL;
  if (failed) {
    close(file);
    return -failed;
  }
  *size = status.st_size;
  return file;
}

ptrdiff_t weft_http_read(int descriptor, void *bytes, size_t room) {
  while (1) {
    ssize_t count = read(descriptor, bytes, room);
    if (count >= 0) return count;
    if (errno != EINTR) return -errno;
  }
}

int weft_http_create(const char *path) {
  int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  return file < 0 ? -errno : file;
}

int weft_http_write(int descriptor, const void *bytes, size_t count) {
  const char *next = bytes;
  while (count > 0) {
    ssize_t written = write(descriptor, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return -errno;
    next += written;
    count -= (size_t)written;
  }
  return 0;
}

int weft_http_cut(int descriptor, int64_t size) {
  if (ftruncate(descriptor, size) < 0) return -errno;
  return lseek(descriptor, size, SEEK_SET) < 0 ? -errno : 0;
}

// umask can only be asked by setting it, which other threads would see; Linux also tells it.
static mode_t mode_of_new_files(void) {
#if defined(__linux__)
  unsigned mask = 022;
  FILE *status = fopen("/proc/self/status", "re");
  char line[256];
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "Umask: %o", &mask) == 1) break;
  if (status) fclose(status);
  return 0666 & ~(mode_t)mask;
#else
  return 0644;
#endif
}

static int sync_directory(const char *path) {
  char *copy = strdup(path);
  if (!copy) return -ENOMEM;
  char *slash = strrchr(copy, '/');
  const char *directory = !slash ? "." : slash == copy ? "/" : copy;
  if (slash && slash != copy) *slash = 0;
  int file = open(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  int result = file < 0 ? -errno : 0;
  // Some file systems cannot sync a directory, and say EINVAL.
  if (file >= 0 && fsync(file) < 0 && errno != EINVAL) result = -errno;
  if (file >= 0) close(file);
  free(copy);
  return result;
}

int weft_http_commit(int descriptor, const char *temporary, const char *path) {
  if (fchmod(descriptor, mode_of_new_files()) < 0) return -errno;
  while (fsync(descriptor) < 0)
    if (errno != EINTR) return -errno;
  if (rename(temporary, path) < 0) return -errno;
  return sync_directory(path);
}

void weft_http_discard(int descriptor, const char *path) {
  if (path) unlink(path);
  close(descriptor);
}

int weft_http_random(void *bytes, size_t count) {
#if defined(__linux__)
  char *next = bytes;
  while (count > 0) {
    ssize_t got = getrandom(next, count, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -errno;
    next += got;
    count -= (size_t)got;
  }
#else
  arc4random_buf(bytes, count);
#endif
  return 0;
}
