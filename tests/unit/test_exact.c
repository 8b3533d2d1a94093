/* test_exact.c - certified functions: random and extreme arguments against MPFR at 300 bits and more (composed there from other
 * functions than here), tables of exceptional arguments as the standards print them, refinement, parallel evaluation.
 */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "exact.h"

static const double inf = (double)INFINITY;
static const double nan_ = (double)NAN;

/* ---- Reference: MPFR. Composed functions are off by a few units of 2^-2100, which `slack` covers. ---- */

enum { BITS = 300, COMPOSED_BITS = 2100 }; /* 1 + e^-1000 needs 1443 bits */

typedef int (*unary_fn)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
static const struct {
  const char *name;
  unary_fn fn;
} unary[] = {{"exp", mpfr_exp},        {"exp2", mpfr_exp2},   {"log", mpfr_log},     {"log2", mpfr_log2},
             {"log1p", mpfr_log1p},    {"expm1", mpfr_expm1}, {"tanh", mpfr_tanh},   {"erf", mpfr_erf},
             {"sqrt", mpfr_sqrt},      {"sin", mpfr_sin},     {"cos", mpfr_cos},     {"cbrt", mpfr_cbrt},
             {"rsqrt", mpfr_rec_sqrt}, {"log10", mpfr_log10}, {"tan", mpfr_tan},     {"sinh", mpfr_sinh},
             {"cosh", mpfr_cosh},      {"asin", mpfr_asin},   {"acos", mpfr_acos},   {"atan", mpfr_atan},
             {"asinh", mpfr_asinh},    {"acosh", mpfr_acosh}, {"atanh", mpfr_atanh}, {"erfc", mpfr_erfc}};

/* sigmoid = (1 + tanh(x / 2)) / 2 would cancel; e^x / (1 + e^x) does not, for x < 0. */
static void sigmoid(mpfr_ptr r, mpfr_srcptr x) {
  mpfr_t e;
  mpfr_init2(e, COMPOSED_BITS);
  mpfr_exp(e, x, MPFR_RNDN);
  mpfr_add_ui(r, e, 1, MPFR_RNDN);
  mpfr_div(r, e, r, MPFR_RNDN);
  mpfr_clear(e);
}

/* x Phi(x) with Phi(x) = erfc(-x sqrt(1/2)) / 2. */
static void gelu(mpfr_ptr r, mpfr_srcptr x) {
  mpfr_t half;
  mpfr_init2(half, COMPOSED_BITS);
  mpfr_set_d(half, 0.5, MPFR_RNDN);
  mpfr_sqrt(half, half, MPFR_RNDN);
  mpfr_mul(r, x, half, MPFR_RNDN);
  mpfr_neg(r, r, MPFR_RNDN);
  mpfr_erfc(r, r, MPFR_RNDN);
  mpfr_mul(r, r, x, MPFR_RNDN);
  mpfr_div_2ui(r, r, 1, MPFR_RNDN);
  mpfr_clear(half);
}

/* r = f(x); r must have COMPOSED_BITS, of which plain functions use BITS. */
static void reference(mpfr_ptr r, const char *name, const double *x) {
  mpfr_t u, v;
  mpfr_inits2(64, u, v, (mpfr_ptr)0);
  mpfr_set_d(u, x[0], MPFR_RNDN);
  mpfr_set_d(v, x[1], MPFR_RNDN);
  mpfr_set_prec(r, COMPOSED_BITS);
  if (!strcmp(name, "sigmoid") || !strcmp(name, "silu")) sigmoid(r, u);
  if (!strcmp(name, "silu")) mpfr_mul(r, r, u, MPFR_RNDN);
  if (!strcmp(name, "gelu")) gelu(r, u);
  if (!mpfr_nan_p(r)) goto done;
  mpfr_set_prec(r, BITS);
  if (!strcmp(name, "pow")) mpfr_pow(r, u, v, MPFR_RNDN);
  if (!strcmp(name, "div")) mpfr_div(r, u, v, MPFR_RNDN);
  if (!strcmp(name, "hypot")) mpfr_hypot(r, u, v, MPFR_RNDN);
  for (size_t k = 0; k < sizeof unary / sizeof *unary; k++) {
    if (!strcmp(name, unary[k].name)) unary[k].fn(r, u, MPFR_RNDN);
  }
done:
  mpfr_clears(u, v, (mpfr_ptr)0);
}

