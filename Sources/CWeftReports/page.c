#include "CWeftReports.h"

// C23 §6.10.4. The compiler lists the files as dependencies, so a changed one is built in again.
static const char body[] = {
#embed "page/body.html"
};
static const char style[] = {
#embed "page/style.css"
};
static const char script[] = {
#embed "page/script.js"
};

struct weft_page_part weft_page_body(void) { return (struct weft_page_part){body, sizeof body}; }

struct weft_page_part weft_page_style(void) { return (struct weft_page_part){style, sizeof style}; }

struct weft_page_part weft_page_script(void) { return (struct weft_page_part){script, sizeof script}; }
