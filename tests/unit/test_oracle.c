/* test_oracle.c - tier-1 oracles: arithmetic against MPFR, comparisons and reductions against plain loops, tables of exceptional
 * operands, and what each refuses.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <mpfr.h>

#include "bits.h"
#include "kc.h"

static const double inf = (double)INFINITY;

static kc_buffer *tensor(const char *format, int rank, const int64_t *shape, const double *values) {
  kc_buffer *b;
  kc_text err;
  kc_encoding nearest = {.rounding = KC_RNE};
  cr_assert_eq(kc_buffer_create(&b, kc_format_find(format), rank, shape, 4096, &err), KC_OK, "%s", err.s);
  if (values) kc_encode_array(kc_buffer_format(b), kc_buffer_data(b), values, (size_t)kc_buffer_count(b), &nearest);
  return b;
}

static kc_buffer *vector(const char *format, int64_t n, const double *values) {
  return tensor(format, 1, &n, values);
}

static kc_enclosure run(const char *name, const kc_buffer *a, const kc_buffer *b, kc_oracle_params p) {
  const kc_buffer *inputs[2] = {a, b};
  kc_enclosure e;
  kc_text err = {""};
  cr_assert_eq(kc_oracle_run(&e, kc_oracle_find(name), inputs, &p, &err), KC_OK, "%s: %s", name, err.s);
  return e;
}

/* ---- arithmetic ---- */

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state ^ (*state >> 31);
}

/* Is lo <= f(x, y) <= hi, and is the enclosure at most `steps` doubles wide. */
static void bracket(const char *name, double x, double y, double lo, double hi, int steps) {
  mpfr_t a, z;
  mpfr_inits2(400, a, z, NULL);
  mpfr_set_d(a, x, MPFR_RNDN);
  if (strcmp(name, "sqrt") == 0) mpfr_sqrt(z, a, MPFR_RNDN);
  if (strcmp(name, "rsqrt") == 0) mpfr_rec_sqrt(z, a, MPFR_RNDN);
  if (strcmp(name, "div") == 0) mpfr_div_d(z, a, y, MPFR_RNDN);
  /* At 400 bits a quotient or root of doubles that is not a double is never rounded to one. */
  cr_assert(mpfr_cmp_d(z, lo) >= 0 && mpfr_cmp_d(z, hi) <= 0, "%s(%a, %a): [%a, %a]", name, x, y, lo, hi);
  double end = lo;
  for (int i = 0; i < steps && end < hi; i++) end = nextafter(end, inf);
  cr_assert(end >= hi, "%s(%a, %a): [%a, %a] is wider than %d steps", name, x, y, lo, hi, steps);
  mpfr_clears(a, z, NULL);
}

static void arithmetic(const char *name, bool two, bool positive, int steps) {
  enum { N = 6000 };
  static double x[N], y[N];
  uint64_t state = 5;
  for (int i = 0; i < N; i++) {
    for (int k = 0; k < 2; k++) {
      uint64_t r = next(&state), wide = r & ~(0x7ffull << 52),
               code = wide | (uint64_t)(i % 3 ? 1000 + r % 48 : r >> 11 & 0x7ff) << 52;
      if (i % 5 == 0) code &= ~0ull << 40; /* short numbers: exact results */
      double v = kc__double_of(positive ? code & ~(1ull << 63) : code);
      (k ? y : x)[i] = isfinite(v) && v != 0 ? v : 1;
    }
  }
  x[0] = 0x1p-1074, x[1] = 0x1p-1022, x[2] = 0x1.fffffffffffffp1023, x[3] = 0x9p-1074, x[4] = 0x1p-1072;
  kc_buffer *a = vector("f64", N, x), *b = vector("f64", N, y);
  kc_enclosure e = run(name, a, two ? b : NULL, (kc_oracle_params){0});
  for (int i = 0; i < N; i++) bracket(name, x[i], y[i], e.lo[i], e.hi[i], steps);
  kc_enclosure_clear(&e);
  kc_buffer_release(a);
  kc_buffer_release(b);
}

