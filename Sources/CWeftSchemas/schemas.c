#include "CWeftSchemas.h"

// C23 §6.10.4. The compiler lists the files as dependencies, so a changed schema is built in again.
static const char event_schema[] = {
#embed "../../schemas/event.schema.json"
};

struct weft_schema weft_event_schema(void) {
  return (struct weft_schema){event_schema, sizeof event_schema};
}