static uint64_t next(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state ^ (*state >> 31);
}

/* Any sign, significand uniform, exponent uniform in [low, high]. */
static double number(uint64_t *state, int low, int high) {
  double m = 1 + (double)(next(state) >> 12) * 0x1p-52;
  int e = low + (int)(next(state) % (uint64_t)(high - low + 1));
  return ldexp(next(state) & 1024 ? -m : m, e);
}

static int steps(double lo, double hi) {
  int n = 0;
  for (; lo < hi && n < 9; n++) lo = nextafter(lo, inf);
  return n;
}

/* lo <= f(x) <= hi, up to the reference's own error; equal bounds are claimed only where MPFR finds the value exact. */
static bool holds(const char *name, const double *x, kc_exact_value v) {
  mpfr_t r, slack, low, high;
  mpfr_init2(r, COMPOSED_BITS);
  reference(r, name, x);
  mpfr_inits2(COMPOSED_BITS, slack, low, high, (mpfr_ptr)0);
  mpfr_abs(slack, r, MPFR_RNDU);
  mpfr_mul_2si(slack, slack, -280, MPFR_RNDU);
  mpfr_add(high, r, slack, MPFR_RNDU);
  mpfr_sub(low, r, slack, MPFR_RNDD);
  bool fine = mpfr_cmp_d(high, v.lo) >= 0 && mpfr_cmp_d(low, v.hi) <= 0;
  fine = fine && v.classes == (mpfr_sgn(r) < 0 ? KC_NFIN : KC_PFIN);
  if (v.lo == v.hi) fine = fine && mpfr_cmp_d(r, v.lo) == 0;
  mpfr_clears(r, slack, low, high, (mpfr_ptr)0);
  return fine;
}

static bool is_one_of(const char *name, const char *names) {
  const char *at = strstr(names, name);
  size_t n = strlen(name);
  return at && (at == names || at[-1] == ' ') && (at[n] == ' ' || at[n] == 0);
}

/* An argument where the function is defined, made from any. */
static double into_domain(const char *name, double x) {
  if (is_one_of(name, "asin acos atanh")) return fabs(x) > 1 ? 1 / x : x;
  if (is_one_of(name, "acosh")) return fmin(fabs(x) < 1 ? 1 / fabs(x) : fabs(x), DBL_MAX);
  if (is_one_of(name, "log1p")) return x > -1 ? x : -x;
  return is_one_of(name, "pow log log2 log10 sqrt rsqrt") ? fabs(x) : x;
}

/* Returns how many bounds are wider than one step. */
static int check_points(const kc_exact *op, uint64_t seed, int low, int high, int n) {
  uint64_t state = seed;
  int wide = 0;
  for (int i = 0; i < n; i++) {
    double x[2] = {number(&state, low, high), number(&state, low, high)};
    x[0] = into_domain(kc_exact_name(op), x[0]);
    kc_exact_value v = kc_exact_point(op, x);
    cr_assert(holds(kc_exact_name(op), x, v), "%s(%a, %a) not in [%a, %a], classes %d; seed %llu", kc_exact_name(op), x[0],
              x[1], v.lo, v.hi, v.classes, (unsigned long long)seed);
    wide += steps(v.lo, v.hi) > 1;
  }
  return wide;
}

Test(exact, random_arguments_hold_and_bounds_are_neighbours) {
  for (size_t k = 0; kc_exact_at(k); k++) {
    int wide = check_points(kc_exact_at(k), 1000 + k, -20, 5, 300);
    cr_assert_leq(wide, 1, "%s: %d of 300 bounds are wide", kc_exact_name(kc_exact_at(k)), wide);
  }
}

/* Tiny and huge arguments; up to 2^28, since e^(2^30) leaves the exponents that MPFR has by default, +-2^30. */
Test(exact, extreme_arguments_hold) {
  for (size_t k = 0; kc_exact_at(k); k++) {
    check_points(kc_exact_at(k), 2000 + k, -1074, -1000, 40);
    check_points(kc_exact_at(k), 3000 + k, 5, 11, 100);
    if (strcmp(kc_exact_name(kc_exact_at(k)), "gelu")) check_points(kc_exact_at(k), 4000 + k, 11, 28, 40);
  }
}

