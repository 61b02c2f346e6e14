/* Generated from all.idl: the application's side. Do not edit. */
#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "AEEStdErr.h"
#include "remote.h"
#include "all.h"

static_assert(sizeof(color) == 4, "enumerations are 32 bits wide");

static_assert(sizeof(point) == 24, "point has the same layout on both sides");

static_assert(sizeof(config) == 104, "config has the same layout on both sides");

struct all_numbers_in {
    uint8 a;
    uint64 b;
    float c;
    color d;
    int g;
};
static_assert(offsetof(struct all_numbers_in, g) == 24, "layout on the wire");

struct all_numbers_out {
    uint16 e;
    address f;
    int g;
};
static_assert(offsetof(struct all_numbers_out, g) == 16, "layout on the wire");

struct all_structs_in {
    config c;
    point q;
};
static_assert(offsetof(struct all_structs_in, q) == 104, "layout on the wire");

struct all_structs_out {
    point p;
    point q;
};
static_assert(offsetof(struct all_structs_out, q) == 24, "layout on the wire");

struct all_bytes_in {
    uint32_t aLen;
    uint32_t bLen;
    uint32_t cLen;
    uint32 d;
};
static_assert(offsetof(struct all_bytes_in, d) == 12, "layout on the wire");

struct all_texts_in {
    uint32_t aLen;
    uint32_t bLen;
};
static_assert(offsetof(struct all_texts_in, bLen) == 4, "layout on the wire");

struct all_texts_out {
    uint32 c;
};
static_assert(offsetof(struct all_texts_out, c) == 0, "layout on the wire");

struct all_points_in {
    uint32_t aLen;
    uint32_t bLen;
    uint32_t rawLen;
};
static_assert(offsetof(struct all_points_in, rawLen) == 8, "layout on the wire");

int all_open(const char * uri, remote_handle64 * h) {
    return remote_handle64_open(uri, h);
}

int all_close(remote_handle64 h) {
    return remote_handle64_close(h);
}

AEEResult all_nothing(remote_handle64 _h) {
    return remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 2, 0, 0, 0, 0), NULL);
}

AEEResult all_numbers(remote_handle64 _h, uint8 a, uint64 b, float c, color d, uint16 * e, address * f, int * g) {
    if (!e || !f || !g) {
        return AEE_EBADPARM;
    }
    remote_arg _pra[2];
    struct all_numbers_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.a = a;
    _in.b = b;
    _in.c = c;
    _in.d = d;
    _in.g = *g;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    struct all_numbers_out _out;
    memset(&_out, 0, sizeof(_out));
    _pra[1].buf.pv   = &_out;
    _pra[1].buf.nLen = sizeof(_out);
    int _err = remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 3, 1, 1, 0, 0), _pra);
    if (_err == AEE_SUCCESS) {
        *e = _out.e;
        *f = _out.f;
        *g = _out.g;
    }
    return _err;
}

AEEResult all_structs(remote_handle64 _h, const config * c, point * p, point * q) {
    if (!c || !p || !q) {
        return AEE_EBADPARM;
    }
    remote_arg _pra[2];
    struct all_structs_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.c = *c;
    _in.q = *q;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    struct all_structs_out _out;
    memset(&_out, 0, sizeof(_out));
    _pra[1].buf.pv   = &_out;
    _pra[1].buf.nLen = sizeof(_out);
    int _err = remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 4, 1, 1, 0, 0), _pra);
    if (_err == AEE_SUCCESS) {
        *p = _out.p;
        *q = _out.q;
    }
    return _err;
}

AEEResult all_bytes(remote_handle64 _h, const uint8 * a, int aLen, uint8 * b, int bLen, uint32 * c, int cLen, uint32 d) {
    if (aLen < 0 || (aLen > 0 && !a) || bLen < 0 || (bLen > 0 && !b) || cLen < 0 || (cLen > 0 && !c)) {
        return AEE_EBADPARM;
    }
    remote_arg _pra[5];
    struct all_bytes_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.aLen = (uint32_t) aLen;
    _in.bLen = (uint32_t) bLen;
    _in.cLen = (uint32_t) cLen;
    _in.d = d;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    _pra[1].buf.pv   = (void *) a;
    _pra[1].buf.nLen = (size_t) aLen * sizeof(*a);
    _pra[2].buf.pv   = (void *) c;
    _pra[2].buf.nLen = (size_t) cLen * sizeof(*c);
    _pra[3].buf.pv   = (void *) b;
    _pra[3].buf.nLen = (size_t) bLen * sizeof(*b);
    _pra[4].buf.pv   = (void *) c;
    _pra[4].buf.nLen = (size_t) cLen * sizeof(*c);
    return remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 5, 3, 2, 0, 0), _pra);
}

AEEResult all_texts(remote_handle64 _h, const char * a, char * b, int bLen, uint32 * c) {
    if (!a || strlen(a) >= INT_MAX || bLen < 0 || (bLen > 0 && !b) || !c) {
        return AEE_EBADPARM;
    }
    remote_arg _pra[4];
    struct all_texts_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.aLen = (uint32_t) strlen(a) + 1;
    _in.bLen = (uint32_t) bLen;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    _pra[1].buf.pv   = (void *) a;
    _pra[1].buf.nLen = _in.aLen;
    struct all_texts_out _out;
    memset(&_out, 0, sizeof(_out));
    _pra[2].buf.pv   = &_out;
    _pra[2].buf.nLen = sizeof(_out);
    _pra[3].buf.pv   = (void *) b;
    _pra[3].buf.nLen = (size_t) bLen * sizeof(*b);
    int _err = remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 6, 2, 2, 0, 0), _pra);
    if (_err == AEE_SUCCESS) {
        *c = _out.c;
    }
    return _err;
}

int all_points(remote_handle64 _h, const point * a, int aLen, point * b, int bLen, const unsigned char * raw, int rawLen) {
    if (aLen < 0 || (aLen > 0 && !a) || bLen < 0 || (bLen > 0 && !b) || rawLen < 0 || (rawLen > 0 && !raw)) {
        return AEE_EBADPARM;
    }
    remote_arg _pra[4];
    struct all_points_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.aLen = (uint32_t) aLen;
    _in.bLen = (uint32_t) bLen;
    _in.rawLen = (uint32_t) rawLen;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    _pra[1].buf.pv   = (void *) a;
    _pra[1].buf.nLen = (size_t) aLen * sizeof(*a);
    _pra[2].buf.pv   = (void *) raw;
    _pra[2].buf.nLen = (size_t) rawLen * sizeof(*raw);
    _pra[3].buf.pv   = (void *) b;
    _pra[3].buf.nLen = (size_t) bLen * sizeof(*b);
    return remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 7, 3, 1, 0, 0), _pra);
}
