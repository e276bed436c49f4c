#ifndef C_WEFT_SCHEMAS_H
#define C_WEFT_SCHEMAS_H

#include <stddef.h>

/// A JSON Schema, byte for byte as in the folder `schemas`.
struct weft_schema {
  const char *_Nonnull bytes;
  size_t count;
};

struct weft_schema weft_event_schema(void);

#endif
