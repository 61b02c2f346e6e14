/* remote.h: FastRPC. Handles to interfaces that a DSP implements, invocation, control requests, and mapping of shared
 * buffers. The application links (or loads) libcdsprpc.so; on the DSP only the types are used.
 *
 * Functions return 0 or a code of AEEStdErr.h; codes made on the DSP carry DSP_AEE_EOFFSET. */
#ifndef REMOTE_H
#define REMOTE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "AEEStdDef.h"

/* ---- invocation ---- */

typedef uint32_t remote_handle;   /* handle of an interface without instances */
typedef uint64_t remote_handle64; /* handle of one instance of an interface on one DSP */

/* A buffer argument. */
typedef struct {
    void * pv;   /* address; may be NULL when nLen is 0 */
    size_t nLen; /* bytes */
} remote_buf;

/* A shared-memory argument, by descriptor. */
typedef struct {
    int32_t  fd;
    uint32_t offset; /* bytes */
} remote_dma_handle;

/* One argument of an invocation. */
typedef union {
    remote_buf        buf;
    remote_handle     h;
    remote_handle64   h64;
    remote_dma_handle dma;
} remote_arg;

static_assert(sizeof(remote_arg) == 2 * sizeof(void *), "remote_arg is a pointer and a length");

/* The scalars of an invocation: one word that names the method and counts the arguments. The arguments follow in the
 * order: input buffers, output buffers, input handles, output handles.
 *   bits 31-29 attributes, 28-24 method, 23-16 input buffers, 15-8 output buffers, 7-4 input handles, 3-0 output handles
 * Method 0 of an interface with instances is its open (two input buffers: the length of the URI with its NUL as a
 * uint32_t, and the URI; one output handle), method 1 its close (one input handle), its own methods begin at 2. */
#define REMOTE_SCALARS_MAKEX(attr, method, in, out, oin, oout)                                        \
    ((((uint32_t) (attr) & 0x7u) << 29) | (((uint32_t) (method) & 0x1fu) << 24) |                     \
     (((uint32_t) (in) & 0xffu) << 16) | (((uint32_t) (out) & 0xffu) << 8) |                          \
     (((uint32_t) (oin) & 0xfu) << 4) | ((uint32_t) (oout) & 0xfu))
#define REMOTE_SCALARS_MAKE(method, in, out) REMOTE_SCALARS_MAKEX(0, method, in, out, 0, 0)

#define REMOTE_SCALARS_METHOD_ATTR(sc) (((sc) >> 29) & 0x7)
#define REMOTE_SCALARS_METHOD(sc)      (((sc) >> 24) & 0x1f)
#define REMOTE_SCALARS_INBUFS(sc)      (((sc) >> 16) & 0xff)
#define REMOTE_SCALARS_OUTBUFS(sc)     (((sc) >> 8) & 0xff)
#define REMOTE_SCALARS_INHANDLES(sc)   (((sc) >> 4) & 0xf)
#define REMOTE_SCALARS_OUTHANDLES(sc)  ((sc) & 0xf)
#define REMOTE_SCALARS_LENGTH(sc)                                                                     \
    (REMOTE_SCALARS_INBUFS(sc) + REMOTE_SCALARS_OUTBUFS(sc) + REMOTE_SCALARS_INHANDLES(sc) +          \
     REMOTE_SCALARS_OUTHANDLES(sc))

/* ---- DSPs ("domains") ---- */

#define ADSP_DOMAIN_ID  0
#define MDSP_DOMAIN_ID  1
#define SDSP_DOMAIN_ID  2
#define CDSP_DOMAIN_ID  3
#define CDSP1_DOMAIN_ID 4

#define ADSP_DOMAIN_NAME  "adsp"
#define MDSP_DOMAIN_NAME  "mdsp"
#define SDSP_DOMAIN_NAME  "sdsp"
#define CDSP_DOMAIN_NAME  "cdsp"
#define CDSP1_DOMAIN_NAME "cdsp1"

/* What is appended to a module's URI to open it on that DSP. */
#define ADSP_DOMAIN  "&_dom=adsp"
#define MDSP_DOMAIN  "&_dom=mdsp"
#define SDSP_DOMAIN  "&_dom=sdsp"
#define CDSP_DOMAIN  "&_dom=cdsp"
#define CDSP1_DOMAIN "&_dom=cdsp1"

#define ITRANSPORT_PREFIX "'\":;./\\"

#define MAX_DOMAIN_URI_SIZE 12 /* with the NUL */

typedef struct domain {
    int  id;
    char uri[MAX_DOMAIN_URI_SIZE]; /* one of the suffixes above */
} domain_t;

/* ---- remote_handle_control, remote_handle64_control ---- */

