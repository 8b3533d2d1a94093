/* test_decide.c - whole tensors: the sum over threads is the sum over elements, and refinement goes on until it decides. */
#include <criterion/criterion.h>
#include <math.h>

#include "kc.h"

static kc_buffer *make(const char *format, int64_t n) {
  kc_buffer *b;
  kc_text err;
  cr_assert_eq(kc_buffer_create(&b, kc_format_find(format), 1, &n, 4096, &err), KC_OK, "%s", err.s);
  return b;
}

static void fill(kc_buffer *b, uint64_t key, kc_dist d) {
  kc_text err;
  cr_assert_eq(kc_fill(kc_buffer_format(b), kc_buffer_data(b), (size_t)kc_buffer_count(b), 0, key, &d, &err), KC_OK, "%s",
               err.s);
}

/* Bounds around the values of y, some of them off by up to four ulps, some wide, some of another class. */
static void surround(kc_enclosure *e, const kc_buffer *y) {
  const kc_format *f = kc_buffer_format(y);
  for (int64_t i = 0; i < e->count; i++) {
    double v = kc_decode(f, kc_load(f, kc_buffer_cdata(y), (size_t)i));
    if (!isfinite(v)) {
      e->classes[i] = (uint8_t)kc_classify_double(i % 7 ? v : 0.0);
      e->lo[i] = e->hi[i] = i % 7 ? v : 0.0;
      continue;
    }
    double u = kc_ulp_at(f, v), off = (double)(i % 9 - 4) * u, width = i % 5 ? 0 : 2 * u;
    e->lo[i] = v + off - width;
    e->hi[i] = v + off + width;
    e->classes[i] = 0;
    if (e->lo[i] < 0) e->classes[i] |= KC_NFIN;
    if (e->hi[i] > 0) e->classes[i] |= KC_PFIN;
    if (e->lo[i] <= 0 && e->hi[i] >= 0) e->classes[i] |= KC_PZERO | KC_NZERO;
  }
}

Test(decide, sum_over_threads_is_sum_over_elements) {
  enum { N = 300000 };
  kc_buffer *y = make("f32", N);
  fill(y, 42, (kc_dist){.kind = KC_DIST_BITS});
  kc_enclosure e;
  cr_assert_eq(kc_enclosure_create(&e, N), KC_OK);
  surround(&e, y);
  kc_tolerance t = {.kind = KC_TOL_ULP, .denormals = KC_DENORMALS_PRESERVE, .value = 2};
  kc_decision d;
  kc_text err;
  cr_assert_eq(kc_decide(&d, y, &e, &t, NULL, NULL, &err), KC_OK, "%s", err.s);
  const kc_format *f = kc_buffer_format(y);
  int64_t cls[3] = {0}, value[3] = {0}, vacuous = 0, first_no = -1;
  for (int64_t i = 0; i < N; i++) {
    uint64_t code = kc_load(f, kc_buffer_cdata(y), (size_t)i);
    double rest, anchor = kc_decision_anchor(f, kc_decode(f, code), &rest);
    double dlo = isnan(anchor) ? -(double)INFINITY : e.lo[i] - anchor,
           dhi = isnan(anchor) ? (double)INFINITY : e.hi[i] - anchor;
    kc_element_decision one = kc_decide_element(f, code, e.lo[i], e.hi[i], dlo, dhi, e.classes[i], &t, 0);
    cls[one.cls + 1]++;
    value[(one.cls == KC_NO ? KC_NO : one.value) + 1]++;
    vacuous += one.vacuous;
    if (one.cls == KC_NO && first_no < 0) first_no = i;
  }
  cr_expect_eq(d.count, N);
  cr_expect_eq(d.class_no, cls[0], "class no: %lld, element by element %lld", (long long)d.class_no, (long long)cls[0]);
  cr_expect_eq(d.class_unknown, cls[1]);
  cr_expect_eq(d.class_yes, cls[2]);
  cr_expect_eq(d.value_no, value[0], "value no: %lld, element by element %lld", (long long)d.value_no, (long long)value[0]);
  cr_expect_eq(d.value_unknown, value[1]);
  cr_expect_eq(d.value_yes, value[2]);
  cr_expect_eq(d.vacuous, vacuous);
  cr_expect_eq(d.first_class_no, first_no);
  cr_expect(value[0] > 0 && value[1] > 0 && value[2] > 0, "the data holds every outcome");
  kc_enclosure_clear(&e);
  kc_buffer_release(y);
}

