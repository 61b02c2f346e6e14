#include "queue_status.h"

#include "AEEStdErr.h"

#define DSP(code) ((int)(DSP_AEE_EOFFSET + (code)))

static const struct {
    int code[2]; /* by enum queue_side */
} table[] = {
    [RING_OK]        = {{0, 0}},
    [RING_EMPTY]     = {{AEE_EWOULDBLOCK, AEE_EWOULDBLOCK}},
    [RING_FULL]      = {{AEE_EWOULDBLOCK, AEE_EWOULDBLOCK}},
    [RING_TIMEOUT]   = {{AEE_EEXPIRED, DSP(AEE_EEXPIRED)}},
    [RING_TOO_SMALL] = {{AEE_EBADSIZE, DSP(AEE_EBADSIZE)}},
    [RING_TOO_LARGE] = {{AEE_EBADPARM, DSP(AEE_EBADPARM)}},
    [RING_GONE]      = {{AEE_EINTERRUPTED, AEE_ECONNRESET}}, /* 0x2e is what a phone's application sees */
    [RING_BROKEN]    = {{AEE_EBADSTATE, DSP(AEE_EBADSTATE)}},
};

int queue_status(enum ring_status status, enum queue_side side) {
    return table[status].code[side];
}
