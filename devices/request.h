/* request.h - what every driver refuses alike: builds and launches that make no sense on any device. */
#ifndef KC_DEVICES_REQUEST_H
#define KC_DEVICES_REQUEST_H

#include "kc_driver.h"

enum { KC__MAX_PARAMS = 64 };

/* Source, file, entry and the formats of all parameters must be given, `map` and `result` belong to the dialect. KC_EINVAL. */
kc_status kc__check_build(const kc_build *b, kc_text *err);
/* The formats and kinds of b's parameters, for the time after its names are gone; malloc'd, NULL when memory is out. */
kc_param *kc__keep_params(const kc_build *b);
/* As many arguments as parameters, each of its kind. KC_EINVAL names the first that is not. */
kc_status kc__check_args(const kc_param *params, int count, const kc_launch *l, kc_text *err);
/* At least one work-item in a group and at most 2^31 - 1 along a dimension; `items` (may be NULL) receives those of a group. */
kc_status kc__check_geometry(const kc_launch *l, uint64_t *items, kc_text *err);
/* Whether `bytes` bytes at `offset` lie in memory of `size` bytes; KC_EINVAL, beginning with what was attempted. */
kc_status kc__check_extent(const char *what, size_t size, size_t offset, size_t bytes, kc_text *err);
/* Of the monotonic clock. */
double kc__seconds(void);

#endif
