#include "platform.h"

#include <stdio.h>
#include <sys/stat.h>

// The umask can only be read by setting it, which would affect other threads; Linux also shows it in /proc.
unsigned weft_mode_of_new_files(void) {
#if defined(__linux__)
  unsigned mask = 022;
  FILE *status = fopen("/proc/self/status", "re");
  char line[256];
  while (status && fgets(line, sizeof line, status))
    if (sscanf(line, "Umask: %o", &mask) == 1) break;
  if (status) fclose(status);
  return 0666 & ~mask;
#else
  return 0644;
#endif
}
