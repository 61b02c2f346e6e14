/* binding.h: included ahead of upstream's ggml-hexagon.cpp by the compiler's command line, it turns the calls to the
 * driver that the transport takes over. The driver's headers come first, so that the calls are checked against the
 * transport's own declarations. htp-drv.cpp, which loads the driver, is compiled without it. */
#ifndef FASTRPC_BINDING_H
#define FASTRPC_BINDING_H

#include "transport.h"

#define rpcmem_alloc2 transport_alloc
#define rpcmem_free transport_free
#define rpcmem_to_fd transport_descriptor
#define fastrpc_mmap transport_map
#define fastrpc_munmap transport_unmap

#define dspqueue_create transport_queue_create
#define dspqueue_export transport_queue_export
#define dspqueue_close transport_queue_close
#define dspqueue_write transport_queue_write
#define dspqueue_read transport_queue_read

#define htp_iface_open transport_open
#define htp_iface_close transport_close
#define htp_iface_start transport_start
#define htp_iface_stop transport_stop
#define htp_iface_munmap transport_munmap
#define htp_iface_profiler transport_profiler
#define htp_iface_etm transport_etm

#endif
