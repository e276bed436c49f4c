#ifndef CWEFT_PLATFORM_H
#define CWEFT_PLATFORM_H

#endif