enum handle_control_req_id {
    DSPRPC_RESERVED         = 0,
    DSPRPC_CONTROL_LATENCY  = 1, /* struct remote_rpc_control_latency */
    DSPRPC_GET_DSP_INFO     = 2, /* struct remote_dsp_capability; remote_handle_control only */
    DSPRPC_CONTROL_WAKELOCK = 3,
    DSPRPC_GET_DOMAIN       = 4, /* struct remote_rpc_get_domain */
};

/* Values of remote_rpc_control_latency.enable. */
enum remote_rpc_latency_flags {
    RPC_DISABLE_QOS  = 0,
    RPC_PM_QOS       = 1, /* keep the CPU out of deep sleep while calls are frequent */
    RPC_ADAPTIVE_QOS = 2, /* wake the CPU when a call is about to end */
    RPC_POLL_QOS     = 3, /* poll for the answer */
};

struct remote_rpc_control_latency {
    uint32_t enable;  /* enum remote_rpc_latency_flags */
    uint32_t latency; /* microseconds; 0 asks for nothing particular */
};

/* Capabilities of a DSP. */
enum remote_dsp_attributes {
    DOMAIN_SUPPORT      = 0, /* the DSP exists: 1 or 0 */
    UNSIGNED_PD_SUPPORT = 1, /* unsigned libraries may be loaded: 1 or 0 */
    HVX_SUPPORT_64B     = 2, /* number of 64-byte HVX units */
    HVX_SUPPORT_128B    = 3, /* number of 128-byte HVX units */
    VTCM_PAGE           = 4, /* largest VTCM page, bytes */
    VTCM_COUNT          = 5, /* number of such pages */
    ARCH_VER            = 6, /* low byte: architecture in hexadecimal digits, 0x79 for v79 */
    HMX_SUPPORT_DEPTH   = 7,
    HMX_SUPPORT_SPATIAL = 8,
    ASYNC_FASTRPC_SUPPORT       = 9,
    STATUS_NOTIFICATION_SUPPORT = 10,
    MCID_MULTICAST              = 11,
};

typedef struct remote_dsp_capability {
    uint32_t domain;       /* in: id of the DSP */
    uint32_t attribute_ID; /* in: enum remote_dsp_attributes */
    uint32_t capability;   /* out */
} fastrpc_capability;

typedef struct remote_rpc_get_domain {
    int domain; /* out */
} remote_rpc_get_domain_t;

/* ---- remote_session_control ---- */

enum session_control_req_id {
    FASTRPC_THREAD_PARAMS              = 1,  /* struct remote_rpc_thread_params */
    DSPRPC_CONTROL_UNSIGNED_MODULE     = 2,  /* struct remote_rpc_control_unsigned_module; before the first open */
    FASTRPC_RELATIVE_THREAD_PRIORITY   = 4,
    FASTRPC_REMOTE_PROCESS_KILL        = 6,  /* struct remote_rpc_process_clean_params */
    FASTRPC_SESSION_CLOSE              = 7,  /* struct remote_rpc_session_close */
    FASTRPC_CONTROL_PD_DUMP            = 8,
    FASTRPC_REMOTE_PROCESS_EXCEPTION   = 9,  /* struct remote_rpc_process_clean_params */
    FASTRPC_REMOTE_PROCESS_TYPE        = 10,
    FASTRPC_REGISTER_STATUS_NOTIFICATIONS = 11,
    FASTRPC_PD_INITMEM_SIZE            = 12,
    FASTRPC_RESERVE_NEW_SESSION        = 13, /* struct remote_rpc_reserve_new_session */
    FASTRPC_GET_EFFECTIVE_DOMAIN_ID    = 14, /* struct remote_rpc_effective_domain_id */
    FASTRPC_GET_URI                    = 15, /* struct remote_rpc_get_uri */
    FASTRPC_MAX_THREAD_PARAM           = 16,
};

struct remote_rpc_thread_params {
    int domain;     /* -1: all */
    int prio;       /* 1 (highest) to 255; -1: default */
    int stack_size; /* bytes; -1: default */
};

struct remote_rpc_control_unsigned_module {
    int domain; /* -1: all */
    int enable; /* 1: unsigned libraries may be loaded */
};

struct remote_rpc_process_clean_params {
    int domain;
};

struct remote_rpc_session_close {
    int domain; /* -1: all */
};

/* Ask for one more process of this application on a DSP. Session 0 always exists; lengths are without the NUL. */
typedef struct remote_rpc_reserve_new_session {
    char *   domain_name;
    uint32_t domain_name_len;
    char *   session_name;
    uint32_t session_name_len;
    uint32_t effective_domain_id; /* out: stands for the domain id wherever this session is meant */
    uint32_t session_id;          /* out */
} remote_rpc_reserve_new_session_t;

typedef struct remote_rpc_effective_domain_id {
    char *   domain_name;
    uint32_t domain_name_len;
    uint32_t session_id;
    uint32_t effective_domain_id; /* out */
} remote_rpc_effective_domain_id_t;

