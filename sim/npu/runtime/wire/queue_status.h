/* queue_status.h: what the functions of dspqueue return, on both sides. */
#ifndef HEXSIM_QUEUE_STATUS_H
#define HEXSIM_QUEUE_STATUS_H

#include "ring.h"

enum queue_side { QUEUE_HOST, QUEUE_DSP };

/* The AEE code for a ring's status on a side. */
int queue_status(enum ring_status status, enum queue_side side);

#endif
