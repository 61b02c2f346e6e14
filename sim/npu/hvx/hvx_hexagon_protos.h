/* hvx_hexagon_protos.h: the vendor splits its intrinsics over two headers; here one includes the other. */
#ifndef HVX_HEXAGON_PROTOS_H
#define HVX_HEXAGON_PROTOS_H

#include "hexagon_protos.h"

#endif /* HVX_HEXAGON_PROTOS_H */
