/* half_sum_ties.c: ADD and SUB of halves before v79 go through qf32, which has
 * no ties.
 *
 * Runs the kernel's functions (htp/hvx-base.h) on sums that lie half-way
 * between two halves and on sums that do not. The CPU backend rounds the former
 * to even. Exit status 0: many of the former are not, and one in a thousand of
 * the latter (differences of nearly equal halves). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hvx-base.h"

enum { LANES = 64, VECTORS = 4096 };

typedef union {
    HVX_Vector v;
    _Float16 h[LANES];
} lanes;

/* Whether x lies half-way between two halves. */
static int tie(double x) {
    int e;
    const double f = frexp(fabs(x), &e); /* from 0.5 to 1: a half has 11 bits of it */
    return fmod(ldexp(f, 12), 2) == 1;
}

int main(void) {
    srand48(1);
    double ties = 0, wrong_ties = 0, wrong_others = 0, error = 0, norm = 0;
    for (int n = 0; n < VECTORS; n++) {
        lanes a, b, s, d;
        for (int i = 0; i < LANES; i++) {
            a.h[i] = (_Float16) (2 * drand48() - 1);
            b.h[i] = (_Float16) (2 * drand48() - 1);
        }
        s.v = hvx_vec_add_f16_f16(a.v, b.v);
        d.v = hvx_vec_sub_f16_f16(a.v, b.v);
        for (int i = 0; i < LANES; i++) {
            for (int k = 0; k < 2; k++) {
                const double exact = (double) a.h[i] + (k ? -1 : 1) * (double) b.h[i];
                const double got = (double) (k ? d.h[i] : s.h[i]), want = (double) (_Float16) exact;
                ties += tie(exact);
                *(tie(exact) ? &wrong_ties : &wrong_others) += got != want;
                error += pow(got - want, 2);
                norm += want * want;
            }
        }
    }
    printf("%.0f sums, %.0f half-way: %.0f of these rounded to the odd "
           "neighbour, %.0f of the others wrong; error %.2e\n",
           2.0 * LANES * VECTORS, ties, wrong_ties, wrong_others, error / norm);
#if __HVX_ARCH__ < 79
    return !(wrong_ties > ties / 4 && wrong_others < 1e-3 * LANES * VECTORS);
#else
    return !(wrong_ties == 0 && wrong_others == 0);
#endif
}
