/* qurt_sysenv.h: what the processor has. */
#ifndef QURT_SYSENV_H
#define QURT_SYSENV_H

typedef struct qurt_sysenv_max_hthreads {
    unsigned int max_hthreads; /* hardware threads */
} qurt_sysenv_max_hthreads_t;

typedef struct qurt_arch_version {
    unsigned int arch_version; /* low byte: architecture in hexadecimal digits, 0x79 for v79 */
} qurt_arch_version_t;

#ifdef __cplusplus
extern "C" {
#endif

/* QURT_EOK on success. */
int qurt_sysenv_get_max_hw_threads(qurt_sysenv_max_hthreads_t * threads);
int qurt_sysenv_get_arch_version(qurt_arch_version_t * version);

#ifdef __cplusplus
}
#endif

#endif /* QURT_SYSENV_H */
