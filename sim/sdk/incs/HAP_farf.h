/* HAP_farf.h: FARF(LEVEL, "format", ...), the log of a DSP library.
 *
 * LEVEL is LOW, MEDIUM, HIGH, ERROR, FATAL or ALWAYS. A level is compiled in when FARF_<LEVEL> is 1: ERROR, FATAL and
 * ALWAYS are by default, the others when the build says so (-DFARF_HIGH=1). */
#ifndef HAP_FARF_H
#define HAP_FARF_H

#include <stdio.h> /* sources that log format with snprintf and count on this header for it */

#include "AEEStdErr.h"

#define HAP_LEVEL_LOW    0
#define HAP_LEVEL_MEDIUM 1
#define HAP_LEVEL_HIGH   2
#define HAP_LEVEL_ERROR  3
#define HAP_LEVEL_FATAL  4

#ifndef FARF_LOW
#define FARF_LOW 0
#endif
#ifndef FARF_MEDIUM
#define FARF_MEDIUM 0
#endif
#ifndef FARF_HIGH
#define FARF_HIGH 0
#endif
#ifndef FARF_ERROR
#define FARF_ERROR 1
#endif
#ifndef FARF_FATAL
#define FARF_FATAL 1
#endif
#ifndef FARF_ALWAYS
#define FARF_ALWAYS 1
#endif

#define FARF_LOW_LEVEL    HAP_LEVEL_LOW
#define FARF_MEDIUM_LEVEL HAP_LEVEL_MEDIUM
#define FARF_HIGH_LEVEL   HAP_LEVEL_HIGH
#define FARF_ERROR_LEVEL  HAP_LEVEL_ERROR
#define FARF_FATAL_LEVEL  HAP_LEVEL_FATAL
#define FARF_ALWAYS_LEVEL HAP_LEVEL_HIGH

/* The arguments stay compiled at every level, so that a variable used for logging only is never "unused". */
#define FARF(level, ...)                                                       \
    do {                                                                       \
        if (FARF_##level) {                                                    \
            HAP_debug_v2(FARF_##level##_LEVEL, __FILE__, __LINE__, __VA_ARGS__); \
        }                                                                      \
    } while (0)

#ifdef __cplusplus
extern "C" {
#endif

/* Write one message to the DSP's log. level is one of HAP_LEVEL_*, format as for printf. */
void HAP_debug_v2(int level, const char * file, int line, const char * format, ...);

/* Choose the levels logged at run time: bit n of mask is HAP_LEVEL n; files limits it to those (none: all). */
int HAP_setFARFRuntimeLoggingParams(unsigned int mask, const char * files[], unsigned short n_files);

#ifdef __cplusplus
}
#endif

#endif /* HAP_FARF_H */
