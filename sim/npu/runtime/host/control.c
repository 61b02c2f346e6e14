/* control: what there is, and how sessions are named. HEXSIM_DRIVER=old behaves as drivers before sessions and
 * discovery: their requests are unsupported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"
#include "remote.h"
#include "soc.h"

static const char * const domain_names[SOC_MAX_DOMAINS] = {CDSP_DOMAIN_NAME, CDSP1_DOMAIN_NAME};

static bool old_driver(void) {
    const char * driver = getenv("HEXSIM_DRIVER");
    return driver && !strcmp(driver, "old");
}

static int domain_by_name(const char * name, uint32_t bytes) {
    for (uint32_t i = 0; name && i < soc_domains(); i++) {
        if (strlen(domain_names[i]) == bytes && !strncmp(domain_names[i], name, bytes)) {
            return (int)(SOC_FIRST_DOMAIN + i);
        }
    }
    return -1;
}

static int capability(struct remote_dsp_capability * c) {
    const struct soc * soc = soc_selected();
    uint32_t domain, session;
    if (!soc) {
        return AEE_EUNSUPPORTEDAPI;
    }
    bool present = pd_split((int)c->domain, &domain, &session);
    if (c->attribute_ID == DOMAIN_SUPPORT) {
        c->capability = present;
        return 0;
    }
    if (!present) {
        return AEE_EINVALIDDOMAIN;
    }
    switch (c->attribute_ID) {
    case UNSIGNED_PD_SUPPORT:
        c->capability = 1;
        return 0;
    case HVX_SUPPORT_64B:
        c->capability = 0;
        return 0;
    case HVX_SUPPORT_128B:
        c->capability = soc->hvx_units;
        return 0;
    case VTCM_PAGE:
        c->capability = soc->vtcm_mib << 20;
        return 0;
    case VTCM_COUNT:
        c->capability = 1;
        return 0;
    case ARCH_VER:
        c->capability = soc_arch_hex(soc->arch);
        return 0;
    case HMX_SUPPORT_DEPTH:
    case HMX_SUPPORT_SPATIAL:
        c->capability = soc->hmx_units;
        return 0;
    case ASYNC_FASTRPC_SUPPORT:
    case STATUS_NOTIFICATION_SUPPORT:
    case MCID_MULTICAST:
        c->capability = 0;
        return 0;
    default:
        return AEE_EBADPARM;
    }
}

EXPORT int remote_handle_control(uint32_t request, void * data, uint32_t size) {
    if (request == DSPRPC_GET_DSP_INFO && data && size == sizeof(struct remote_dsp_capability)) {
        return capability(data);
    }
    if (request == DSPRPC_CONTROL_LATENCY && data && size == sizeof(struct remote_rpc_control_latency)) {
        return 0;
    }
    return request == DSPRPC_GET_DSP_INFO ? AEE_EBADPARM : AEE_EUNSUPPORTED;
}

EXPORT int remote_handle64_control(remote_handle64 handle, uint32_t request, void * data, uint32_t size) {
    (void)handle;
    if (request == DSPRPC_GET_DOMAIN && data && size == sizeof(remote_rpc_get_domain_t)) {
        ((remote_rpc_get_domain_t *)data)->domain = CDSP_DOMAIN_ID;
        return 0;
    }
    return request == DSPRPC_GET_DSP_INFO ? AEE_EUNSUPPORTED : remote_handle_control(request, data, size);
}

/* ---- sessions ---- */

static pthread_mutex_t reserve_lock = PTHREAD_MUTEX_INITIALIZER;
static bool reserved[SOC_MAX_DOMAINS][HOST_MAX_SESSIONS];

