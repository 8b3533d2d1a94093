/* test_enclosure.c - memory of enclosures, arithmetic with a proven direction, and parallel loops. */
#include <criterion/criterion.h>
#include <mpfr.h>
#include <stdlib.h>

#include "directed.h"
#include "kc.h"
#include "parallel.h"

Test(enclosure, created_zeroed_and_cleared_twice) {
  kc_enclosure e;
  cr_assert_eq(kc_enclosure_create(&e, 5), KC_OK);
  cr_expect_eq(e.count, 5);
  for (int i = 0; i < 5; i++) cr_expect(e.lo[i] == 0 && e.hi[i] == 0 && e.classes[i] == 0);
  cr_expect_null(e.set_offsets);
  kc_enclosure_clear(&e);
  kc_enclosure_clear(&e);
  cr_expect(!e.lo && !e.hi && !e.classes && e.count == 0);
}

Test(enclosure, empty_and_impossible_counts) {
  kc_enclosure e;
  cr_expect_eq(kc_enclosure_create(&e, 0), KC_OK);
  kc_enclosure_clear(&e);
  cr_expect_eq(kc_enclosure_create(&e, -1), KC_EINVAL);
  cr_expect_eq(kc_enclosure_create(&e, INT64_MAX / 16), KC_ENOMEM);
  cr_expect_null(e.lo, "nothing is held after a failure");
}

/* Doubles of every size, many of them with few bits, so that exact results are common. */
static double any_double(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  uint64_t r = *state ^ (*state >> 29);
  uint64_t exponent = (r >> 52 & 3) ? 1023 - 8 + (r >> 54 & 15) : r >> 54 & 0x7fe;
  uint64_t fraction = (r & 1) ? r >> 12 : (r >> 12 & 31) << 47;
  return kc__double_of((exponent & 0x7ff) == 0x7ff ? 0 : exponent << 52 | (fraction & 0xfffffffffffffu));
}

typedef int (*exact_operation)(mpfr_t, const mpfr_t, const mpfr_t, mpfr_rnd_t);

/* lo and hi must be the neighbours of the true value, or both the true value itself; one step more is allowed where the header
 * gives up on exactness, which is below 2^-900. */
static void check(const char *name, exact_operation op, double a, double b, double lo, double hi, bool tiny) {
  mpfr_t x, y, z;
  mpfr_inits2(53, x, y, NULL);
  mpfr_init2(z, 4200); /* sums of any two doubles fit */
  mpfr_set_d(x, a, MPFR_RNDN);
  mpfr_set_d(y, b, MPFR_RNDN);
  op(z, x, y, MPFR_RNDD);
  bool below = mpfr_cmp_d(z, lo) >= 0;
  op(z, x, y, MPFR_RNDU);
  bool above = mpfr_cmp_d(z, hi) <= 0;
  bool tight = lo == hi || kc__up(lo) == hi || (tiny && hi <= kc__up(kc__up(lo)));
  if (below && above && lo != hi && !tiny) tight = tight && mpfr_cmp_d(z, lo) != 0 && mpfr_cmp_d(z, hi) != 0;
  cr_assert(below && above && tight, "%s(%a, %a): [%a, %a]: below %d, above %d, tight %d", name, a, b, lo, hi, below, above,
            tight);
  mpfr_clears(x, y, z, NULL);
}

Test(directed, bounds_are_proven_and_tight) {
  uint64_t state = 7;
  for (int i = 0; i < 20000; i++) {
    double a = any_double(&state), b = any_double(&state);
    double small = 0x1p-900;
    check("sub", mpfr_sub, a, b, kc__sub_down(a, b), kc__sub_up(a, b), false);
    check("mul", mpfr_mul, a, b, kc__mul_down(a, b), kc__mul_up(a, b), a * b < small);
    if (b != 0) check("div", mpfr_div, a, b, kc__div_down(a, b), kc__div_up(a, b), a < small || a / b < small);
  }
}

Test(directed, ends_of_the_line) {
  const double inf = KC__INF;
  cr_expect_eq(kc__up(0.0), DBL_TRUE_MIN);
  cr_expect_eq(kc__up(-DBL_TRUE_MIN), 0.0);
  cr_expect_eq(kc__up(DBL_MAX), inf);
  cr_expect_eq(kc__up(-1.0), -1.0 + 0x1p-53);
  cr_expect_eq(kc__sub_down(DBL_MAX, -DBL_MAX), DBL_MAX);
  cr_expect_eq(kc__sub_up(DBL_MAX, -DBL_MAX), inf);
  cr_expect_eq(kc__sub_down(inf, inf), -inf, "nothing is known");
  cr_expect_eq(kc__sub_up(inf, inf), inf);
  cr_expect_eq(kc__mul_up(0, inf), inf);
  cr_expect_eq(kc__mul_down(0, inf), 0);
  cr_expect_eq(kc__div_up(1, 0), inf);
  cr_expect_eq(kc__div_up(0, 0), 0, "no error over no tolerance is within it");
  cr_expect_eq(kc__div_down(DBL_MAX, 0.5), DBL_MAX);
}

/* Bins: [0] zero, [k] (2^(k-34), 2^(k-33)], ends clamp. */
Test(directed, bins) {
  const struct {
    double x;
    int bin;
  } cases[] = {{0, 0},       {1, 33},      {1 + 0x1p-52, 34}, {2, 34},      {0.5, 32},    {0.75, 33},    {0x1p-33, 1},
               {0x1p-32, 1}, {0x1p-31, 2}, {DBL_TRUE_MIN, 1}, {0x1p32, 65}, {0x1p31, 64}, {DBL_MAX, 65}, {INFINITY, 65}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cr_expect_eq(kc__bin(cases[i].x), cases[i].bin, "%a: bin %d, expected %d", cases[i].x, kc__bin(cases[i].x), cases[i].bin);
  }
}

typedef struct seen {
  uint8_t *times;
  int64_t grain;
  bool aligned, wrong_state;
} seen;

static void visit(void *user, int worker, int64_t begin, int64_t end) {
  seen *s = user;
  (void)worker;
  if (begin % s->grain) s->aligned = false;
  if (kc_fpstate_get().mxcsr != kc_fpstate_default().mxcsr) s->wrong_state = true;
  for (int64_t i = begin; i < end; i++) s->times[i]++;
}

Test(parallel, every_element_once_under_the_default_state) {
  const int64_t sizes[] = {0, 1, 99, 100, 101, 1000, 100000};
  kc_fpstate flushing = kc_fpstate_default();
  flushing.mxcsr |= 0x8040; /* FTZ and DAZ */
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    int64_t n = sizes[k];
    seen s = {calloc((size_t)n + 1, 1), 100, true, false};
    kc_fpstate_set(flushing);
    kc__parallel_for(n, s.grain, visit, &s);
    kc_fpstate after = kc_fpstate_get();
    kc_fpstate_set(kc_fpstate_default());
    cr_expect_eq(after.mxcsr, flushing.mxcsr, "the caller's state comes back");
    cr_expect(s.aligned && !s.wrong_state);
    for (int64_t i = 0; i < n; i++) cr_assert_eq(s.times[i], 1, "n %ld: element %ld %d times", (long)n, (long)i, s.times[i]);
    free(s.times);
  }
  cr_expect_eq(kc__parallel_workers(100, 100), 1, "one grain is not worth a thread");
}
