/* Both sides of all.idl in one program: the invoke copies each buffer, as a transport does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "AEEStdErr.h"
#include "all.h"

int host_open(const char * uri, remote_handle64 * h);
int host_close(remote_handle64 h);
AEEResult host_nothing(remote_handle64 h);
AEEResult host_numbers(remote_handle64 h, uint8 a, uint64 b, float c, color d, uint16 * e, address * f, int * g);
AEEResult host_structs(remote_handle64 h, const config * c, point * p, point * q);
AEEResult host_bytes(remote_handle64 h, const uint8 * a, int aLen, uint8 * b, int bLen, uint32 * c, int cLen, uint32 d);
AEEResult host_texts(remote_handle64 h, const char * a, char * b, int bLen, uint32 * c);
int host_points(remote_handle64 h, const point * a, int aLen, point * b, int bLen, const unsigned char * raw, int rawLen);
int all_skel_handle_invoke(remote_handle64 h, uint32_t sc, remote_arg * pra);

#define CHECK(ok)                                                    \
    do {                                                             \
        if (!(ok)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #ok); \
            exit(1);                                                 \
        }                                                            \
    } while (0)

/* ---- the transport ---- */

static uint32_t last_scalars;

int remote_handle64_invoke(remote_handle64 h, uint32_t sc, remote_arg * pra) {
    last_scalars = sc;
    const uint32_t in = REMOTE_SCALARS_INBUFS(sc), n = in + REMOTE_SCALARS_OUTBUFS(sc);
    remote_arg     far[16];
    CHECK(n <= 16);
    for (uint32_t i = 0; i < n; i++) {
        far[i].buf.nLen = pra[i].buf.nLen;
        far[i].buf.pv   = malloc(pra[i].buf.nLen);
        memset(far[i].buf.pv, 0xee, pra[i].buf.nLen);
        if (i < in && pra[i].buf.nLen) {
            memcpy(far[i].buf.pv, pra[i].buf.pv, pra[i].buf.nLen);
        }
    }
    int err = all_skel_handle_invoke(h, sc, far);
    for (uint32_t i = 0; i < n; i++) {
        if (i >= in && pra[i].buf.nLen && !err) {
            memcpy(pra[i].buf.pv, far[i].buf.pv, pra[i].buf.nLen);
        }
        free(far[i].buf.pv);
    }
    return err;
}

int remote_handle64_open(const char * uri, remote_handle64 * h) {
    uint32_t   n = strlen(uri) + 1;
    remote_arg a[3];
    a[0].buf = (remote_buf) { &n, sizeof(n) };
    a[1].buf = (remote_buf) { (void *) uri, n };
    a[2].h64 = 0;
    int err  = all_skel_handle_invoke(0, REMOTE_SCALARS_MAKEX(0, 0, 2, 0, 0, 1), a);
    *h       = a[2].h64;
    return err;
}

int remote_handle64_close(remote_handle64 h) {
    remote_arg a = { .h64 = h };
    return all_skel_handle_invoke(0, REMOTE_SCALARS_MAKEX(0, 1, 0, 0, 1, 0), &a);
}

/* ---- the implementation on the DSP ---- */

static int fail;

int all_open(const char * uri, remote_handle64 * h) {
    if (strcmp(uri, all_URI CDSP_DOMAIN)) {
        return AEE_EUNABLETOLOAD;
    }
    *h = 0x1122334455667788u;
    return AEE_SUCCESS;
}

int all_close(remote_handle64 h) {
    return h == 0x1122334455667788u ? AEE_SUCCESS : AEE_EINVHANDLE;
}

AEEResult all_nothing(remote_handle64 h) {
    return h == 7 ? AEE_SUCCESS : AEE_EINVHANDLE;
}

AEEResult all_numbers(remote_handle64 h, uint8 a, uint64 b, float c, color d, uint16 * e, address * f, int * g) {
    CHECK(h == 7 && a == 200 && b == 0x123456789abcdef0u && c == 1.5f && d == BLUE && *g == LOW);
    *e = 60000;
    *f = 0xfedcba9876543210u;
    *g = 12;
    return fail ? AEE_EBADSTATE : AEE_SUCCESS;
}

AEEResult all_structs(remote_handle64 h, const config * c, point * p, point * q) {
    CHECK(h == 7 && c->events[7] == 70 && c->at.x == 2.5 && c->c == GREEN && c->sum[3][7] == 9 && c->base == BIG);
    CHECK(q->tag == 3 && q->y[2] == -30);
    *p      = c->at;
    q->y[2] = 31;
    return AEE_SUCCESS;
}

AEEResult all_bytes(remote_handle64 h, const uint8 * a, int aLen, uint8 * b, int bLen, uint32 * c, int cLen, uint32 d) {
    CHECK(h == 7 && d == 77 && aLen == bLen);
    for (int i = 0; i < aLen; i++) {
        b[i] = (uint8) (a[i] + 1);
    }
    for (int i = 0; i < cLen; i++) {
        c[i] *= 2;
    }
    return AEE_SUCCESS;
}

AEEResult all_texts(remote_handle64 h, const char * a, char * b, int bLen, uint32 * c) {
    CHECK(h == 7 && bLen == 16);
    *c = (uint32) snprintf(b, (size_t) bLen, "<%s>", a);
    return AEE_SUCCESS;
}

