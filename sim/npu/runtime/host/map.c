/* map: announce or map shared buffers to a process on the DSP. */
#include <stdlib.h>

#include "host.h"
#include "remote.h"

static bool remember(struct pd * pd, int fd, size_t bytes) {
    if (pd->n_maps == pd->room_maps) {
        size_t room          = pd->room_maps ? 2 * pd->room_maps : 64;
        struct pd_map * maps = realloc(pd->maps, room * sizeof *maps);
        if (!maps) {
            return false;
        }
        pd->maps      = maps;
        pd->room_maps = room;
    }
    pd->maps[pd->n_maps++] = (struct pd_map){fd, bytes};
    return true;
}

/* With pd->lock held; -1 when not mapped. */
static long position(const struct pd * pd, int fd) {
    for (size_t i = 0; i < pd->n_maps; i++) {
        if (pd->maps[i].fd == fd) {
            return (long)i;
        }
    }
    return -1;
}

EXPORT int fastrpc_mmap(int domain, int fd, void * addr, int offset, size_t length, enum fastrpc_map_flags flags) {
    struct host_buffer b;
    (void)addr;
    if (!host_buffer_of(fd, &b)) {
        return AEE_EINVALIDFD;
    }
    if (offset != 0 || length == 0 || length > b.bytes) {
        return AEE_EBADPARM;
    }
    struct wire_map map = {.app_fd = fd, .bytes = b.bytes};
    switch (flags) {
    case FASTRPC_MAP_STATIC:
    case FASTRPC_MAP_FD:
        map.when = WIRE_MAP_NOW;
        break;
    case FASTRPC_MAP_FD_DELAYED:
    case FASTRPC_MAP_FD_NOMAP:
        map.when = WIRE_MAP_DELAYED;
        break;
    case FASTRPC_MAP_FD_EXTENDED:
    case FASTRPC_MAP_FD_DELAYED_EXTENDED:
        map.when     = flags == FASTRPC_MAP_FD_EXTENDED ? WIRE_MAP_NOW : WIRE_MAP_DELAYED;
        map.extended = 1;
        break;
    default:
        return AEE_EBADPARM;
    }
    int status;
    struct pd * pd = pd_get(domain, false, &status);
    if (!pd) {
        return status;
    }
    pthread_mutex_lock(&pd->lock);
    status = position(pd, fd) >= 0 ? AEE_EMAPALREADYPRESENT : remember(pd, fd, length) ? 0 : AEE_ENOMEMORY;
    pthread_mutex_unlock(&pd->lock);
    if (status) {
        return status;
    }
    HOST_COUNT(pd, host_maps, 1);
    HOST_COUNT(pd, host_map_bytes, length);
    status = pd_request(pd, WIRE_MAP, &map, sizeof map, &fd, 1, NULL);
    if (status) {
        pthread_mutex_lock(&pd->lock);
        long i = position(pd, fd);
        if (i >= 0) {
            pd->maps[i] = pd->maps[--pd->n_maps];
        }
        pthread_mutex_unlock(&pd->lock);
    }
    return status;
}

EXPORT int fastrpc_munmap(int domain, int fd, void * addr, size_t length) {
    (void)addr;
    (void)length;
    int status;
    struct pd * pd = pd_get(domain, false, &status);
    if (!pd) {
        return status;
    }
    pthread_mutex_lock(&pd->lock);
    long i = position(pd, fd);
    if (i >= 0) {
        pd->maps[i] = pd->maps[--pd->n_maps];
    }
    pthread_mutex_unlock(&pd->lock);
    if (i < 0) {
        return AEE_ENOSUCHMAP;
    }
    HOST_COUNT(pd, host_unmaps, 1);
    struct wire_unmap unmap = {fd, 0};
    return pd_request(pd, WIRE_UNMAP, &unmap, sizeof unmap, NULL, 0, NULL);
}
