/* test_row.c - sums and row functions against MPFR with enough bits for exact sums and by other formulas than the oracle's (no shift
 * by the maximum, two passes for the variance), on all axes; what cancels; exact
 * ties; misuse. Exceptional rows are in tests/lua/test_row.lua.
 */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "exact.h"

static const double inf = (double)INFINITY;

/* ---- reference ---------------------------------------------------------------------------------------------------------- */

enum { WIDE = 4500, LONG = 320, SLACK = -250 }; /* squares of doubles span 4200 bits */

typedef struct reference_row {
  const char *name;
  int64_t n;
  const double *x, *y, *weight, *bias;
  kc_oracle_params p;
} reference_row;

static bool is(const reference_row *r, const char *name) {
  return strcmp(r->name, name) == 0;
}

/* total = sum of x y, of |x| |y|, or of e^x; `each` (may be NULL) receives the partial sums. */
static void add_up(mpfr_ptr total, mpfr_t *each, const reference_row *r, bool exponential) {
  mpfr_t t;
  mpfr_init2(t, mpfr_get_prec(total));
  mpfr_set_zero(total, 1);
  for (int64_t i = 0; i < r->n; i++) {
    mpfr_set_d(t, r->x[i], MPFR_RNDN);
    if (r->y) mpfr_mul_d(t, t, r->y[i], MPFR_RNDN);
    if (r->p.magnitude) mpfr_abs(t, t, MPFR_RNDN);
    if (exponential) mpfr_exp(t, t, MPFR_RNDN);
    mpfr_add(total, total, t, MPFR_RNDN);
    if (each) mpfr_set(each[i], total, MPFR_RNDN);
  }
  mpfr_clear(t);
}

/* sum (x - center)^2 */
static void add_squares(mpfr_ptr total, mpfr_srcptr center, const reference_row *r) {
  mpfr_t t;
  mpfr_init2(t, mpfr_get_prec(total));
  mpfr_set_zero(total, 1);
  for (int64_t i = 0; i < r->n; i++) {
    mpfr_d_sub(t, r->x[i], center, MPFR_RNDN);
    mpfr_sqr(t, t, MPFR_RNDN);
    mpfr_add(total, total, t, MPFR_RNDN);
  }
  mpfr_clear(t);
}

static void soft_reference(mpfr_t *out, mpfr_ptr total, const reference_row *r) {
  add_up(total, NULL, r, true);
  if (!is(r, "softmax")) mpfr_log(total, total, MPFR_RNDN);
  if (is(r, "logsumexp")) mpfr_set(out[0], total, MPFR_RNDN);
  for (int64_t i = 0; i < r->n && !is(r, "logsumexp"); i++) {
    mpfr_set_d(out[i], r->x[i], MPFR_RNDN);
    if (is(r, "softmax")) {
      mpfr_exp(out[i], out[i], MPFR_RNDN);
      mpfr_div(out[i], out[i], total, MPFR_RNDN);
    } else {
      mpfr_sub(out[i], out[i], total, MPFR_RNDN);
    }
  }
}

static void norm_reference(mpfr_t *out, mpfr_ptr center, mpfr_ptr spread, const reference_row *r) {
  mpfr_add_d(spread, spread, r->p.epsilon, MPFR_RNDN);
  mpfr_sqrt(spread, spread, MPFR_RNDN);
  for (int64_t i = 0; i < r->n; i++) {
    mpfr_d_sub(out[i], r->x[i], center, MPFR_RNDN);
    mpfr_div(out[i], out[i], spread, MPFR_RNDN);
    if (r->weight) mpfr_mul_d(out[i], out[i], r->weight[i], MPFR_RNDN);
    if (r->bias) mpfr_add_d(out[i], out[i], r->bias[i], MPFR_RNDN);
  }
}

static void moment_reference(mpfr_t *out, mpfr_ptr center, const reference_row *r) {
  mpfr_t spread;
  mpfr_init2(spread, mpfr_get_prec(center));
  if (is(r, "rmsnorm")) mpfr_set_zero(center, 1);
  add_squares(spread, center, r);
  mpfr_div_si(spread, spread, (long)(r->n - r->p.ddof), MPFR_RNDN);
  if (is(r, "variance")) {
    mpfr_set(out[0], spread, MPFR_RNDN);
  } else {
    norm_reference(out, center, spread, r);
  }
  mpfr_clear(spread);
}

