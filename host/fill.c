/* fill.c - tensors as functions of a key. Every distribution maps one random word to one code by integers alone, so that neither
 * a libm nor the rounding mode nor FTZ has a say. */
#include "fill.h"
#include "bits.h"
#include "normal_table.h"

typedef unsigned __int128 u128;

/* A distribution prepared for a format; each kind reads the fields that its `prepare` sets. */
typedef struct plan {
  const kc_format *f;
  const kc_dist *d;
  u128 range;      /* how many outcomes */
  __int128 origin; /* the first of them */
  int64_t step;    /* between them */
  int exponent;    /* of the unit they are counted in */
  int codes_n;
  uint64_t codes[8];
} plan;

static const kc_encoding nearest = {.rounding = KC_RNE, .saturate = true};

/* Comparison of doubles as integers: DAZ would make all subnormals equal. */
static int64_t order(double x) {
  return kc_ordered(kc_format_at(0), kc__bits_of(x));
}

static bool is_finite(double x) {
  return kc_classify_double(x) & (KC_NFIN | KC_NZERO | KC_PZERO | KC_PFIN);
}

static bool is_integer(double x) {
  const int64_t limit = order(9007199254740992.0);
  return order(x) <= limit && order(x) >= -limit && order((double)(int64_t)x) == order(x);
}

/* Does the finite number lie between the extremes of the format? */
static bool in_range(const kc_format *f, double x) {
  double low = kc_decode(f, f->kind == KC_INT ? kc__sign_bit(f) : kc__sign_bit(f) | f->max_code);
  if (!f->has_sign) low = f->has_zero ? 0.0 : kc_decode(f, 0);
  return is_finite(x) && order(x) >= order(low) && order(x) <= order(kc_decode(f, f->max_code));
}

static kc_status out_of_range(const plan *p, const char *what, double x, kc_text *err) {
  return kc_fail(err, KC_EINVAL, "%s: %g does not fit format %s", what, x, p->f->name);
}

/* The code of sig * 2^exp with a sign. What a normal double holds takes the codec's short way; the conversion of an integer below
 * 2^53 is exact under any rounding mode. */
static uint64_t encode(const plan *p, bool negative, u128 sig, int exp) {
  if (sig && sig >> 53 == 0 && exp > -1022 && exp < 900) {
    uint64_t bits = kc__bits_of((double)(int64_t)sig) + ((uint64_t)(int64_t)exp << 52);
    return kc_encode(p->f, kc__double_of(bits | (uint64_t)negative << 63), &nearest);
  }
  kc_parts parts = {.cls = sig == 0 ? KC_PZERO : negative ? KC_NFIN : KC_PFIN, .sig = sig, .exp = exp};
  return kc_encode_parts(p->f, parts, &nearest);
}

static uint64_t encode_signed(const plan *p, __int128 value, int exp) {
  return encode(p, value < 0, value < 0 ? -(u128)value : (u128)value, exp);
}

/* ---- constant --------------------------------------------------------------------------------------------------- */

static kc_status constant_prepare(plan *p, kc_text *err) {
  kc_class c = kc_classify_double(p->d->a);
  bool exists = c == KC_NAN ? p->f->nan_rule != KC_NAN_NONE : c & (KC_NINF | KC_PINF) ? p->f->has_inf : in_range(p->f, p->d->a);
  if (!exists) return out_of_range(p, "constant", p->d->a, err);
  p->codes[0] = kc_encode(p->f, p->d->a, &nearest);
  if (c & (KC_NINF | KC_PINF)) p->codes[0] = (c == KC_NINF ? kc__sign_bit(p->f) : 0) | (p->f->max_code + 1);
  return KC_OK;
}

static bool constant_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)i, (void)word;
  *code = p->codes[0];
  return true;
}

/* ---- uniform ---------------------------------------------------------------------------------------------------- */

/* Smallest (up) or largest integer multiple of 2^exponent on the inner side of x, |x| < 2^(exponent + 63). */
static int64_t to_grid(double x, int exponent, bool up) {
  kc_parts parts = kc_parts_of_double(x);
  kc_encoding inward = {.rounding = up ? KC_RU : KC_RD};
  parts.exp -= exponent;
  return (int64_t)kc_encode_parts(kc_format_find("i64"), parts, &inward);
}

