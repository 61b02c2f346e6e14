/* domain.h: the table of DSPs that applications look names up in. */
#ifndef DOMAIN_H
#define DOMAIN_H

#include "remote.h"

typedef struct domain domain;

__attribute__((unused)) static domain supported_domains[] = {
    { ADSP_DOMAIN_ID, ADSP_DOMAIN },   { MDSP_DOMAIN_ID, MDSP_DOMAIN },
    { SDSP_DOMAIN_ID, SDSP_DOMAIN },   { CDSP_DOMAIN_ID, CDSP_DOMAIN },
    { CDSP1_DOMAIN_ID, CDSP1_DOMAIN },
};

#endif /* DOMAIN_H */
