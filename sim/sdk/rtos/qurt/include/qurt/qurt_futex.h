/* qurt_futex.h: wait on a word of memory. */
#ifndef QURT_FUTEX_H
#define QURT_FUTEX_H

#ifdef __cplusplus
extern "C" {
#endif

/* Sleep while the 32-bit word at lock equals value, until a wake. 0 when woken, non-zero when it differed at once. */
int qurt_futex_wait(void * lock, int value);

/* Wake up to n_to_wake sleepers. Returns how many were woken. */
int qurt_futex_wake(void * lock, int n_to_wake);

#ifdef __cplusplus
}
#endif

#endif /* QURT_FUTEX_H */
