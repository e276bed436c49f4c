// First in every file: the feature macro must stand before any system header.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CWeftPlatform.h"
