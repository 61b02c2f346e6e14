/* Masked stores touch nothing else; gather and scatter stay in their region. */
#include "check.h"

static void masked_stores(void) {
    static _Alignas(128) uint8_t got[384], want[384];
    for (int i = 0; i < 3000; i++) {
        hexsim_lanes s = check_words(), m = check_words();
        hexsim_lanes q = {.q = Q6_Q_vcmp_gt_VhVh(m.v, Q6_V_vzero())};
        if (i % 3 == 0) { /* a run, as kernels have it */
            q.q = Q6_Q_and_QQn(Q6_Q_vsetq2_R((int32_t) check_random()), Q6_Q_vsetq_R((int32_t) check_random()));
        } else if (i % 3 == 1) { /* any bytes */
            for (int k = 0; k < 128; k++) {
                q.ub[k] = check_random() & 1 ? 0xff : 0;
            }
        }
        memset(got, 0x5a, sizeof got);
        memset(want, 0x5a, sizeof want);
        const size_t at = 128 + check_random() % 128; /* the low bits of the address do not count */
        Q6_vmem_QRIV(q.q, (HVX_Vector *) (got + at), s.v);
        Q6_vmem_QRIV_lane(q.q, (HVX_Vector *) (want + at), s.v);
        check_true("Q6_vmem_QRIV", !memcmp(got, want, sizeof got));
        memset(got, 0x5a, sizeof got);
        memset(want, 0x5a, sizeof want);
        Q6_vmem_QnRIV(q.q, (HVX_Vector *) (got + at), s.v);
        Q6_vmem_QRIV_lane(Q6_Q_not_Q(q.q), (HVX_Vector *) (want + at), s.v);
        check_true("Q6_vmem_QnRIV", !memcmp(got, want, sizeof got));
    }
}

static void gather_and_scatter(void) {
    static _Alignas(128) uint8_t region[512];
    hexsim_lanes at, d, s, q;
    for (int i = 0; i < 512; i++) {
        region[i] = (uint8_t) (i / 4);
    }
    for (int i = 0; i < 32; i++) {
        at.uw[i] = (uint32_t) (12 * (31 - i)); /* 372, 360, ... 0 */
        s.uw[i]  = 0xee0000ee + (uint32_t) i * 0x100;
    }
    d.v = Q6_Vb_vsplat_R(0x77);
    Q6_vgather_ARMVw(&d.v, (size_t) region, 255, at.v);
    for (int i = 0; i < 32; i++) {
        const uint32_t want = at.uw[i] + 3 <= 255 ? 0x01010101u * (at.uw[i] / 4) : 0x77777777;
        check_true("vgather.w: inside the region the word, outside nothing", d.uw[i] == want);
    }
    for (int i = 0; i < 64; i++) {
        at.uh[i] = (uint16_t) (8 * i);
    }
    d.v = Q6_Vb_vsplat_R(0x77);
    Q6_vgather_ARMVh(&d.v, (size_t) region, 255, at.v);
    for (int i = 0; i < 64; i++) {
        check_true("vgather.h", d.uh[i] == (8 * i <= 254 ? 0x0101 * (2 * i) : 0x7777));
    }
    for (int i = 0; i < 32; i++) {
        at.uw[i] = (uint32_t) (16 * i);
    }
    memset(region, 0, sizeof region);
    Q6_vscatter_RMVwV((size_t) region, 255, at.v, s.v);
    for (int i = 0; i < 32; i++) {
        uint32_t w;
        memcpy(&w, region + 16 * i, 4);
        check_true("vscatter.w", w == (i < 16 ? s.uw[i] : 0));
    }
    memset(region, 0, sizeof region);
    q.q = Q6_Q_vsetq_R(22); /* words 0..4 and half of word 5 */
    Q6_vscatter_QRMVwV(q.q, (size_t) region, 511, at.v, s.v);
    for (int i = 0; i < 32; i++) {
        uint32_t w;
        memcpy(&w, region + 16 * i, 4);
        check_true("vscatter.w, masked", w == (i < 5 ? s.uw[i] : i == 5 ? s.uw[i] & 0xffff : 0));
    }
    memset(region, 0, sizeof region);
    for (int i = 0; i < 64; i++) {
        at.uh[i] = (uint16_t) (4 * i);
        s.uh[i]  = (uint16_t) (i + 1);
    }
    Q6_vscatter_QRMVhV(q.q, (size_t) region, 511, at.v, s.v);
    for (int i = 0; i < 64; i++) {
        check_true("vscatter.h, masked", region[4 * i] == (i < 11 ? i + 1 : 0));
    }
}

void test_memory(void) {
    masked_stores();
    gather_and_scatter();
}
