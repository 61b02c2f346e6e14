/* qurt_thread.h: threads. Priorities run from 1 (highest) to 254. */
#ifndef QURT_THREAD_H
#define QURT_THREAD_H

#include <string.h>

#include "qurt_types.h"

#define QURT_MAX_NAME_LEN                      16 /* with the NUL */
#define QURT_THREAD_ATTR_PRIORITY_DEFAULT      254
#define QURT_THREAD_ATTR_BUS_PRIORITY_DEFAULT  255
#define QURT_THREAD_ATTR_TIMETEST_ID_DEFAULT   (-2)
#define QURT_HIGHEST_PRIORITY                  1
#define QURT_LOWEST_PRIORITY                   254

typedef unsigned int qurt_thread_t; /* 0 is no thread */

/* What a new thread is like. The stack is the creator's, from stack_addr upwards, and stays its property. */
typedef struct _qurt_thread_attr {
    char           name[QURT_MAX_NAME_LEN];
    unsigned char  tcb_partition;
    unsigned char  affinity;
    unsigned short priority;
    unsigned char  asid;
    unsigned char  bus_priority;
    short          timetest_id;
    unsigned int   stack_size; /* bytes */
    void *         stack_addr;
} qurt_thread_attr_t;

static inline void qurt_thread_attr_init(qurt_thread_attr_t * attr) {
    memset(attr, 0, sizeof(*attr));
    attr->priority     = QURT_THREAD_ATTR_PRIORITY_DEFAULT;
    attr->bus_priority = QURT_THREAD_ATTR_BUS_PRIORITY_DEFAULT;
    attr->timetest_id  = QURT_THREAD_ATTR_TIMETEST_ID_DEFAULT;
}

/* Longer names are cut. */
static inline void qurt_thread_attr_set_name(qurt_thread_attr_t * attr, const char * name) {
    size_t n = 0;
    for (; n < QURT_MAX_NAME_LEN - 1 && name[n]; n++) {
        attr->name[n] = name[n];
    }
    attr->name[n] = 0;
}

static inline void qurt_thread_attr_set_priority(qurt_thread_attr_t * attr, unsigned short priority) {
    attr->priority = priority;
}

static inline void qurt_thread_attr_set_stack_size(qurt_thread_attr_t * attr, unsigned int stack_size) {
    attr->stack_size = stack_size;
}

static inline void qurt_thread_attr_set_stack_addr(qurt_thread_attr_t * attr, void * stack_addr) {
    attr->stack_addr = stack_addr;
}

#ifdef __cplusplus
extern "C" {
#endif

/* Start a thread. QURT_EOK, or an error when the system has no thread left. */
int qurt_thread_create(qurt_thread_t * thread, qurt_thread_attr_t * attr, void (*entry)(void *), void * arg);

/* Wait for the end of a thread. */
int qurt_thread_join(unsigned int thread, int * status);

/* End the calling thread. */
void qurt_thread_exit(int status);

qurt_thread_t qurt_thread_get_id(void);

/* Priority, or a negative value for an unknown thread. */
int qurt_thread_get_priority(qurt_thread_t thread);
int qurt_thread_set_priority(qurt_thread_t thread, unsigned short priority);

/* Wait for at least so many microseconds. */
int qurt_sleep(unsigned long long microseconds);

#ifdef __cplusplus
}
#endif

#endif /* QURT_THREAD_H */
