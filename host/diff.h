/* diff.h - comparison of two dumped tensors. Part of the public C API, as kc.h.
 *
 * `got` is compared with the reference `ref`, element by element and exactly. Files are read in pieces by several threads, so memory is
 * bounded whatever their size. Byte order and C or Fortran order do not matter; formats may differ where one format holds all
 * values of both.
 */
#ifndef KC_DIFF_H
#define KC_DIFF_H

#include "npy.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The kinds of error that are measured. */
typedef enum kc_diff_kind {
  KC_DIFF_ULP, /* see kc_diff_summary.ulps_of */
  KC_DIFF_ABS, /* |got - ref| */
  KC_DIFF_REL, /* |got - ref| / |ref|; 0 where both are 0, infinite where only ref is */
  KC_DIFF_KINDS
} kc_diff_kind;

/** What to measure. */
typedef struct kc_diff_options {
  const kc_format *as;         /* format whose ulps are counted; NULL: see kc_diff_summary.ulps_of */
  bool bits;                   /* NaNs with different bits differ (formats must then be the same) */
  double limit[KC_DIFF_KINDS]; /* tolerances, all of which must hold; infinity: none given */
} kc_diff_options;

/** One element; `at` is -1 when there is none. Codes are of kc_diff_summary.format. */
typedef struct kc_diff_element {
  int64_t at;                 /* row-major position */
  int64_t index[KC_MAX_RANK]; /* 0-based */
  uint64_t got, ref;
  double error; /* the smallest double that is not below the exact error: the smallest tolerance that accepts it */
} kc_diff_element;

/** What was found. Every element is equal or different: NaNs equal each other unless `bits` was asked for; -0 and +0 differ. Classes
 * differ where one side is NaN or infinite and the other of another class, and for zeros of different sign; no tolerance accepts those
 * elements. Errors are measured where both sides are finite. Of equal errors the one met first counts. */
typedef struct kc_diff_summary {
  const kc_format *format; /* holds all values of both files exactly: the smaller one that does */
  const kc_format
      *ulps_of; /* |got - ref| in units of this format's spacing at ref: the `as` of the options or, for files of different
                               formats of floats, the coarser one; NULL: distance of codes in `format` */
  int64_t count, equal, different, nan_payloads; /* NaNs of different bits */
  int64_t finite;                                /* elements whose errors were measured */
  int64_t class_differences;
  int64_t beyond;                                           /* elements whose classes differ or whose error exceeds a limit */
  int64_t classes[7][7];                                    /* class differences: [class of got][class of ref] by bit number */
  kc_diff_element first, first_class, worst[KC_DIFF_KINDS]; /* the first different, the first of another class */
  int64_t histogram[66];                                    /* of ulps: [0] zero; [k] in (2^(k-34), 2^(k-33)], ends clamp */
  double quantile[4]; /* of ulps: 0.5 0.9 0.99 0.999; upper edges of bins, at most the largest error */
} kc_diff_summary;

/** Compares two open files. KC_EUNSUPPORTED when formats are raw or have no common one, shapes differ, or `as` is no format of floats. */
KC_API KC_MUST_CHECK kc_status kc_diff_run(kc_diff_summary *out, const kc_npy *got, const kc_npy *ref, const kc_diff_options *o,
                                           kc_text *err);

#ifdef __cplusplus
}
#endif
#endif