/* Make the URI that opens a module in one session of one DSP. AEE_EBADSIZE when uri_len is too small. */
typedef struct remote_rpc_get_uri {
    char *   domain_name;
    uint32_t domain_name_len;
    uint32_t session_id;
    char *   module_uri;
    uint32_t module_uri_len;
    char *   uri;     /* out; with its NUL */
    uint32_t uri_len; /* room at uri, bytes */
} remote_rpc_get_uri_t;

/* ---- remote_system_request: which DSPs are there ---- */

#define MAX_DOMAIN_NAMELEN          30
#define DOMAINS_LIST_FLAGS_TYPE_POS 5
/* Put the wanted type in the flags of a request. */
#define DOMAINS_LIST_FLAGS_SET_TYPE(flags, type) \
    ((flags) | ((uint64_t) (type) & ((1u << DOMAINS_LIST_FLAGS_TYPE_POS) - 1)))

typedef enum {
    FASTRPC_ALL_DOMAINS = 0,
    FASTRPC_NSP         = 1, /* compute DSP, "cdsp" */
    FASTRPC_LPASS       = 2, /* audio DSP */
    FASTRPC_SDSP        = 3, /* sensor DSP */
    FASTRPC_MODEM       = 4,
    FASTRPC_HPASS       = 5,
} fastrpc_domain_type;

typedef struct fastrpc_domain {
    int                 id;                       /* domain id, as in CDSP_DOMAIN_ID */
    char                name[MAX_DOMAIN_NAMELEN]; /* "cdsp", "cdsp1" */
    fastrpc_domain_type type;
    int                 status;      /* 0: down */
    uint32_t            card;
    uint32_t            soc_id;
    uint32_t            instance_id; /* counts the DSPs of one type from 0 */
} fastrpc_domain;

typedef struct fastrpc_domains_info {
    fastrpc_domain * domains;     /* in: room for max_domains, or NULL to ask for the number only */
    int              max_domains; /* in */
    int              num_domains; /* out: how many there are */
    uint64_t         flags;       /* in: DOMAINS_LIST_FLAGS_SET_TYPE */
} fastrpc_domains_info;

typedef enum {
    FASTRPC_GET_DOMAINS = 0, /* member sys */
} system_req_id;

typedef struct system_req_payload {
    int id; /* system_req_id */
    union {
        fastrpc_domains_info sys;
    };
} system_req_payload;

/* ---- mapping of shared buffers into a DSP session ---- */

enum fastrpc_map_flags {
    FASTRPC_MAP_STATIC   = 0, /* kept by the driver for later invocations with the same address */
    FASTRPC_MAP_RESERVED = 1,
    FASTRPC_MAP_FD       = 2, /* mapped now; the DSP finds it by descriptor */
    FASTRPC_MAP_FD_DELAYED          = 3,  /* announced now; mapped when the DSP calls HAP_mmap, until its HAP_munmap */
    FASTRPC_MAP_FD_NOMAP            = 16, /* as FD_DELAYED, without a mapping in the application */
    FASTRPC_MAP_FD_EXTENDED         = 17, /* as FD, outside the DSP's 32-bit window: for DMA only */
    FASTRPC_MAP_FD_DELAYED_EXTENDED = 18, /* as FD_DELAYED, outside the window: mapped by HAP_mem_request */
};

#ifdef __cplusplus
extern "C" {
#endif

/* Open an interface: name is file:///<library>?<skel function>&_modver=1.0&_dom=<DSP>[&_session=<n>]. The DSP loads
 * the library from the folders of ADSP_LIBRARY_PATH. */
int remote_handle_open(const char * name, remote_handle * handle);
int remote_handle64_open(const char * name, remote_handle64 * handle);

/* Call a method and wait for its end. */
int remote_handle_invoke(remote_handle handle, uint32_t scalars, remote_arg * args);
int remote_handle64_invoke(remote_handle64 handle, uint32_t scalars, remote_arg * args);

int remote_handle_close(remote_handle handle);
int remote_handle64_close(remote_handle64 handle);

/* Requests of enum handle_control_req_id. */
int remote_handle_control(uint32_t request, void * data, uint32_t size);
int remote_handle64_control(remote_handle64 handle, uint32_t request, void * data, uint32_t size);

/* Requests of enum session_control_req_id. */
int remote_session_control(uint32_t request, void * data, uint32_t size);

/* Requests of system_req_id. Absent on older devices: resolve it weakly. */
int remote_system_request(system_req_payload * request);

/* Map a buffer of rpcmem into a session. domain is an (effective) domain id, addr the application's address. */
int fastrpc_mmap(int domain, int fd, void * addr, int offset, size_t length, enum fastrpc_map_flags flags);
int fastrpc_munmap(int domain, int fd, void * addr, size_t length);

/* Tell the driver which descriptor belongs to a buffer that was not allocated by rpcmem; fd -1 forgets it. */
void remote_register_buf(void * buf, int size, int fd);

#ifdef __cplusplus
}
#endif

#endif /* REMOTE_H */
