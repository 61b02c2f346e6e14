#include "session.h"

#include <cstring>
#include <system_error>

#include <AEEStdErr.h>
#include <pthread.h>

#include "ggml-impl.h"
#include "options.h"

namespace fastrpc {

namespace {

// Codes that the DSP's side returns carry this offset (remote.h): the call has arrived, and the process there lives.
constexpr uint32_t dsp_offset = 0x80000400;
constexpr uint32_t dsp_codes  = 0x100;

bool from_dsp(int error) {
    return static_cast<uint32_t>(error) - dsp_offset < dsp_codes;
}

constexpr std::chrono::seconds slow(10);

} // namespace

Session::Session(int domain, size_t capacity, Table table)
    : domain_(domain), capacity_(capacity), table_(std::move(table)) {
}

Session::~Session() {
    finish();
}

// Let the worker run what is queued, and end.
void Session::finish() {
    {
        std::lock_guard<std::mutex> lock(mutex_);
        stopping_ = true;
        running_  = false;
        changed_.notify_all();
    }
    if (worker_.joinable()) {
        worker_.join();
    }
}

int Session::start(remote_handle64 handle, uint32_t id, uint32_t n_hvx, uint32_t n_hmx, uint64_t max_vmem) {
    htp_iface_settings settings = wire_settings();
    settings.coherency          = options().coherency;
    settings.cap_bytes          = options().cap_bytes;
    int err                     = htp_iface_attach(handle, &settings);
    if (err) {
        GGML_LOG_ERROR("ggml-hex: the DSP library does not fit (attach: error 0x%08x): libggml-hexagon.so and "
                       "libggml-htp-v*.so must both be of the fastrpc variant and of one build\n",
                       static_cast<unsigned>(err));
        return err;
    }
    err = htp_iface_start(handle, id, 0, n_hvx, n_hmx, max_vmem);
    if (err) {
        return err;
    }
    std::lock_guard<std::mutex> lock(mutex_);
    try {
        worker_ = std::thread(&Session::work, this);
    } catch (const std::system_error & e) {
        GGML_LOG_ERROR("ggml-hex: no thread for the session's batches: %s\n", e.what());
        htp_iface_stop(handle);
        return AEE_ENOMEMORY;
    }
    handle_  = handle;
    running_ = true;
    return AEE_SUCCESS;
}

int Session::stop() {
    finish();
    stopping_ = false;
    return htp_iface_stop(handle_);
}

int Session::call(const std::function<int(remote_handle64)> & method) {
    std::lock_guard<std::mutex> turn(calls_);
    return method(handle_);
}

// ---- the application's side ----

int Session::write(const dspqueue_buffer & block, const htp_opbatch_req & request, uint32_t timeout_us) {
    std::unique_lock<std::mutex> lock(mutex_);
    auto room = [this] { return !running_ || requests_.size() + responses_.size() + (executing_ ? 1 : 0) < capacity_; };
    if (timeout_us == DSPQUEUE_TIMEOUT_NONE) {
        changed_.wait(lock, room);
    } else if (!changed_.wait_for(lock, std::chrono::microseconds(timeout_us), room)) {
        return timeout_us ? AEE_EEXPIRED : AEE_EWOULDBLOCK;
    }
    if (!running_) {
        return AEE_EBADSTATE;
    }
    requests_.push_back({block, request, {}, 0});
    changed_.notify_all();
    return AEE_SUCCESS;
}

int Session::read(dspqueue_buffer * block, htp_opbatch_rsp * response, uint32_t timeout_us) {
    if (!timeout_us && !ready_) { // upstream polls in a loop
        return AEE_EWOULDBLOCK;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    auto ready = [this] { return !responses_.empty(); };
    if (timeout_us == DSPQUEUE_TIMEOUT_NONE) {
        changed_.wait(lock, ready);
    } else if (!changed_.wait_for(lock, std::chrono::microseconds(timeout_us), ready)) {
        complain_if_slow();
        return timeout_us ? AEE_EEXPIRED : AEE_EWOULDBLOCK;
    }
    Batch batch = responses_.front();
    responses_.pop_front();
    ready_--;
    changed_.notify_all();
    *block    = batch.block;
    *response = batch.response;
    return batch.error;
}

// With the lock held. Upstream waits for ever; who looks at the log shall know for what.
void Session::complain_if_slow() {
    if (executing_ && !complained_ && Clock::now() - since_ > slow) {
        complained_ = true;
        GGML_LOG_WARN("ggml-hex: domain %d has worked on batch %llu for %lld s: still waiting\n", domain_,
                      static_cast<unsigned long long>(executing_), static_cast<long long>(slow.count()));
    }
}

// ---- the worker ----

void Session::work() {
    pthread_setname_np(pthread_self(), "htp-fastrpc");
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return stopping_ || !requests_.empty(); });
        if (requests_.empty()) {
            return;
        }
        Batch batch = requests_.front();
        requests_.pop_front();
        executing_  = batch.request.seq;
        complained_ = false;
        since_      = Clock::now();
        lock.unlock();
        execute(batch);
        lock.lock();
        executing_ = 0;
        responses_.push_back(batch);
        ready_++;
        changed_.notify_all();
    }
}

void Session::execute(Batch & batch) {
    htp_iface_batch wire = {};
    memcpy(&wire, &batch.request, sizeof batch.request);
    wire.block  = batch.block.fd;
    wire.offset = batch.block.offset;
    wire.bytes  = batch.block.size;

    auto table  = table_();
    batch.error = call([&](remote_handle64 handle) {
        return htp_iface_execute(handle, &wire, table.data(), static_cast<int>(table.size()),
                                 reinterpret_cast<unsigned char *>(&batch.response), sizeof batch.response);
    });
    judge(batch);
}

// A batch that the DSP has refused fails like one whose ops have failed. When the call itself did not get through, the
// process on the DSP is gone: the reader is told, as the queue of upstream's transport tells it.
void Session::judge(Batch & batch) {
    if (!batch.error) {
        return;
    }
    auto code = static_cast<unsigned>(batch.error);
    auto seq  = static_cast<unsigned long long>(batch.request.seq);
    if (from_dsp(batch.error)) {
        GGML_LOG_ERROR("ggml-hex: domain %d refused batch %llu: error 0x%08x (the DSP's log says why)\n", domain_, seq,
                       code);
        batch.error           = 0;
        batch.response        = {};
        batch.response.seq    = batch.request.seq;
        batch.response.status = HTP_STATUS_INTERNAL_ERR;
    } else {
        GGML_LOG_ERROR("ggml-hex: domain %d did not run batch %llu: error 0x%08x: its process on the DSP has ended\n",
                       domain_, seq, code);
    }
}

} // namespace fastrpc
