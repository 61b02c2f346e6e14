/* exp2_flush.c: flash attention takes its exponentials from hvx_vec_exp2_f16,
 * which gives no subnormal halves.
 *
 * Runs the kernel's function (htp/hvx-exp.h) on every half from -24 to 0; then
 * attention in double precision, the weights alone taken from that function,
 * then from a half that is rounded to nearest. Exit status 0: the former misses
 * the test's bound where a sink far above the scores is all that limits them,
 * the latter does not. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hvx-exp.h"

enum { LANES = 64, KEYS = 512, HEAD = 192, ROWS = 64 };

static const double bound = 5e-4; /* of test-backend-ops, normalised mean square error */

typedef union {
    HVX_Vector v;
    _Float16 h[LANES];
} lanes;

static double kernel_exp2(double x) {
    lanes a;
    a.v    = Q6_V_vzero();
    a.h[0] = (_Float16) x;
    a.v    = hvx_vec_exp2_f16(a.v);
    return (double) a.h[0];
}

static double nearest_exp2(double x) {
    return (double) (_Float16) exp2((double) (_Float16) x);
}

/* The error of ROWS rows of attention with one sink, the weights from f. */
static double attention(double sink, double (*f)(double)) {
    double error = 0, norm = 0;
    srand48(3);
    for (int row = 0; row < ROWS; row++) {
        static double score[KEYS];
        double top = sink;
        for (int j = 0; j < KEYS; j++) {
            score[j] = 0;
            for (int d = 0; d < HEAD; d++) {
                score[j] += (2 * drand48() - 1) * (2 * drand48() - 1);
            }
            score[j] /= sqrt(HEAD);
            top = fmax(top, score[j]);
        }
        double exact = 0, sum = exp(sink - top), ours = 0, ours_sum = exp(sink - top);
        for (int j = 0; j < KEYS; j++) {
            const double value = 2 * drand48() - 1, p = exp(score[j] - top), q = f((score[j] - top) * M_LOG2E);
            exact += p * value;
            sum += p;
            ours += q * value;
            ours_sum += q;
        }
        error += pow(exact / sum - ours / ours_sum, 2);
        norm += pow(exact / sum, 2);
    }
    return error / norm;
}

int main(void) {
    double first_zero = 0, first_wrong = 0, worst = 0;
    for (unsigned bits = 0x8000; bits <= 0xce00; bits++) { /* -0 to -24 */
        union {
            unsigned short u;
            _Float16 h;
        } x            = {(unsigned short) bits};
        const double y = kernel_exp2((double) x.h), want = exp2((double) x.h);
        const double off = fabs(y / want - 1);
        if (first_wrong == 0 && off > 0.05) {
            first_wrong = (double) x.h;
        }
        worst = first_wrong == 0 ? fmax(worst, off) : worst;
        if (first_zero == 0 && y == 0) {
            first_zero = (double) x.h;
        }
    }
    printf("2^x: wrong by more than 5 %% from x = %.4f on, zero from %.4f on, "
           "before by "
           "%.1e at most; the smallest half is 2^-24\n",
           first_wrong, first_zero, worst);
    int as_told = first_wrong > -14.2 && first_wrong < -13.9 && first_zero > -15.1;
    for (double sink = 8; sink <= 10; sink += 0.5) {
        const double kernel = attention(sink, kernel_exp2), nearest = attention(sink, nearest_exp2);
        printf("sink %4.1f: error with the kernel's function %.1e, with subnormal "
               "halves %.1e, bound %.0e\n",
               sink, kernel, nearest, bound);
        as_told &= nearest < bound && (sink < 9.5 || kernel > bound);
    }
    return !as_told;
}
