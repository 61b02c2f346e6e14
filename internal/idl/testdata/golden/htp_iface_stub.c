/* Generated from htp_iface.idl: the application's side. Do not edit. */
#include <assert.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "AEEStdErr.h"
#include "remote.h"
#include "htp_iface.h"

static_assert(sizeof(htp_iface_pmu_conf) == 32, "htp_iface_pmu_conf has the same layout on both sides");

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

int htp_iface_open(const char * uri, remote_handle64 * h) {
    return remote_handle64_open(uri, h);
}

int htp_iface_close(remote_handle64 h) {
    return remote_handle64_close(h);
}

AEEResult htp_iface_start(remote_handle64 _h, uint32 sess_id, uint64 dsp_queue_id, uint32 n_hvx, uint32 n_hmx, uint64 max_vmem) {
    remote_arg _pra[1];
    struct htp_iface_start_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.sess_id = sess_id;
    _in.dsp_queue_id = dsp_queue_id;
    _in.n_hvx = n_hvx;
    _in.n_hmx = n_hmx;
    _in.max_vmem = max_vmem;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    return remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 2, 1, 0, 0, 0), _pra);
}

AEEResult htp_iface_stop(remote_handle64 _h) {
    return remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 3, 0, 0, 0, 0), NULL);
}

AEEResult htp_iface_mmap(remote_handle64 _h, uint32 fd, uint64 size) {
    remote_arg _pra[1];
    struct htp_iface_mmap_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.fd = fd;
    _in.size = size;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    return remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 4, 1, 0, 0, 0), _pra);
}

AEEResult htp_iface_munmap(remote_handle64 _h, uint32 fd) {
    remote_arg _pra[1];
    struct htp_iface_munmap_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.fd = fd;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    return remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 5, 1, 0, 0, 0), _pra);
}

AEEResult htp_iface_profiler(remote_handle64 _h, uint32 mode, const htp_iface_pmu_conf * pmu) {
    if (!pmu) {
        return AEE_EBADPARM;
    }
    remote_arg _pra[1];
    struct htp_iface_profiler_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.mode = mode;
    _in.pmu = *pmu;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    return remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 6, 1, 0, 0, 0), _pra);
}

AEEResult htp_iface_etm(remote_handle64 _h, uint32 enable) {
    remote_arg _pra[1];
    struct htp_iface_etm_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.enable = enable;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    return remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 7, 1, 0, 0, 0), _pra);
}

AEEResult htp_iface_hwinfo(remote_handle64 _h, uint32 * n_threads, uint32 * n_hvx, uint32 * n_hmx, uint64 * vtcm_size) {
    if (!n_threads || !n_hvx || !n_hmx || !vtcm_size) {
        return AEE_EBADPARM;
    }
    remote_arg _pra[1];
    struct htp_iface_hwinfo_out _out;
    memset(&_out, 0, sizeof(_out));
    _pra[0].buf.pv   = &_out;
    _pra[0].buf.nLen = sizeof(_out);
    int _err = remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 8, 0, 1, 0, 0), _pra);
    if (_err == AEE_SUCCESS) {
        *n_threads = _out.n_threads;
        *n_hvx = _out.n_hvx;
        *n_hmx = _out.n_hmx;
        *vtcm_size = _out.vtcm_size;
    }
    return _err;
}

AEEResult htp_iface_execute(remote_handle64 _h, const unsigned char * request, int requestLen, unsigned char * response, int responseLen, uint32 * response_size) {
    if (requestLen < 0 || (requestLen > 0 && !request) || responseLen < 0 || (responseLen > 0 && !response) || !response_size) {
        return AEE_EBADPARM;
    }
    remote_arg _pra[4];
    struct htp_iface_execute_in _in;
    memset(&_in, 0, sizeof(_in));
    _in.requestLen = (uint32_t) requestLen;
    _in.responseLen = (uint32_t) responseLen;
    _pra[0].buf.pv   = &_in;
    _pra[0].buf.nLen = sizeof(_in);
    _pra[1].buf.pv   = (void *) request;
    _pra[1].buf.nLen = (size_t) requestLen * sizeof(*request);
    struct htp_iface_execute_out _out;
    memset(&_out, 0, sizeof(_out));
    _pra[2].buf.pv   = &_out;
    _pra[2].buf.nLen = sizeof(_out);
    _pra[3].buf.pv   = (void *) response;
    _pra[3].buf.nLen = (size_t) responseLen * sizeof(*response);
    int _err = remote_handle64_invoke(_h, REMOTE_SCALARS_MAKEX(0, 9, 2, 2, 0, 0), _pra);
    if (_err == AEE_SUCCESS) {
        *response_size = _out.response_size;
    }
    return _err;
}
