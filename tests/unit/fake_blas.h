/* fake_blas.h - what the tests set in, and read from, the shared library that stands in for OpenBLAS. */
#ifndef KC_TESTS_FAKE_BLAS_H
#define KC_TESTS_FAKE_BLAS_H

typedef enum fake_fault {
  FAKE_NONE,
  FAKE_OFF_BY_ONE, /* one entry of each result */
  FAKE_LAST_PLACE, /* one entry, as a rounding error would change it */
  FAKE_HALF,       /* one entry is no integer */
  FAKE_NAN,
  FAKE_HUGE,
  FAKE_SWAPPED,    /* two entries of one row exchanged */
  FAKE_STALE,      /* one row is not written */
  FAKE_EVERYTHING, /* all entries */
  FAKE_FAULTS
} fake_fault;

typedef struct fake_blas {
  fake_fault fault;
  int every; /* the fault happens at each `every`-th call */
  int calls, faults;
} fake_blas;

#endif
