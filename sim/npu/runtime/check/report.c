#define _GNU_SOURCE
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
    if (checks.any) {
        check_where_init();
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

/* The buffer of the application's and the offset in it. */
static void in_buffer(uintptr_t address, int * fd, size_t * offset) {
    struct region r;
    bool known = window_find(address, false, &r) && r.app_fd >= 0;
    *fd        = known ? r.app_fd : -1;
    *offset    = known ? address - r.base : 0;
}

struct finding {
    const char *check, *kind;
    uintptr_t address;
    size_t bytes;
    char text[512], buffer[160];
    struct check_where where;
};

static void tell(const struct finding * f) {
    const struct check_where * w = &f->where;
    const char * source          = *w->source ? w->source : w->at;
    fprintf(stderr, "hexsim: %s: %s: %s: 0x%zx, %zu bytes: %s; in %s, thread %s, at %s\n", f->check, f->kind, f->text,
            f->address, f->bytes, f->buffer, w->op, thread_self()->name, source);
}

static void record(const struct finding * f) {
    char line[4096], text[640], buffer[200];
    int fd;
    size_t offset;
    in_buffer(f->address, &fd, &offset);
    escape(f->text, text, sizeof text);
    escape(f->buffer, buffer, sizeof buffer);
    int n = snprintf(line, sizeof line,
                     "{\"check\":\"%s\",\"kind\":\"%s\",\"op\":\"%s\",\"source\":\"%s\",\"at\":\"%s\",\"frames\":%s,"
                     "\"address\":%zu,\"bytes\":%zu,\"buffer\":\"%s\",\"fd\":%d,\"offset\":%zu,\"thread\":\"%s\","
                     "\"domain\":%u,\"session\":%u,\"text\":\"%s\"}\n",
                     f->check, f->kind, f->where.op, f->where.source, f->where.at, f->where.frames, (size_t)f->address,
                     f->bytes, buffer, fd, offset, thread_self()->name, dsp.domain, dsp.session, text);
    if (n > 0 && n < (int)sizeof line && write(report_file, line, (size_t)n) < 0) {
        fprintf(stderr, "hexsim: HEXSIM_REPORT: %m\n");
    }
}

void check_report(const char * check, const char * kind, uintptr_t address, size_t bytes, const char * format, ...) {
    struct finding f = {.check = check, .kind = kind, .address = address, .bytes = bytes};
    struct region r;
    uintptr_t pc = 0;
    check_where_at(&f.where, &pc);
    bool known   = window_find(address, false, &r);
    uint64_t key = hash(hash(hash(0xcbf29ce484222325ull, kind), f.where.at), known ? r.name : "-");
    if (!first_time(key)) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(f.text, sizeof f.text, format, args);
    va_end(args);
    window_describe(address, f.buffer, sizeof f.buffer);
    check_where_rest(&f.where, pc);
    if (report_file < 0) {
        tell(&f);
    } else {
        record(&f);
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
