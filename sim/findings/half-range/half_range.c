/* half_range.c: MUL_MAT_ID on the matrix unit takes its activations and gives
 * its results as halves.
 *
 * The test asks for single precision of src1 (ggml_prec_set_src) because it
 * draws activations up to 100000. The backend's path selection does not look at
 * it. On the vector unit the quantiser takes its activations as halves too.
 * Here are the kernel's own conversion (htp/hvx-base.h, hvx_vec_f32_to_f16) of
 * such activations; how far a product is off in which nothing is wrong but that
 * activations, or results, stop at the largest half. Exit status 0: both miss
 * the test's bound, whatever the hardware makes of an overflow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hvx-base.h"

enum { LANES = 32, COUNT = 1024, K = 256 };

static const double amax = 100000, largest = 65504;
static const double bound = 5e-4; /* of test-backend-ops, normalised mean square error */

typedef union {
    HVX_Vector v;
    float s[LANES];
    _Float16 h[2 * LANES];
} lanes;

static double uniform(double high) {
    return high * (2 * drand48() - 1);
}

static double clamp(double x) {
    return fmin(fmax(x, -largest), largest);
}

int main(void) {
    srand48(1);
    int infinite = 0, beyond = 0;
    double norm = 0, operand_error = 0, result_error = 0;
    for (int n = 0; n < COUNT; n++) {
        lanes a, b;
        for (int i = 0; i < LANES; i++) {
            a.s[i] = (float) uniform(amax);
        }
        b.v = hvx_vec_f32_to_f16(a.v, Q6_V_vzero());
        for (int i = 0; i < LANES; i++) {
            infinite += isinf((double) b.h[i]) != 0;
        }
        double exact = 0, limited = 0; /* weights from -1 to 1 by activations */
        for (int i = 0; i < K; i++) {
            const double weight = uniform(1), activation = uniform(amax);
            exact += weight * activation;
            limited += weight * clamp(activation);
        }
        beyond += fabs(exact) > largest;
        norm += exact * exact;
        operand_error += pow(limited - exact, 2);
        result_error += pow(clamp(exact) - exact, 2);
    }
    printf("activations up to %.0f: %.0f %% become Inf; results of k = %d: %.0f "
           "%% are beyond the largest half\n",
           amax, 100.0 * infinite / (COUNT * LANES), K, 100.0 * beyond / COUNT);
    printf("error if activations stop at the largest half %.1e, if results do "
           "%.1e, bound %.0e\n",
           operand_error / norm, result_error / norm, bound);
    return !(infinite > 0 && operand_error / norm > bound && result_error / norm > bound);
}
