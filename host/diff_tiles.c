/* diff_tiles.c - boxes of a tensor, and reading them from files of either order. */
#include "diff_tiles.h"

#include <string.h>

#include "npy_header.h"

/* Elements in a row that make a read worth its call; two groups of dimensions of this many fill a tile. */
enum { RUN = 256 };

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* The d-th dimension from the one that varies fastest. */
static int axis(int rank, bool fortran, int d) {
  return fortran ? d : rank - 1 - d;
}

/* Makes the box at least RUN long in one order, as far as the tensor is. */
static void stretch(kc__diff_tiles *t, bool fortran) {
  int64_t run = 1;
  for (int d = 0; d < t->rank; d++) {
    int a = axis(t->rank, fortran, d);
    int64_t wanted = smaller(t->shape[a], RUN / run > 1 ? RUN / run : 1);
    if (t->extent[a] < wanted) t->extent[a] = wanted;
    run *= wanted;
    if (wanted < t->shape[a]) return;
  }
}

void kc__diff_tiles_plan(kc__diff_tiles *t, const kc_npy_info *a, const kc_npy_info *b) {
  *t = (kc__diff_tiles){.rank = a->rank, .line = a->fortran == b->fortran || a->rank < 2 || a->count == 0};
  memcpy(t->shape, a->shape, sizeof t->shape);
  for (int d = 0; d < t->rank; d++) t->extent[d] = 1;
  if (t->line) {
    t->rank = 1;
    t->shape[0] = a->count;
    t->extent[0] = KC__DIFF_TILE;
  } else {
    stretch(t, false);
    stretch(t, true);
  }
  t->count = a->count > 0;
  for (int d = 0; d < t->rank; d++) {
    t->grid[d] = t->shape[d] / t->extent[d] + (t->shape[d] % t->extent[d] != 0);
    t->count *= t->grid[d];
  }
}

/* Where tile i begins, and its extents. */
static void box(const kc__diff_tiles *t, int64_t i, int64_t origin[KC_MAX_RANK], int64_t extent[KC_MAX_RANK]) {
  for (int d = t->rank - 1; d >= 0; d--) {
    origin[d] = i % t->grid[d] * t->extent[d];
    extent[d] = smaller(t->extent[d], t->shape[d] - origin[d]);
    i /= t->grid[d];
  }
}

int64_t kc__diff_tiles_size(const kc__diff_tiles *t, int64_t i) {
  int64_t origin[KC_MAX_RANK], extent[KC_MAX_RANK], n = 1;
  box(t, i, origin, extent);
  for (int d = 0; d < t->rank; d++) n *= extent[d];
  return n;
}

/* Reads a box in the order of the file: runs along the dimensions that vary fastest, one after another. */
static kc_status read_runs(const kc__diff_tiles *t, const kc_npy *npy, const int64_t *origin, const int64_t *extent,
                           bool fortran, char *out, kc_text *err) {
  int64_t stride[KC_MAX_RANK], at[KC_MAX_RANK] = {0}, run = 1, step = 1, place = 0;
  int inner = 0; /* dimensions within a run */
  for (int d = 0; d < t->rank; d++) {
    int a = axis(t->rank, fortran, d);
    stride[d] = step;
    place += origin[a] * step;
    if (inner == d && run == step) {
      run *= extent[a];
      inner++;
    }
    step *= t->shape[a];
  }
  size_t size = (size_t)kc_npy_describe(npy)->itemsize;
  for (;;) {
    kc_status status = kc_npy_read(npy, place, run, out, err);
    if (status != KC_OK) return status;
    out += (size_t)run * size;
    int d = inner;
    for (; d < t->rank; d++) {
      int64_t n = extent[axis(t->rank, fortran, d)];
      place += stride[d];
      if (++at[d] < n) break;
      place -= n * stride[d];
      at[d] = 0;
    }
    if (d >= t->rank) return KC_OK;
  }
}

kc_status kc__diff_tiles_read(const kc__diff_tiles *t, int64_t i, const kc_npy *npy, void *out, void *scratch, kc_text *err) {
  int64_t origin[KC_MAX_RANK], extent[KC_MAX_RANK];
  const kc_npy_info *info = kc_npy_describe(npy);
  bool turned = info->fortran && !t->line;
  box(t, i, origin, extent);
  kc_status status = read_runs(t, npy, origin, extent, turned, turned ? scratch : out, err);
  if (status == KC_OK && turned) kc__npy_transpose(out, scratch, info->itemsize, t->rank, extent, 0, kc__diff_tiles_size(t, i));
  return status;
}

void kc__diff_tiles_index(const kc__diff_tiles *t, int64_t i, int64_t k, const kc_npy_info *info, int64_t index[KC_MAX_RANK]) {
  int64_t origin[KC_MAX_RANK], extent[KC_MAX_RANK], rest = k;
  box(t, i, origin, extent);
  if (t->line) {
    rest += origin[0];
    for (int d = 0; d < info->rank; d++) {
      int a = axis(info->rank, info->fortran, d);
      index[a] = rest % info->shape[a];
      rest /= info->shape[a];
    }
    return;
  }
  for (int d = t->rank - 1; d >= 0; d--) {
    index[d] = origin[d] + rest % extent[d];
    rest /= extent[d];
  }
}
