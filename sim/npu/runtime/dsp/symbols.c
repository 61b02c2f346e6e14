#define _GNU_SOURCE
#include "symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int by_offset(const void * a, const void * b) {
    uint64_t x = ((const struct symbol *)a)->offset, y = ((const struct symbol *)b)->offset;
    return x < y ? -1 : x > y;
}

struct file {
    const uint8_t * bytes;
    size_t size;
};

static bool inside(const struct file * f, uint64_t offset, uint64_t bytes) {
    return offset <= f->size && bytes <= f->size - offset;
}

/* One symbol table with its names. */
static void take(struct symbols * s, const struct file * f, const Elf64_Shdr * table, const Elf64_Shdr * names,
                 bool functions) {
    if (!inside(f, table->sh_offset, table->sh_size) || !inside(f, names->sh_offset, names->sh_size) ||
        !names->sh_size || f->bytes[names->sh_offset + names->sh_size - 1] || table->sh_offset % 8) {
        return;
    }
    size_t n              = table->sh_size / sizeof(Elf64_Sym);
    const Elf64_Sym * sym = (const Elf64_Sym *)(f->bytes + table->sh_offset);
    const char * text     = (const char *)f->bytes + names->sh_offset;
    if (functions) {
        s->function = calloc(n ? n : 1, sizeof *s->function);
    }
    for (size_t i = 0; i < n; i++) {
        if (sym[i].st_name >= names->sh_size) {
            continue;
        }
        const char * name = text + sym[i].st_name;
        if (sym[i].st_shndx == SHN_ABS && !strcmp(name, "hexsim_arch")) {
            s->arch = (unsigned)sym[i].st_value;
        }
        if (functions && s->function && ELF64_ST_TYPE(sym[i].st_info) == STT_FUNC && sym[i].st_value) {
            s->function[s->n++] = (struct symbol){sym[i].st_value, sym[i].st_size, strdup(name)};
        }
    }
}

static void read_tables(struct symbols * s, const struct file * f) {
    const Elf64_Ehdr * e = (const Elf64_Ehdr *)f->bytes;
    if (f->size < sizeof *e || memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64 ||
        e->e_shentsize != sizeof(Elf64_Shdr) || e->e_shoff % 8 ||
        !inside(f, e->e_shoff, (uint64_t)e->e_shnum * sizeof(Elf64_Shdr))) {
        return;
    }
    const Elf64_Shdr * section    = (const Elf64_Shdr *)(f->bytes + e->e_shoff);
    static const unsigned kinds[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (int k = 0; k < 2; k++) {
        for (unsigned i = 0; i < e->e_shnum; i++) {
            if (section[i].sh_type == kinds[k] && section[i].sh_link < e->e_shnum) {
                take(s, f, &section[i], &section[section[i].sh_link], !s->n && !s->function);
            }
        }
    }
}

void symbols_read(const char * path, struct symbols * s) {
    struct stat st;
    memset(s, 0, sizeof *s);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    struct file f = {NULL, 0};
    if (!fstat(fd, &st) && st.st_size > 0) {
        void * p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        f        = p == MAP_FAILED ? f : (struct file){p, (size_t)st.st_size};
    }
    close(fd);
    if (f.bytes) {
        read_tables(s, &f);
        munmap((void *)f.bytes, f.size);
    }
    if (s->n) {
        qsort(s->function, s->n, sizeof *s->function, by_offset);
    }
}

void symbols_free(struct symbols * s) {
    for (size_t i = 0; i < s->n; i++) {
        free(s->function[i].name);
    }
    free(s->function);
    memset(s, 0, sizeof *s);
}

const char * symbols_at(const struct symbols * s, uint64_t offset) {
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->function[middle].offset <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const struct symbol * f = low ? &s->function[low - 1] : NULL;
    return f && offset - f->offset < (f->bytes ? f->bytes : 1) ? f->name : NULL;
}
