// binding.cpp: upstream's calls, handed to the pool and to the session that they are for.
#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "ggml-impl.h"
#include "options.h"
#include "pool.h"
#include "session.h"
#include "transport.h"

// Upstream's pointer to the driver's function (htp-drv.cpp). It declares the handle with 32 bits, so that a caller may
// pass half of it: optimised builds happen not to, builds with sanitizers do.
extern int (*remote_handle64_close_pfn)(remote_handle handle);

using fastrpc::Pool;
using fastrpc::Session;

namespace {

// The first job of each kernel runs on the thread of the call. Upstream's own thread has 32 KiB.
constexpr int dsp_stack_bytes = 64 * 1024;

// All sessions and the pool. Never destroyed: workers and static destructors end in no particular order.
struct State {
    std::mutex mutex;
    std::vector<std::shared_ptr<Session>> sessions;
    std::map<remote_handle64, int> domains; // of handles that were started
    Pool pool{fastrpc::options().segment_bytes, [this](int domain, uint32_t segment) { release(domain, segment); }};

    template <typename Match> std::shared_ptr<Session> find(Match match) {
        std::lock_guard<std::mutex> lock(mutex);
        auto found = std::find_if(sessions.begin(), sessions.end(), match);
        return found == sessions.end() ? nullptr : *found;
    }

    std::shared_ptr<Session> of(dspqueue_t queue) {
        return find([queue](const auto & s) { return reinterpret_cast<dspqueue_t>(s.get()) == queue; });
    }

    std::shared_ptr<Session> of(remote_handle64 handle) {
        return find([handle](const auto & s) { return s->handle() == handle; });
    }

    void release(int domain, uint32_t segment) {
        auto session = find([domain](const auto & s) { return s->domain() == domain && s->handle(); });
        if (!session) {
            return; // stopped: nothing is mapped
        }
        int err = session->call([segment](remote_handle64 h) { return htp_iface_release(h, segment); });
        if (err) {
            GGML_LOG_WARN("ggml-hex: domain %d did not release pool segment %u: error 0x%08x\n", domain, segment,
                          static_cast<unsigned>(err));
        }
    }
};

State & state() {
    static State * const s = new State;
    return *s;
}

// A method of a session takes its turn; without a session there is nobody to wait for.
template <typename Method> AEEResult call(remote_handle64 handle, Method method) {
    auto session = state().of(handle);
    return session ? session->call(method) : method(handle);
}

} // namespace

// ---- memory ----

void * transport_alloc(int heap, uint32_t flags, size_t bytes) {
    return state().pool.alloc(heap, flags, bytes);
}

void transport_free(void * memory) {
    state().pool.free(memory);
}

int transport_descriptor(void * memory) {
    return state().pool.descriptor(memory);
}

int transport_map(int domain, int fd, void * address, int offset, size_t bytes, enum fastrpc_map_flags flags) {
    return state().pool.map(domain, fd, address, offset, bytes, flags);
}

int transport_unmap(int domain, int fd, void * address, size_t bytes) {
    return state().pool.unmap(domain, fd, address, bytes);
}

// ---- queue ----

AEEResult transport_queue_create(int domain, uint32_t flags, uint32_t request_bytes, uint32_t response_bytes,
                                 dspqueue_callback_t packets, dspqueue_callback_t errors, void * context,
                                 dspqueue_t * queue) {
    (void)flags, (void)response_bytes, (void)context;
    if (packets || errors) {
        return AEE_EUNSUPPORTED;
    }
    State & all  = state();
    auto session = std::make_shared<Session>(domain, std::max<size_t>(1, request_bytes / sizeof(htp_opbatch_req)),
                                             [&all, domain] { return all.pool.table(domain); });
    *queue       = reinterpret_cast<dspqueue_t>(session.get());
    std::lock_guard<std::mutex> lock(all.mutex);
    all.sessions.push_back(std::move(session));
    return AEE_SUCCESS;
}

AEEResult transport_queue_export(dspqueue_t queue, uint64_t * id) {
    *id = reinterpret_cast<uintptr_t>(queue);
    return AEE_SUCCESS;
}