Test(oracle, sqrt_brackets_the_root) {
  arithmetic("sqrt", false, true, 1);
}
Test(oracle, rsqrt_brackets_the_root) {
  arithmetic("rsqrt", false, true, 3);
}
Test(oracle, div_brackets_the_quotient) {
  arithmetic("div", true, false, 2);
}

Test(oracle, exact_results_are_points) {
  const double squares[] = {4, 0.25, 9, 0x1p-1074, 0x9p-1074, 1};
  kc_buffer *x = vector("f64", 6, squares);
  kc_enclosure e = run("sqrt", x, NULL, (kc_oracle_params){0});
  for (int i = 0; i < 6; i++) cr_expect_eq(e.lo[i], e.hi[i], "%a", squares[i]);
  cr_expect_eq(e.lo[3], 0x1p-537);
  cr_expect_eq(e.lo[4], 0x3p-537);
  kc_enclosure_clear(&e);
  kc_buffer_release(x);
}

/* ---- exceptional operands ---- */

typedef struct special {
  const char *oracle;
  double x, y;
  int classes;
} special;

Test(oracle, exceptional_operands) {
  const double n = nan("");
  const special rows[] = {
      {"sqrt", n, 0, KC_NAN},       {"sqrt", -1, 0, KC_NAN},    {"sqrt", -inf, 0, KC_NAN},
      {"sqrt", -0.0, 0, KC_NZERO},  {"sqrt", 0, 0, KC_PZERO},   {"sqrt", inf, 0, KC_PINF},
      {"rsqrt", n, 0, KC_NAN},      {"rsqrt", -1, 0, KC_NAN},   {"rsqrt", -inf, 0, KC_NAN},
      {"rsqrt", -0.0, 0, KC_NINF},  {"rsqrt", 0, 0, KC_PINF},   {"rsqrt", inf, 0, KC_PZERO},
      {"div", n, 1, KC_NAN},        {"div", 1, n, KC_NAN},      {"div", inf, -inf, KC_NAN},
      {"div", 0, -0.0, KC_NAN},     {"div", inf, 2, KC_PINF},   {"div", -inf, 2, KC_NINF},
      {"div", inf, -0.0, KC_NINF},  {"div", 3, 0, KC_PINF},     {"div", -3, 0, KC_NINF},
      {"div", 3, -0.0, KC_NINF},    {"div", -3, -0.0, KC_PINF}, {"div", 3, inf, KC_PZERO},
      {"div", -3, inf, KC_NZERO},   {"div", 0, inf, KC_PZERO},  {"div", 0, -3, KC_NZERO},
      {"div", -0.0, -3, KC_PZERO},  {"div", -6, 3, KC_NFIN},    {"relu", n, 0, KC_NAN},
      {"relu", -inf, 0, KC_PZERO},  {"relu", inf, 0, KC_PINF},  {"relu", -3, 0, KC_PZERO},
      {"relu", 0, 0, KC_PZERO},     {"relu", 3, 0, KC_PFIN},    {"relu", -0.0, 0, KC_NZERO | KC_PZERO},
      {"max", n, 1, KC_NAN},        {"max", 1, n, KC_NAN},      {"max", -inf, inf, KC_PINF},
      {"max", -inf, -inf, KC_NINF}, {"max", 0, -0.0, 24},       {"max", -0.0, -0.0, KC_NZERO},
      {"max", -0.0, -1, KC_NZERO},  {"max", 0, 0, KC_PZERO},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kc_buffer *x = vector("f32", 1, &rows[i].x), *y = vector("f32", 1, &rows[i].y);
    kc_enclosure e = run(rows[i].oracle, x, y, (kc_oracle_params){0});
    cr_expect_eq(e.classes[0], rows[i].classes, "%s(%g, %g): classes %d, expected %d", rows[i].oracle, rows[i].x, rows[i].y,
                 e.classes[0], rows[i].classes);
    kc_enclosure_clear(&e);
    kc_buffer_release(x);
    kc_buffer_release(y);
  }
}

