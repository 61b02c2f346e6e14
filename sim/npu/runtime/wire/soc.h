/* soc.h: the SoCs that can be simulated. */
#ifndef HEXSIM_SOC_H
#define HEXSIM_SOC_H

#include <stdint.h>

struct soc {
    const char * name;
    uint32_t arch;      /* 73, 75, 79, 81 */
    uint32_t hvx_units; /* of 128 bytes */
    uint32_t hmx_units;
    uint32_t vtcm_mib;
    uint32_t hw_threads; /* hardware threads of the DSP */
};

/* The SoC named by HEXSIM_SOC (default SM8750), with HEXSIM_HVX, HEXSIM_VTCM_MIB as overrides. On an unknown name
 * prints the known ones and returns NULL. */
const struct soc * soc_selected(void);

/* ARCH_VER's form: 79 -> 0x79. */
static inline uint32_t soc_arch_hex(uint32_t arch) {
    return (arch / 10) << 4 | arch % 10;
}

/* Number of physical compute DSPs, HEXSIM_DOMAINS (default 2: cdsp and cdsp1). */
#define SOC_FIRST_DOMAIN 3u
#define SOC_MAX_DOMAINS 2u
uint32_t soc_domains(void);

#endif
