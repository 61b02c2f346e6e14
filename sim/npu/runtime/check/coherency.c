#include "check.h"

void * coherency_map(int fd, uint64_t bytes, int app_fd, const char * name) {
    return window_map(bytes, fd, REGION_BUFFER, app_fd, name);
}
void coherency_unmap(void * base) {
    (void) base;
}
void coherency_range(uintptr_t address, size_t bytes, bool clean, bool invalidate) {
    (void) address, (void) bytes, (void) clean, (void) invalidate;
}
void coherency_all(bool clean, bool invalidate) {
    (void) clean, (void) invalidate;
}
uint8_t * coherency_memory(uintptr_t address) {
    return (uint8_t *) address;
}
void coherency_dma_read(uintptr_t address, size_t bytes) {
    (void) address, (void) bytes;
}
void coherency_dma_written(uintptr_t address, size_t bytes) {
    (void) address, (void) bytes;
}
void coherency_fetch(uintptr_t address, size_t bytes) {
    (void) address, (void) bytes;
}
bool coherency_fault(uintptr_t address, bool write, void * context) {
    (void) address, (void) write, (void) context;
    return false;
}
bool coherency_trap(void * context) {
    (void) context;
    return false;
}
void coherency_enter(void) {}
void coherency_leave(void) {}
