/* AEEStdErr.h: result codes of FastRPC, QuRT's HAP functions and dspqueue.
 *
 * A code made on the DSP carries AEE_EOFFSET, so that the application can tell which side failed: a DSP that can not
 * load a library answers 0x80000406, the application's own library answers 0x6. The few codes without an offset are
 * errno-like and equal on both sides. */
#ifndef AEESTDERR_H
#define AEESTDERR_H

#include "AEEStdDef.h"

/* Offset of every code made on the DSP, as the application sees it. */
#define DSP_AEE_EOFFSET 0x80000400

#if defined(__hexagon__)
#define AEE_EOFFSET DSP_AEE_EOFFSET
#else
#define AEE_EOFFSET 0x00000000
#endif

#define AEE_SUCCESS 0
#define AEE_EUNKNOWN (-1)

#define AEE_EFAILED              (AEE_EOFFSET + 0x001) /* general failure */
#define AEE_ENOMEMORY            (AEE_EOFFSET + 0x002) /* out of memory */
#define AEE_ECLASSNOTSUPPORT     (AEE_EOFFSET + 0x003) /* class unsupported */
#define AEE_EVERSIONNOTSUPPORT   (AEE_EOFFSET + 0x004) /* version unsupported */
#define AEE_EALREADYLOADED       (AEE_EOFFSET + 0x005) /* object is loaded already */
#define AEE_EUNABLETOLOAD        (AEE_EOFFSET + 0x006) /* object can not be loaded: missing, unreadable, unresolved symbol */
#define AEE_EUNABLETOUNLOAD      (AEE_EOFFSET + 0x007) /* object can not be unloaded */
#define AEE_EBADCLASS            (AEE_EOFFSET + 0x00A) /* null object */
#define AEE_EEXPIRED             (AEE_EOFFSET + 0x00C) /* timed out */
#define AEE_EBADSTATE            (AEE_EOFFSET + 0x00D) /* wrong state for the call */
#define AEE_EBADPARM             (AEE_EOFFSET + 0x00E) /* invalid parameter */
#define AEE_ESCHEMENOTSUPPORTED  (AEE_EOFFSET + 0x00F) /* invalid URI scheme */
#define AEE_EBADITEM             (AEE_EOFFSET + 0x010) /* value out of range */
#define AEE_EINVALIDFORMAT       (AEE_EOFFSET + 0x011) /* invalid format */
#define AEE_EINCOMPLETEITEM      (AEE_EOFFSET + 0x012) /* shorter than expected */
#define AEE_EUNSUPPORTED         (AEE_EOFFSET + 0x014) /* not implemented */
#define AEE_EPRIVLEVEL           (AEE_EOFFSET + 0x015) /* not privileged */
#define AEE_ERESOURCENOTFOUND    (AEE_EOFFSET + 0x016) /* resource not found */
#define AEE_EALREADY             (AEE_EOFFSET + 0x01A) /* already done or under way */
#define AEE_EITEMBUSY            (AEE_EOFFSET + 0x020) /* busy */
#define AEE_EBUFFERTOOSMALL      (AEE_EOFFSET + 0x026) /* destination too small */
#define AEE_EINVALIDITEM         (AEE_EOFFSET + 0x02A) /* item invalid */
#define AEE_ENOTALLOWED          (AEE_EOFFSET + 0x02B) /* not allowed */
#define AEE_EINVHANDLE           (AEE_EOFFSET + 0x02C) /* invalid handle */
#define AEE_EOUTOFHANDLES        (AEE_EOFFSET + 0x02D) /* no handle left */
#define AEE_ENOMORE              (AEE_EOFFSET + 0x02F) /* no more items */
#define AEE_ECPUEXCEPTION        (AEE_EOFFSET + 0x030) /* the DSP process died of an exception */
#define AEE_EREADONLY            (AEE_EOFFSET + 0x031) /* read-only */
#define AEE_EINVALIDDOMAIN       (AEE_EOFFSET + 0x039) /* no such DSP */
#define AEE_EINVALIDFD           (AEE_EOFFSET + 0x03A) /* invalid descriptor */
#define AEE_EINVALIDDEVICE       (AEE_EOFFSET + 0x03B) /* the DSP's device node can not be opened */
#define AEE_ENOSUCHMOD           (AEE_EOFFSET + 0x03E) /* no such module */
#define AEE_ENOSUCHTHREAD        (AEE_EOFFSET + 0x040) /* no such thread */
#define AEE_ENOSUCHPROCESS       (AEE_EOFFSET + 0x041) /* no such process */
#define AEE_ENOSUCHSYMBOL        (AEE_EOFFSET + 0x042) /* symbol not found in the library */
#define AEE_ENOSUCHDEVICE        (AEE_EOFFSET + 0x043) /* no such device */
#define AEE_ENOSUCHFILE          (AEE_EOFFSET + 0x045) /* no such file */
#define AEE_ENOSUCHHANDLE        (AEE_EOFFSET + 0x046) /* no such handle */
#define AEE_ENOSUCHMAP           (AEE_EOFFSET + 0x048) /* buffer or address is not mapped */
#define AEE_EBADDOMAIN           (AEE_EOFFSET + 0x04B) /* DSP not initialised */
#define AEE_EBADOFFSET           (AEE_EOFFSET + 0x04C) /* offset out of the buffer */
#define AEE_EBADSIZE             (AEE_EOFFSET + 0x04D) /* size out of the buffer */
#define AEE_EBADPERMS            (AEE_EOFFSET + 0x04E) /* bad permissions */
#define AEE_EBADFD               (AEE_EOFFSET + 0x04F) /* bad descriptor */
#define AEE_EBADTID              (AEE_EOFFSET + 0x051) /* bad thread id */
#define AEE_EBADELF              (AEE_EOFFSET + 0x052) /* not a loadable library for this DSP */
#define AEE_EBADCONTEXT          (AEE_EOFFSET + 0x054) /* bad context */
#define AEE_EBADMEMALIGN         (AEE_EOFFSET + 0x055) /* bad alignment */
#define AEE_EIOCTL               (AEE_EOFFSET + 0x056) /* driver call failed */
#define AEE_EFOPEN               (AEE_EOFFSET + 0x057) /* file can not be opened */
#define AEE_EMMAP                (AEE_EOFFSET + 0x065) /* mapping failed */
#define AEE_ENORPCMEMORY         (AEE_EOFFSET + 0x068) /* shared memory can not be allocated */
#define AEE_ENOTINITIALIZED      (AEE_EOFFSET + 0x06B) /* not initialised */
#define AEE_EUNSUPPORTEDAPI      (AEE_EOFFSET + 0x06C) /* request unknown to this device */
#define AEE_EINVARGS             (AEE_EOFFSET + 0x071) /* the arguments do not fit the method */
#define AEE_ECONNREFUSED         (AEE_EOFFSET + 0x072) /* connection to the DSP refused */
#define AEE_EUNSIGNEDMOD         (AEE_EOFFSET + 0x081) /* unsigned library where a signed one is asked for */
#define AEE_EBADVA               (AEE_EOFFSET + 0x083) /* bad virtual address */
#define AEE_EBADMAPREFCNT        (AEE_EOFFSET + 0x085) /* mapping is not referenced */
#define AEE_EMAPALREADYPRESENT   (AEE_EOFFSET + 0x087) /* mapped already */
#define AEE_ENOSESSION           (AEE_EOFFSET + 0x08A) /* no session left */
#define AEE_ERPC                 (AEE_EOFFSET + 0x200) /* FastRPC itself failed */
#define AEE_EQURTTHREADCREATE    (AEE_EOFFSET + 0x0E1) /* a DSP thread can not be created */

#define AEE_ENOSUCH     39  /* no such name */
#define AEE_EINTERRUPTED 46 /* wait cancelled */
#define AEE_ECONNRESET  104 /* the DSP process is gone: it crashed, or its subsystem restarted */
#define AEE_EWOULDBLOCK 516 /* nothing to read, or no room to write, and the caller did not want to wait */

#endif /* AEESTDERR_H */
