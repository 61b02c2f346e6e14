#include "pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <AEEStdErr.h>
#include <rpcmem.h>

#include "ggml-impl.h"
#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "htp-ops.h"
#include "wire.h"

namespace fastrpc {

namespace {

// What v81 rounds buffers to that it may map outside the DSP's 32-bit window (upstream's extended_align).
constexpr size_t extended_align = 2 << 20;

size_t pages(size_t bytes) {
    return (bytes + WIRE_PAGE_BYTES - 1) & ~static_cast<size_t>(WIRE_PAGE_BYTES - 1);
}

} // namespace

Pool::Pool(size_t segment_bytes, Release release)
    : segment_bytes_(segment_bytes), release_(std::move(release)), segments_(WIRE_MAX_SEGMENTS),
      numbers_(WIRE_MAX_SEGMENTS) {
}

bool Pool::pooled(size_t bytes) const {
    return bytes && bytes <= segment_bytes_ / 2 && bytes % extended_align;
}

void * Pool::alloc(int heap, uint32_t flags, size_t bytes) {
    if (pooled(bytes)) {
        std::lock_guard<std::mutex> lock(mutex_);
        for (auto & segment : segments_) {
            if (segment) {
                if (void * memory = place(*segment, pages(bytes))) {
                    return memory;
                }
            }
        }
        if (Segment * segment = add_segment(heap, flags)) {
            return place(*segment, pages(bytes));
        }
    }
    return rpcmem_alloc2(heap, flags, bytes);
}

// With the lock held. Null when there is no memory or no number left: the buffer then gets memory of its own.
Pool::Segment * Pool::add_segment(int heap, uint32_t flags) {
    for (uint32_t i = 0; i < segments_.size(); i++) {
        if (numbers_[i]) {
            continue;
        }
        auto * base = static_cast<uint8_t *>(rpcmem_alloc2(heap, flags, segment_bytes_));
        int fd      = base ? rpcmem_to_fd(base) : -1;
        if (fd < 0 || wire_is_pooled(static_cast<uint32_t>(fd))) {
            GGML_LOG_WARN("ggml-hex: no memory for a pool segment of %zu MiB; buffers are allocated singly\n",
                          segment_bytes_ >> 20);
            if (base) {
                rpcmem_free(base);
            }
            return nullptr;
        }
        numbers_[i]  = true;
        segments_[i] = Owned(new Segment{i, base, segment_bytes_, fd, 0, {}, {}});
        return segments_[i].get();
    }
    return nullptr;
}

// First fit. Memory that had an owner is zeroed, as the driver's is.
void * Pool::place(Segment & segment, size_t bytes) {
    size_t at = 0;
    for (const auto & [offset, length] : segment.used) {
        if (offset - at >= bytes) {
            break;
        }
        at = offset + length;
    }
    if (segment.bytes - at < bytes) {
        return nullptr;
    }
    if (at < segment.used_to) {
        memset(segment.base + at, 0, std::min(bytes, segment.used_to - at));
    }
    segment.used_to = std::max(segment.used_to, at + bytes);
    segment.used.emplace(at, bytes);
    return segment.base + at;
}

Pool::Segment * Pool::holder(const void * memory) {
    auto address = reinterpret_cast<uintptr_t>(memory);
    for (auto & segment : segments_) {
        if (segment && address - reinterpret_cast<uintptr_t>(segment->base) < segment->bytes) {
            return segment.get();
        }
    }
    return nullptr;
}

void Pool::free(void * memory) {
    std::vector<Owned> unused;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        Segment * segment = holder(memory);
        if (!segment) {
            rpcmem_free(memory);
            return;
        }
        segment->used.erase(static_cast<size_t>(static_cast<uint8_t *>(memory) - segment->base));
        unused = take_unused(true);
    }
    destroy(std::move(unused));
}

