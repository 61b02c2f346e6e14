/* transport.h: what upstream's host sources call in place of the driver. Each function has the meaning, parameters and
 * results of the one that binding.h maps to it. */
#ifndef FASTRPC_TRANSPORT_H
#define FASTRPC_TRANSPORT_H

#include <AEEStdErr.h>
#include <dspqueue.h>
#include <remote.h>
#include <rpcmem.h>

#include "htp_iface.h"

#pragma GCC visibility push(hidden)

/* Memory: from the pool, or as the driver gives it. */
void * transport_alloc(int heap, uint32_t flags, size_t bytes);
void transport_free(void * memory);
int transport_descriptor(void * memory);
int transport_map(int domain, int fd, void * address, int offset, size_t bytes, enum fastrpc_map_flags flags);
int transport_unmap(int domain, int fd, void * address, size_t bytes);

/* The queue of a session: batches go to its worker, responses come back in order. */
AEEResult transport_queue_create(int domain, uint32_t flags, uint32_t request_bytes, uint32_t response_bytes,
                                 dspqueue_callback_t packets, dspqueue_callback_t errors, void * context,
                                 dspqueue_t * queue);
AEEResult transport_queue_export(dspqueue_t queue, uint64_t * id);
AEEResult transport_queue_close(dspqueue_t queue);
AEEResult transport_queue_write(dspqueue_t queue, uint32_t flags, uint32_t n_buffers, struct dspqueue_buffer * buffers,
                                uint32_t bytes, const uint8_t * message, uint32_t timeout_us);
AEEResult transport_queue_read(dspqueue_t queue, uint32_t * flags, uint32_t max_buffers, uint32_t * n_buffers,
                               struct dspqueue_buffer * buffers, uint32_t max_bytes, uint32_t * bytes,
                               uint8_t * message, uint32_t timeout_us);

/* The session's interface, one call at a time. */
AEEResult transport_open(const char * uri, remote_handle64 * handle);
AEEResult transport_close(remote_handle64 handle);
AEEResult transport_start(remote_handle64 handle, uint32 id, uint64 queue, uint32 n_hvx, uint32 n_hmx, uint64 max_vmem);
AEEResult transport_stop(remote_handle64 handle);
AEEResult transport_munmap(remote_handle64 handle, uint32 fd);
AEEResult transport_profiler(remote_handle64 handle, uint32 mode, const htp_iface_pmu_conf * conf);
AEEResult transport_etm(remote_handle64 handle, uint32 enable);

#pragma GCC visibility pop

#endif
