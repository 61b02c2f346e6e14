// session.h: a session with a DSP: its queue, the worker that makes the calls, and the order of the calls.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <dspqueue.h>
#include <remote.h>

#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "htp-ops.h"
#include "wire.h"

namespace fastrpc {

// A batch is one call that returns when the DSP has run it. One worker per session makes these calls, so that the
// application queues batches and goes on, and sessions that wait for each other's fences do not wait for each other's
// calls. The driver is not asked to run two calls on one handle at once: the other methods take turns with the worker.
class Session {
  public:
    using Table = std::function<std::vector<htp_iface_segment>()>;

    // capacity: batches that may be on their way at once. table: the pool's segments that the DSP has to know.
    Session(int domain, size_t capacity, Table table);
    ~Session();
    Session(const Session &)             = delete;
    Session & operator=(const Session &) = delete;

    int domain() const {
        return domain_;
    }
    remote_handle64 handle() const {
        return handle_;
    }

    // Agree with the DSP's library, start it and the worker; stop them when the queued batches have run.
    int start(remote_handle64 handle, uint32_t id, uint32_t n_hvx, uint32_t n_hmx, uint64_t max_vmem);
    int stop();

    int write(const dspqueue_buffer & block, const htp_opbatch_req & request, uint32_t timeout_us);
    int read(dspqueue_buffer * block, htp_opbatch_rsp * response, uint32_t timeout_us);

    // Make a call between two batches.
    int call(const std::function<int(remote_handle64)> & method);

  private:
    using Clock = std::chrono::steady_clock;

    struct Batch {
        dspqueue_buffer block;
        htp_opbatch_req request;
        htp_opbatch_rsp response;
        int error;
    };

    void finish();
    void work();
    void execute(Batch & batch);
    void judge(Batch & batch);
    void complain_if_slow();

    const int domain_;
    const size_t capacity_;
    const Table table_;
    std::atomic<remote_handle64> handle_{0};

    std::mutex calls_; // one call at a time; taken before mutex_
    std::mutex mutex_; // all below
    std::condition_variable changed_;
    std::deque<Batch> requests_, responses_;
    bool running_ = false, stopping_ = false;
    uint64_t executing_ = 0; // number of the batch that the DSP has; 0: none
    bool complained_    = false;
    Clock::time_point since_;
    std::atomic<size_t> ready_{0}; // responses, for readers that poll
    std::thread worker_;
};

} // namespace fastrpc
