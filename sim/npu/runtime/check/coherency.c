/* coherency: the DSP works on a private copy of each shared buffer. Lines of 128 bytes travel between copy and memory
 * only when the cache would move them: a fetch at the first touch after an invalidation, a write-back when cleaned.
 *
 * Four views of a buffer: `memory` is what the application and DMA with bypass see; `window` is what the library sees,
 * with page rights taken away where a touch must be noticed; `copy` is the same bytes as `window`, always accessible;
 * `base` is each line as it was when it was last equal to memory. A line is dirty when copy differs from base, and
 * somebody else has written memory when memory differs from base.
 *
 * What is certain and what is not: rights are per page, so the first touch of a page fetches all its lines, and only
 * the touched one is known to be used. A line that DMA overwrites in memory counts as stale only if it is known to be
 * used, else it is brought up to date; one that the application overwrote counts as stale always. What another DSP
 * process wrote counts from the moment at which a fence tells of it: a line that is invalidated and then read by the
 * same thread. Lines known to be used are stale from then on, the others are brought up to date. Each process has a
 * cache of its own here, although the sessions of one physical DSP share one: between sessions this is stricter than
 * the device. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "check.h"

#define PAGE_BYTES 4096u
#define LINES_PER_PAGE (PAGE_BYTES / LINE_BYTES)

enum { LINE_VALID = 1, LINE_USED = 2, LINE_STALE = 4 };
enum rights { RIGHTS_NONE, RIGHTS_READ, RIGHTS_WRITE };

struct cached {
    uint8_t *window, *memory, *copy, *base;
    size_t bytes;
    uint8_t * line;      /* LINE_* */
    uint8_t * rights;    /* of each page */
    uint8_t * listed;    /* the page is in resident */
    uintptr_t * writer;  /* of each page: the instruction that first wrote it */
    uint32_t * resident; /* pages that may hold valid lines */
    size_t n_resident;
    struct cached * next;
};

