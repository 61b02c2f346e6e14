/* qurt.h: all of QuRT that the libraries built here use. */
#ifndef QURT_H
#define QURT_H

#include <stdlib.h> /* sources that allocate count on this header for memalign */

#include "qurt_futex.h"
#include "qurt_hvx.h"
#include "qurt_memory.h"
#include "qurt_pmu.h"
#include "qurt_sysenv.h"
#include "qurt_thread.h"
#include "qurt_types.h"

#endif /* QURT_H */