Test(exact, edges_of_the_doubles) {
  static const struct {
    const char *name;
    double x[2], lo, hi;
    uint8_t classes;
  } rows[] = {
      {"exp", {0x1.62e42fefa39efp9}, 0x1.fffffffffff2ap1023, 0x1.fffffffffff2bp1023, KC_PFIN}, /* log of the largest double */
      {"exp", {710}, DBL_MAX, (double)INFINITY, KC_PFIN},
      {"exp", {-746}, 0, DBL_TRUE_MIN, KC_PFIN},
      {"exp", {-DBL_MAX}, 0, DBL_TRUE_MIN, KC_PFIN},
      {"exp2", {1024}, DBL_MAX, (double)INFINITY, KC_PFIN},
      {"exp2", {-1074}, DBL_TRUE_MIN, DBL_TRUE_MIN, KC_PFIN},
      {"exp2", {-1075}, 0, DBL_TRUE_MIN, KC_PFIN},
      {"expm1", {-DBL_MAX}, -1, -0x1.fffffffffffffp-1, KC_NFIN},
      {"tanh", {DBL_MAX}, 0x1.fffffffffffffp-1, 1, KC_PFIN},
      {"tanh", {DBL_TRUE_MIN}, 0, DBL_TRUE_MIN, KC_PFIN},
      {"erf", {-7}, -1, -0x1.fffffffffffffp-1, KC_NFIN},
      {"sigmoid", {-800}, 0, DBL_TRUE_MIN, KC_PFIN},
      {"silu", {-DBL_MAX}, -DBL_TRUE_MIN, 0, KC_NFIN},
      {"silu", {DBL_MAX}, 0x1.ffffffffffffep1023, DBL_MAX, KC_PFIN},
      {"gelu", {-40}, -DBL_TRUE_MIN, 0, KC_NFIN},
      {"gelu", {DBL_MAX}, 0x1.ffffffffffffep1023, DBL_MAX, KC_PFIN},
      {"erfc", {60}, 0, DBL_TRUE_MIN, KC_PFIN},
      {"erfc", {-DBL_MAX}, 0x1.fffffffffffffp0, 2, KC_PFIN},
      {"sinh", {-711}, -(double)INFINITY, -DBL_MAX, KC_NFIN},
      {"atan", {DBL_TRUE_MIN}, 0, DBL_TRUE_MIN, KC_PFIN},
      {"atan", {DBL_MAX}, 0x1.921fb54442d18p0, 0x1.921fb54442d19p0, KC_PFIN},
      {"atan", {-(double)INFINITY}, -0x1.921fb54442d19p0, -0x1.921fb54442d18p0, KC_NFIN},
      {"asin", {-1}, -0x1.921fb54442d19p0, -0x1.921fb54442d18p0, KC_NFIN},
      {"acos", {-1}, 0x1.921fb54442d18p1, 0x1.921fb54442d19p1, KC_PFIN},
      {"acos", {0}, 0x1.921fb54442d18p0, 0x1.921fb54442d19p0, KC_PFIN},
      {"acosh", {DBL_MAX}, 0x1.633ce8fb9f87dp9, 0x1.633ce8fb9f87ep9, KC_PFIN},
      {"hypot", {DBL_MAX, DBL_MAX}, DBL_MAX, (double)INFINITY, KC_PFIN},
      {"hypot", {0, -DBL_TRUE_MIN}, DBL_TRUE_MIN, DBL_TRUE_MIN, KC_PFIN},
      {"pow", {2, -1074}, DBL_TRUE_MIN, DBL_TRUE_MIN, KC_PFIN},
      {"pow", {-2, 1023}, -0x1p1023, -0x1p1023, KC_NFIN},
      {"pow", {-2, DBL_MAX}, DBL_MAX, (double)INFINITY, KC_PFIN}, /* DBL_MAX is even */
      {"pow", {0x1.0000000000001p0, DBL_MAX}, DBL_MAX, (double)INFINITY, KC_PFIN},
      {"pow", {0x1.fffffffffffffp-1, DBL_MAX}, 0, DBL_TRUE_MIN, KC_PFIN},
      {"div", {-DBL_TRUE_MIN, 3}, -DBL_TRUE_MIN, 0, KC_NFIN},
      {"div", {DBL_MAX, 0.5}, DBL_MAX, (double)INFINITY, KC_PFIN},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kc_exact_value v = kc_exact_point(kc_exact_find(rows[i].name), rows[i].x);
    cr_expect(v.lo == rows[i].lo && v.hi == rows[i].hi && v.classes == rows[i].classes, "%s(%a, %a): [%a, %a] classes %d",
              rows[i].name, rows[i].x[0], rows[i].x[1], v.lo, v.hi, v.classes);
  }
}