int all_points(remote_handle64 h, const point * a, int aLen, point * b, int bLen, const unsigned char * raw, int rawLen) {
    CHECK(h == 7 && aLen == 2 && bLen == 1 && rawLen == 0 && raw == raw);
    b[0] = a[1];
    return AEE_SUCCESS;
}

/* ---- the test ---- */

static void hostile(void) {
    uint32_t   word = 9;
    remote_arg a[4];
    memset(a, 0, sizeof(a));
    CHECK(all_skel_handle_invoke(7, REMOTE_SCALARS_MAKE(31, 0, 0), a) == (int) AEE_EUNSUPPORTED);
    CHECK(all_skel_handle_invoke(7, REMOTE_SCALARS_MAKE(3, 1, 1), a) == (int) AEE_EBADPARM);
    CHECK(all_skel_handle_invoke(7, REMOTE_SCALARS_MAKE(3, 2, 1), a) == (int) AEE_EBADPARM);
    a[0].buf = (remote_buf) { &word, 4 };
    CHECK(all_skel_handle_invoke(7, REMOTE_SCALARS_MAKE(3, 1, 1), a) == (int) AEE_EBADPARM);
    /* texts: a length beyond the buffer, a text without its NUL */
    uint32_t lens[2] = { 100, 16 };
    uint32_t out     = 0;
    char     text[4] = "abc", room[16];
    a[0].buf = (remote_buf) { lens, sizeof(lens) };
    a[1].buf = (remote_buf) { text, 4 };
    a[2].buf = (remote_buf) { &out, 4 };
    a[3].buf = (remote_buf) { room, 16 };
    CHECK(all_skel_handle_invoke(7, REMOTE_SCALARS_MAKE(6, 2, 2), a) == (int) AEE_EBADPARM);
    lens[0] = 3;
    CHECK(all_skel_handle_invoke(7, REMOTE_SCALARS_MAKE(6, 2, 2), a) == (int) AEE_EBADPARM);
    lens[0] = 4;
    lens[1] = 17;
    CHECK(all_skel_handle_invoke(7, REMOTE_SCALARS_MAKE(6, 2, 2), a) == (int) AEE_EBADPARM);
    lens[1] = 16;
    CHECK(all_skel_handle_invoke(7, REMOTE_SCALARS_MAKE(6, 2, 2), a) == AEE_SUCCESS);
    CHECK(out == 5 && !strcmp(room, "<abc>"));
}

int main(void) {
    remote_handle64 h = 0;
    CHECK(host_open("file:///other.so", &h) == (int) AEE_EUNABLETOLOAD);
    CHECK(host_open(all_URI CDSP_DOMAIN, &h) == AEE_SUCCESS && h == 0x1122334455667788u);
    CHECK(host_close(h) == AEE_SUCCESS);

    CHECK(host_nothing(7) == AEE_SUCCESS && host_nothing(8) == (int) AEE_EINVHANDLE);
    CHECK(last_scalars == REMOTE_SCALARS_MAKEX(0, 2, 0, 0, 0, 0));

    uint16  e = 0;
    address f = 0;
    int     g = LOW;
    CHECK(host_numbers(7, 200, 0x123456789abcdef0u, 1.5f, BLUE, &e, &f, &g) == AEE_SUCCESS);
    CHECK(e == 60000 && f == 0xfedcba9876543210u && g == 12);
    CHECK(last_scalars == REMOTE_SCALARS_MAKEX(0, 3, 1, 1, 0, 0));
    fail = 1;
    e    = 1;
    g    = LOW;
    CHECK(host_numbers(7, 200, 0x123456789abcdef0u, 1.5f, BLUE, &e, &f, &g) == (int) AEE_EBADSTATE && e == 1);
    CHECK(host_numbers(7, 0, 0, 0, RED, NULL, &f, &g) == (int) AEE_EBADPARM);

    config c = { .events = { [7] = 70 }, .at = { .x = 2.5, .tag = 1 }, .c = GREEN, .base = BIG };
    c.sum[3][7] = 9;
    point p = { 0 }, q = { .tag = 3, .y = { 10, 20, -30 } };
    CHECK(host_structs(7, &c, &p, &q) == AEE_SUCCESS && p.x == 2.5 && p.tag == 1 && q.y[2] == 31 && q.y[0] == 10);

    uint8  a[3] = { 1, 2, 255 }, b[3] = { 0 };
    uint32 w[2] = { 3, 4 };
    CHECK(host_bytes(7, a, 3, b, 3, w, 2, 77) == AEE_SUCCESS && b[0] == 2 && b[2] == 0 && w[0] == 6 && w[1] == 8);
    CHECK(last_scalars == REMOTE_SCALARS_MAKEX(0, 5, 3, 2, 0, 0));
    CHECK(host_bytes(7, NULL, 0, NULL, 0, NULL, 0, 77) == AEE_SUCCESS);
    CHECK(host_bytes(7, a, -1, b, 3, w, 2, 77) == (int) AEE_EBADPARM);

    char   text[16];
    uint32 n = 0;
    CHECK(host_texts(7, "hello", text, 16, &n) == AEE_SUCCESS && n == 7 && !strcmp(text, "<hello>"));
    CHECK(host_texts(7, "", text, 16, &n) == AEE_SUCCESS && n == 2);

    point two[2] = { { .tag = 1 }, { .tag = 2, .x = 8 } }, one;
    CHECK(host_points(7, two, 2, &one, 1, NULL, 0) == AEE_SUCCESS && one.tag == 2 && one.x == 8);

    hostile();
    return 0;
}
