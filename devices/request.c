/* request.c - builds and launches that make no sense on any device. */
#define _GNU_SOURCE 1
#include "request.h"

#include <stdlib.h>
#include <time.h>

kc_status kc__check_build(const kc_build *b, kc_text *err) {
  if (!b->source || !b->file || !b->entry) return kc_fail(err, KC_EINVAL, "build: source, file and entry must be given");
  if (b->param_count < 0 || b->param_count > KC__MAX_PARAMS)
    return kc_fail(err, KC_EINVAL, "build: %d parameters; at most %d", b->param_count, KC__MAX_PARAMS);
  for (int i = 0; i < b->param_count; i++)
    if (!b->params[i].format) return kc_fail(err, KC_EINVAL, "build: parameter %d has no format", i + 1);
  bool host = b->dialect == KC_DIALECT_C || b->dialect == KC_DIALECT_LIBRARY;
  if (b->map && b->dialect != KC_DIALECT_LIBRARY) return kc_fail(err, KC_EINVAL, "build: only a library's function is mapped");
  if (b->result && !host) return kc_fail(err, KC_EINVAL, "build: a kernel returns nothing, '%s' is to", b->entry);
  return KC_OK;
}

kc_param *kc__keep_params(const kc_build *b) {
  kc_param *params = calloc((size_t)b->param_count + 1, sizeof *params);
  for (int i = 0; params && i < b->param_count; i++) params[i] = (kc_param){NULL, b->params[i].format, b->params[i].buffer};
  return params;
}

kc_status kc__check_args(const kc_param *params, int count, const kc_launch *l, kc_text *err) {
  if (l->arg_count != count)
    return kc_fail(err, KC_EINVAL, "launch: the kernel takes %d arguments, got %d", count, l->arg_count);
  for (int i = 0; i < count; i++)
    if (l->args[i].buffer != params[i].buffer)
      return kc_fail(err, KC_EINVAL, "launch: argument %d: expected a %s", i + 1, params[i].buffer ? "buffer" : "scalar");
  return KC_OK;
}

kc_status kc__check_geometry(const kc_launch *l, uint64_t *items, kc_text *err) {
  uint64_t product = 1;
  for (int d = 0; d < 3; d++) {
    if (l->group[d] < 1) return kc_fail(err, KC_EINVAL, "launch: group size %d is 0; expected at least 1", d + 1);
    if ((uint64_t)l->grid[d] * l->group[d] > INT32_MAX)
      return kc_fail(err, KC_EINVAL, "launch: dimension %d has more than %d work-items", d + 1, INT32_MAX);
    if (__builtin_mul_overflow(product, l->group[d], &product)) product = UINT64_MAX;
  }
  if (items) *items = product;
  return KC_OK;
}

kc_status kc__check_extent(const char *what, size_t size, size_t offset, size_t bytes, kc_text *err) {
  if (offset <= size && bytes <= size - offset) return KC_OK;
  return kc_fail(err, KC_EINVAL, "%s: %zu bytes at %zu lie outside the memory of %zu bytes", what, bytes, offset, size);
}

double kc__seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
