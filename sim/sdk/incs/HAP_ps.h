/* HAP_ps.h: process services of the DSP. Nothing of it is needed by the libraries built here; the header exists because
 * they include it. */
#ifndef HAP_PS_H
#define HAP_PS_H

#include "AEEStdDef.h"
#include "AEEStdErr.h"

#endif /* HAP_PS_H */
