/* hexagon_protos.h: the intrinsics of the Hexagon DSP that llama.cpp's kernels use, for x86-64 and portable C.
 *
 * Every Q6_<name> has its formula in the comment above it, a plain form Q6_<name>_lane that computes lane by lane, and
 * where it pays a vector form. An intrinsic that is not here is an undeclared function, which C11 and this header make
 * a compile error that names it. README.md tells what is exact and what is not. */
#ifndef HEXAGON_PROTOS_H
#define HEXAGON_PROTOS_H

#if !defined(__clang__)
#error "HVX emulation: needs clang (vector types, _Float16)"
#endif
#if !defined(__HVX_ARCH__)
#error "HVX emulation: define __HVX_ARCH__ as 73, 75, 79 or 81, as hexagon-clang -mhvx does"
#endif
#if __HVX_ARCH__ != 73 && __HVX_ARCH__ != 75 && __HVX_ARCH__ != 79 && __HVX_ARCH__ != 81
#error "HVX emulation: __HVX_ARCH__ must be 73, 75, 79 or 81"
#endif

#pragma clang diagnostic error "-Wimplicit-function-declaration"

#include "hexagon_types.h"

#include "hexsim_scalar.h"
#include "hexsim_logic.h"
#include "hexsim_arith.h"
#include "hexsim_permute.h"
#include "hexsim_lut.h"
#include "hexsim_float.h"
#include "hexsim_qfloat.h"
#include "hexsim_memory.h"

/* Programs that run without a DSP process define this. */
#ifndef HEXSIM_UNCOUNTED
#include "hexsim_count.h"
#endif

#endif /* HEXAGON_PROTOS_H */