static kc_status uniform_prepare(plan *p, kc_text *err) {
  double a = p->d->a, b = p->d->b;
  if (!in_range(p->f, a)) return out_of_range(p, "uniform: lower bound", a, err);
  if (!in_range(p->f, b)) return out_of_range(p, "uniform: upper bound", b, err);
  if (order(a) >= order(b)) return kc_fail(err, KC_EINVAL, "uniform: expected a < b, got %g and %g", a, b);
  /* A grid of 62 bits below the larger bound; the bounds are rounded inward, which is exact unless they are very unlike. */
  kc_parts low = kc_parts_of_double(a), high = kc_parts_of_double(b);
  int top_low = low.sig ? low.exp + kc__log2_u128(low.sig) : -2000,
      top_high = high.sig ? high.exp + kc__log2_u128(high.sig) : -2000;
  p->exponent = (top_low > top_high ? top_low : top_high) - 61;
  int64_t first = to_grid(a, p->exponent, true), end = to_grid(b, p->exponent, false);
  p->origin = (__int128)first * ((__int128)1 << 64);
  p->range = (uint64_t)end - (uint64_t)first;
  return KC_OK;
}

static bool uniform_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)i;
  *code = encode_signed(p, p->origin + (__int128)(p->range * word), p->exponent - 64);
  return true;
}

/* ---- normal ----------------------------------------------------------------------------------------------------- */

static kc_status normal_prepare(plan *p, kc_text *err) {
  kc_parts b = kc_parts_of_double(p->d->b);
  bool power = b.cls == KC_PFIN && (b.sig & (b.sig - 1)) == 0;
  if (order(p->d->a) != 0 || !power)
    return kc_fail(err, KC_EINVAL, "normal: expected mean 0 and a power of two as standard deviation, got %g and %g", p->d->a,
                   p->d->b);
  if (!p->f->has_sign || !in_range(p->f, p->d->b)) return out_of_range(p, "normal: standard deviation", p->d->b, err);
  p->exponent = b.exp + kc__log2_u128(b.sig) - KC_NORMAL_UNIT;
  return KC_OK;
}

/* Inversion of the tail probability p = 2^-(k+2) (1 + (cell + t / 2^32) / 16): the word gives sign, octave k, cell and position. */
static bool normal_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)i;
  uint64_t v = word << 1 | 1;
  int k = __builtin_clzll(v);
  uint64_t m = v << k << 1, t = m << 4 >> 32;
  const int64_t *c = kc__normal_table[k * 16 + (int)(m >> 60)];
  __int128 z = c[5];
  for (int j = 4; j >= 0; j--) z = (z * (__int128)t >> 32) + c[j];
  *code = encode(p, word >> 63, z < 0 ? 0 : (u128)z, p->exponent);
  return true;
}

/* ---- log-uniform ------------------------------------------------------------------------------------------------ */

static kc_status log_uniform_prepare(plan *p, kc_text *err) {
  double a = p->d->a, b = p->d->b;
  if (!is_integer(a) || !is_integer(b) || order(a) >= order(b))
    return kc_fail(err, KC_EINVAL, "log_uniform: expected integer exponents a < b, got %g and %g", a, b);
  if (order(a) < order((double)(p->f->emin - p->f->frac_bits)))
    return out_of_range(p, "log_uniform: smallest exponent", a, err);
  if (order(b) > order((double)(p->f->emax + 1))) return out_of_range(p, "log_uniform: largest exponent", b, err);
  if (order(p->d->c) == 0 && !p->f->has_sign)
    return kc_fail(err, KC_EINVAL, "log_uniform: format %s has no negative numbers, ask for positive ones", p->f->name);
  p->exponent = (int)a;
  p->range = (u128)((int64_t)b - (int64_t)a);
  return KC_OK;
}

static bool log_uniform_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)i;
  u128 product = p->range * (word << 1); /* high part: the octave; low part: the place in it */
  bool negative = word >> 63 && order(p->d->c) == 0;
  *code = encode(p, negative, (u128)1 << 64 | (uint64_t)product, p->exponent + (int)(product >> 64) - 64);
  return true;
}

/* ---- integers --------------------------------------------------------------------------------------------------- */

