#ifndef C_WEFT_REPORTS_H
#define C_WEFT_REPORTS_H

#include <stddef.h>

/// A part of the HTML report, byte for byte as in the folder `page`.
struct weft_page_part {
  const char *_Nonnull bytes;
  size_t count;
};

/// The contents of `body`, without data.
struct weft_page_part weft_page_body(void);
struct weft_page_part weft_page_style(void);
struct weft_page_part weft_page_script(void);

#endif
