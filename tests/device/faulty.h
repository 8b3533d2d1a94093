/* faulty.h - a backend that fails or lies at a chosen call, so that the host's handling can be tested. */
#ifndef KC_TESTS_FAULTY_H
#define KC_TESTS_FAULTY_H

#include "kc_driver.h"

typedef enum faulty_call {
  FAULT_NONE,
  FAULT_PROBE,
  FAULT_OPEN,
  FAULT_ALLOC,
  FAULT_WRITE,
  FAULT_READ,
  FAULT_BUILD,
  FAULT_LAUNCH,
  FAULT_SYNC
} faulty_call;

typedef enum faulty_manner {
  FAULT_SILENT,    /* a failure without text */
  FAULT_SPOKEN,    /* a failure with text */
  FAULT_NO_RESULT, /* success, but nothing was made */
  FAULT_NONSENSE,  /* a status that does not exist */
  FAULT_LOUD       /* a record without end of text, flags set */
} faulty_manner;

/* What goes wrong next, and what is open: a leak shows as a count that is not 0. Copies memory, it cannot import. */
typedef struct faulty_plan {
  faulty_call call;
  faulty_manner manner;
  int devices, kernels, memories;
} faulty_plan;
extern faulty_plan faulty;
extern const kc_driver kc_driver_faulty;

#endif