static kc_status integers_prepare(plan *p, kc_text *err) {
  double a = p->d->a, b = p->d->b;
  if (!is_integer(a) || !is_integer(b) || order(a) > order(b))
    return kc_fail(err, KC_EINVAL, "integers: expected integers a <= b up to 2^53, got %g and %g", a, b);
  if (!in_range(p->f, a)) return out_of_range(p, "integers: lower bound", a, err);
  if (!in_range(p->f, b)) return out_of_range(p, "integers: upper bound", b, err);
  if (!is_integer(p->d->c) || order(p->d->c) < 0)
    return kc_fail(err, KC_EINVAL, "integers: expected a step that is an integer >= 0, got %g", p->d->c);
  p->origin = (int64_t)a;
  p->step = p->d->c == 0 ? 1 : (int64_t)p->d->c;
  p->range = (u128)(((int64_t)b - (int64_t)a) / p->step) + 1;
  return KC_OK;
}

static bool integers_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)i;
  *code = encode_signed(p, p->origin + p->step * (__int128)kc__random_below(word, p->range), 0);
  return true;
}

/* ---- codes ------------------------------------------------------------------------------------------------------ */

static kc_status bits_prepare(plan *p, kc_text *err) {
  (void)err;
  p->range = (u128)1 << p->f->bits;
  return KC_OK;
}

static kc_status finite_bits_prepare(plan *p, kc_text *err) {
  if (p->f->kind != KC_FLOAT) return bits_prepare(p, err);
  p->range = (u128)p->f->max_code + 1;
  if (p->f->has_sign) p->range += p->f->max_code + p->f->has_signed_zero;
  return KC_OK;
}

/* Outcomes 0..max_code are codes; those above follow with the sign bit, from -0 on where it exists. */
static bool finite_bits_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)i;
  uint64_t outcome = kc__random_below(word, p->range), max = p->f->max_code;
  *code = p->f->kind != KC_FLOAT || outcome <= max ? outcome : kc__sign_bit(p->f) | (outcome - max - p->f->has_signed_zero);
  return true;
}

static bool bits_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)i;
  *code = kc__random_below(word, p->range);
  return true;
}

static kc_status subnormal_prepare(plan *p, kc_text *err) {
  if (p->f->frac_bits == 0) return kc_fail(err, KC_EINVAL, "subnormal: format %s has no subnormal numbers", p->f->name);
  p->range = kc__mask(p->f->frac_bits);
  return KC_OK;
}

static bool subnormal_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)i;
  *code = (word >> 63 ? kc__sign_bit(p->f) : 0) | (1 + kc__random_below(word << 1, p->range));
  return true;
}

static kc_status exhaustive_prepare(plan *p, kc_text *err) {
  if (!is_integer(p->d->a)) return kc_fail(err, KC_EINVAL, "exhaustive: expected an integer as first code, got %g", p->d->a);
  p->origin = (int64_t)p->d->a;
  return KC_OK;
}

static bool exhaustive_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)word;
  *code = ((uint64_t)p->origin + i) & kc__mask(p->f->bits);
  return true;
}

/* ---- stratified --------------------------------------------------------------------------------------------------- */

/* Exponents that the format has, counted from that of its subnormals; those outside are left out. */
static kc_status stratified_prepare(plan *p, kc_text *err) {
  const kc_format *f = p->f;
  if (f->kind != KC_FLOAT) return kc_fail(err, KC_EINVAL, "stratified: expected a float format, got %s", f->name);
  if (!is_integer(p->d->a) || !is_integer(p->d->b) || order(p->d->a) > order(p->d->b))
    return kc_fail(err, KC_EINVAL, "stratified: expected integer exponents a <= b, got %g and %g", p->d->a, p->d->b);
  int64_t lowest = f->frac_bits > 0 && f->has_zero ? f->emin - 1 : f->emin, low = (int64_t)p->d->a, high = (int64_t)p->d->b;
  low = low < lowest ? lowest : low;
  high = high > f->emax ? f->emax : high;
  if (low > high)
    return kc_fail(err, KC_EINVAL, "stratified: format %s has no exponents from %g to %g", f->name, p->d->a, p->d->b);
  p->origin = low - lowest;
  p->range = (u128)(high - low + 1);
  return KC_OK;
}