/* ---- Exceptional arguments ---- */

/* A result as text: N nan, I i infinities, Z z zeros (upper case: positive), B both zeros, else a number. */
static bool is_result(kc_exact_value v, char kind, double value) {
  static const struct {
    char kind;
    uint8_t classes;
  } kinds[] = {{'N', KC_NAN}, {'I', KC_PINF}, {'i', KC_NINF}, {'Z', KC_PZERO}, {'z', KC_NZERO}, {'B', KC_PZERO | KC_NZERO}};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    if (kinds[k].kind == kind) return v.classes == kinds[k].classes;
  }
  return v.lo == value && v.hi == value && v.classes == (value < 0 ? KC_NFIN : KC_PFIN);
}

/* C11 F.10.1 to F.10.8; rsqrt: IEEE 754-2019 9.2.1; sigmoid, gelu, silu: limits. Arguments NaN, -inf, -0, +0, +inf; '=' a number. */
Test(exact, exceptional_arguments_of_one) {
  static const struct {
    const char *name, *results;
    double numbers[5];
  } rows[] = {
      {"exp", "NZ==I", {0, 0, 1, 1, 0}},
      {"exp2", "NZ==I", {0, 0, 1, 1, 0}},
      {"log", "NNiiI", {0}},
      {"log2", "NNiiI", {0}},
      {"log1p", "NNzZI", {0}},
      {"expm1", "N=zZI", {0, -1, 0, 0, 0}},
      {"tanh", "N=zZ=", {0, -1, 0, 0, 1}},
      {"erf", "N=zZ=", {0, -1, 0, 0, 1}},
      {"sigmoid", "NZ===", {0, 0, .5, .5, 1}},
      {"gelu", "NBzZI", {0}},
      {"silu", "NBzZI", {0}},
      {"rsqrt", "NNiIZ", {0}},
      {"sqrt", "NNzZI", {0}},
      {"sin", "NNzZN", {0}},
      {"cos", "NN==N", {0, 0, 1, 1, 0}},
      {"cbrt", "NizZI", {0}},
      {"log10", "NNiiI", {0}},
      {"tan", "NNzZN", {0}},
      {"sinh", "NizZI", {0}},
      {"cosh", "NI==I", {0, 0, 1, 1, 0}},
      {"asin", "NNzZN", {0}},
      {"asinh", "NizZI", {0}},
      {"acosh", "NNNNI", {0}},
      {"atanh", "NNzZN", {0}},
      {"erfc", "N===Z", {0, 2, 1, 1, 0}},
  };
  const double arguments[5] = {nan_, -inf, -0.0, 0.0, inf};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int k = 0; k < 5; k++) {
      kc_exact_value v = kc_exact_point(kc_exact_find(rows[i].name), (const double[2]){arguments[k], 0});
      cr_expect(is_result(v, rows[i].results[k], rows[i].numbers[k]), "%s(%g): [%a, %a] classes %d, expected %c", rows[i].name,
                arguments[k], v.lo, v.hi, v.classes, rows[i].results[k]);
    }
  }
}