static struct {
    pthread_mutex_t lock;
    struct cached * list;
    uint64_t written_here; /* this process's part of *dsp.written */
    uint64_t others_seen;  /* of the others' part, at the last look at all lines */
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct cached * holder(uintptr_t address) {
    for (struct cached * c = all.list; c; c = c->next) {
        if (address - (uintptr_t)c->window < c->bytes) {
            return c;
        }
    }
    return NULL;
}

/* ---- mapping ---- */

static void release(struct cached * c) {
    uint8_t * views[] = {c->memory, c->copy, c->base};
    for (int i = 0; i < 3; i++) {
        if (views[i] && views[i] != MAP_FAILED) {
            munmap(views[i], c->bytes);
        }
    }
    free(c->line);
    free(c->rights);
    free(c->listed);
    free(c->writer);
    free(c->resident);
    free(c);
}

void * coherency_map(int fd, uint64_t bytes, int app_fd, const char * name) {
    struct cached * c = calloc(1, sizeof *c);
    int copy_fd       = memfd_create("hexsim-cache", MFD_CLOEXEC);
    if (!c || copy_fd < 0) {
        free(c);
        return NULL;
    }
    c->bytes     = (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
    size_t pages = c->bytes / PAGE_BYTES;
    const int rw = PROT_READ | PROT_WRITE;
    c->memory    = mmap(NULL, c->bytes, rw, MAP_SHARED, fd, 0);
    bool sized   = !ftruncate(copy_fd, (off_t)c->bytes);
    c->copy      = mmap(NULL, c->bytes, rw, MAP_SHARED | MAP_NORESERVE, copy_fd, 0);
    c->base      = mmap(NULL, c->bytes, rw, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    c->line      = calloc(pages, LINES_PER_PAGE);
    c->rights    = calloc(pages, 1);
    c->listed    = calloc(pages, 1);
    c->resident  = calloc(pages, sizeof *c->resident);
    c->writer    = calloc(pages, sizeof *c->writer);
    bool ok      = sized && c->memory != MAP_FAILED && c->copy != MAP_FAILED && c->base != MAP_FAILED && c->line &&
              c->rights && c->listed && c->resident && c->writer;
    c->window = ok ? window_map(c->bytes, copy_fd, REGION_BUFFER, app_fd, name) : NULL;
    close(copy_fd);
    if (!c->window) {
        release(c);
        return NULL;
    }
    mprotect(c->window, c->bytes, PROT_NONE);
    pthread_mutex_lock(&all.lock);
    c->next  = all.list;
    all.list = c;
    pthread_mutex_unlock(&all.lock);
    return c->window;
}

/* The library unmaps without cleaning: the device's driver cleans then, so this is no finding. */
void coherency_unmap(void * base) {
    coherency_range((uintptr_t)base, 1, false, false);
    pthread_mutex_lock(&all.lock);
    for (struct cached ** p = &all.list; *p; p = &(*p)->next) {
        struct cached * c = *p;
        if (c->window == base) {
            for (size_t o = 0; o < c->bytes; o += LINE_BYTES) {
                if (c->line[o / LINE_BYTES] & LINE_VALID && memcmp(c->copy + o, c->base + o, LINE_BYTES)) {
                    memcpy(c->memory + o, c->copy + o, LINE_BYTES);
                }
            }
            *p = c->next;
            release(c);
            break;
        }
    }
    pthread_mutex_unlock(&all.lock);
}

/* ---- lines, with the lock held ---- */

static void set_rights(struct cached * c, size_t page, enum rights rights) {
    if (c->rights[page] != rights) {
        static const int protection[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
        mprotect(c->window + page * PAGE_BYTES, PAGE_BYTES, protection[rights]);
        c->rights[page] = (uint8_t)rights;
    }
}

static bool dirty(const struct cached * c, size_t o) {
    return memcmp(c->copy + o, c->base + o, LINE_BYTES) != 0;
}

static void wrote_memory(void) {
    atomic_fetch_add(dsp.written, 1);
    all.written_here++;
}

static void write_back(struct cached * c, size_t o) {
    if (!dirty(c, o)) {
        return;
    }
    if (memcmp(c->memory + o, c->base + o, LINE_BYTES)) {
        size_t foreign = 0, both = 0, first = LINE_BYTES;
        for (size_t i = 0; i < LINE_BYTES; i++) {
            bool theirs = c->memory[o + i] != c->base[o + i], ours = c->copy[o + i] != c->base[o + i];
            foreign += theirs;
            both += theirs && ours;
            first = theirs && first == LINE_BYTES ? i : first;
        }
        bool shared = checks.sharing && !both;
        check_report(shared ? "sharing" : "coherency", shared ? "false-sharing" : "lost-write",
                     (uintptr_t)c->window + o + first, foreign,
                     "a line is written back over %zu bytes that somebody else wrote meanwhile%s", foreign,
                     both ? ", some of them written here too" : "");
    }
    memcpy(c->memory + o, c->copy + o, LINE_BYTES);
    memcpy(c->base + o, c->copy + o, LINE_BYTES);
    wrote_memory();
}

static void maintain_line(struct cached * c, size_t o, bool clean, bool invalidate) {
    uint8_t * line = &c->line[o / LINE_BYTES];
    if (!(*line & LINE_VALID)) {
        return;
    }
    if (invalidate) {
        set_rights(c, o / PAGE_BYTES, RIGHTS_NONE); /* before looking: no write may slip in between */
    }
    if (clean) {
        write_back(c, o);
    } else if (invalidate && dirty(c, o)) {
        check_report("coherency", "discarded-write", (uintptr_t)c->window + o, LINE_BYTES,
                     "a line is invalidated that was written and not cleaned");
    }
    if (invalidate) {
        *line = 0;
    }
}

static void fetch_page(struct cached * c, size_t page) {
    for (size_t i = 0, o = page * PAGE_BYTES; i < LINES_PER_PAGE; i++, o += LINE_BYTES) {
        if (!(c->line[o / LINE_BYTES] & LINE_VALID)) {
            memcpy(c->base + o, c->memory + o, LINE_BYTES);
            memcpy(c->copy + o, c->base + o, LINE_BYTES);
            c->line[o / LINE_BYTES] = LINE_VALID;
        }
    }
    if (!c->listed[page]) {
        c->listed[page]              = 1;
        c->resident[c->n_resident++] = (uint32_t)page;
    }
}

/* ---- maintenance ---- */

/* The last line that this thread invalidated by itself: a fence, if it is read next. */
static _Thread_local uintptr_t fence;

void coherency_range(uintptr_t address, size_t bytes, bool clean, bool invalidate) {
    if (!clean && !invalidate) {
        return;
    }
    fence = invalidate && bytes == LINE_BYTES ? address : 0;
    pthread_mutex_lock(&all.lock);
    struct cached * c = holder(address);
    if (c) {
        size_t from = (address - (uintptr_t)c->window) & ~(size_t)(LINE_BYTES - 1);
        size_t to   = address - (uintptr_t)c->window + bytes;
        for (size_t o = from; o < to && o < c->bytes; o += LINE_BYTES) {
            maintain_line(c, o, clean, invalidate);
        }
    }
    pthread_mutex_unlock(&all.lock);
}

void coherency_all(bool clean, bool invalidate) {
    pthread_mutex_lock(&all.lock);
    for (struct cached * c = all.list; c; c = c->next) {
        if (c->n_resident && invalidate) {
            mprotect(c->window, c->bytes, PROT_NONE);
        }
        for (size_t i = 0; i < c->n_resident; i++) {
            size_t page = c->resident[i];
            if (invalidate) {
                c->rights[page] = RIGHTS_NONE;
                c->listed[page] = 0;
            }
            for (size_t l = 0, o = page * PAGE_BYTES; l < LINES_PER_PAGE; l++, o += LINE_BYTES) {
                maintain_line(c, o, clean, invalidate);
            }
        }
        if (invalidate) {
            c->n_resident = 0;
        }
    }
    pthread_mutex_unlock(&all.lock);
}

/* ---- DMA ---- */

uint8_t * coherency_memory(uintptr_t address) {
    pthread_mutex_lock(&all.lock);
    struct cached * c = holder(address);
    uint8_t * p       = c ? c->memory + (address - (uintptr_t)c->window) : (uint8_t *)address;
    pthread_mutex_unlock(&all.lock);
    return p;
}

void coherency_dma_read(uintptr_t address, size_t bytes) {
    pthread_mutex_lock(&all.lock);
    struct cached * c = holder(address);
    size_t from = c ? address - (uintptr_t)c->window : 0, to = from + bytes;
    for (size_t o = from; c && o < to && o < c->bytes;) {
        size_t next = (o | (LINE_BYTES - 1)) + 1, end = next < to ? next : to;
        if (c->line[o / LINE_BYTES] & LINE_VALID && memcmp(c->copy + o, c->base + o, end - o)) {
            check_report("coherency", "dma-read-dirty", (uintptr_t)c->window + o, end - o,
                         "DMA reads memory while newer bytes are in the cache, not cleaned");
            break;
        }
        o = next;
    }
    pthread_mutex_unlock(&all.lock);
}

void coherency_dma_written(uintptr_t address, size_t bytes) {
    pthread_mutex_lock(&all.lock);
    struct cached * c = holder(address);
    size_t to         = c ? address - (uintptr_t)c->window + bytes : 0;
    if (c) {
        wrote_memory();
    }
    for (size_t o = c ? (address - (uintptr_t)c->window) & ~(size_t)(LINE_BYTES - 1) : 0; c && o < to && o < c->bytes;
         o += LINE_BYTES) {
        uint8_t * line = &c->line[o / LINE_BYTES];
        if (!(*line & LINE_VALID)) {
            continue;
        }
        if (dirty(c, o)) {
            check_report("coherency", "dma-write-dirty", (uintptr_t)c->window + o, LINE_BYTES,
                         "DMA writes memory while the cache holds the line dirty: a write-back will undo it");
        } else if (*line & LINE_USED && memcmp(c->memory + o, c->base + o, LINE_BYTES)) {
            *line |= LINE_STALE;
            set_rights(c, o / PAGE_BYTES, RIGHTS_NONE);
        } else if (!(*line & LINE_USED)) {
            set_rights(c, o / PAGE_BYTES, RIGHTS_NONE);
            *line = 0; /* fetched along with its page only: fetch it when it is used */
        }
    }
    pthread_mutex_unlock(&all.lock);
}

void coherency_fetch(uintptr_t address, size_t bytes) {
    (void)address;
    (void)bytes; /* the copy itself touches the window */
}

/* ---- touches ---- */

static uintptr_t instruction(const void * context) {
#if defined(__x86_64__)
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)((const ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

#if defined(__x86_64__)
static _Thread_local struct {
    struct cached * c;
    size_t page;
} stepping;
#endif

/* Let the faulting instruction run alone, and take the rights away after it. On x86-64 only: elsewhere further stale
 * lines of one page go unnoticed. */
static bool step(struct cached * c, size_t page, void * context) {
#if defined(__x86_64__)
    stepping.c    = c;
    stepping.page = page;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= 0x100;
    return true;
#else
    (void)c, (void)page, (void)context;
    return false;
#endif
}

bool coherency_trap(void * context) {
#if defined(__x86_64__)
    if (stepping.c) {
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100ll;
        pthread_mutex_lock(&all.lock);
        set_rights(stepping.c, stepping.page, RIGHTS_NONE);
        pthread_mutex_unlock(&all.lock);
        stepping.c = NULL;
        return true;
    }
#else
    (void)context;
#endif
    return false;
}

/* What others wrote before the fence that was just read is in memory. */
static void catch_up(void) {
    uint64_t others = atomic_load(dsp.written) - all.written_here;
    if (others == all.others_seen) {
        return;
    }
    all.others_seen = others;
    for (struct cached * c = all.list; c; c = c->next) {
        for (size_t i = 0; i < c->n_resident; i++) {
            size_t page = c->resident[i];
            for (size_t l = 0, o = page * PAGE_BYTES; l < LINES_PER_PAGE; l++, o += LINE_BYTES) {
                uint8_t * line = &c->line[o / LINE_BYTES];
                if (!(*line & LINE_VALID) || *line & LINE_STALE || !memcmp(c->memory + o, c->base + o, LINE_BYTES) ||
                    dirty(c, o)) {
                    continue;
                }
                set_rights(c, page, RIGHTS_NONE);
                *line = *line & LINE_USED ? *line | LINE_STALE : 0;
            }
        }
    }
}

bool coherency_fault(uintptr_t address, bool write, void * context) {
    pthread_mutex_lock(&all.lock);
    struct cached * c = holder(address);
    if (!c) {
        pthread_mutex_unlock(&all.lock);
        return false;
    }
    size_t o = address - (uintptr_t)c->window, page = o / PAGE_BYTES;
    uint8_t * line = &c->line[o / LINE_BYTES];
    fetch_page(c, page);
    if (*line & LINE_STALE) {
        check_report("coherency", "stale-read", address, LINE_BYTES,
                     "a line is %s that changed in memory after it was fetched, without an invalidation between",
                     write ? "written" : "read");
        *line &= (uint8_t)~LINE_STALE;
    }
    *line |= LINE_USED;
    if (fence && address / LINE_BYTES == fence / LINE_BYTES) {
        fence = 0;
        catch_up();
    }
    enum rights wanted = write ? RIGHTS_WRITE : RIGHTS_READ;
    if (write && c->rights[page] < RIGHTS_WRITE) {
        c->writer[page] = check_library_pc(instruction(context));
    }
    if (c->rights[page] < wanted) {
        set_rights(c, page, wanted);
    }
    bool more = false;
    for (size_t l = page * LINES_PER_PAGE; l < (page + 1) * LINES_PER_PAGE; l++) {
        more = more || c->line[l] & LINE_STALE;
    }
    if (more) {
        step(c, page, context);
    }
    pthread_mutex_unlock(&all.lock);
    return true;
}

/* ---- the application's turns ---- */

/* Visit each valid line of each resident page. */
static void each_line(void (*visit)(struct cached *, size_t offset)) {
    pthread_mutex_lock(&all.lock);
    for (struct cached * c = all.list; c; c = c->next) {
        for (size_t i = 0; i < c->n_resident; i++) {
            for (size_t l = 0, o = (size_t)c->resident[i] * PAGE_BYTES; l < LINES_PER_PAGE; l++, o += LINE_BYTES) {
                if (c->line[o / LINE_BYTES] & LINE_VALID) {
                    visit(c, o);
                }
            }
        }
    }
    pthread_mutex_unlock(&all.lock);
}

static void find_stale(struct cached * c, size_t o) {
    if (memcmp(c->memory + o, c->base + o, LINE_BYTES)) {
        c->line[o / LINE_BYTES] |= LINE_STALE;
        set_rights(c, o / PAGE_BYTES, RIGHTS_NONE);
    }
}

void coherency_enter(void) {
    each_line(find_stale);
}

static void find_dirty(struct cached * c, size_t o) {
    if (dirty(c, o)) {
        check_blame(c->writer[o / PAGE_BYTES]);
        check_report("coherency", "dirty-at-return", (uintptr_t)c->window + o, LINE_BYTES,
                     "the application is answered while a line that was written is not cleaned");
    }
}

void coherency_leave(void) {
    each_line(find_dirty);
}