AEEResult transport_queue_close(dspqueue_t queue) {
    auto session = state().of(queue);
    if (!session) {
        return AEE_EBADPARM;
    }
    std::lock_guard<std::mutex> lock(state().mutex);
    auto & sessions = state().sessions;
    sessions.erase(std::remove(sessions.begin(), sessions.end(), session), sessions.end());
    return AEE_SUCCESS;
}

AEEResult transport_queue_write(dspqueue_t queue, uint32_t flags, uint32_t n_buffers, struct dspqueue_buffer * buffers,
                                uint32_t bytes, const uint8_t * message, uint32_t timeout_us) {
    (void)flags;
    auto session = state().of(queue);
    if (!session || n_buffers != 1 || bytes != sizeof(htp_opbatch_req)) {
        return AEE_EBADPARM;
    }
    htp_opbatch_req request;
    memcpy(&request, message, sizeof request);
    return session->write(buffers[0], request, timeout_us);
}

AEEResult transport_queue_read(dspqueue_t queue, uint32_t * flags, uint32_t max_buffers, uint32_t * n_buffers,
                               struct dspqueue_buffer * buffers, uint32_t max_bytes, uint32_t * bytes,
                               uint8_t * message, uint32_t timeout_us) {
    auto session = state().of(queue);
    if (!session || max_buffers < 1 || max_bytes < sizeof(htp_opbatch_rsp)) {
        return AEE_EBADPARM;
    }
    htp_opbatch_rsp response;
    int err = session->read(buffers, &response, timeout_us);
    if (!err) {
        *flags     = 0;
        *n_buffers = 1;
        *bytes     = sizeof response;
        memcpy(message, &response, sizeof response);
    }
    return err;
}

// ---- interface ----

AEEResult transport_open(const char * uri, remote_handle64 * handle) {
    remote_rpc_thread_params params = {-1, -1, dsp_stack_bytes};
    int err                         = remote_session_control(FASTRPC_THREAD_PARAMS, &params, sizeof params);
    if (err) {
        GGML_LOG_WARN("ggml-hex: the DSP threads' stack stays as it is: error 0x%08x\n", static_cast<unsigned>(err));
    }
    return htp_iface_open(uri, handle);
}

AEEResult transport_close(remote_handle64 handle) {
    // Upstream's pointer has the 32-bit handle of another call in its type; the library's function takes all of it.
    auto close    = reinterpret_cast<int (*)(remote_handle64)>(reinterpret_cast<void *>(remote_handle64_close_pfn));
    AEEResult err = close(handle); // all that htp_iface_close does
    std::unique_lock<std::mutex> lock(state().mutex);
    auto started = state().domains.find(handle);
    if (started != state().domains.end()) {
        int domain = started->second;
        state().domains.erase(started);
        lock.unlock();
        state().pool.forget(domain);
    }
    return err;
}

AEEResult transport_start(remote_handle64 handle, uint32 id, uint64 queue, uint32 n_hvx, uint32 n_hmx,
                          uint64 max_vmem) {
    auto session = state().of(reinterpret_cast<dspqueue_t>(static_cast<uintptr_t>(queue)));
    if (!session) {
        return AEE_EBADPARM;
    }
    {
        std::lock_guard<std::mutex> lock(state().mutex);
        state().domains[handle] = session->domain();
    }
    return session->start(handle, id, n_hvx, n_hmx, max_vmem);
}

AEEResult transport_stop(remote_handle64 handle) {
    auto session = state().of(handle);
    return session ? session->stop() : AEE_EBADPARM;
}

AEEResult transport_munmap(remote_handle64 handle, uint32 fd) {
    return call(handle, [fd](remote_handle64 h) { return htp_iface_munmap(h, fd); });
}

AEEResult transport_profiler(remote_handle64 handle, uint32 mode, const htp_iface_pmu_conf * conf) {
    return call(handle, [mode, conf](remote_handle64 h) { return htp_iface_profiler(h, mode, conf); });
}

AEEResult transport_etm(remote_handle64 handle, uint32 enable) {
    return call(handle, [enable](remote_handle64 h) { return htp_iface_etm(h, enable); });
}
