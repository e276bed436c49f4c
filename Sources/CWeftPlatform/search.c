#include "platform.h"

#include <string.h>

int weft_contains(const void *bytes, size_t count, const void *wanted, size_t wanted_count) {
  return count > 0 && memmem(bytes, count, wanted, wanted_count) != NULL;
}
