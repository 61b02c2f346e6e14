// life.cpp: drives the transport as upstream's host does, without ggml's graphs: the life of sessions and buffers, the
// order of batches, and what is said when something fails. One scenario for each run: life SCENARIO [NUMBER].
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "htp-drv.h"

#define GGML_COMMON_DECL_CPP
#include "ggml-common.h"
#include "htp-ops.h"

#include "transport.h"

namespace {

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define CHECK_EQUAL(got, want)                                                                                         \
    do {                                                                                                               \
        auto got_ = static_cast<unsigned long long>(got), want_ = static_cast<unsigned long long>(want);               \
        if (got_ != want_) {                                                                                           \
            fprintf(stderr, "%s:%d: %s is 0x%llx and not 0x%llx\n", __FILE__, __LINE__, #got, got_, want_);            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

constexpr uint32_t second = 1000000; // microseconds
constexpr size_t depth    = 8;       // batches on their way

struct Buffer {
    int domain     = -1;
    void * address = nullptr;
    size_t bytes   = 0;
    int fd         = -1;

    Buffer(int domain_, size_t bytes_, fastrpc_map_flags flags = FASTRPC_MAP_FD_DELAYED)
        : domain(domain_), address(transport_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes_)), bytes(bytes_),
          fd(transport_descriptor(address)) {
        CHECK(address && fd >= 0);
        CHECK_EQUAL(transport_map(domain, fd, address, 0, bytes, flags), 0);
    }
    ~Buffer() {
        CHECK_EQUAL(transport_unmap(domain, fd, address, bytes), 0);
        transport_free(address);
    }
};

// A session as ggml_hexagon_session makes and ends it.
struct Open {
    int domain;
    remote_handle64 handle = 0;
    dspqueue_t queue       = nullptr;
    std::unique_ptr<Buffer> block;
    uint64_t seq = 0;

    explicit Open(int domain_, size_t block_bytes = depth * 4096) : domain(domain_) {
        std::string uri = "file:///libggml-htp-v79.so?htp_iface_skel_handle_invoke&_modver=1.0&_dom=cdsp";
        uri += domain == 3 ? "" : "1";
        CHECK_EQUAL(transport_open(uri.c_str(), &handle), 0);
        CHECK_EQUAL(
            transport_queue_create(domain, 0, depth * sizeof(htp_opbatch_req), 4096, nullptr, nullptr, nullptr, &queue),
            0);
        block = std::make_unique<Buffer>(domain, block_bytes, FASTRPC_MAP_FD);
    }

    int start() {
        uint64_t id;
        CHECK_EQUAL(transport_queue_export(queue, &id), 0);
        return transport_start(handle, 0, id, 2, 1, 1u << 30);
    }

    void end() {
        block.reset();
        CHECK_EQUAL(transport_queue_close(queue), 0);
        CHECK_EQUAL(transport_close(handle), 0);
    }

    // An empty batch; fewer bytes than its ops need make it a bad one.
    int write(uint32_t n_ops = 0, uint32_t timeout = second) {
        htp_opbatch_req request = {};
        request.seq             = ++seq;
        request.n_ops           = n_ops;
        dspqueue_buffer b       = {};
        b.fd                    = static_cast<uint32_t>(block->fd);
        b.size                  = 64;
        b.offset                = static_cast<uint32_t>((seq - 1) % depth * (block->bytes / depth));
        b.ptr                   = static_cast<uint8_t *>(block->address) + b.offset;
        int err =
            transport_queue_write(queue, 0, 1, &b, sizeof request, reinterpret_cast<uint8_t *>(&request), timeout);
        seq -= err != 0;
        return err;
    }

    int read(htp_opbatch_rsp & response, uint32_t timeout = 10 * second) {
        uint32_t flags, n, bytes = 0;
        dspqueue_buffer b;
        int err = transport_queue_read(queue, &flags, 1, &n, &b, sizeof response, &bytes,
                                       reinterpret_cast<uint8_t *>(&response), timeout);
        CHECK(err || (bytes == sizeof response && n == 1 && b.ptr));
        return err;
    }

    void expect(uint64_t number, uint32_t status = HTP_STATUS_OK) {
        htp_opbatch_rsp response;
        int err;
        while ((err = read(response)) == AEE_EEXPIRED) {
        }
        CHECK_EQUAL(err, 0);
        CHECK_EQUAL(response.seq, number);
        CHECK_EQUAL(response.status, status);
    }
};

size_t count(const char * folder) {
    size_t n = 0;
    for (const auto & entry : std::filesystem::directory_iterator(folder)) {
        n += !entry.path().empty();
    }
    return n;
}

size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    std::string line;
    size_t n = 0;
    while (std::getline(maps, line)) {
        n += line.find("rpcmem") != std::string::npos || line.find("memfd") != std::string::npos;
    }
    return n;
}

// ---- scenarios ----

void cycles(int n) {
    size_t fds = 0, threads = 0, maps = 0;
    for (int i = 0; i < n; i++) {
        Open s(3);
        CHECK_EQUAL(s.start(), 0);
        {
            Buffer b(3, 100000);
            CHECK_EQUAL(s.write(), 0);
            s.expect(1);
            CHECK_EQUAL(transport_munmap(s.handle, static_cast<uint32>(b.fd)), 0);
        }
        CHECK_EQUAL(transport_stop(s.handle), 0);
        s.end();
        if (i == 2) {
            fds = count("/proc/self/fd"), threads = count("/proc/self/task"), maps = mappings();
        }
    }
    CHECK_EQUAL(count("/proc/self/fd"), fds);
    CHECK_EQUAL(count("/proc/self/task"), threads);
    CHECK_EQUAL(mappings(), maps);
}

void order(int) {
    Open s(3);
    htp_opbatch_rsp response;
    CHECK_EQUAL(s.write(), AEE_EBADSTATE); // not started
    CHECK_EQUAL(s.start(), 0);
    CHECK_EQUAL(s.read(response, 0), AEE_EWOULDBLOCK);
    CHECK_EQUAL(s.read(response, 1000), AEE_EEXPIRED);
    for (uint64_t i = 0; i < depth; i++) {
        CHECK_EQUAL(s.write(), 0);
    }
    CHECK_EQUAL(s.write(0, 1000), AEE_EEXPIRED); // responses nobody has read take room too
    for (uint64_t i = 1; i <= depth; i++) {
        s.expect(i);
    }
    for (uint64_t i = 1; i <= 3; i++) {
        CHECK_EQUAL(s.write(), 0);
    }
    CHECK_EQUAL(transport_stop(s.handle), 0); // runs what is queued
    for (uint64_t i = 1; i <= 3; i++) {
        s.expect(depth + i);
    }
    CHECK_EQUAL(s.write(), AEE_EBADSTATE);
    CHECK_EQUAL(s.start(), 0);
    CHECK_EQUAL(s.write(), 0);
    s.expect(depth + 4);
    CHECK_EQUAL(transport_stop(s.handle), 0);
    s.end();
}

// A batch that the DSP's side refuses fails alone.
void refused(int) {
    Open s(3);
    CHECK_EQUAL(s.start(), 0);
    CHECK_EQUAL(s.write(1000), 0);
    CHECK_EQUAL(s.write(), 0);
    s.expect(1, HTP_STATUS_INTERNAL_ERR);
    s.expect(2);
    CHECK_EQUAL(transport_stop(s.handle), 0);
    s.end();
}

// The DSP's library is of another variant or build.
void mismatch(int) {
    Open s(3);
    CHECK(s.start() != 0);
    CHECK_EQUAL(s.write(), AEE_EBADSTATE);
    s.end();
}

// The process on the DSP dies with a batch.
void dies(int) {
    Open s(3);
    CHECK_EQUAL(s.start(), 0);
    htp_opbatch_rsp response;
    int err = 0;
    for (int i = 0; i < 20 && !err; i++) {
        CHECK_EQUAL(s.write(), 0);
        while ((err = s.read(response)) == AEE_EEXPIRED) {
        }
    }
    CHECK(err != 0);
    printf("read: 0x%x\n", static_cast<unsigned>(err));
    CHECK(transport_stop(s.handle) != 0);
}

// A block outside the pool.
void large_block(int) {
    Open s(3, size_t{100} << 20);
    CHECK(static_cast<uint32_t>(s.block->fd) < 0x40000000u);
    CHECK_EQUAL(s.start(), 0);
    for (uint64_t i = 1; i <= 20; i++) {
        CHECK_EQUAL(s.write(), 0);
        s.expect(i);
    }
    CHECK_EQUAL(transport_stop(s.handle), 0);
    s.end();
}

// Two DSPs at once, each with a writer, while buffers come and go and the profiler is switched.
void together(int n) {
    auto run = [n](int domain) {
        Open s(domain);
        CHECK_EQUAL(s.start(), 0);
        std::atomic<bool> stop{false};
        std::thread other([&] {
            std::mt19937 random(static_cast<unsigned>(domain));
            htp_iface_pmu_conf conf = {};
            while (!stop) {
                Buffer b(domain, 4096 * (1 + random() % 100));
                CHECK_EQUAL(transport_munmap(s.handle, static_cast<uint32>(b.fd)), 0);
                CHECK_EQUAL(transport_profiler(s.handle, random() % 2, &conf), 0);
            }
        });
        uint64_t written = 0;
        for (uint64_t i = 1; i <= static_cast<uint64_t>(n); i++) {
            while (written < static_cast<uint64_t>(n) && written - i + 1 < depth) {
                CHECK_EQUAL(s.write(), 0);
                written++;
            }
            s.expect(i);
        }
        stop = true;
        other.join();
        CHECK_EQUAL(transport_stop(s.handle), 0);
        s.end();
    };
    std::thread a(run, 3), b(run, 4);
    a.join();
    b.join();
}

// Buffers never overlap, have descriptors of their own, and begin zeroed.
void pool(int n) {
    struct Held {
        size_t bytes;
        int fd;
    };
    std::mt19937 random(1);
    std::map<uint8_t *, Held> held;
    for (int i = 0; i < n; i++) {
        if (held.size() > 60 || (!held.empty() && random() % 3 == 0)) {
            auto it = std::next(held.begin(), static_cast<long>(random() % held.size()));
            transport_free(it->first);
            held.erase(it);
            continue;
        }
        size_t bytes = random() % 8 ? 1 + random() % 300000 : size_t{1 + random() % 3} << 21;
        auto * p     = static_cast<uint8_t *>(transport_alloc(RPCMEM_HEAP_ID_SYSTEM, RPCMEM_DEFAULT_FLAGS, bytes));
        CHECK(p && reinterpret_cast<uintptr_t>(p) % 4096 == 0);
        CHECK(p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0);
        memset(p, 0xa5, bytes);
        int fd = transport_descriptor(p);
        CHECK(fd >= 0);
        for (const auto & [q, h] : held) {
            CHECK(fd != h.fd && (p + bytes <= q || q + h.bytes <= p));
        }
        held[p] = {bytes, fd};
    }
    for (const auto & [p, h] : held) {
        CHECK(h.fd >= 0);
        transport_free(p);
    }
}

const std::map<std::string, void (*)(int)> scenarios = {
    {"cycles", cycles},           {"order", order},       {"refused", refused}, {"mismatch", mismatch}, {"dies", dies},
    {"large_block", large_block}, {"together", together}, {"pool", pool},
};

} // namespace

int main(int argc, char ** argv) {
    auto found = argc > 1 ? scenarios.find(argv[1]) : scenarios.end();
    if (found == scenarios.end()) {
        fprintf(stderr, "usage: life SCENARIO [NUMBER]\n");
        return 2;
    }
    CHECK_EQUAL(htpdrv_init(), 0);
    found->second(argc > 2 ? atoi(argv[2]) : 100);
    return 0;
}
