/* skel: libraries of the DSP, loaded as a phone loads them: by the file's name in the URI, from the folders of
 * ADSP_LIBRARY_PATH. Whatever keeps a library from loading gives AEE_EUNABLETOLOAD and a line in the log. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "AEEStdErr.h"
#include "dsp.h"
#include "remote.h"
#include "symbols.h"

typedef int (*skel_function)(remote_handle64 handle, uint32_t scalars, remote_arg * args);

struct module {
    char name[128], path[1024];
    unsigned arch;
    void * dl;
    uintptr_t base, end;
    struct symbols symbols; /* for people */
};

#define MAX_MODULES 16
#define MAX_HANDLES 64

struct open_handle {
    skel_function function;
    remote_handle64 inner;
    bool used;
};

static struct {
    pthread_mutex_t lock;
    struct module module[MAX_MODULES];
    _Atomic unsigned n_modules;
    struct open_handle handle[MAX_HANDLES];
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- names ---- */

static const struct module * module_at(uintptr_t address) {
    for (unsigned i = 0; i < atomic_load(&all.n_modules); i++) {
        if (address >= all.module[i].base && address < all.module[i].end) {
            return &all.module[i];
        }
    }
    return NULL;
}

bool skel_place(uintptr_t address, struct skel_place * place) {
    const struct module * m = module_at(address);
    if (m) {
        *place = (struct skel_place){m->name, m->path, address - m->base, symbols_at(&m->symbols, address - m->base)};
    }
    return m != NULL;
}

bool skel_holds_low(uint32_t low_bits, uintptr_t * whole) {
    for (unsigned i = 0; i < atomic_load(&all.n_modules); i++) {
        const struct module * m = &all.module[i];
        uintptr_t a             = (m->base & ~(uintptr_t)UINT32_MAX) | low_bits;
        a += a < m->base ? (uintptr_t)1 << 32 : 0;
        if (a < m->end) {
            *whole = a;
            return true;
        }
    }
    return false;
}

unsigned skel_arch(void) {
    unsigned n = atomic_load(&all.n_modules);
    return n ? all.module[n - 1].arch : 0;
}

/* ---- loading ---- */

/* The architecture in the name, ...-v79.so: for libraries that hexagon-clang did not mark. 0: unknown. */
static unsigned arch_in_name(const char * name) {
    const char * v = strrchr(name, 'v');
    unsigned n     = 0;
    return v && sscanf(v, "v%2u.so", &n) == 1 ? n : 0;
}

static int extent(struct dl_phdr_info * info, size_t size, void * argument) {
    struct module * m = argument;
    (void)size;
    if (info->dlpi_addr != m->base) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) * p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && m->base + p->p_vaddr + p->p_memsz > m->end) {
            m->end = m->base + p->p_vaddr + p->p_memsz;
        }
    }
    return 1;
}

/* Libraries stay loaded, with their data. */
static struct module * loaded_already(const char * path) {
    void * dl               = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    struct module * already = NULL;
    for (unsigned i = 0; dl && i < atomic_load(&all.n_modules); i++) {
        already = all.module[i].dl == dl ? &all.module[i] : already;
    }
    if (dl) {
        dlclose(dl); /* this reference only */
    }
    return already;
}

/* With the lock held. */
static struct module * load(const char * path, const char * name) {
    struct module * loaded = loaded_already(path);
    if (loaded) {
        return loaded;
    }
    unsigned n = atomic_load(&all.n_modules);
    struct symbols symbols;
    symbols_read(path, &symbols);
    unsigned arch = symbols.arch ? symbols.arch : arch_in_name(name);
    if (arch > dsp.soc->arch) {
        farf_line("ERROR", "%s is for v%u, this is a v%u (%s)", path, arch, dsp.soc->arch, dsp.soc->name);
        symbols_free(&symbols);
        return NULL;
    }
    void * dl = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!dl) {
        farf_line("ERROR", "%s can not be loaded: %s", path, dlerror());
        symbols_free(&symbols);
        return NULL;
    }
    struct link_map * map = NULL;
    if (n == MAX_MODULES || dlinfo(dl, RTLD_DI_LINKMAP, &map) || !map) {
        farf_line("ERROR", "%s: too many libraries", path);
        symbols_free(&symbols);
        dlclose(dl);
        return NULL;
    }
    struct module * m = &all.module[n];
    *m = (struct module){.dl = dl, .base = map->l_addr, .end = map->l_addr, .arch = arch, .symbols = symbols};
    snprintf(m->name, sizeof m->name, "%s", name);
    snprintf(m->path, sizeof m->path, "%s", path);
    dl_iterate_phdr(extent, m);
    atomic_store(&all.n_modules, n + 1);
    return m;
}

