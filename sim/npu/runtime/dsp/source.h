/* source.h: from an address in a DSP library to the functions and lines it was made of. */
#ifndef HEXSIM_SOURCE_H
#define HEXSIM_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function at an address; several for one address where functions were inlined, innermost first. */
struct source_frame {
    char function[96];
    char line[96]; /* "htp/rope-ops.c:123": the file's last folder and name; empty when not known */
};

#define SOURCE_MAX_INLINED 8

/* Look for a symbolizer: HEXSIM_SYMBOLIZER, llvm-symbolizer-19, llvm-symbolizer. Once, before threads. */
void source_init(void);

/* Start it now rather than at the first question, which may come from a fault handler. */
void source_start(void);

/* False outside any library. Without a symbolizer, which is told once, the one frame has the function's name from the
 * library's symbols and no line. Takes no memory: it is asked by fault handlers too. */
bool source_frames(uintptr_t address, struct source_frame frames[SOURCE_MAX_INLINED], size_t * n);

#endif