/* Fills the row's results, n or one of them. */
static void reference(mpfr_t *out, const reference_row *r) {
  mpfr_t total;
  mpfr_init2(total, mpfr_get_prec(out[0]));
  if (strstr(r->name, "softmax") || is(r, "logsumexp")) {
    soft_reference(out, total, r);
  } else if (is(r, "cumsum")) {
    add_up(total, out, r, false);
  } else if (is(r, "sum") || is(r, "dot")) {
    add_up(out[0], NULL, r, false);
  } else {
    add_up(total, NULL, r, false);
    mpfr_div_si(total, total, (long)r->n, MPFR_RNDN);
    if (is(r, "mean")) {
      mpfr_set(out[0], total, MPFR_RNDN);
    } else {
      moment_reference(out, total, r);
    }
  }
  mpfr_clear(total);
}

/* ---- tensors ------------------------------------------------------------------------------------------------------------ */

static kc_buffer *tensor(const char *format, int rank, const int64_t *shape, const double *values) {
  kc_buffer *b;
  kc_text err;
  const kc_format *f = kc_format_find(format);
  cr_assert_eq(kc_buffer_create(&b, f, rank, shape, 0, &err), KC_OK, "%s", err.s);
  kc_encode_array(f, kc_buffer_data(b), values, (size_t)kc_buffer_count(b), &(kc_encoding){.rounding = KC_RNE});
  return b;
}

static kc_buffer *vector(const char *format, int64_t n, const double *values) {
  return tensor(format, 1, &n, values);
}

static kc_buffer *random_tensor(const char *format, int rank, const int64_t *shape, uint64_t key, kc_dist d) {
  kc_buffer *b;
  kc_text err;
  const kc_format *f = kc_format_find(format);
  cr_assert_eq(kc_buffer_create(&b, f, rank, shape, 0, &err), KC_OK, "%s", err.s);
  cr_assert_eq(kc_fill(f, kc_buffer_data(b), (size_t)kc_buffer_count(b), 0, key, &d, &err), KC_OK, "%s", err.s);
  return b;
}

static double value_of(const kc_buffer *b, int64_t i) {
  return kc_decode(kc_buffer_format(b), kc_load(kc_buffer_format(b), kc_buffer_cdata(b), (size_t)i));
}

/* An oracle opened and evaluated. */
typedef struct evaluated {
  const kc_tensor_oracle *o;
  void *state;
  kc_enclosure e;
} evaluated;

static evaluated evaluate(const char *name, const kc_buffer *const *inputs, int n, const kc_oracle_params *p) {
  evaluated v = {.o = kc_tensor_oracle_find(name)};
  int64_t count;
  kc_text err;
  cr_assert_not_null(v.o, "no oracle %s", name);
  cr_assert_eq(v.o->open(&v.state, &count, inputs, n, p, &err), KC_OK, "%s: %s", name, err.s);
  cr_assert_eq(kc_enclosure_create(&v.e, count), KC_OK);
  cr_assert_eq(v.o->eval(v.state, &v.e, &err), KC_OK, "%s: %s", name, err.s);
  return v;
}

static void drop(evaluated *v) {
  kc_enclosure_clear(&v->e);
  v->o->close(v->state);
}

/* ---- comparison --------------------------------------------------------------------------------------------------------- */

static bool per_element(const char *name) {
  return strstr(name, "softmax") || strstr(name, "norm") || !strcmp(name, "cumsum");
}

static bool exact_reference(const char *name) {
  return !strcmp(name, "sum") || !strcmp(name, "dot") || !strcmp(name, "cumsum");
}

static int steps(double lo, double hi) {
  int n = 0;
  for (; lo < hi && n < 9; n++) lo = nextafter(lo, inf);
  return n;
}

