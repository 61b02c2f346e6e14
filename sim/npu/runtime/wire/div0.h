/* div0.h: integer division by zero yields 0 on Arm and on Hexagon, and traps on x86-64. */
#ifndef HEXSIM_DIV0_H
#define HEXSIM_DIV0_H

/* Install the emulation for this process: always, or only where the program has no handler of its own. Does nothing
 * on processors that do not trap. Returns the number of divisions emulated so far through *count when not NULL. */
void div0_install(int only_if_default);
unsigned long div0_count(void);

#endif
