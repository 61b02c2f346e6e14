/* hexagon_types.h: the vector types of HVX in 128-byte mode, under the vendor's names.
 *
 * Lane 0 is at the lowest address. A predicate holds one bit for each byte of a vector; here it is a byte, 0x00 or
 * 0xff. (V73 HVX Programmer's Reference Manual 80-N2040-54, chapter 2.) */
#ifndef HEXAGON_TYPES_H
#define HEXAGON_TYPES_H

#include <stdint.h>

#if defined(__HVX_LENGTH__) && __HVX_LENGTH__ != 128
#error "HVX emulation: only the mode of 128-byte vectors exists"
#endif

typedef int32_t HVX_Vector __attribute__((__vector_size__(128), __aligned__(128)));
typedef int32_t HVX_UVector __attribute__((__vector_size__(128), __aligned__(1)));
typedef int32_t HVX_VectorPair __attribute__((__vector_size__(256), __aligned__(128)));
typedef int32_t HVX_UVectorPair __attribute__((__vector_size__(256), __aligned__(1)));
typedef uint8_t HVX_VectorPred __attribute__((__vector_size__(128), __aligned__(128)));

#endif /* HEXAGON_TYPES_H */
