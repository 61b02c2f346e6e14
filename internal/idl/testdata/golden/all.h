/* Generated from all.idl; do not edit. */
#ifndef ALL_H
#define ALL_H

#include "AEEStdDef.h"
#include "remote.h"

#ifdef __cplusplus
extern "C" {
#endif

#define N_EVENTS 8

#define BIG 4294967296LL

#define LOW (-5)

typedef uint64 address;

typedef unsigned char digest[4][8];

typedef enum color {
    RED = 0,
    GREEN = 5,
    BLUE = 6,
} color;

typedef struct point {
    uint8 tag;
    double x;
    short y[3];
} point;

typedef struct config {
    uint32 events[8];
    point at;
    color c;
    digest sum;
    address base;
} config;

/* What to open, with the DSP appended: all_URI CDSP_DOMAIN. */
#define all_URI "file:///liball_skel.so?all_skel_handle_invoke&_modver=1.0"

int all_open(const char * uri, remote_handle64 * h);
int all_close(remote_handle64 h);
AEEResult all_nothing(remote_handle64 _h);
AEEResult all_numbers(remote_handle64 _h, uint8 a, uint64 b, float c, color d, uint16 * e, address * f, int * g);
AEEResult all_structs(remote_handle64 _h, const config * c, point * p, point * q);
AEEResult all_bytes(remote_handle64 _h, const uint8 * a, int aLen, uint8 * b, int bLen, uint32 * c, int cLen, uint32 d);
AEEResult all_texts(remote_handle64 _h, const char * a, char * b, int bLen, uint32 * c);
int all_points(remote_handle64 _h, const point * a, int aLen, point * b, int bLen, const unsigned char * raw, int rawLen);

#ifdef __cplusplus
}
#endif

#endif /* ALL_H */