Test(exact, domains_and_exact_results) {
  static const struct {
    const char *name;
    double x;
    char kind;
    double value;
  } rows[] = {{"log", -1, 'N', 0},
              {"log2", -0x1p-1074, 'N', 0},
              {"log", 1, 'Z', 0},
              {"log2", 1, 'Z', 0},
              {"log2", 0x1p-1074, '=', -1074},
              {"log1p", -1, 'i', 0},
              {"log1p", -1.5, 'N', 0},
              {"sqrt", -1, 'N', 0},
              {"rsqrt", -1, 'N', 0},
              {"sqrt", 2.25, '=', 1.5},
              {"rsqrt", 0x1p-1074, '=', 0x1p537},
              {"cbrt", -3.375, '=', -1.5},
              {"exp2", -3, '=', .125},
              {"log10", 1, 'Z', 0},
              {"log10", 1e22, '=', 22},
              {"log10", -1, 'N', 0},
              {"asin", 0x1.0000000000001p0, 'N', 0},
              {"asin", -2, 'N', 0},
              {"acos", 1, 'Z', 0},
              {"acos", 0x1.0000000000001p0, 'N', 0},
              {"acos", -inf, 'N', 0},
              {"acos", inf, 'N', 0},
              {"acosh", 1, 'Z', 0},
              {"acosh", 0x1.fffffffffffffp-1, 'N', 0},
              {"atanh", 1, 'I', 0},
              {"atanh", -1, 'i', 0},
              {"atanh", -1.5, 'N', 0},
              {"atanh", 3, 'N', 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kc_exact_value v = kc_exact_point(kc_exact_find(rows[i].name), (const double[2]){rows[i].x, 0});
    cr_expect(is_result(v, rows[i].kind, rows[i].value), "%s(%a): [%a, %a] classes %d", rows[i].name, rows[i].x, v.lo, v.hi,
              v.classes);
  }
}

/* C11 F.10.4.4, line by line; finite numbers stand for "not an integer" (0.5), "odd" (3) and "even" (2). */
Test(exact, exceptional_arguments_of_pow) {
  const struct {
    double x, y;
    char kind;
    double value;
  } rows[] = {
      {0, -3, 'I', 0},      {-0.0, -3, 'i', 0},   {0, -2, 'I', 0},
      {-0.0, -0.5, 'I', 0}, {-0.0, -inf, 'I', 0}, {0, 3, 'Z', 0},
      {-0.0, 3, 'z', 0},    {-0.0, 2, 'Z', 0},    {-0.0, 0.5, 'Z', 0},
      {-0.0, inf, 'Z', 0},  {-1, inf, '=', 1},    {-1, -inf, '=', 1},
      {1, nan_, '=', 1},    {1, -inf, '=', 1},    {nan_, 0, '=', 1},
      {nan_, -0.0, '=', 1}, {inf, 0, '=', 1},     {-2, 0.5, 'N', 0},
      {-0.5, 1.5, 'N', 0},  {0.5, -inf, 'I', 0},  {-0.5, -inf, 'I', 0},
      {2, -inf, 'Z', 0},    {-2, -inf, 'Z', 0},   {0.5, inf, 'Z', 0},
      {2, inf, 'I', 0},     {-inf, -3, 'z', 0},   {-inf, -2, 'Z', 0},
      {-inf, -0.5, 'Z', 0}, {-inf, 3, 'i', 0},    {-inf, 2, 'I', 0},
      {-inf, 0.5, 'I', 0},  {inf, -2, 'Z', 0},    {inf, 0.5, 'I', 0},
      {nan_, 1, 'N', 0},    {2, nan_, 'N', 0},    {-3, 3, '=', -27},
      {4, -0.5, '=', 0.5},  {-1, 0x1p60, '=', 1}, {-1, 0x1.fffffffffffffp52, '=', -1},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kc_exact_value v = kc_exact_point(kc_exact_find("pow"), (const double[2]){rows[i].x, rows[i].y});
    cr_expect(is_result(v, rows[i].kind, rows[i].value), "pow(%g, %g): [%a, %a] classes %d", rows[i].x, rows[i].y, v.lo, v.hi,
              v.classes);
  }
}

/* C11 F.10.4.3. */
Test(exact, exceptional_arguments_of_hypot) {
  const struct {
    double x, y;
    char kind;
    double value;
  } rows[] = {{inf, nan_, 'I', 0},  {nan_, -inf, 'I', 0}, {-inf, 1, 'I', 0}, {nan_, 1, 'N', 0}, {0, nan_, 'N', 0},
              {-0.0, -0.0, 'Z', 0}, {0, -7, '=', 7},      {-7, 0.0, '=', 7}, {3, -4, '=', 5},   {nan_, nan_, 'N', 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    kc_exact_value v = kc_exact_point(kc_exact_find("hypot"), (const double[2]){rows[i].x, rows[i].y});
    cr_expect(is_result(v, rows[i].kind, rows[i].value), "hypot(%g, %g): [%a, %a] classes %d", rows[i].x, rows[i].y, v.lo, v.hi,
              v.classes);
  }
}

/* ---- Whole tensors ---- */

static kc_buffer *vector(const char *format, int64_t n, const double *values) {
  kc_buffer *b;
  kc_text err;
  cr_assert_eq(kc_buffer_create(&b, kc_format_find(format), 1, &n, 4096, &err), KC_OK, "%s", err.s);
  kc_encoding nearest = {.rounding = KC_RNE};
  if (values) kc_encode_array(kc_buffer_format(b), kc_buffer_data(b), values, (size_t)n, &nearest);
  return b;
}

static kc_buffer *filled(const char *format, int64_t n, kc_dist d) {
  kc_buffer *b = vector(format, n, NULL);
  kc_text err;
  cr_assert_eq(kc_fill(kc_buffer_format(b), kc_buffer_data(b), (size_t)n, 0, 7, &d, &err), KC_OK, "%s", err.s);
  return b;
}

/* Every element equals the value at its point: across blocks, threads, and the way by codes. */
static void check_tensor(const char *name, kc_buffer *x) {
  const kc_format *f = kc_buffer_format(x);
  const kc_buffer *inputs[1] = {x};
  kc_enclosure e;
  kc_text err = {""};
  cr_assert_eq(kc_enclosure_create(&e, kc_buffer_count(x)), KC_OK);
  cr_assert_eq(kc_exact_eval(&e, kc_exact_find(name), inputs, &err), KC_OK, "%s", err.s);
  for (int64_t i = 0; i < e.count; i++) {
    double v = kc_decode(f, kc_load(f, kc_buffer_cdata(x), (size_t)i));
    kc_exact_value p = kc_exact_point(kc_exact_find(name), (const double[2]){v, 0});
    cr_assert(e.lo[i] == p.lo && e.hi[i] == p.hi && e.classes[i] == p.classes, "%s(%a) of %s, element %lld: [%a, %a]", name, v,
              f->name, (long long)i, e.lo[i], e.hi[i]);
  }
  kc_enclosure_clear(&e);
  kc_buffer_release(x);
}

Test(exact, tensors_agree_with_points) {
  check_tensor("exp", filled("f32", 5000, (kc_dist){KC_DIST_BITS, 0, 0, 0}));
  check_tensor("tanh", filled("bf16", 70000, (kc_dist){KC_DIST_BITS, 0, 0, 0}));
  check_tensor("gelu", filled("e4m3fnuz", 300, (kc_dist){KC_DIST_EXHAUSTIVE, 0, 0, 0}));
  check_tensor("silu", filled("tf32", 100, (kc_dist){KC_DIST_BITS, 0, 0, 0}));
}

Test(exact, the_callers_floating_point_state_is_harmless) {
  kc_fpstate strange = kc_fpstate_default();
  strange.mxcsr |= 0x8040 | 0x4000; /* flush to zero, denormals are zero, rounding up */
  const double x[2] = {0x1p-1060, 0};
  kc_exact_value want = kc_exact_point(kc_exact_find("tanh"), x);
  kc_fpstate_set(strange);
  kc_exact_value got = kc_exact_point(kc_exact_find("tanh"), x);
  kc_fpstate after = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  cr_expect_eq(after.mxcsr, strange.mxcsr, "the caller's state is restored");
  cr_expect(got.lo == want.lo && got.hi == want.hi && want.hi == 0x1p-1060);
}

static void refuses(const char *name, kc_buffer *a, kc_buffer *b, int64_t count, const char *text) {
  const kc_buffer *inputs[2] = {a, b};
  kc_enclosure e;
  kc_text err = {""};
  cr_assert_eq(kc_enclosure_create(&e, count), KC_OK);
  cr_expect_eq(kc_exact_eval(&e, kc_exact_find(name), inputs, &err), KC_EINVAL);
  cr_expect(strstr(err.s, text) != NULL, "got: %s", err.s);
  kc_enclosure_clear(&e);
}

Test(exact, what_it_refuses) {
  kc_buffer *three = vector("f32", 3, NULL), *two = vector("f32", 2, NULL), *integers = vector("i32", 3, NULL);
  refuses("exp", integers, NULL, 3, "expected a float format, got i32");
  refuses("pow", three, two, 3, "of one shape");
  refuses("exp", three, NULL, 2, "the enclosure has 2 elements");
  cr_expect_null(kc_exact_find("epx"));
  kc_exact_refiner_free(NULL);
  kc_buffer_release(three);
  kc_buffer_release(two);
  kc_buffer_release(integers);
}

/* ---- Refinement ---- */

static kc_decision decided(const char *name, kc_buffer *x, kc_buffer *y2, kc_buffer *out, double ulps) {
  const kc_buffer *inputs[2] = {x, y2};
  kc_tolerance t = {.kind = KC_TOL_ULP, .value = ulps};
  kc_enclosure e;
  kc_exact_refiner *r;
  kc_decision d;
  kc_text err = {""};
  cr_assert_eq(kc_enclosure_create(&e, kc_buffer_count(x)), KC_OK);
  cr_assert_eq(kc_exact_eval(&e, kc_exact_find(name), inputs, &err), KC_OK, "%s", err.s);
  cr_assert_eq(kc_exact_refiner_create(&r, kc_exact_find(name), inputs, &err), KC_OK, "%s", err.s);
  cr_assert_eq(kc_decide(&d, out, &e, &t, kc_exact_refine, r, &err), KC_OK, "%s", err.s);
  kc_exact_refiner_free(r);
  kc_enclosure_clear(&e);
  return d;
}

/* (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 lies half-way between two f32 numbers. */
Test(exact, an_exact_tie_is_settled) {
  kc_buffer *x = vector("f64", 1, (const double[]){1 + 0x1p-12}), *two = vector("f64", 1, (const double[]){2});
  kc_buffer *below = vector("f32", 1, (const double[]){1 + 0x1p-11}),
            *above = vector("f32", 1, (const double[]){1 + 0x1p-11 + 0x1p-23});
  kc_buffer *far = vector("f32", 1, (const double[]){1 + 0x1p-11 + 0x1p-22});
  cr_expect_eq(decided("pow", x, two, below, 0.5).value_yes, 1);
  cr_expect_eq(decided("pow", x, two, above, 0.5).value_yes, 1);
  cr_expect_eq(decided("pow", x, two, below, nextafter(0.5, 0)).value_no, 1);
  cr_expect_eq(decided("pow", x, two, far, 1.5).value_yes, 1);
  cr_expect_eq(decided("pow", x, two, far, nextafter(1.5, 0)).value_no, 1);
  kc_buffer *all[] = {x, two, below, above, far};
  for (int k = 0; k < 5; k++) kc_buffer_release(all[k]);
}

/* Tiers never contradict MPFR at 300 bits, and the difference is tight to a double even where the value is not. */
Test(exact, differences_enclose) {
  for (size_t k = 0; kc_exact_at(k); k++) {
    const kc_exact *op = kc_exact_at(k);
    if (kc_exact_arity(op) != 1) continue;
    const double x0 = into_domain(kc_exact_name(op), 0.7);
    kc_buffer *x = vector("f64", 1, &x0);
    const kc_buffer *inputs[1] = {x};
    mpfr_t want;
    mpfr_init2(want, COMPOSED_BITS);
    reference(want, kc_exact_name(op), (const double[2]){x0, 0});
    double y = mpfr_get_d(want, MPFR_RNDN);
    mpfr_sub_d(want, want, y, MPFR_RNDN);
    kc_exact_refiner *r;
    kc_text err;
    cr_assert_eq(kc_exact_refiner_create(&r, op, inputs, &err), KC_OK);
    kc_status status;
    for (int tier = 1; tier < 99; tier++) {
      double lo, hi, dlo, dhi;
      uint8_t classes;
      status = kc_exact_refine(r, 0, y, tier, &lo, &hi, &dlo, &dhi, &classes);
      if (status != KC_OK) break;
      cr_expect(mpfr_cmp_d(want, dlo) >= 0 && mpfr_cmp_d(want, dhi) <= 0 && steps(dlo, dhi) <= 1, "%s tier %d: [%a, %a]",
                kc_exact_name(op), tier, dlo, dhi);
    }
    cr_expect_eq(status, KC_EUNSUPPORTED, "%s: the tiers end", kc_exact_name(op));
    kc_exact_refiner_free(r);
    mpfr_clear(want);
    kc_buffer_release(x);
  }
}
