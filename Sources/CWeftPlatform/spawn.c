#include "CWeftPlatform.h"
