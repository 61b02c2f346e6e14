/* Generated from htp_iface.idl; do not edit. */
#ifndef HTP_IFACE_H
#define HTP_IFACE_H

#include "AEEStdDef.h"
#include "remote.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct htp_iface_pmu_conf {
    uint32 events[8];
} htp_iface_pmu_conf;

/* What to open, with the DSP appended: htp_iface_URI CDSP_DOMAIN. */
#define htp_iface_URI "file:///libhtp_iface_skel.so?htp_iface_skel_handle_invoke&_modver=1.0"

int htp_iface_open(const char * uri, remote_handle64 * h);
int htp_iface_close(remote_handle64 h);
AEEResult htp_iface_start(remote_handle64 _h, uint32 sess_id, uint64 dsp_queue_id, uint32 n_hvx, uint32 n_hmx, uint64 max_vmem);
AEEResult htp_iface_stop(remote_handle64 _h);
AEEResult htp_iface_mmap(remote_handle64 _h, uint32 fd, uint64 size);
AEEResult htp_iface_munmap(remote_handle64 _h, uint32 fd);
AEEResult htp_iface_profiler(remote_handle64 _h, uint32 mode, const htp_iface_pmu_conf * pmu);
AEEResult htp_iface_etm(remote_handle64 _h, uint32 enable);
AEEResult htp_iface_hwinfo(remote_handle64 _h, uint32 * n_threads, uint32 * n_hvx, uint32 * n_hmx, uint64 * vtcm_size);
AEEResult htp_iface_execute(remote_handle64 _h, const unsigned char * request, int requestLen, unsigned char * response, int responseLen, uint32 * response_size);

#ifdef __cplusplus
}
#endif

#endif /* HTP_IFACE_H */