/* lo <= r <= hi up to the reference's own rounding, class right, bounds equal for exact results. */
static bool holds(const char *name, mpfr_srcptr r, double lo, double hi, uint8_t classes) {
  if (exact_reference(name) && mpfr_zero_p(r)) return lo == 0 && hi == 0 && classes == (KC_NZERO | KC_PZERO);
  mpfr_t slack, low, high;
  mpfr_inits2(mpfr_get_prec(r), slack, low, high, (mpfr_ptr)0);
  mpfr_abs(slack, r, MPFR_RNDU);
  mpfr_mul_2si(slack, slack, SLACK, MPFR_RNDU);
  mpfr_add(high, r, slack, MPFR_RNDU);
  mpfr_sub(low, r, slack, MPFR_RNDD);
  bool fine = mpfr_cmp_d(high, lo) >= 0 && mpfr_cmp_d(low, hi) <= 0;
  fine = fine && (classes == (mpfr_sgn(r) < 0 ? KC_NFIN : KC_PFIN) || (lo == 0 && hi == 0));
  if (exact_reference(name)) fine = fine && (lo == hi) == (mpfr_get_d(r, MPFR_RNDD) == mpfr_get_d(r, MPFR_RNDU));
  mpfr_clears(slack, low, high, (mpfr_ptr)0);
  return fine && steps(lo, hi) <= 2;
}

/* The difference from a nearby double must be enclosed too, by neighbours or to 2^-150 of the value. */
static bool refines(const evaluated *v, int64_t i, mpfr_srcptr r, int tiers) {
  double y = (double)(float)v->e.lo[i], lo, hi, dlo, dhi;
  uint8_t classes;
  mpfr_t d, slack;
  mpfr_inits2(mpfr_get_prec(r), d, slack, (mpfr_ptr)0);
  mpfr_sub_d(d, r, y, MPFR_RNDN);
  mpfr_abs(slack, r, MPFR_RNDU);
  mpfr_mul_2si(slack, slack, SLACK, MPFR_RNDU);
  bool fine = true;
  for (int tier = 1; tier <= tiers && isfinite(y); tier++) {
    fine = fine && v->o->refine(v->state, i, y, tier, &lo, &hi, &dlo, &dhi, &classes) == KC_OK;
    fine = fine && holds(v->o->name, r, lo, hi, classes) && (steps(dlo, dhi) <= 2 || dhi - dlo <= 0x1p-150 * fabs(y));
    mpfr_add(d, d, slack, MPFR_RNDU);
    fine = fine && mpfr_cmp_d(d, dlo) >= 0;
    mpfr_sub(d, d, slack, MPFR_RNDD);
    mpfr_sub(d, d, slack, MPFR_RNDD);
    fine = fine && mpfr_cmp_d(d, dhi) <= 0;
    mpfr_add(d, d, slack, MPFR_RNDN);
  }
  fine = fine && v->o->refine(v->state, i, y, 4, &lo, &hi, &dlo, &dhi, &classes) == KC_EUNSUPPORTED;
  mpfr_clears(d, slack, (mpfr_ptr)0);
  return fine;
}

/* Element k of the row that element `start` begins; outputs are indexed like the input, with the axis dropped for one a row. */
static void check_row(const evaluated *v, reference_row *r, mpfr_t *want, int64_t first, int64_t stride, int refine_every) {
  reference(want, r);
  for (int64_t k = 0; k < (per_element(r->name) ? r->n : 1); k++) {
    int64_t i = first + k * stride;
    cr_assert(holds(r->name, want[k], v->e.lo[i], v->e.hi[i], v->e.classes[i]),
              "%s, output %lld (row of %lld, axis %d, element %lld): %.20g not in [%a, %a] or these are wide, classes %d",
              r->name, (long long)i, (long long)r->n, r->p.axis, (long long)k, mpfr_get_d(want[k], MPFR_RNDN), v->e.lo[i],
              v->e.hi[i], v->e.classes[i]);
    if (k % refine_every == 0) {
      cr_assert(refines(v, i, want[k], r->n > 20000 ? 1 : 3),
                /* the others take seconds there */ "%s, output %lld (axis %d) does not refine", r->name, (long long)i,
                r->p.axis);
    }
  }
}

