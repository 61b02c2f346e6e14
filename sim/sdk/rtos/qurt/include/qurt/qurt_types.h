/* qurt_types.h: the basic types of QuRT, the DSP's operating system. */
#ifndef QURT_TYPES_H
#define QURT_TYPES_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned int qurt_addr_t; /* address in the DSP's 32-bit window */
typedef unsigned int qurt_size_t; /* bytes */

#define QURT_EOK     0 /* success */
#define QURT_EFATAL  (-1)
#define QURT_EVAL    1 /* wrong value */
#define QURT_EMEM    2 /* no memory */
#define QURT_EINVALID 4 /* invalid argument */

#endif /* QURT_TYPES_H */
