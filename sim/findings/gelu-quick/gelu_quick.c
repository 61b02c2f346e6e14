/* gelu_quick.c: GELU is computed as GELU_QUICK, x sigmoid(1.702 x), which is
 * another function near zero.
 *
 * Runs the three calls of the kernel (gelu_f32 of htp/unary-ops.c) on data as
 * the tests draw them: from -150 to 150 for GELU alone, from -1 to 1 for GELU
 * and a product. Exit status 0: against the tanh form of the CPU backend the
 * former meets its bound and the latter does not, against x sigmoid(1.702 x)
 * both do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hvx-utils.h"

enum { N = 8192 };

typedef struct {
    double to_tanh, to_quick; /* normalised mean square errors */
} errors;

static double gelu(double x) {
    return 0.5 * x * (1 + tanh(sqrt(2 / M_PI) * x * (1 + 0.044715 * x * x)));
}

static double gelu_quick(double x) {
    return x / (1 + exp(-1.702 * x));
}

static errors run(double range) {
    static float x[N] __attribute__((aligned(128))), y[N] __attribute__((aligned(128)));
    srand48(1);
    for (int i = 0; i < N; i++) {
        x[i] = (float) (range * (2 * drand48() - 1));
    }
    hvx_mul_scalar_f32((uint8_t *) y, (const uint8_t *) x, 1.702f, N);
    hvx_sigmoid_f32_aa((uint8_t *) y, (const uint8_t *) y, N);
    hvx_mul_f32_aaa((uint8_t *) y, (const uint8_t *) x, (const uint8_t *) y, N);
    double tanh_error = 0, tanh_norm = 0, quick_error = 0, quick_norm = 0;
    for (int i = 0; i < N; i++) {
        const double t = gelu((double) x[i]), q = gelu_quick((double) x[i]);
        tanh_error += pow((double) y[i] - t, 2);
        tanh_norm += t * t;
        quick_error += pow((double) y[i] - q, 2);
        quick_norm += q * q;
    }
    return (errors) {tanh_error / tanh_norm, quick_error / quick_norm};
}

int main(void) {
    const errors wide = run(150), narrow = run(1);
    printf("from -150 to 150: error to GELU %.1e, to GELU_QUICK %.1e; bound 1e-7\n", wide.to_tanh, wide.to_quick);
    printf("from -1 to 1:     error to GELU %.1e, to GELU_QUICK %.1e; bound 5e-7\n", narrow.to_tanh, narrow.to_quick);
    return !(wide.to_tanh < 1e-7 && wide.to_quick < 1e-7 && narrow.to_tanh > 5e-7 && narrow.to_quick < 5e-7);
}
