#include "soc.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "env.h"

/* Architecture and VTCM size: the SoC table of ExecuTorch's Qualcomm backend,
 * https://github.com/pytorch/executorch/blob/main/backends/qualcomm/serialization/qc_schema.py.
 * HMX: one unit, as every device of llama.cpp's Hexagon backend reports. HVX units and hardware threads are not in a
 * public table; two units and six threads are the simulator's choice, HEXSIM_HVX changes it. */
static const struct soc table[] = {
    {"SM8550", 73, 2, 1, 8, 6},   /* Snapdragon 8 Gen 2 */
    {"SSG2125P", 73, 2, 1, 2, 6}, /* Snapdragon AR1 Gen 1: the smallest VTCM with v73 */
    {"SM8650", 75, 2, 1, 8, 6},   /* Snapdragon 8 Gen 3 */
    {"SM8750", 79, 2, 1, 8, 6},   /* Snapdragon 8 Elite */
    {"SM8850", 81, 2, 1, 8, 6},   /* Snapdragon 8 Elite Gen 5 */
};
#define N_SOCS (sizeof table / sizeof table[0])

static struct soc selected;
static int known;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void select_soc(void) {
    const char * name = getenv("HEXSIM_SOC");
    if (!name || !*name) {
        name = "SM8750";
    }
    for (size_t i = 0; i < N_SOCS; i++) {
        if (!strcasecmp(name, table[i].name)) {
            selected           = table[i];
            selected.hvx_units = (uint32_t)env_number("HEXSIM_HVX", selected.hvx_units, 1, 16);
            selected.vtcm_mib  = (uint32_t)env_number("HEXSIM_VTCM_MIB", selected.vtcm_mib, 1, 64);
            if (selected.hw_threads < selected.hvx_units) {
                selected.hw_threads = selected.hvx_units;
            }
            known = 1;
            return;
        }
    }
    fprintf(stderr, "hexsim: HEXSIM_SOC=%s is not known; known are", name);
    for (size_t i = 0; i < N_SOCS; i++) {
        fprintf(stderr, " %s (v%u)", table[i].name, table[i].arch);
    }
    fprintf(stderr, "\n");
}

const struct soc * soc_selected(void) {
    pthread_once(&once, select_soc);
    return known ? &selected : NULL;
}

uint32_t soc_domains(void) {
    return (uint32_t)env_number("HEXSIM_DOMAINS", SOC_MAX_DOMAINS, 1, SOC_MAX_DOMAINS);
}
