#define _GNU_SOURCE
#include <execinfo.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

struct checks checks;

static int report_file = -1;

static void enable(const char * name, size_t n) {
    const struct {
        const char * name;
        bool * flag;
    } known[] = {{"coherency", &checks.coherency}, {"dma", &checks.dma},       {"vtcm", &checks.vtcm},
                 {"sharing", &checks.sharing},     {"window", &checks.window}, {"stack", &checks.stack}};
    bool all = n == 3 && !strncmp(name, "all", 3), any = false;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (all || (strlen(known[i].name) == n && !strncmp(known[i].name, name, n))) {
            *known[i].flag = any = checks.any = true;
        }
    }
    if (!any && n) {
        fprintf(stderr, "hexsim: HEXSIM_CHECK: there is no check named %.*s\n", (int)n, name);
    }
}

void check_init(void) {
    const char * list = getenv("HEXSIM_CHECK");
    while (list && *list) {
        size_t n = strcspn(list, ",");
        enable(list, n);
        list += n + (list[n] == ',');
    }
    checks.coherency  = checks.coherency || checks.sharing; /* who wrote a line is known only from its copies */
    const char * path = getenv("HEXSIM_REPORT");
    if (checks.any && path && *path) {
        report_file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        if (report_file < 0) {
            fprintf(stderr, "hexsim: HEXSIM_REPORT=%s: %m\n", path);
        }
    }
}

static _Thread_local uintptr_t blamed;

void check_blame(uintptr_t pc) {
    blamed = pc;
}

uintptr_t check_library_pc(uintptr_t pc) {
    char name[2], at[2];
    void * frame[16];
    if (skel_symbol(pc, name, sizeof name, at, sizeof at)) {
        return pc;
    }
    for (int i = 0, n = backtrace(frame, 16); i < n; i++) {
        if (skel_symbol((uintptr_t)frame[i] - 1, name, sizeof name, at, sizeof at)) {
            return (uintptr_t)frame[i] - 1;
        }
    }
    return 0;
}

bool check_where(char * op, size_t op_room, char * at, size_t at_room, char * frames, size_t room) {
    void * frame[48];
    int n = backtrace(frame, 48), told = 0;
    size_t used = 0;
    bool is_op  = false;
    if (blamed) {
        frame[0] = (void *)(blamed + 1);
        n        = 1;
        blamed   = 0;
    }
    snprintf(op, op_room, "?");
    snprintf(at, at_room, "?");
    used = (size_t)snprintf(frames, room, "[");
    for (int i = 0; i < n; i++) {
        char name[96], place[160];
        if (!skel_symbol((uintptr_t)frame[i] - 1, name, sizeof name, place, sizeof place)) {
            continue;
        }
        bool this_is_op = !strncmp(name, "op_", 3);
        if (!told || this_is_op || (!is_op && !strcmp(op, "?"))) {
            snprintf(op, op_room, "%s", name);
            is_op = is_op || this_is_op;
        }
        if (!told) {
            snprintf(at, at_room, "%s", place);
        }
        if (used + strlen(name) + 8 < room) {
            used += (size_t)snprintf(frames + used, room - used, "%s\"%s\"", told ? "," : "", name);
        }
        told++;
    }
    snprintf(frames + used, room - used, "]");
    return told > 0;
}

/* ---- once for each kind and place ---- */

#define MAX_SEEN 1024

static struct {
    pthread_mutex_t lock;
    uint64_t seen[MAX_SEEN];
    size_t n;
    uint64_t repeated;
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t hash(uint64_t h, const char * text) {
    for (; *text; text++) {
        h = (h ^ (uint8_t)*text) * 0x100000001b3ull;
    }
    return h;
}

static bool first_time(uint64_t key) {
    bool first = true;
    pthread_mutex_lock(&told.lock);
    for (size_t i = 0; i < told.n && first; i++) {
        first = told.seen[i] != key;
    }
    if (first && told.n < MAX_SEEN) {
        told.seen[told.n++] = key;
    } else {
        told.repeated++;
        first = false;
    }
    pthread_mutex_unlock(&told.lock);
    return first;
}

static void escape(const char * text, char * out, size_t room) {
    size_t n = 0;
    for (; *text && n + 7 < room; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else if (c < 0x20) {
            n += (size_t)snprintf(out + n, room - n, "\\u%04x", c);
        } else {
            out[n++] = (char)c;
        }
    }
    out[n] = 0;
}

void check_report(const char * check, const char * kind, uintptr_t address, size_t bytes, const char * format, ...) {
    char text[512], op[96], at[160], frames[768], where[160], line[2560], clean_text[640], clean_where[200];
    check_where(op, sizeof op, at, sizeof at, frames, sizeof frames);
    struct region r;
    bool known   = window_find(address, false, &r);
    uint64_t key = hash(hash(hash(0xcbf29ce484222325ull, kind), at), known ? r.name : "-");
    if (!first_time(key)) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    window_describe(address, where, sizeof where);
    if (report_file < 0) {
        fprintf(stderr, "hexsim: %s: %s: %s: 0x%zx, %zu bytes: %s; in %s, thread %s, at %s\n", check, kind, text,
                (size_t)address, bytes, where, op, thread_self()->name, at);
        return;
    }
    escape(text, clean_text, sizeof clean_text);
    escape(where, clean_where, sizeof clean_where);
    int n =
        snprintf(line, sizeof line,
                 "{\"check\":\"%s\",\"kind\":\"%s\",\"op\":\"%s\",\"at\":\"%s\",\"frames\":%s,\"address\":%zu,"
                 "\"bytes\":%zu,\"buffer\":\"%s\",\"thread\":\"%s\",\"domain\":%u,\"session\":%u,\"text\":\"%s\"}\n",
                 check, kind, op, at, frames, (size_t)address, bytes, clean_where, thread_self()->name, dsp.domain,
                 dsp.session, clean_text);
    if (n > 0 && n < (int)sizeof line && write(report_file, line, (size_t)n) < 0) {
        fprintf(stderr, "hexsim: HEXSIM_REPORT: %m\n");
    }
}

void check_report_end(void) {
    if (told.repeated && report_file >= 0) {
        char line[128];
        int n = snprintf(line, sizeof line, "{\"check\":\"all\",\"kind\":\"repeated\",\"count\":%llu}\n",
                         (unsigned long long)told.repeated);
        if (write(report_file, line, (size_t)n) < 0) {
            fprintf(stderr, "hexsim: HEXSIM_REPORT: %m\n");
        }
    }
}