static int reserve(remote_rpc_reserve_new_session_t * r) {
    int domain = domain_by_name(r->domain_name, r->domain_name_len);
    if (domain < 0) {
        return AEE_EINVALIDDOMAIN;
    }
    int status = AEE_ENOSESSION;
    pthread_mutex_lock(&reserve_lock);
    for (uint32_t s = 1; s < HOST_MAX_SESSIONS && status; s++) {
        bool * taken = &reserved[(uint32_t)domain - SOC_FIRST_DOMAIN][s];
        if (!*taken) {
            *taken                 = true;
            r->session_id          = s;
            r->effective_domain_id = (uint32_t)domain + s * HOST_DOMAIN_STRIDE;
            status                 = 0;
        }
    }
    pthread_mutex_unlock(&reserve_lock);
    return status;
}

static int effective(remote_rpc_effective_domain_id_t * e) {
    int domain = domain_by_name(e->domain_name, e->domain_name_len);
    if (domain < 0 || e->session_id >= HOST_MAX_SESSIONS) {
        return AEE_EINVALIDDOMAIN;
    }
    e->effective_domain_id = (uint32_t)domain + e->session_id * HOST_DOMAIN_STRIDE;
    return 0;
}

static int make_uri(remote_rpc_get_uri_t * u) {
    if (domain_by_name(u->domain_name, u->domain_name_len) < 0) {
        return AEE_EINVALIDDOMAIN;
    }
    char uri[1024];
    int n = snprintf(uri, sizeof uri, "%.*s&_dom=%.*s&_session=%u", (int)u->module_uri_len, u->module_uri,
                     (int)u->domain_name_len, u->domain_name, u->session_id);
    if (n < 0 || n >= (int)sizeof uri || (uint32_t)n >= u->uri_len) {
        return AEE_EBADSIZE;
    }
    memcpy(u->uri, uri, (size_t)n + 1);
    return 0;
}

static int thread_params(const struct remote_rpc_thread_params * p) {
    return pd_thread_params(p->domain, p->prio, p->stack_size);
}

EXPORT int remote_session_control(uint32_t request, void * data, uint32_t size) {
    switch (request) {
    case FASTRPC_RESERVE_NEW_SESSION:
        if (old_driver()) {
            return AEE_EUNSUPPORTED;
        }
        return data && size == sizeof(remote_rpc_reserve_new_session_t) ? reserve(data) : AEE_EBADPARM;
    case FASTRPC_GET_EFFECTIVE_DOMAIN_ID:
        if (old_driver()) {
            return AEE_EUNSUPPORTED;
        }
        return data && size == sizeof(remote_rpc_effective_domain_id_t) ? effective(data) : AEE_EBADPARM;
    case FASTRPC_GET_URI:
        if (old_driver()) {
            return AEE_EUNSUPPORTED;
        }
        return data && size == sizeof(remote_rpc_get_uri_t) ? make_uri(data) : AEE_EBADPARM;
    case DSPRPC_CONTROL_UNSIGNED_MODULE:
        return data && size == sizeof(struct remote_rpc_control_unsigned_module) ? 0 : AEE_EBADPARM;
    case FASTRPC_THREAD_PARAMS:
        return data && size == sizeof(struct remote_rpc_thread_params) ? thread_params(data) : AEE_EBADPARM;
    default:
        return AEE_EUNSUPPORTED;
    }
}

EXPORT int remote_system_request(system_req_payload * request) {
    if (!request || request->id != FASTRPC_GET_DOMAINS || old_driver()) {
        return AEE_EUNSUPPORTED;
    }
    uint64_t type = request->sys.flags & ((1u << DOMAINS_LIST_FLAGS_TYPE_POS) - 1);
    if (type != FASTRPC_ALL_DOMAINS && type != FASTRPC_NSP) {
        request->sys.num_domains = 0;
        return 0;
    }
    int n                    = (int)soc_domains();
    request->sys.num_domains = n;
    for (int i = 0; request->sys.domains && i < n && i < request->sys.max_domains; i++) {
        fastrpc_domain * d = &request->sys.domains[i];
        memset(d, 0, sizeof *d);
        d->id = (int)SOC_FIRST_DOMAIN + i;
        snprintf(d->name, sizeof d->name, "%s", domain_names[i]);
        d->type        = FASTRPC_NSP;
        d->status      = 1;
        d->instance_id = (uint32_t)i;
    }
    return 0;
}
