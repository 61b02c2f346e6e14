/* farf: the DSP's log. HEXSIM_FARF names a file to append to, with every level; without it errors and fatal messages
 * go to stderr. HEXSIM_FARF_LEVEL (low, medium, high, error, fatal) is the lowest level kept. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "HAP_farf.h"
#include "dsp.h"

static const char * const names[] = {"LOW", "MEDIUM", "HIGH", "ERROR", "FATAL"};
#define N_LEVELS 5

static int file   = STDERR_FILENO;
static int lowest = HAP_LEVEL_ERROR;

void farf_init(void) {
    const char * path = getenv("HEXSIM_FARF");
    if (path && *path) {
        int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (fd < 0) {
            fprintf(stderr, "hexsim: HEXSIM_FARF=%s: %m; logging to stderr\n", path);
        } else {
            file   = fd;
            lowest = HAP_LEVEL_LOW;
        }
    }
    const char * level = getenv("HEXSIM_FARF_LEVEL");
    for (int i = 0; level && i < N_LEVELS; i++) {
        if (!strcasecmp(level, names[i])) {
            lowest = i;
        }
    }
}

/* One write, so that lines of several processes stay whole. */
static void put(const char * level, const char * where, const char * format, va_list args) {
    char line[2048], text[1600];
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    vsnprintf(text, sizeof text, format, args);
    size_t n = strlen(text);
    while (n && text[n - 1] == '\n') {
        text[--n] = 0;
    }
    int k = snprintf(line, sizeof line, "[%lld.%06ld] dsp %u.%u %d %s %s: %s%s%s\n", (long long)t.tv_sec,
                     t.tv_nsec / 1000, dsp.domain, dsp.session, (int)syscall(SYS_gettid), thread_self()->name, level,
                     where, *where ? " " : "", text);
    k     = k < (int)sizeof line ? k : (int)sizeof line - 1;
    if (write(file, line, (size_t)k) < 0) {
        /* nowhere to tell it */
    }
    if (file != STDERR_FILENO && !strcmp(level, "FATAL") && write(STDERR_FILENO, line, (size_t)k) < 0) {
        /* nowhere to tell it */
    }
}

void farf_line(const char * level, const char * format, ...) {
    va_list args;
    va_start(args, format);
    put(level, "", format, args);
    va_end(args);
}

void HAP_debug_v2(int level, const char * source, int line, const char * format, ...) {
    if (level < lowest || level < 0) {
        return;
    }
    char where[256];
    const char * slash = source ? strrchr(source, '/') : NULL;
    snprintf(where, sizeof where, "%s:%d", slash ? slash + 1 : source ? source : "?", line);
    va_list args;
    va_start(args, format);
    put(names[level < N_LEVELS ? level : N_LEVELS - 1], where, format, args);
    va_end(args);
}

int HAP_setFARFRuntimeLoggingParams(unsigned int mask, const char * files[], unsigned short n_files) {
    (void)mask;
    (void)files;
    (void)n_files;
    return 0; /* HEXSIM_FARF_LEVEL decides */
}
