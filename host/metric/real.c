/* real.c - metrics of real numbers: errors are computed in binary64 from exactly decoded values, and rounded to nearest; they
 * describe, they do not judge (deciding is kc_decide's).
 */
#include "real.h"

/* One pair of elements, taken apart; false when it has no value (not finite). */
static bool count_pair(kc__tally *t, int64_t i, double got, double ref) {
  if (isfinite(got) && isfinite(ref)) {
    t->finite++;
    if (got == 0 && ref == 0 && !signbit(got) != !signbit(ref)) kc__tally_mismatch(t, i);
    return true;
  }
  if (kc_classify_double(got) != kc_classify_double(ref)) kc__tally_mismatch(t, i);
  return false;
}

double kc__metric_real_block(const kc__metric_job *j, int64_t first, int n, kc__tally *t, kc__value_fn value) {
  double got[KC__METRIC_BLOCK], ref[KC__METRIC_BLOCK], sum = 0;
  size_t offset = (size_t)first * j->f->storage;
  const char *got_bytes = (const char *)j->got + offset, *ref_bytes = (const char *)j->ref + offset;
  kc_decode_array(j->f, got, got_bytes, (size_t)n);
  kc_decode_array(j->f, ref, ref_bytes, (size_t)n);
  for (int k = 0; k < n; k++) {
    t->bit_differences += kc_load(j->f, got_bytes, (size_t)k) != kc_load(j->f, ref_bytes, (size_t)k);
    if (!count_pair(t, first + k, got[k], ref[k])) continue;
    double v = value(j, first + k, got[k], ref[k]);
    kc__tally_value(t, first + k, v);
    sum += v;
  }
  return sum;
}

static double value_abs(const kc__metric_job *j, int64_t i, double got, double ref) {
  (void)j;
  (void)i;
  return fabs(got - ref);
}

/* 0 / 0 is no error; anything else over 0 is infinite. A NaN denominator gives infinity too, so that it is seen. */
static double quotient(double error, double denominator) {
  if (error == 0) return 0;
  double q = error / fabs(denominator);
  return q >= 0 ? q : KC__INF;
}

static double value_rel(const kc__metric_job *j, int64_t i, double got, double ref) {
  (void)j;
  (void)i;
  return quotient(fabs(got - ref), ref);
}

static double value_denom(const kc__metric_job *j, int64_t i, double got, double ref) {
  return quotient(fabs(got - ref), j->denominator[i]);
}

static double block_abs(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  return kc__metric_real_block(j, first, n, t, value_abs);
}

static double block_rel(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  return kc__metric_real_block(j, first, n, t, value_rel);
}

static double block_denom(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  return kc__metric_real_block(j, first, n, t, value_denom);
}

static double value_given(const kc__metric_job *j, int64_t i, double got, double ref) {
  (void)i;
  double v = j->value(got, ref, j->f);
  return v >= 0 ? v : KC__INF;
}

double kc__metric_given_block(const kc__metric_job *j, int64_t first, int n, kc__tally *t) {
  return kc__metric_real_block(j, first, n, t, value_given);
}

/* -log2 of a relative error, between 0 and the precision of the format. */
static double effective_bits(const kc__metric_job *j, double rel) {
  double precision = j->f->kind == KC_FLOAT ? j->f->frac_bits + 1 : j->f->bits;
  if (rel <= 0) return precision;
  return fmax(0, fmin(precision, -log2(rel)));
}

const kc__metric_row kc__metric_abs = {.public = {"abs", "1", "|got - ref|"}, .block = block_abs};
const kc__metric_row kc__metric_rel = {.public = {"rel", "1", "|got - ref| / |ref|; infinite where only ref is 0"},
                                       .block = block_rel};
const kc__metric_row kc__metric_denom = {
    .public = {"denom", "1", "|got - ref| / |denominator|"}, .block = block_denom, .divides = true};
const kc__metric_row kc__metric_bits = {
    .public =
        {"bits", "bit",
         "effective bits, -log2 of the relative error, from 0 to the format's precision; max is the worst element's (fewest) "
         "bits, mean and quantiles are those of the relative error in bits; the histogram holds relative errors"},
    .block = block_rel,
    .report = effective_bits};
