/* stdlib.h: the DSP's C library declares memalign here, the C library below in malloc.h. */
#ifndef HEXAGON_STDLIB_H
#define HEXAGON_STDLIB_H

#include_next <stdlib.h>

#include <malloc.h>

#endif /* HEXAGON_STDLIB_H */