/* Splits a tensor of rank <= 3 into rows along the axis. */
static void check(const char *name, const kc_buffer *const *inputs, int n_inputs, kc_oracle_params p, int bits,
                  int refine_every) {
  evaluated v = evaluate(name, inputs, n_inputs, &p);
  const kc_buffer *b = inputs[0];
  int rank = kc_buffer_rank(b), axis = p.axis < 0 ? rank + p.axis : p.axis;
  int64_t n = kc_buffer_shape(b)[axis], stride = 1, count = kc_buffer_count(b), rows = 0;
  for (int d = rank - 1; d > axis; d--) stride *= kc_buffer_shape(b)[d];
  double *data[4];
  for (int k = 0; k < 4; k++) data[k] = calloc((size_t)n, sizeof(double));
  mpfr_t *want = calloc((size_t)n, sizeof *want);
  for (int64_t k = 0; k < n; k++) mpfr_init2(want[k], bits);
  bool dot = !strcmp(name, "dot");
  reference_row r = {
      name, n, data[0], dot ? data[1] : NULL, !dot && n_inputs > 1 ? data[1] : NULL, n_inputs > 2 ? data[2] : NULL, p};
  for (int64_t i = 0; i < count; i++) {
    if (i / stride % n) continue; /* not a row's first element */
    for (int64_t k = 0; k < n; k++) {
      data[0][k] = value_of(b, i + k * stride);
      if (n_inputs > 1) data[1][k] = dot ? value_of(inputs[1], i + k * stride) : value_of(inputs[1], k);
      if (n_inputs > 2) data[2][k] = value_of(inputs[2], k);
    }
    bool each = per_element(name);
    check_row(&v, &r, want, each ? i : rows, each ? stride : 0, refine_every);
    rows++;
  }
  cr_assert_eq(v.e.count, per_element(name) ? count : rows, "%s: %lld outputs", name, (long long)v.e.count);
  for (int64_t k = 0; k < n; k++) mpfr_clear(want[k]);
  free(want);
  for (int k = 0; k < 4; k++) free(data[k]);
  drop(&v);
}

static const char *const names[] = {"sum",         "mean",      "dot",      "cumsum",    "softmax",
                                    "log_softmax", "logsumexp", "variance", "layernorm", "rmsnorm"};
enum { NAMES = sizeof names / sizeof *names };

static void check_all(const char *format, int rank, const int64_t *shape, int axis, uint64_t key, kc_dist d, int bits,
                      int every) {
  kc_buffer *x = random_tensor(format, rank, shape, key, d), *y = random_tensor(format, rank, shape, key + 1, d);
  int64_t n = shape[axis < 0 ? axis + rank : axis];
  kc_dist plain = {.kind = KC_DIST_NORMAL, .a = 0, .b = 1};
  kc_buffer *weight = random_tensor("f32", 1, &n, key + 2, plain), *bias = random_tensor("f64", 1, &n, key + 3, plain);
  for (int k = 0; k < NAMES; k++) {
    kc_oracle_params p = {.axis = axis, .epsilon = 1e-5};
    bool dot = !strcmp(names[k], "dot"), norm = strstr(names[k], "norm");
    int most = kc_tensor_oracle_find(names[k])->most;
    check(names[k], (const kc_buffer *[]){x, dot ? y : weight, bias}, most, p, bits, every);
    if (norm) check(names[k], (const kc_buffer *[]){x}, 1, p, bits, every);
    p.ddof = 1;
    if (!strcmp(names[k], "variance")) check(names[k], (const kc_buffer *[]){x}, 1, p, bits, every);
    p.magnitude = true;
    bool sums = dot || !strcmp(names[k], "sum") || !strcmp(names[k], "mean") || !strcmp(names[k], "cumsum");
    if (sums) check(names[k], (const kc_buffer *[]){x, y}, most, p, bits, every);
  }
  kc_buffer *const all[] = {x, y, weight, bias};
  for (int k = 0; k < 4; k++) kc_buffer_release(all[k]);
}

