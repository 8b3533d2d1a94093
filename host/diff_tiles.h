/* diff_tiles.h - two files cut into the same small boxes. Internal. */
#ifndef KC_DIFF_TILES_H
#define KC_DIFF_TILES_H

#include "diff.h"

/** Most elements of a tile. */
enum { KC__DIFF_TILE = 1 << 16 };

/** Files of one order are one long line, cut into pieces. Otherwise a tile is a box that is a few hundred elements long in the order of
 * either file, so that both are read in runs. */
typedef struct kc__diff_tiles {
  int rank;
  int64_t shape[KC_MAX_RANK], extent[KC_MAX_RANK], grid[KC_MAX_RANK], count;
  bool line;
} kc__diff_tiles;

/** Plans the tiles of two tensors of one shape. */
void kc__diff_tiles_plan(kc__diff_tiles *t, const kc_npy_info *a, const kc_npy_info *b);
/** Elements of tile number i. */
int64_t kc__diff_tiles_size(const kc__diff_tiles *t, int64_t i);
/** Reads tile i in the tile's own row-major order; `scratch` has room for as much as `out`. */
KC_MUST_CHECK kc_status kc__diff_tiles_read(const kc__diff_tiles *t, int64_t i, const kc_npy *npy, void *out, void *scratch,
                                            kc_text *err);
/** The multi-index of element k of tile i, in a tensor as `info` describes it. */
void kc__diff_tiles_index(const kc__diff_tiles *t, int64_t i, int64_t k, const kc_npy_info *info, int64_t index[KC_MAX_RANK]);

#endif
