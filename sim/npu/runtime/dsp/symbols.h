/* symbols.h: what a DSP library's file tells: the names of its functions, and the architecture it was built for. */
#ifndef HEXSIM_SYMBOLS_H
#define HEXSIM_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

struct symbol {
    uint64_t offset; /* from the library's base */
    uint64_t bytes;
    char * name;
};

struct symbols {
    struct symbol * function; /* sorted */
    size_t n;
    unsigned arch; /* value of the absolute symbol hexsim_arch, which hexagon-clang sets; 0: none */
};

/* Read a file; of one that is no 64-bit ELF file nothing is known. Free with symbols_free. */
void symbols_read(const char * path, struct symbols * symbols);
void symbols_free(struct symbols * symbols);

/* The function that holds offset, or NULL. */
const char * symbols_at(const struct symbols * symbols, uint64_t offset);

#endif