Test(row, every_axis_of_every_format) {
  const char *const formats[] = {"f64", "f32", "bf16", "f16", "e4m3fn"};
  for (int f = 0; f < 5; f++) {
    for (int axis = -3; axis < 3; axis++) {
      check_all(formats[f], 3, (int64_t[]){3, 5, 2}, axis, (uint64_t)(100 + 10 * f),
                (kc_dist){.kind = KC_DIST_NORMAL, .a = 0, .b = 2}, 1000, axis == 1 ? 1 : 100);
    }
  }
}

Test(row, wide_exponents) {
  check_all("f64", 2, (int64_t[]){4, 7}, 1, 200, (kc_dist){.kind = KC_DIST_LOG_UNIFORM, .a = -1000, .b = 9, .c = 0}, WIDE, 1);
  check_all("f32", 2, (int64_t[]){4, 7}, 1, 300, (kc_dist){.kind = KC_DIST_LOG_UNIFORM, .a = -120, .b = 10, .c = 0}, WIDE, 1);
}

Test(row, subnormals) {
  check_all("f64", 2, (int64_t[]){3, 6}, 1, 400, (kc_dist){.kind = KC_DIST_SUBNORMAL}, WIDE, 1);
  check_all("f32", 2, (int64_t[]){3, 6}, 1, 500, (kc_dist){.kind = KC_DIST_SUBNORMAL}, WIDE, 1);
}

Test(row, long_rows) {
  check_all("f32", 1, (int64_t[]){1 << 17}, 0, 600, (kc_dist){.kind = KC_DIST_NORMAL, .a = 0, .b = 1}, LONG, 1 << 16);
}

/* ---- what needs more precision, ties, conditioning ------------------------------------------------------------------------ */

/* A bias that cancels the normalized element to its last bits. */
Test(row, a_cancelling_bias_gets_more_precision) {
  enum { N = 3 * 4096 };
  const int64_t n = N;
  kc_buffer *x = random_tensor("f64", 1, &n, 70, (kc_dist){.kind = KC_DIST_NORMAL, .a = 0, .b = 1});
  kc_buffer *weight = random_tensor("f64", 1, &n, 71, (kc_dist){.kind = KC_DIST_NORMAL, .a = 0, .b = 1});
  static double bias[N];
  const kc_oracle_params p = {.axis = 0, .epsilon = 1e-12};
  evaluated v = evaluate("layernorm", (const kc_buffer *[]){x, weight}, 2, &p);
  for (int i = 0; i < N; i++) bias[i] = i % 5 ? i : -v.e.lo[i];
  drop(&v);
  kc_buffer *b = vector("f64", n, bias);
  check("layernorm", (const kc_buffer *[]){x, weight, b}, 3, p, LONG + 64, 2048);
  kc_buffer *const all[] = {x, weight, b};
  for (int k = 0; k < 3; k++) kc_buffer_release(all[k]);
}

Test(row, logsumexp_cancels_its_maximum) {
  const double x[2] = {-0x1.62e42fefa39efp-1, -0x1.62e42fefa39efp-1}; /* -log 2 to 53 bits */
  kc_buffer *b = vector("f64", 2, x);
  check("logsumexp", (const kc_buffer *[]){b}, 1, (kc_oracle_params){.axis = 0}, 1000, 1);
  kc_buffer_release(b);
}

/* Around the smallest double, and where terms are no longer evaluated (below e^-1000). */
Test(row, far_tails_hold) {
  const double x[8] = {0, -690, -705, -744, -745, -746, -999, -1001};
  for (int n = 2; n <= 8; n++) {
    kc_buffer *b = vector("f64", n, x);
    check("softmax", (const kc_buffer *[]){b}, 1, (kc_oracle_params){.axis = 0}, WIDE, 1);
    check("log_softmax", (const kc_buffer *[]){b}, 1, (kc_oracle_params){.axis = 0}, WIDE, 1);
    check("logsumexp", (const kc_buffer *[]){b}, 1, (kc_oracle_params){.axis = 0}, WIDE, 1);
    kc_buffer_release(b);
    b = vector("f64", 2, (double[]){0, x[n - 1]});
    check("logsumexp", (const kc_buffer *[]){b}, 1, (kc_oracle_params){.axis = 0}, WIDE, 1);
    check("log_softmax", (const kc_buffer *[]){b}, 1, (kc_oracle_params){.axis = 0}, WIDE, 1);
    kc_buffer_release(b);
  }
}

