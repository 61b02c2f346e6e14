/* Generated from all.idl: the DSP's side. Do not edit. */
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

static inline int _counts(uint32_t sc, uint32_t in, uint32_t out, uint32_t in_handles, uint32_t out_handles) {
    return REMOTE_SCALARS_INBUFS(sc) == in && REMOTE_SCALARS_OUTBUFS(sc) == out &&
           REMOTE_SCALARS_INHANDLES(sc) == in_handles && REMOTE_SCALARS_OUTHANDLES(sc) == out_handles;
}

/* Whether a buffer holds n elements, is there when n is not 0, and is aligned for them. */
__attribute__((unused)) static inline int _holds(const remote_arg * arg, uint32_t n, size_t size, size_t align) {
    return n <= INT_MAX && arg->buf.nLen / size >= n && (n == 0 || arg->buf.pv) && (uintptr_t) arg->buf.pv % align == 0;
}

/* Whether a buffer is a text of n bytes with its NUL. */
__attribute__((unused)) static inline int _text(const remote_arg * arg, uint32_t n) {
    return n > 0 && _holds(arg, n, 1, 1) && ((const char *) arg->buf.pv)[n - 1] == 0;
}

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

static int _all_nothing(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    (void) _pra;
    if (!_counts(_sc, 0, 0, 0, 0)) {
        return AEE_EBADPARM;
    }
    int _err = all_nothing(_h);
    return _err;
}

static int _all_numbers(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 1, 1, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 28 || !_pra[1].buf.pv || _pra[1].buf.nLen < 20) {
        return AEE_EBADPARM;
    }
    struct all_numbers_in _in;
    memcpy(&_in, _pra[0].buf.pv, 28);
    struct all_numbers_out _out;
    memset(&_out, 0, sizeof(_out));
    _out.g = _in.g;
    int _err = all_numbers(_h, _in.a, _in.b, _in.c, _in.d, &_out.e, &_out.f, &_out.g);
    if (_err == AEE_SUCCESS) {
        memcpy(_pra[1].buf.pv, &_out, 20);
    }
    return _err;
}

static int _all_structs(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 1, 1, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 128 || !_pra[1].buf.pv || _pra[1].buf.nLen < 48) {
        return AEE_EBADPARM;
    }
    struct all_structs_in _in;
    memcpy(&_in, _pra[0].buf.pv, 128);
    struct all_structs_out _out;
    memset(&_out, 0, sizeof(_out));
    _out.q = _in.q;
    int _err = all_structs(_h, &_in.c, &_out.p, &_out.q);
    if (_err == AEE_SUCCESS) {
        memcpy(_pra[1].buf.pv, &_out, 48);
    }
    return _err;
}

static int _all_bytes(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 3, 2, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 16) {
        return AEE_EBADPARM;
    }
    struct all_bytes_in _in;
    memcpy(&_in, _pra[0].buf.pv, 16);
    if (!_holds(&_pra[1], _in.aLen, sizeof(uint8), _Alignof(uint8))) {
        return AEE_EBADPARM;
    }
    if (!_holds(&_pra[2], _in.cLen, sizeof(uint32), _Alignof(uint32))) {
        return AEE_EBADPARM;
    }
    if (!_holds(&_pra[3], _in.bLen, sizeof(uint8), _Alignof(uint8))) {
        return AEE_EBADPARM;
    }
    if (!_holds(&_pra[4], _in.cLen, sizeof(uint32), _Alignof(uint32))) {
        return AEE_EBADPARM;
    }
    if (_in.cLen > 0 && _pra[4].buf.pv != _pra[2].buf.pv) {
        memmove(_pra[4].buf.pv, _pra[2].buf.pv, _in.cLen * sizeof(uint32));
    }
    int _err = all_bytes(_h, (const uint8 *) _pra[1].buf.pv, (int) _in.aLen, (uint8 *) _pra[3].buf.pv, (int) _in.bLen, (uint32 *) _pra[4].buf.pv, (int) _in.cLen, _in.d);
    return _err;
}

static int _all_texts(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 2, 2, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 8 || !_pra[2].buf.pv || _pra[2].buf.nLen < 4) {
        return AEE_EBADPARM;
    }
    struct all_texts_in _in;
    memcpy(&_in, _pra[0].buf.pv, 8);
    if (!_text(&_pra[1], _in.aLen)) {
        return AEE_EBADPARM;
    }
    if (!_holds(&_pra[3], _in.bLen, sizeof(char), _Alignof(char))) {
        return AEE_EBADPARM;
    }
    struct all_texts_out _out;
    memset(&_out, 0, sizeof(_out));
    int _err = all_texts(_h, (const char *) _pra[1].buf.pv, (char *) _pra[3].buf.pv, (int) _in.bLen, &_out.c);
    if (_err == AEE_SUCCESS) {
        memcpy(_pra[2].buf.pv, &_out, 4);
    }
    return _err;
}

static int _all_points(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 3, 1, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 12) {
        return AEE_EBADPARM;
    }
    struct all_points_in _in;
    memcpy(&_in, _pra[0].buf.pv, 12);
    if (!_holds(&_pra[1], _in.aLen, sizeof(point), _Alignof(point))) {
        return AEE_EBADPARM;
    }
    if (!_holds(&_pra[2], _in.rawLen, sizeof(unsigned char), _Alignof(unsigned char))) {
        return AEE_EBADPARM;
    }
    if (!_holds(&_pra[3], _in.bLen, sizeof(point), _Alignof(point))) {
        return AEE_EBADPARM;
    }
    int _err = all_points(_h, (const point *) _pra[1].buf.pv, (int) _in.aLen, (point *) _pra[3].buf.pv, (int) _in.bLen, (const unsigned char *) _pra[2].buf.pv, (int) _in.rawLen);
    return _err;
}

__attribute__((visibility("default"))) int all_skel_handle_invoke(remote_handle64 _h, uint32_t _sc, remote_arg * _pra);

__attribute__((visibility("default"))) int all_skel_handle_invoke(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    switch (REMOTE_SCALARS_METHOD(_sc)) {
        case 0: {
            uint32_t n;
            if (!_counts(_sc, 2, 0, 0, 1) || !_pra[0].buf.pv || _pra[0].buf.nLen < sizeof(n)) {
                return AEE_EBADPARM;
            }
            memcpy(&n, _pra[0].buf.pv, sizeof(n));
            if (!_text(&_pra[1], n)) {
                return AEE_EBADPARM;
            }
            remote_handle64 h   = 0;
            int             err = all_open((const char *) _pra[1].buf.pv, &h);
            if (err == AEE_SUCCESS) {
                _pra[2].h64 = h;
            }
            return err;
        }
        case 1:
            if (!_counts(_sc, 0, 0, 1, 0)) {
                return AEE_EBADPARM;
            }
            return all_close(_pra[0].h64);
        case 2:
            return _all_nothing(_h, _sc, _pra);
        case 3:
            return _all_numbers(_h, _sc, _pra);
        case 4:
            return _all_structs(_h, _sc, _pra);
        case 5:
            return _all_bytes(_h, _sc, _pra);
        case 6:
            return _all_texts(_h, _sc, _pra);
        case 7:
            return _all_points(_h, _sc, _pra);
        default:
            return AEE_EUNSUPPORTED;
    }
}
