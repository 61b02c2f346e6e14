/* qurt_pmu.h: the performance monitor's registers. Reading the counters by instruction is possible from v79 on. */
#ifndef QURT_PMU_H
#define QURT_PMU_H

#define QURT_PMUCNT0    0
#define QURT_PMUCNT1    1
#define QURT_PMUCNT2    2
#define QURT_PMUCNT3    3
#define QURT_PMUCFG     4 /* bits 9-8 of the eight event numbers, two bits each */
#define QURT_PMUEVTCFG  5 /* low bytes of the events of counters 0 to 3 */
#define QURT_PMUCNT4    6
#define QURT_PMUCNT5    7
#define QURT_PMUCNT6    8
#define QURT_PMUCNT7    9
#define QURT_PMUEVTCFG1 10 /* low bytes of the events of counters 4 to 7 */

#ifdef __cplusplus
extern "C" {
#endif

void         qurt_pmu_set(int reg, unsigned int value);
unsigned int qurt_pmu_get(int reg);
void         qurt_pmu_enable(int enable);

#ifdef __cplusplus
}
#endif

#endif /* QURT_PMU_H */