Test(oracle, clamp_limits_and_zeros) {
  const double x[] = {-5, 5, 0.5, -0.0, 0.0, -inf, inf, nan("")};
  kc_buffer *b = vector("f32", 8, x);
  kc_enclosure e = run("clamp", b, NULL, (kc_oracle_params){.a = 0, .b = 1});
  const int classes[] = {KC_PZERO, KC_PFIN, KC_PFIN, KC_NZERO | KC_PZERO, KC_PZERO, KC_PZERO, KC_PFIN, KC_NAN};
  const double values[] = {0, 1, 0.5, 0, 0, 0, 1, 0};
  for (int i = 0; i < 8; i++) {
    cr_expect_eq(e.classes[i], classes[i], "clamp(%g): classes %d, expected %d", x[i], e.classes[i], classes[i]);
    if (i < 7) cr_expect(e.lo[i] == values[i] && e.hi[i] == values[i], "clamp(%g)", x[i]);
  }
  kc_enclosure_clear(&e);
  e = run("clamp", b, NULL, (kc_oracle_params){.a = -2, .b = 1, .nan = 1});
  cr_expect(e.classes[7] == KC_NFIN && e.lo[7] == -2, "an ignored NaN gives the lower limit");
  kc_enclosure_clear(&e);
  kc_buffer_release(b);
}

/* ---- reductions: against loops over three dimensions ---- */

enum { P = 3, Q = 5, R = 4 };

/* Small integers, so that ties are common, with some NaNs and negative zeros. */
static kc_buffer *ties(double x[P * Q * R], bool nans) {
  uint64_t state = 3;
  for (int i = 0; i < P * Q * R; i++) {
    uint64_t r = next(&state) >> 20;
    x[i] = r % 11 == 0 && nans ? nan("") : r % 7 == 0 ? -0.0 : (double)(r % 4) - 2;
  }
  return tensor("f32", 3, (int64_t[]){P, Q, R}, x);
}

static const int dims[3] = {P, Q, R};

/* Element k along `axis` of output o, whose two other coordinates are row-major. */
static double along(const double *x, int axis, int o, int k) {
  int stride[3] = {Q * R, R, 1}, first = axis == 0 ? 1 : 0, second = axis == 2 ? 1 : 2;
  return x[o / dims[second] * stride[first] + o % dims[second] * stride[second] + k * stride[axis]];
}

static void check_reduction(const double *x, const kc_enclosure *e, int axis, bool ignore) {
  for (int o = 0; o < P * Q * R / dims[axis]; o++) {
    double best = -inf;
    bool any = false, bad = false;
    int zeros = 0;
    for (int k = 0; k < dims[axis]; k++) {
      double v = along(x, axis, o, k);
      bad = bad || (isnan(v) && !ignore);
      any = any || !isnan(v);
      if (v > best) best = v;
      if (v == 0) zeros |= signbit(v) ? KC_NZERO : KC_PZERO;
    }
    int expected = bad || !any ? KC_NAN : best == 0 ? zeros : best < 0 ? KC_NFIN : KC_PFIN;
    cr_assert_eq(e->classes[o], expected, "axis %d output %d: classes %d, expected %d", axis, o, e->classes[o], expected);
    if (expected != KC_NAN) cr_assert(e->lo[o] == best && e->hi[o] == best, "axis %d output %d", axis, o);
  }
}

Test(oracle, reduce_max_along_each_axis) {
  double x[P * Q * R];
  for (int variant = 0; variant < 6; variant++) {
    kc_buffer *b = ties(x, variant >= 2);
    bool ignore = variant % 2;
    kc_enclosure e = run("reduce_max", b, NULL, (kc_oracle_params){.axis = variant / 2, .nan = ignore});
    cr_assert_eq(e.count, P * Q * R / dims[variant / 2]);
    check_reduction(x, &e, variant / 2, ignore);
    kc_enclosure_clear(&e);
    kc_buffer_release(b);
  }
}

