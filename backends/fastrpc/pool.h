// pool.h: shared memory in a few large segments, each mapped once per session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <remote.h>

#include "htp_iface.h"

namespace fastrpc {

// A buffer of at most half a segment lies in one; larger ones, and multiples of 2 MiB, have memory and descriptors of
// their own, as upstream gives them: they keep upstream's window of mappings, and v81 maps 2 MiB multiples for DMA
// outside the window.
class Pool {
  public:
    // Called without locks when a segment that is mapped in a session's domain is about to go.
    using Release = std::function<void(int domain, uint32_t segment)>;

    Pool(size_t segment_bytes, Release release);

    void * alloc(int heap, uint32_t flags, size_t bytes);
    void free(void * memory);
    int descriptor(void * memory);
    int map(int domain, int fd, void * address, int offset, size_t bytes, fastrpc_map_flags flags);
    int unmap(int domain, int fd, void * address, size_t bytes);

    // The segments that are mapped in a domain.
    std::vector<htp_iface_segment> table(int domain);
    // The domain's process on the DSP has ended.
    void forget(int domain);

  private:
    struct Segment {
        uint32_t index;
        uint8_t * base;
        size_t bytes;
        int fd;
        size_t used_to = 0;            // memory beyond it was never handed out
        std::map<size_t, size_t> used; // offset, bytes
        std::map<int, int> domains;    // mapped there; buffers that are
    };
    using Owned = std::unique_ptr<Segment>;

    bool pooled(size_t bytes) const;
    Segment * holder(const void * memory);
    Segment * add_segment(int heap, uint32_t flags);
    void * place(Segment & segment, size_t bytes);
    std::vector<Owned> take_unused(bool keep_one);
    void destroy(std::vector<Owned> segments);

    const size_t segment_bytes_;
    const Release release_;
    std::mutex mutex_;
    std::vector<Owned> segments_; // by index; null where there is none
    std::vector<bool> numbers_;   // in use, also while a segment is being destroyed
};

} // namespace fastrpc
