// Sample for the tests of inspect, compiled for Hexagon by make.sh. It has a
// hardware loop that spills vectors, a call and a division in a loop, and
// double precision.
#include <stdint.h>

typedef long HVX_Vector __attribute__((__vector_size__(128)));

int divide_rows(int * rows, int n, int by) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += rows[i] / by;
    }
    return sum;
}

void spill_vectors(HVX_Vector * restrict out, const HVX_Vector * restrict in, int n) {
    HVX_Vector kept[40];
    for (int k = 0; k < 40; k++) {
        kept[k] = in[k];
    }
    for (int i = 0; i < n; i++) {
        HVX_Vector sum = in[i];
#pragma clang loop unroll(full)
        for (int k = 0; k < 40; k++) {
            sum = __builtin_HEXAGON_V6_vaddw_128B(sum, __builtin_HEXAGON_V6_vmaxw_128B(kept[k], sum));
        }
        out[i] = sum;
    }
}

double promote(float a, float b) { return (double) a * (double) b; }

void add_rows(HVX_Vector * restrict out, const HVX_Vector * restrict a, const HVX_Vector * restrict b, int n) {
    for (int i = 0; i < n; i++) {
        out[i] = __builtin_HEXAGON_V6_vaddw_128B(a[i], b[i]);
    }
}

extern int hook(int);

int call_in_loop(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += hook(i);
    }
    return sum;
}

#ifdef SECOND
int second_only(int a) { return a + 1; }
#endif