/* The admissible indices of output o by definition: NaN, unless ignored, is the largest. */
static int places(const double *x, int axis, int o, bool ignore, int tie, int64_t *out) {
  int n = 0;
  double best = -inf;
  bool bad = false;
  for (int k = 0; k < dims[axis]; k++) {
    double v = along(x, axis, o, k);
    if (isnan(v) && !ignore) bad = true;
    if (v > best) best = v;
  }
  for (int k = 0; k < dims[axis]; k++) {
    double v = along(x, axis, o, k);
    if (bad ? isnan(v) : v == best) out[n++] = k;
  }
  if (n > 1 && tie == 0) n = 1;
  if (n > 1 && tie == 1) out[0] = out[n - 1], n = 1;
  return n;
}

Test(oracle, argmax_index_sets) {
  double x[P * Q * R];
  for (int variant = 0; variant < 18; variant++) {
    int axis = variant % 3, tie = variant / 3 % 3, ignore = variant / 9;
    kc_buffer *b = ties(x, true);
    kc_enclosure e = run("argmax", b, NULL, (kc_oracle_params){.axis = axis, .tie = (uint8_t)tie, .nan = (uint8_t)ignore});
    for (int o = 0; o < e.count; o++) {
      int64_t expected[Q];
      int n = places(x, axis, o, ignore, tie, expected);
      cr_assert_eq(e.set_offsets[o + 1] - e.set_offsets[o], n, "axis %d tie %d ignore %d output %d", axis, tie, ignore, o);
      for (int k = 0; k < n; k++) {
        cr_assert_eq(e.set_items[e.set_offsets[o] + k], expected[k], "axis %d tie %d ignore %d output %d", axis, tie, ignore,
                     o);
      }
    }
    kc_enclosure_clear(&e);
    kc_buffer_release(b);
  }
}

Test(oracle, large_reductions_agree_with_the_definition) {
  enum { ROWS = 300, COLUMNS = 1500 };
  kc_buffer *b = tensor("f16", 2, (int64_t[]){ROWS, COLUMNS}, NULL);
  kc_dist d = {.kind = KC_DIST_FINITE_BITS};
  kc_text err;
  cr_assert_eq(kc_fill(kc_buffer_format(b), kc_buffer_data(b), ROWS * COLUMNS, 0, 9, &d, &err), KC_OK);
  kc_enclosure rows = run("reduce_max", b, NULL, (kc_oracle_params){.axis = 1});
  kc_enclosure columns = run("reduce_max", b, NULL, (kc_oracle_params){.axis = 0});
  double best[COLUMNS];
  for (int c = 0; c < COLUMNS; c++) best[c] = -inf;
  for (int r = 0; r < ROWS; r++) {
    double row = -inf;
    for (int c = 0; c < COLUMNS; c++) {
      double v = kc_decode(kc_buffer_format(b), kc_load(kc_buffer_format(b), kc_buffer_cdata(b), (size_t)(r * COLUMNS + c)));
      row = fmax(row, v);
      best[c] = fmax(best[c], v);
    }
    cr_assert_eq(rows.lo[r], row, "row %d", r);
  }
  for (int c = 0; c < COLUMNS; c++) cr_assert_eq(columns.lo[c], best[c], "column %d", c);
  kc_enclosure_clear(&rows);
  kc_enclosure_clear(&columns);
  kc_buffer_release(b);
}

Test(oracle, gather_outside_follows_the_policy) {
  static const double expected[3][5] = {{30, 10, 10, 30, 20}, {0, 0, 10, 30, 20}, {10, 30, 10, 30, 20}};
  kc_buffer *x = vector("f32", 3, (const double[]){10, 20, 30}), *i = vector("i32", 5, (const double[]){3, -1, 0, 2, 1});
  for (int policy = 1; policy <= 3; policy++) {
    kc_enclosure e = run("gather", x, i, (kc_oracle_params){.outside = (uint8_t)policy});
    for (int k = 0; k < 5; k++) cr_expect_eq(e.lo[k], expected[policy - 1][k], "policy %d, element %d: %g", policy, k, e.lo[k]);
    kc_enclosure_clear(&e);
  }
  kc_buffer_release(x);
  kc_buffer_release(i);
}