/* Refining may go back in a row. */
Test(row, partial_sums_refine_in_any_order) {
  kc_buffer *b = vector("f64", 4, (double[]){1, 2, 4, 8});
  evaluated v = evaluate("cumsum", (const kc_buffer *[]){b}, 1, &(kc_oracle_params){.axis = 0});
  const int64_t order[5] = {3, 0, 2, 1, 1};
  const double want[4] = {1, 3, 7, 15};
  for (int k = 0; k < 5; k++) {
    double lo, hi, dlo, dhi;
    uint8_t classes;
    cr_assert_eq(v.o->refine(v.state, order[k], 1, 1, &lo, &hi, &dlo, &dhi, &classes), KC_OK);
    cr_assert(lo == want[order[k]] && hi == lo && dlo == lo - 1 && dhi == dlo, "element %lld is [%g, %g]", (long long)order[k],
              lo, hi);
  }
  drop(&v);
  kc_buffer_release(b);
}

Test(row, ill_conditioned_dots) {
  for (int k = 0; k < 4; k++) {
    const int64_t n = 500;
    kc_text err;
    kc_buffer *x = random_tensor("f64", 1, &n, 1, (kc_dist){.kind = KC_DIST_CONSTANT});
    kc_buffer *y = random_tensor("f64", 1, &n, 1, (kc_dist){.kind = KC_DIST_CONSTANT});
    cr_assert_eq(kc_fill_dot(kc_buffer_format(x), kc_buffer_data(x), kc_buffer_data(y), (size_t)n, 80 + (uint64_t)k,
                             pow(10, 20 * (k + 1)), &err),
                 KC_OK, "%s", err.s);
    check("dot", (const kc_buffer *[]){x, y}, 2, (kc_oracle_params){.axis = 0}, WIDE, 1);
    kc_buffer_release(x);
    kc_buffer_release(y);
  }
}

/* Decides one output against a row, within half an ulp. */
static kc_decision decide(const char *name, const char *format, double y, const kc_buffer *const *inputs, int n,
                          kc_oracle_params p) {
  evaluated v = evaluate(name, inputs, n, &p);
  double *ys = calloc((size_t)v.e.count, sizeof *ys);
  for (int64_t i = 0; i < v.e.count; i++) ys[i] = y;
  kc_buffer *out = vector(format, v.e.count, ys);
  kc_decision d;
  kc_text err;
  const kc_tolerance half = {.kind = KC_TOL_ULP, .value = 0.5};
  cr_assert_eq(kc_decide(&d, out, &v.e, &half, v.o->refine, v.state, &err), KC_OK, "%s", err.s);
  kc_buffer_release(out);
  free(ys);
  drop(&v);
  return d;
}

/* The exact result lies half-way between two numbers of the output's format: both are right, their neighbours wrong. */
static void check_tie(const char *name, const char *format, double below, double above, const kc_buffer *const *inputs, int n,
                      kc_oracle_params p) {
  kc_decision d = decide(name, format, below, inputs, n, p);
  cr_assert_eq(d.value_yes, d.count, "%s to %s: %a is half an ulp away", name, format, below);
  d = decide(name, format, above, inputs, n, p);
  cr_assert_eq(d.value_yes, d.count, "%s to %s: %a is half an ulp away", name, format, above);
  d = decide(name, format, 2 * above - below, inputs, n, p);
  cr_assert_eq(d.value_no, d.count, "%s to %s: %a is wrong", name, format, 2 * above - below);
}

static void check_tie_of(const char *name, const char *format, double below, double above, int64_t n, const double *x,
                         const double *y) {
  kc_buffer *a = vector("f64", n, x), *b = vector("f64", n, y ? y : x);
  check_tie(name, format, below, above, (const kc_buffer *[]){a, b}, y ? 2 : 1, (kc_oracle_params){.axis = 0});
  kc_buffer_release(a);
  kc_buffer_release(b);
}

