// Included first in every file: the feature macro must precede all system headers.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "CWeftPlatform.h"