static struct module * find_and_load(const char * name, const char * path) {
    if (!*path) {
        farf_line("ERROR", "%s: ADSP_LIBRARY_PATH is not set", name);
        return NULL;
    }
    for (const char * folder = path; *folder;) {
        size_t n = strcspn(folder, ";");
        char file[4096];
        snprintf(file, sizeof file, "%.*s/%s", (int)n, n ? folder : ".", name);
        char * whole = realpath(file, NULL);
        if (whole) {
            struct module * m = load(whole, name);
            free(whole);
            return m;
        }
        folder += n + (folder[n] == ';');
    }
    farf_line("ERROR", "%s is in no folder of ADSP_LIBRARY_PATH=%s", name, path);
    return NULL;
}

/* file:///<library>?<symbol>&... */
static bool parse_uri(const char * uri, char * library, size_t room, char * symbol, size_t symbol_room) {
    const char * p = strncmp(uri, "file:///", 8) ? NULL : uri + 8;
    const char * q = p ? strchr(p, '?') : NULL;
    if (!q || q == p || (size_t)(q - p) >= room || memchr(p, '/', (size_t)(q - p))) {
        return false;
    }
    size_t n = strcspn(q + 1, "&");
    if (!n || n >= symbol_room) {
        return false;
    }
    snprintf(library, room, "%.*s", (int)(q - p), p);
    snprintf(symbol, symbol_room, "%.*s", (int)n, q + 1);
    return true;
}

static int call_open(skel_function f, const char * uri, remote_handle64 * inner) {
    uint32_t bytes = (uint32_t)strlen(uri) + 1;
    remote_arg args[3];
    memset(args, 0, sizeof args);
    char * copy = heap_alloc(16, bytes);
    if (!copy) {
        return (int)AEE_ENOMEMORY;
    }
    memcpy(copy, uri, bytes);
    args[0].buf = (remote_buf){&bytes, sizeof bytes};
    args[1].buf = (remote_buf){copy, bytes};
    int status  = f(0, REMOTE_SCALARS_MAKEX(0, 0, 2, 0, 0, 1), args);
    heap_free(copy);
    *inner = args[2].h64;
    return status;
}

int skel_open(const char * uri, const char * path, uint64_t * handle) {
    char library[128], symbol[128];
    if (!parse_uri(uri, library, sizeof library, symbol, sizeof symbol)) {
        farf_line("ERROR", "not a URI of a DSP library: %s", uri);
        return (int)AEE_ESCHEMENOTSUPPORTED;
    }
    pthread_mutex_lock(&all.lock);
    struct module * m = find_and_load(library, path);
    pthread_mutex_unlock(&all.lock);
    if (!m) {
        return (int)AEE_EUNABLETOLOAD;
    }
    skel_function f = (skel_function)dlsym(m->dl, symbol);
    if (!f) {
        farf_line("ERROR", "%s has no %s: a library of another interface", library, symbol);
        return (int)AEE_EUNABLETOLOAD;
    }
    remote_handle64 inner = 0;
    int status            = call_open(f, uri, &inner);
    if (status) {
        farf_line("ERROR", "%s: open failed with 0x%x", library, (unsigned)status);
        return status;
    }
    status = (int)AEE_EOUTOFHANDLES;
    pthread_mutex_lock(&all.lock);
    for (unsigned i = 0; i < MAX_HANDLES && status; i++) {
        if (!all.handle[i].used) {
            all.handle[i] = (struct open_handle){f, inner, true};
            *handle       = i + 1;
            status        = 0;
        }
    }
    pthread_mutex_unlock(&all.lock);
    return status;
}

static bool handle_copy(uint64_t handle, struct open_handle * h) {
    bool ok = false;
    pthread_mutex_lock(&all.lock);
    if (handle - 1 < MAX_HANDLES && all.handle[handle - 1].used) {
        *h = all.handle[handle - 1];
        ok = true;
    }
    pthread_mutex_unlock(&all.lock);
    return ok;
}

int skel_invoke(uint64_t handle, uint32_t scalars, void * args) {
    struct open_handle h;
    if (!handle_copy(handle, &h)) {
        return (int)AEE_ENOSUCHHANDLE;
    }
    if (REMOTE_SCALARS_METHOD(scalars) < 2) {
        return (int)AEE_EUNSUPPORTED; /* open and close have requests of their own */
    }
    return h.function(h.inner, scalars, args);
}

int skel_close(uint64_t handle) {
    struct open_handle h;
    if (!handle_copy(handle, &h)) {
        return (int)AEE_ENOSUCHHANDLE;
    }
    remote_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.h64    = h.inner;
    int status = h.function(h.inner, REMOTE_SCALARS_MAKEX(0, 1, 0, 0, 1, 0), &arg);
    if (!status) {
        pthread_mutex_lock(&all.lock);
        all.handle[handle - 1].used = false;
        pthread_mutex_unlock(&all.lock);
    }
    return status;
}
