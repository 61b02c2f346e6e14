/* htp_iface.h: the name under which llama.cpp's sources include the interface. */
#ifndef HTP_IFACE_FORWARD_H
#define HTP_IFACE_FORWARD_H

#include "ggml_htp.h"

#endif
