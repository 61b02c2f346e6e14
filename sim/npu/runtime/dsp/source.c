#define _GNU_SOURCE
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dsp.h"

#define ANSWER_MS 20000 /* the first one waits for the library's debug information to be read */

static struct {
    pthread_mutex_t lock;
    char program[1024];
    bool wanted;
    int to, from; /* -1: not running */
} tool = {.lock = PTHREAD_MUTEX_INITIALIZER, .to = -1, .from = -1};

static bool in_path(const char * name) {
    const char * path = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(tool.program, sizeof tool.program, "%s", name);
        return !access(name, X_OK);
    }
    while (path && *path) {
        size_t n = strcspn(path, ":");
        snprintf(tool.program, sizeof tool.program, "%.*s/%s", (int)n, path, name);
        if (!access(tool.program, X_OK)) {
            return true;
        }
        path += n + (path[n] == ':');
    }
    return false;
}

void source_init(void) {
    const char * named = getenv("HEXSIM_SYMBOLIZER");
    tool.wanted        = named && *named ? in_path(named) : in_path("llvm-symbolizer-19") || in_path("llvm-symbolizer");
    if (!tool.wanted) {
        snprintf(tool.program, sizeof tool.program, "%s", named && *named ? named : "llvm-symbolizer-19");
    }
}

/* With the lock held. vfork and nothing but system calls: this may be a fault handler. */
static void start(void) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC)) {
        return;
    }
    if (pipe2(out, O_CLOEXEC)) {
        close(in[0]);
        close(in[1]);
        return;
    }
    char style[] = "--output-style=LLVM", inlining[] = "--inlining";
    char * argv[] = {tool.program, style, inlining, NULL};
    pid_t child   = vfork();
    if (child == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execv(tool.program, argv);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    tool.to   = child > 0 ? in[1] : -1;
    tool.from = child > 0 ? out[0] : -1;
}

static void stop(void) {
    close(tool.to);
    close(tool.from);
    tool.to = tool.from = -1;
    tool.wanted         = false;
}

void source_start(void) {
    pthread_mutex_lock(&tool.lock);
    if (tool.wanted && tool.to < 0) {
        start();
    }
    pthread_mutex_unlock(&tool.lock);
}

/* One line of the answer, without its end; false when there is none. */
static bool read_line(char * line, size_t room) {
    size_t n = 0;
    for (;;) {
        struct pollfd p = {tool.from, POLLIN, 0};
        char c;
        int ready = poll(&p, 1, ANSWER_MS);
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0 || read(tool.from, &c, 1) != 1) {
            return false;
        }
        if (c == '\n') {
            line[n] = 0;
            return true;
        }
        if (n + 1 < room) {
            line[n++] = c;
        }
    }
}

/* "/a/b/htp/rope-ops.c:123:9" -> "htp/rope-ops.c:123"; without a line, as where code was merged, the file alone */
static void shorten(char * text, char * line, size_t room) {
    char * column = strrchr(text, ':');
    if (column) {
        *column = 0;
    }
    const char * slash = strrchr(text, '/');
    while (slash && slash > text && slash[-1] != '/') {
        slash--;
    }
    size_t n = strlen(text);
    if (n > 2 && !strcmp(text + n - 2, ":0")) {
        text[n - 2] = 0;
    }
    snprintf(line, room, "%s", !strncmp(text, "??", 2) ? "" : slash ? slash : text);
}

/* With the lock held. */
static bool ask(const struct skel_place * place, struct source_frame * frames, size_t * n) {
    char text[1024];
    int length = snprintf(text, sizeof text, "\"%s\" 0x%zx\n", place->path, place->offset);
    if (length >= (int)sizeof text || write(tool.to, text, (size_t)length) != length) {
        return false;
    }
    *n = 0;
    while (read_line(text, sizeof text)) {
        if (!*text) {
            return *n > 0;
        }
        struct source_frame frame;
        snprintf(frame.function, sizeof frame.function, "%s", text);
        if (!read_line(text, sizeof text)) {
            return false;
        }
        shorten(text, frame.line, sizeof frame.line);
        if (*n < SOURCE_MAX_INLINED) {
            frames[(*n)++] = frame;
        }
    }
    return false;
}

bool source_frames(uintptr_t address, struct source_frame frames[SOURCE_MAX_INLINED], size_t * n) {
    static atomic_bool told;
    struct skel_place place;
    if (!skel_place(address, &place)) {
        return false;
    }
    pthread_mutex_lock(&tool.lock);
    if (tool.wanted && tool.to < 0) {
        start();
    }
    bool answered = tool.wanted && tool.to >= 0 && ask(&place, frames, n);
    if (!answered) {
        if (tool.to >= 0) {
            stop();
        }
        if (!atomic_exchange(&told, true)) {
            farf_line("ERROR", "no lines of source: %s does not run; install llvm-19, or set HEXSIM_SYMBOLIZER",
                      tool.program);
        }
    }
    pthread_mutex_unlock(&tool.lock);
    if (!answered || !strcmp(frames[0].function, "??")) {
        snprintf(frames[0].function, sizeof frames[0].function, "%s", place.function ? place.function : "?");
        frames[0].line[0] = 0;
        *n                = 1;
    }
    return true;
}
