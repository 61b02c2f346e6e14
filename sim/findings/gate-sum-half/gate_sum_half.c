/* gate_sum_half.c: the chunked GATED_DELTA_NET keeps the running sum of the
 * gates of a chunk as halves.
 *
 * htp/gated-delta-net-ops.c:1752 stores gamma_t = g_1 + ... + g_t as half and
 * takes differences gamma_t - gamma_s of the stored values. The test draws
 * gates from -20 to 0, so the sum of a chunk of 64 reaches -640, where halves
 * are 0.5 apart, and exp of a difference is wrong by up to 30 %. Here is the
 * recurrence in double precision with that rounding alone, with q, k and v as
 * halves alone, and with both, which is what the kernel has. Exit status 0:
 * with both the test's bound is missed by all data, with q, k and v by none. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = 64, CHUNK = 64, SEEDS = 8 };
enum { OPERANDS = 1, GATES = 2, BOTH = 3 };

static const char * const names[] = {"", "q, k, v", "sum of the gates", "both"};

static const double bound = 1e-7; /* of test-backend-ops, normalised mean square error */

typedef double matrix[HEAD][HEAD];

static double q[CHUNK][HEAD], k[CHUNK][HEAD], v[CHUNK][HEAD], gate[CHUNK], beta[CHUNK];
static matrix initial;

static double uniform(double low, double high) {
    return low + (high - low) * drand48();
}

static double half(double x) {
    return (double) (_Float16) (float) x;
}

static void draw(int seed) {
    srand48(seed);
    for (int t = 0; t < CHUNK; t++) {
        double nq = 0, nk = 0;
        for (int i = 0; i < HEAD; i++) {
            q[t][i] = uniform(-1, 1);
            k[t][i] = uniform(-1, 1);
            v[t][i] = uniform(-0.3, 5);
            nq += q[t][i] * q[t][i];
            nk += k[t][i] * k[t][i];
        }
        for (int i = 0; i < HEAD; i++) {
            q[t][i] /= sqrt(nq);
            k[t][i] /= sqrt(nk);
        }
        gate[t] = uniform(-20, -1e-4);
        beta[t] = uniform(0, 1);
    }
    for (int i = 0; i < HEAD * HEAD; i++) {
        initial[i / HEAD][i % HEAD] = uniform(-1, 1);
    }
}

/* One chunk: outputs of its tokens, and the state after them. */
static void run(int rounded, double out[CHUNK][HEAD], matrix s) {
    double sum = 0, stored = 0;
    memcpy(s, initial, sizeof initial);
    for (int t = 0; t < CHUNK; t++) {
        sum += gate[t];
        double decay = exp(gate[t]);
        if (rounded & GATES) {
            decay  = exp(fmin(half(sum) - stored, 0));
            stored = half(sum);
        }
        for (int j = 0; j < HEAD; j++) {
            double seen = 0, y = 0;
            for (int i = 0; i < HEAD; i++) {
                s[i][j] *= decay;
                seen += s[i][j] * (rounded & OPERANDS ? half(k[t][i]) : k[t][i]);
            }
            const double delta = ((rounded & OPERANDS ? half(v[t][j]) : v[t][j]) - seen) * beta[t];
            for (int i = 0; i < HEAD; i++) {
                s[i][j] += (rounded & OPERANDS ? half(k[t][i]) : k[t][i]) * delta;
                y += s[i][j] * (rounded & OPERANDS ? half(q[t][i]) : q[t][i]);
            }
            out[t][j] = y / sqrt(HEAD);
        }
    }
}

int main(void) {
    static double want[CHUNK][HEAD], got[CHUNK][HEAD];
    static matrix want_state, state;
    int misses[4] = {0};
    for (int seed = 1; seed <= SEEDS; seed++) {
        draw(seed);
        run(0, want, want_state);
        for (int rounded = OPERANDS; rounded <= BOTH; rounded++) {
            double error = 0, norm = 0;
            run(rounded, got, state);
            for (int i = 0; i < CHUNK * HEAD; i++) {
                error += pow(got[i / HEAD][i % HEAD] - want[i / HEAD][i % HEAD], 2);
                norm += pow(want[i / HEAD][i % HEAD], 2);
            }
            for (int i = 0; i < HEAD * HEAD; i++) {
                error += pow(state[i / HEAD][i % HEAD] - want_state[i / HEAD][i % HEAD], 2);
                norm += pow(want_state[i / HEAD][i % HEAD], 2);
            }
            printf("seed %d, %s as half: error %.2e\n", seed, names[rounded], error / norm);
            misses[rounded] += error / norm > bound;
        }
    }
    printf("beyond the bound of %.0e: %d of %d by q, k, v, %d by the gates, %d "
           "by both\n",
           bound, misses[OPERANDS], SEEDS, misses[GATES], misses[BOTH]);
    return !(misses[OPERANDS] == 0 && misses[BOTH] == SEEDS);
}
