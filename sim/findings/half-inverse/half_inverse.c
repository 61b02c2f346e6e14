/* half_inverse.c: DIV of halves before v79 multiplies by hvx_vec_inverse_f16,
 * whose error alone fails the test.
 *
 * Runs the kernel's function (htp/hvx-inverse.h) on every half from 0.25 to 4,
 * then its division on data as the test draws them, and the same division with
 * a reciprocal that is rounded to nearest instead. Exit status 0: as told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hvx-utils.h"

enum { LANES = 64, VECTORS = 1024 };

static const double bound = 1e-7; /* of test-backend-ops, normalised mean square error */

typedef union {
    HVX_Vector v;
    _Float16 h[LANES];
} lanes;

static double uniform(double low, double high) {
    return low + (high - low) * drand48();
}

int main(void) {
    double worst = 0, truncated = 0, count = 0;
    for (int e = -2; e < 2; e++) {
        for (int m = 0; m < 1024; m += LANES) {
            lanes x, y;
            for (int i = 0; i < LANES; i++) {
                x.h[i] = (_Float16) ldexp(1024 + m + i, e - 10);
            }
            y.v = hvx_vec_inverse_f16(x.v);
            for (int i = 0; i < LANES; i++) {
                const double exact = 1 / (double) x.h[i];
                worst              = fmax(worst, fabs((double) y.h[i] / exact - 1));
                truncated += (double) y.h[i] < exact;
                count++;
            }
        }
    }
    printf("reciprocal: largest relative error %.2e (a half rounds with %.2e), "
           "below the exact value in %.0f %%\n",
           worst, ldexp(1, -11), 100 * truncated / count);

    srand48(1);
    double kernel = 0, nearest = 0, norm = 0;
    for (int n = 0; n < VECTORS; n++) {
        lanes a, b, q;
        for (int i = 0; i < LANES; i++) {
            a.h[i] = (_Float16) uniform(0.9, 1.1);
            b.h[i] = (_Float16) uniform(0.9, 1.1);
        }
        q.v =
            hvx_vec_hybrid_div_f16(a.v, b.v, Q6_V_vsplat_R(0x7f800000), Q6_Vh_vsplat_R(0x7c00), Q6_Vh_vsplat_R(0x3c00));
        for (int i = 0; i < LANES; i++) {
            const double want = (_Float16) ((float) a.h[i] / (float) b.h[i]); /* the CPU backend */
            const double good = (_Float16) ((float) a.h[i] * (float) (_Float16) (1 / (float) b.h[i]));
            kernel += pow((double) q.h[i] - want, 2);
            nearest += pow(good - want, 2);
            norm += want * want;
        }
    }
    printf("a / b, both from 0.9 to 1.1: kernel's error %.2e, with a reciprocal "
           "rounded to nearest %.2e, bound %.0e\n",
           kernel / norm, nearest / norm, bound);
#if __HVX_ARCH__ < 79
    return !(kernel / norm > bound);
#else
    return !(kernel / norm <= bound);
#endif
}
