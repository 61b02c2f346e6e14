/* Must not compile: see CMakeLists.txt. */
#include "hexagon_protos.h"

HVX_Vector unknown(HVX_Vector u, HVX_Vector v) {
    HVX_Vector d;
    __builtin_memset(&d, Q6_Vw_vnothing_VwVw(u, v), sizeof d);
    return d;
}
