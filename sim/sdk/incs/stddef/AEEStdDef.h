/* AEEStdDef.h: the basic types of the FastRPC interfaces, for the application side and for the DSP. */
#ifndef AEESTDDEF_H
#define AEESTDDEF_H

#include <stddef.h>
#include <stdint.h>

typedef uint8_t  uint8;
typedef int8_t   int8;
typedef uint16_t uint16;
typedef int16_t  int16;
typedef uint32_t uint32;
typedef int32_t  int32;

/* 64-bit types. Code for the DSP implements functions declared with uint64 and writes uint64_t in their definitions:
 * there the two are one type. Code for the application processor passes pointers to unsigned long long. */
#if defined(__hexagon__)
typedef uint64_t uint64;
typedef int64_t  int64;
#else
typedef unsigned long long uint64;
typedef long long          int64;
#endif

typedef uint8  byte;
typedef uint8  boolean;
typedef uint32 AEECLSID;
typedef uint32 AEEIID;

/* Result of an interface method: AEE_SUCCESS or one of AEEStdErr.h. */
typedef int AEEResult;

#ifndef TRUE
#define TRUE 1
#endif
#ifndef FALSE
#define FALSE 0
#endif

#endif /* AEESTDDEF_H */