Test(oracle, gather_rows_and_undeclared_indices) {
  const double x[] = {1, 2, 3, 4, 5, 6}, index[] = {2, 0, 3, -1, 1};
  kc_buffer *b = tensor("bf16", 2, (int64_t[]){3, 2}, x), *i = vector("i64", 5, index);
  kc_enclosure e = run("gather", b, i, (kc_oracle_params){0});
  const double expected[] = {5, 6, 1, 2, 0, 0, 0, 0, 3, 4};
  cr_assert_eq(e.count, 10);
  for (int k = 0; k < 10; k++) {
    cr_expect_eq(e.lo[k], expected[k], "element %d", k);
    cr_expect_eq(e.classes[k], k >= 4 && k < 8 ? 0 : KC_PFIN, "element %d: an index outside is undeclared", k);
  }
  kc_enclosure_clear(&e);
  kc_buffer_release(b);
  kc_buffer_release(i);
}

/* ---- what is refused ---- */

typedef struct refusal {
  const char *oracle, *text;
  const kc_buffer *x, *y;
  kc_oracle_params p;
} refusal;

Test(oracle, refusals_name_what_was_wrong) {
  const double v[] = {1, 2, 3, 4};
  kc_buffer *f = vector("f32", 4, v), *g = tensor("f32", 2, (int64_t[]){2, 2}, v), *i = vector("i32", 4, v);
  kc_buffer *wide = vector("i64", 4, v), *empty = tensor("f32", 2, (int64_t[]){2, 0}, NULL),
            *scalar = tensor("f32", 0, NULL, v);
  const refusal rows[] = {
      {"max", "f32[2,2]", f, g, {.axis = 0}},
      {"sqrt", "expected a float format, got i32", i, NULL, {.axis = 0}},
      {"div", "input 2", f, i, {.axis = 0}},
      {"relu", "i64", wide, NULL, {.axis = 0}},
      {"clamp", "a <= b", f, NULL, {.a = 2, .b = 1}},
      {"clamp", "limit a", f, NULL, {.a = 0.1, .b = 1}},
      {"clamp", "limit b", f, NULL, {.a = 0, .b = NAN}},
      {"reduce_max", "axis 2: expected one of the 2 axes of f32[2,2]", g, NULL, {.axis = 2}},
      {"reduce_max", "axis -3", g, NULL, {.axis = -3}},
      {"argmax", "empty", empty, NULL, {.axis = 1}},
      {"gather", "integer indices", f, g, {.axis = 0}},
      {"gather", "dimension", scalar, i, {.axis = 0}},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const kc_buffer *inputs[2] = {rows[k].x, rows[k].y};
    kc_enclosure e;
    kc_text err = {""};
    kc_status status = kc_oracle_run(&e, kc_oracle_find(rows[k].oracle), inputs, &rows[k].p, &err);
    cr_expect(status != KC_OK, "%s must refuse (row %zu)", rows[k].oracle, k);
    cr_expect(strstr(err.s, rows[k].text), "%s: '%s' does not say '%s'", rows[k].oracle, err.s, rows[k].text);
  }
  kc_buffer *all[] = {f, g, i, wide, empty, scalar};
  for (int k = 0; k < 6; k++) kc_buffer_release(all[k]);
}

Test(oracle, table) {
  size_t n = 0;
  for (; kc_oracle_at(n); n++) {
    const kc_oracle *o = kc_oracle_at(n);
    cr_expect_eq(kc_oracle_find(o->name), o);
    cr_expect(o->doc[0] && o->count && o->eval && o->arity >= 1 && o->arity <= 3, "%s", o->name);
    cr_expect_eq(o->index, strcmp(o->name, "argmax") == 0);
  }
  cr_expect_eq(n, 10);
  cr_expect_null(kc_oracle_find("rel"));
}
