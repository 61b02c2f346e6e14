/* counters: write HEXSIM_COUNTERS when a session closes and when the application ends. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "div0.h"
#include "host.h"
#include "soc.h"

static const char * const names[SHARED_N_COUNTERS] = {
#define NAME(name) #name,
    SHARED_COUNTERS(NAME)
#undef NAME
};

static void write_one(FILE * f, const struct pd * pd) {
    fprintf(f, "{\"domain\":%u,\"session\":%u", pd->domain, pd->session);
    for (int i = 0; i < SHARED_N_COUNTERS; i++) {
        fprintf(f, ",\"%s\":%" PRIu64, names[i], atomic_load(&pd->counters->counter[i]));
    }
    fprintf(f, ",\"invokes\":{");
    const char * comma = "";
    for (int i = 0; i < SHARED_METHODS; i++) {
        uint64_t n = atomic_load(&pd->counters->invokes[i]);
        if (n) {
            fprintf(f, "%s\"%d\":%" PRIu64, comma, i, n);
            comma = ",";
        }
    }
    fprintf(f, "}}");
}

void counters_write(void) {
    const char * path = getenv("HEXSIM_COUNTERS");
    size_t n;
    struct pd * const * list = pd_all(&n);
    if (!path || !*path || !n) {
        return;
    }
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    char temporary[4096];
    snprintf(temporary, sizeof temporary, "%s.part", path);
    FILE * f = fopen(temporary, "w");
    if (!f) {
        fprintf(stderr, "hexsim: HEXSIM_COUNTERS=%s: %s\n", path, strerror(errno));
    } else {
        fprintf(f, "{\"simulated\":true,\"soc\":\"%s\",\"processes\":[", soc_selected()->name);
        for (size_t i = 0; i < n; i++) {
            fprintf(f, "%s", i ? "," : "");
            write_one(f, list[i]);
        }
        fprintf(f, "]}\n");
        bool bad = ferror(f);
        bad      = fclose(f) || bad;
        if (bad || rename(temporary, path)) {
            fprintf(stderr, "hexsim: HEXSIM_COUNTERS=%s: %s\n", path, strerror(errno));
        }
    }
    pthread_mutex_unlock(&lock);
}

/* The application stands for an Arm program: its divisions by zero yield 0 too, unless it handles SIGFPE itself. */
__attribute__((constructor)) static void library_loaded(void) {
    div0_install(1);
}

__attribute__((destructor)) static void application_ends(void) {
    pd_shutdown_all();
    counters_write();
}
