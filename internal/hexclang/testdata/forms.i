# 1 "forms.c"
# 1 "<built-in>" 1
# 1 "forms.c" 2
# 1 "/usr/include/sys.h" 1 3
static inline void sys(void) { __asm__ volatile ("cpuid"); }
extern int isoc(void) __asm__ ("" "__isoc99_isoc");
# 2 "forms.c" 2
typedef unsigned int u32;
typedef unsigned long long u64;
u64 cycles(void) { u64 c = 0; asm volatile(" %0 = c15:14\n" : "=r"(c)); return c; } /*statement*/
u64 packets(void) { u64 c; asm volatile(" %0 = c19:18\n" : "=r"(c)); return c; } /*statement*/
void wait(int x) {
    if (x) asm volatile(" pause(#255)\n"); else __asm__ __volatile__("syncht" : : : "memory"); /*statement*/ /*statement*/
    do asm("pause(#0x10)"); while (x--); /*statement*/
    asm volatile("" ::: "memory"); /*statement*/
}
void pmu(u32 counters[]) { asm volatile("%0 = upmucnt0" : "=r"(counters[0])); asm volatile("%0 = upmucnt7" : "=r"(counters[7])); } /*statement*/ /*statement*/
void dma(void * cur, void * next) {
    u32 s;
    asm volatile(" release(%0):at" : : "r"(next)); /*statement*/
    asm volatile(" dmstart(%0)" : : "r"(next)); /*statement*/
    asm volatile(" dmlink(%0, %1)" : : "r"(cur), "r"(next)); /*statement*/
    asm volatile(" %0 = dmpoll" : "=r"(s) : : "memory"); /*statement*/
    asm volatile(" %0 = dmwait" : "=r"(s) : : "memory"); /*statement*/
}
void hmx(const u32 * row, const u32 * col, u32 * out, u32 * scales, u32 range) {
    asm volatile("bias = mxmem2(" "%0" ")\n" :: "r"((unsigned int)scales)); /*statement*/
    asm volatile("mxclracc.hf\n"); /*statement*/
    asm volatile("{\n" "    activation.hf = mxmem(" "%1" ", " "%0" "):deep\n" "    weight.hf = mxmem(" "%2" ", " "%0" ")\n" "}\n" : : "r"(range), "r"(row), "r"(col)); /*statement*/
    asm volatile(
        "{\n" "    activation.hf = mxmem(" "%1" ", " "%0" ")\n" "    weight.hf = mxmem(" "%2" ", " "%0" ")\n" "}\n"
        "{\n" "    activation.hf = mxmem(" "%3" ", " "%0" ")\n" "    weight.hf = mxmem(" "%4" ", " "%0" ")\n" "}\n"
        :
# 40 "forms.c"
        : "r"(2047), "r"(row + 0 * 1024), "r"(col + (1 ? 2 : 3)),
          "r"(row[0] ? "a:b" ")" : ""), "r"(col)
    ); /*statement*/
    asm volatile("mxmem(" "%0" ", " "%1" "):after.hf = acc\n" : : "r"(out), "r"(0) : "memory"); /*statement*/
}
