/* Generated from htp_iface.idl: the DSP's side. Do not edit. */
#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "AEEStdErr.h"
#include "remote.h"
#include "htp_iface.h"

static_assert(sizeof(htp_iface_pmu_conf) == 32, "htp_iface_pmu_conf has the same layout on both sides");

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

struct htp_iface_start_in {
    uint32 sess_id;
    uint64 dsp_queue_id;
    uint32 n_hvx;
    uint32 n_hmx;
    uint64 max_vmem;
};
static_assert(offsetof(struct htp_iface_start_in, max_vmem) == 24, "layout on the wire");

struct htp_iface_mmap_in {
    uint32 fd;
    uint64 size;
};
static_assert(offsetof(struct htp_iface_mmap_in, size) == 8, "layout on the wire");

struct htp_iface_munmap_in {
    uint32 fd;
};
static_assert(offsetof(struct htp_iface_munmap_in, fd) == 0, "layout on the wire");

struct htp_iface_profiler_in {
    uint32 mode;
    htp_iface_pmu_conf pmu;
};
static_assert(offsetof(struct htp_iface_profiler_in, pmu) == 4, "layout on the wire");

struct htp_iface_etm_in {
    uint32 enable;
};
static_assert(offsetof(struct htp_iface_etm_in, enable) == 0, "layout on the wire");

struct htp_iface_hwinfo_out {
    uint32 n_threads;
    uint32 n_hvx;
    uint32 n_hmx;
    uint64 vtcm_size;
};
static_assert(offsetof(struct htp_iface_hwinfo_out, vtcm_size) == 16, "layout on the wire");

struct htp_iface_execute_in {
    uint32_t requestLen;
    uint32_t responseLen;
};
static_assert(offsetof(struct htp_iface_execute_in, responseLen) == 4, "layout on the wire");

struct htp_iface_execute_out {
    uint32 response_size;
};
static_assert(offsetof(struct htp_iface_execute_out, response_size) == 0, "layout on the wire");

static int _htp_iface_start(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 1, 0, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 32) {
        return AEE_EBADPARM;
    }
    struct htp_iface_start_in _in;
    memcpy(&_in, _pra[0].buf.pv, 32);
    int _err = htp_iface_start(_h, _in.sess_id, _in.dsp_queue_id, _in.n_hvx, _in.n_hmx, _in.max_vmem);
    return _err;
}

static int _htp_iface_stop(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    (void) _pra;
    if (!_counts(_sc, 0, 0, 0, 0)) {
        return AEE_EBADPARM;
    }
    int _err = htp_iface_stop(_h);
    return _err;
}

static int _htp_iface_mmap(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 1, 0, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 16) {
        return AEE_EBADPARM;
    }
    struct htp_iface_mmap_in _in;
    memcpy(&_in, _pra[0].buf.pv, 16);
    int _err = htp_iface_mmap(_h, _in.fd, _in.size);
    return _err;
}

static int _htp_iface_munmap(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 1, 0, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 4) {
        return AEE_EBADPARM;
    }
    struct htp_iface_munmap_in _in;
    memcpy(&_in, _pra[0].buf.pv, 4);
    int _err = htp_iface_munmap(_h, _in.fd);
    return _err;
}

static int _htp_iface_profiler(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 1, 0, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 36) {
        return AEE_EBADPARM;
    }
    struct htp_iface_profiler_in _in;
    memcpy(&_in, _pra[0].buf.pv, 36);
    int _err = htp_iface_profiler(_h, _in.mode, &_in.pmu);
    return _err;
}

static int _htp_iface_etm(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 1, 0, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 4) {
        return AEE_EBADPARM;
    }
    struct htp_iface_etm_in _in;
    memcpy(&_in, _pra[0].buf.pv, 4);
    int _err = htp_iface_etm(_h, _in.enable);
    return _err;
}

static int _htp_iface_hwinfo(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 0, 1, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 24) {
        return AEE_EBADPARM;
    }
    struct htp_iface_hwinfo_out _out;
    memset(&_out, 0, sizeof(_out));
    int _err = htp_iface_hwinfo(_h, &_out.n_threads, &_out.n_hvx, &_out.n_hmx, &_out.vtcm_size);
    if (_err == AEE_SUCCESS) {
        memcpy(_pra[0].buf.pv, &_out, 24);
    }
    return _err;
}

static int _htp_iface_execute(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
    if (!_counts(_sc, 2, 2, 0, 0) || !_pra[0].buf.pv || _pra[0].buf.nLen < 8 || !_pra[2].buf.pv || _pra[2].buf.nLen < 4) {
        return AEE_EBADPARM;
    }
    struct htp_iface_execute_in _in;
    memcpy(&_in, _pra[0].buf.pv, 8);
    if (!_holds(&_pra[1], _in.requestLen, sizeof(unsigned char), _Alignof(unsigned char))) {
        return AEE_EBADPARM;
    }
    if (!_holds(&_pra[3], _in.responseLen, sizeof(unsigned char), _Alignof(unsigned char))) {
        return AEE_EBADPARM;
    }
    struct htp_iface_execute_out _out;
    memset(&_out, 0, sizeof(_out));
    int _err = htp_iface_execute(_h, (const unsigned char *) _pra[1].buf.pv, (int) _in.requestLen, (unsigned char *) _pra[3].buf.pv, (int) _in.responseLen, &_out.response_size);
    if (_err == AEE_SUCCESS) {
        memcpy(_pra[2].buf.pv, &_out, 4);
    }
    return _err;
}

__attribute__((visibility("default"))) int htp_iface_skel_handle_invoke(remote_handle64 _h, uint32_t _sc, remote_arg * _pra);

__attribute__((visibility("default"))) int htp_iface_skel_handle_invoke(remote_handle64 _h, uint32_t _sc, remote_arg * _pra) {
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
            int             err = htp_iface_open((const char *) _pra[1].buf.pv, &h);
            if (err == AEE_SUCCESS) {
                _pra[2].h64 = h;
            }
            return err;
        }
        case 1:
            if (!_counts(_sc, 0, 0, 1, 0)) {
                return AEE_EBADPARM;
            }
            return htp_iface_close(_pra[0].h64);
        case 2:
            return _htp_iface_start(_h, _sc, _pra);
        case 3:
            return _htp_iface_stop(_h, _sc, _pra);
        case 4:
            return _htp_iface_mmap(_h, _sc, _pra);
        case 5:
            return _htp_iface_munmap(_h, _sc, _pra);
        case 6:
            return _htp_iface_profiler(_h, _sc, _pra);
        case 7:
            return _htp_iface_etm(_h, _sc, _pra);
        case 8:
            return _htp_iface_hwinfo(_h, _sc, _pra);
        case 9:
            return _htp_iface_execute(_h, _sc, _pra);
        default:
            return AEE_EUNSUPPORTED;
    }
}
