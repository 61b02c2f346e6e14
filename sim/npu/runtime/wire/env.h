/* env.h: numbers from the environment. */
#ifndef HEXSIM_ENV_H
#define HEXSIM_ENV_H

#include <stdint.h>

/* The whole number in variable name, else fallback. A value that is no number, or out of range, is told on stderr and
 * replaced by fallback. */
int64_t env_number(const char * name, int64_t fallback, int64_t low, int64_t high);

#endif