Test(row, ties_are_decided) {
  const double one = 1, up = 1 + 0x1p-23, middle = 1 + 0x1p-24, root = 1 + 0x1p-12;
  static double same[1024];
  check_tie_of("sum", "f64", 1, 1 + 0x1p-52, 4, (double[]){1, 0x1p-54, 0x1p-55, 0x1p-55}, NULL);
  check_tie_of("sum", "f32", one, up, 4, (double[]){1e300, middle, -1e300, 0}, NULL);
  check_tie_of("dot", "f64", 1, 1 + 0x1p-52, 3, (double[]){1, 0x1p-30, 5}, (double[]){1, 0x1p-23, 0});
  check_tie_of("mean", "f32", one, up, 3, (double[]){1, 1, 1 + 3 * 0x1p-24}, NULL);
  check_tie_of("cumsum", "f32", one, up, 2, (double[]){middle, 0}, NULL);
  check_tie_of("variance", "f32", 1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-23, 2, (double[]){-root, root}, NULL);
  check_tie_of("layernorm", "f32", one, up, 2, (double[]){-3, 5}, (double[]){-middle, middle});
  check_tie_of("rmsnorm", "f32", one, up, 3, (double[]){7, 7, -7}, (double[]){middle, middle, -middle});
  check_tie_of("softmax", "e4m3fn", 0, 0x1p-9, 1024, same, NULL); /* 2^-10, half the smallest subnormal number */
}

/* ---- misuse ----------------------------------------------------------------------------------------------------------------- */

static void check_refused(const char *name, const kc_buffer *const *inputs, int n, kc_oracle_params p, const char *message) {
  const kc_tensor_oracle *o = kc_tensor_oracle_find(name);
  void *state;
  int64_t count;
  kc_text err;
  cr_assert_eq(o->open(&state, &count, inputs, n, &p, &err), KC_EINVAL, "%s: expected \"%s\"", name, message);
  cr_assert_str_eq(err.s, message);
}

Test(row, misuse_is_named) {
  kc_buffer *x = tensor("f32", 2, (int64_t[]){2, 3}, (double[]){1, 2, 3, 4, 5, 6}), *w = vector("f32", 2, (double[]){1, 1});
  kc_buffer *scalar = tensor("f32", 0, NULL, (double[]){1}), *integers = tensor("i32", 1, (int64_t[]){1}, (double[]){1});
  check_refused("sum", (const kc_buffer *[]){x}, 1, (kc_oracle_params){.axis = 2},
                "axis 2: expected one of the 2 axes of f32[2,3]");
  check_refused("sum", (const kc_buffer *[]){x}, 1, (kc_oracle_params){.axis = -3},
                "axis -3: expected one of the 2 axes of f32[2,3]");
  check_refused("softmax", (const kc_buffer *[]){scalar}, 1, (kc_oracle_params){.axis = -1},
                "axis -1: expected one of the 0 axes of f32[]");
  check_refused("mean", (const kc_buffer *[]){integers}, 1, (kc_oracle_params){.axis = 0},
                "input 1: expected a float format, got i32");
  check_refused("dot", (const kc_buffer *[]){x, w}, 2, (kc_oracle_params){.axis = 0},
                "input 2: expected the shape of input 1, which is f32[2,3], got f32[2]");
  check_refused("layernorm", (const kc_buffer *[]){x, w}, 2, (kc_oracle_params){.axis = -1},
                "input 2: expected a vector of 3 elements, got f32[2]");
  check_refused("variance", (const kc_buffer *[]){x}, 1, (kc_oracle_params){.axis = 1, .ddof = 3},
                "ddof 3: expected 0..2 for rows of 3 elements");
  check_refused("variance", (const kc_buffer *[]){x}, 1, (kc_oracle_params){.axis = 1, .ddof = -1},
                "ddof -1: expected 0..2 for rows of 3 elements");
  check_refused("rmsnorm", (const kc_buffer *[]){x}, 1, (kc_oracle_params){.axis = 1, .epsilon = -1},
                "epsilon: expected a finite number >= 0, got -1");
  kc_buffer *const all[] = {x, w, scalar, integers};
  for (int k = 0; k < 4; k++) kc_buffer_release(all[k]);
}