/* A function whose value is 1 + 2^-24 + 2^-60, known to 2^-30 at tier 1, to 2^-50 at tier 2 and exactly at tier 3. */
typedef struct ladder {
  int calls, last_tier, tiers;
} ladder;

static kc_status climb(void *user, int64_t i, double y, int tier, double *lo, double *hi, double *dlo, double *dhi,
                       uint8_t *classes) {
  (void)i;
  ladder *l = user;
  l->calls++;
  if (tier > l->tiers) return KC_EUNSUPPORTED;
  l->last_tier = tier;
  double radius = tier == 1 ? 0x1p-30 : tier == 2 ? 0x1p-50 : 0, middle = 1 + 0x1p-24;
  *lo = middle - radius;
  *hi = middle + radius + 0x1p-52;
  *dlo = (middle - y) + 0x1p-60 - radius;
  *dhi = (middle - y) + 0x1p-60 + radius;
  *classes = KC_PFIN;
  return KC_OK;
}

static kc_decision decide_one(double got, double lo, double hi, double ulps, ladder *l) {
  kc_buffer *y = make("f32", 1);
  kc_encoding nearest = {.rounding = KC_RNE};
  kc_encode_array(kc_buffer_format(y), kc_buffer_data(y), &got, 1, &nearest);
  kc_enclosure e;
  cr_assert_eq(kc_enclosure_create(&e, 1), KC_OK);
  e.lo[0] = lo;
  e.hi[0] = hi;
  e.classes[0] = KC_PFIN;
  kc_tolerance t = {.kind = KC_TOL_ULP, .value = ulps};
  kc_decision d;
  kc_text err;
  cr_assert_eq(kc_decide(&d, y, &e, &t, climb, l, &err), KC_OK, "%s", err.s);
  kc_enclosure_clear(&e);
  kc_buffer_release(y);
  return d;
}

Test(decide, refinement_stops_when_decided) {
  ladder l = {.tiers = 3};
  kc_decision d = decide_one(1.0, 1, 1 + 0x1p-20, 1.0, &l);
  cr_expect_eq(d.value_yes, 1);
  cr_expect_eq(d.refined, 1);
  cr_expect_eq(l.last_tier, 1, "tier 1 is enough for 1 ulp; it went to %d", l.last_tier);
}

/* 2^-60 beyond the tie: half an ulp is missed by so little that only the exact tier sees it. */
Test(decide, near_tie_needs_the_last_tier) {
  ladder l = {.tiers = 3};
  kc_decision d = decide_one(1.0, 1, 1 + 0x1p-20, 0.5, &l);
  cr_expect_eq(d.value_no, 1);
  cr_expect_eq(l.last_tier, 3);
  l = (ladder){.tiers = 3};
  d = decide_one(1.0 + 0x1p-23, 1, 1 + 0x1p-20, 0.5, &l);
  cr_expect_eq(d.value_yes, 1);
}

Test(decide, undecided_at_the_last_tier_is_unknown) {
  ladder l = {.tiers = 2};
  kc_decision d = decide_one(1.0, 1, 1 + 0x1p-20, 0.5, &l);
  cr_expect_eq(d.value_unknown, 1);
  cr_expect_eq(d.value_yes + d.value_no, 0);
  cr_expect_eq(l.last_tier, 2);
}

Test(decide, decided_elements_are_not_refined) {
  ladder l = {.tiers = 3};
  kc_decision d = decide_one(1.0, 1, 1, 0.5, &l);
  cr_expect_eq(d.value_yes, 1);
  cr_expect_eq(d.refined, 0);
  cr_expect_eq(l.calls, 0);
}

Test(decide, counts_must_agree) {
  kc_buffer *y = make("f32", 3);
  kc_enclosure e;
  cr_assert_eq(kc_enclosure_create(&e, 2), KC_OK);
  kc_tolerance t = {.kind = KC_TOL_EXACT};
  kc_decision d;
  kc_text err = {""};
  cr_expect_eq(kc_decide(&d, y, &e, &t, NULL, NULL, &err), KC_EINVAL);
  cr_expect(err.s[0] != 0, "an error has a text");
  kc_enclosure_clear(&e);
  kc_buffer_release(y);
}