// With the lock held. One empty segment stays, since the next buffer is likely to come soon.
std::vector<Pool::Owned> Pool::take_unused(bool keep_one) {
    std::vector<Owned> unused;
    for (auto & segment : segments_) {
        if (segment && segment->used.empty() && !std::exchange(keep_one, false)) {
            unused.push_back(std::move(segment));
        }
    }
    return unused;
}

// Without the lock: the calls wait for batches that run, and the workers of these may want the table.
void Pool::destroy(std::vector<Owned> segments) {
    for (auto & segment : segments) {
        for (const auto & mapped : segment->domains) {
            release_(mapped.first, segment->index);
            fastrpc_munmap(mapped.first, segment->fd, segment->base, segment->bytes);
        }
        rpcmem_free(segment->base);
        std::lock_guard<std::mutex> lock(mutex_);
        numbers_[segment->index] = false;
    }
}

int Pool::descriptor(void * memory) {
    std::lock_guard<std::mutex> lock(mutex_);
    Segment * segment = holder(memory);
    if (!segment) {
        return rpcmem_to_fd(memory);
    }
    return static_cast<int>(
        wire_descriptor(segment->index, static_cast<uint64_t>(static_cast<uint8_t *>(memory) - segment->base)));
}

int Pool::map(int domain, int fd, void * address, int offset, size_t bytes, fastrpc_map_flags flags) {
    if (!wire_is_pooled(static_cast<uint32_t>(fd))) {
        return fastrpc_mmap(domain, fd, address, offset, bytes, flags);
    }
    if (flags == FASTRPC_MAP_FD_DELAYED_EXTENDED) {
        GGML_LOG_ERROR("ggml-hex: a buffer of %zu bytes can not be mapped for DMA alone: it lies in the pool\n", bytes);
        return AEE_EUNSUPPORTED;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    Segment * segment = holder(address);
    if (!segment) {
        return AEE_ENOSUCHMAP;
    }
    auto mapped = segment->domains.find(domain);
    if (mapped == segment->domains.end()) {
        int err = fastrpc_mmap(domain, segment->fd, segment->base, 0, segment->bytes, FASTRPC_MAP_FD_DELAYED);
        if (err) {
            GGML_LOG_ERROR("ggml-hex: pool segment %u of %zu MiB does not map in domain %d: error 0x%08x\n",
                           segment->index, segment->bytes >> 20, domain, static_cast<unsigned>(err));
            return err;
        }
        mapped = segment->domains.emplace(domain, 0).first;
    }
    mapped->second++;
    return AEE_SUCCESS;
}

// The segment stays mapped: the next buffer is likely to lie in it again.
int Pool::unmap(int domain, int fd, void * address, size_t bytes) {
    if (!wire_is_pooled(static_cast<uint32_t>(fd))) {
        return fastrpc_munmap(domain, fd, address, bytes);
    }
    std::lock_guard<std::mutex> lock(mutex_);
    Segment * segment = holder(address);
    if (!segment || !segment->domains.count(domain)) {
        return AEE_ENOSUCHMAP;
    }
    segment->domains[domain]--;
    return AEE_SUCCESS;
}

std::vector<htp_iface_segment> Pool::table(int domain) {
    std::vector<htp_iface_segment> table;
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto & segment : segments_) {
        if (segment && segment->domains.count(domain)) {
            table.push_back({segment->bytes, segment->index, static_cast<uint32>(segment->fd)});
        }
    }
    return table;
}

void Pool::forget(int domain) {
    std::vector<Owned> unused;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        bool mapped = false;
        for (auto & segment : segments_) {
            if (segment && segment->domains.erase(domain)) {
                fastrpc_munmap(domain, segment->fd, segment->base, segment->bytes);
            }
            mapped = mapped || (segment && !segment->domains.empty());
        }
        if (!mapped) {
            unused = take_unused(false);
        }
    }
    destroy(std::move(unused));
}

} // namespace fastrpc