/* The code's exponent field is given by the element, so that every exponent gets its share whatever the number of elements. */
static bool stratified_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  uint64_t strata = (uint64_t)p->range * (p->f->has_sign ? 2 : 1), stratum = i % strata;
  uint64_t base = ((uint64_t)p->origin + stratum % (uint64_t)p->range) << p->f->frac_bits;
  uint64_t room = kc__mask(p->f->frac_bits) + 1, left = p->f->max_code - base + 1; /* the last exponent may end early */
  *code = base + kc__random_below(word, room < left ? room : left);
  if (stratum >= (uint64_t)p->range && (*code || p->f->has_signed_zero)) *code |= kc__sign_bit(p->f);
  return true;
}

/* ---- exceptional ------------------------------------------------------------------------------------------------ */

/* The exceptional codes that the format has. */
static void list_exceptional(plan *p) {
  const kc_format *f = p->f;
  uint64_t sign = kc__sign_bit(f);
  double nan = kc__double_of(UINT64_C(0x7ff8) << 48);
  if (f->nan_rule != KC_NAN_NONE) p->codes[p->codes_n++] = kc_encode(f, nan, &nearest);
  if (f->has_inf) p->codes[p->codes_n++] = f->max_code + 1;
  if (f->has_inf) p->codes[p->codes_n++] = sign | (f->max_code + 1);
  if (f->has_zero) p->codes[p->codes_n++] = 0;
  if (f->has_signed_zero) p->codes[p->codes_n++] = sign;
  p->codes[p->codes_n++] = f->has_zero; /* the smallest positive number */
  p->codes[p->codes_n++] = f->max_code;
}

static kc_status exceptional_prepare(plan *p, kc_text *err) {
  double a = p->d->a;
  if (!is_finite(a) || order(a) < 0 || order(a) > order(1.0))
    return kc_fail(err, KC_EINVAL, "exceptional: expected a probability in 0..1, got %g", a);
  kc_parts share = kc_parts_of_double(a); /* counted in units of 2^-64, rounded down */
  int shift = share.exp + 64;
  p->range = shift >= 0 ? share.sig << shift : shift > -64 ? share.sig >> -shift : 0;
  list_exceptional(p);
  return KC_OK;
}

/* A word below the threshold also says which one: its place among those below. */
static bool exceptional_draw(const plan *p, uint64_t i, uint64_t word, uint64_t *code) {
  (void)i;
  if (word >= p->range) return false;
  *code = p->codes[(int)((u128)word * (unsigned)p->codes_n / p->range)];
  return true;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static const struct {
  kc_status (*prepare)(plan *p, kc_text *err);
  bool (*draw)(const plan *p, uint64_t i, uint64_t word, uint64_t *code); /* false: leave the element */
} kinds[] = {
    [KC_DIST_CONSTANT] = {constant_prepare, constant_draw},
    [KC_DIST_UNIFORM] = {uniform_prepare, uniform_draw},
    [KC_DIST_NORMAL] = {normal_prepare, normal_draw},
    [KC_DIST_LOG_UNIFORM] = {log_uniform_prepare, log_uniform_draw},
    [KC_DIST_INTEGERS] = {integers_prepare, integers_draw},
    [KC_DIST_BITS] = {bits_prepare, bits_draw},
    [KC_DIST_FINITE_BITS] = {finite_bits_prepare, finite_bits_draw},
    [KC_DIST_SUBNORMAL] = {subnormal_prepare, subnormal_draw},
    [KC_DIST_EXHAUSTIVE] = {exhaustive_prepare, exhaustive_draw},
    [KC_DIST_EXCEPTIONAL] = {exceptional_prepare, exceptional_draw},
    [KC_DIST_STRATIFIED] = {stratified_prepare, stratified_draw},
};

kc_status kc_fill(const kc_format *f, void *out, size_t n, uint64_t first, uint64_t key, const kc_dist *d, kc_text *err) {
  if (d->kind >= sizeof kinds / sizeof *kinds) return kc_fail(err, KC_EINVAL, "unknown distribution %d", d->kind);
  plan p = {.f = f, .d = d};
  kc_status status = kinds[d->kind].prepare(&p, err);
  if (status != KC_OK) return status;
  uint64_t words[2], code;
  for (size_t i = 0; i < n; i++) {
    uint64_t index = first + i;
    if (i == 0 || index % 2 == 0) kc__random_block(words, key, index / 2);
    if (kinds[d->kind].draw(&p, index, words[index % 2], &code)) kc_store(f, out, i, code);
  }
  return KC_OK;
}
