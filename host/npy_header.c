/* npy_header.c - a strict parser of the one Python dictionary that a .npy header is, and its writer.
 *
 * Source: NumPy's numpy/lib/format.py documentation ("A simple format for saving numpy arrays"). Nothing is evaluated.
 */
#include "npy_header.h"

#include <stdio.h>
#include <string.h>

typedef struct text {
  const char *begin, *at, *end;
} text;

static void skip_space(text *t) {
  while (t->at < t->end && (*t->at == ' ' || *t->at == '\t' || *t->at == '\n' || *t->at == '\r')) t->at++;
}

/* Is the next token this character? Then it is taken. */
static bool take(text *t, char c) {
  skip_space(t);
  if (t->at == t->end || *t->at != c) return false;
  t->at++;
  return true;
}

static bool take_word(text *t, const char *word) {
  size_t n = strlen(word);
  skip_space(t);
  if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0) return false;
  t->at += n;
  return true;
}

/* What stands where the parser stopped, printable and short. */
static const char *here(const text *t, char shown[24]) {
  if (t->at == t->end) return "its end";
  int n = 0;
  shown[n++] = '\'';
  for (const char *p = t->at; p < t->end && n < 17; p++) shown[n++] = *p >= ' ' && *p <= '~' ? *p : '?';
  shown[n++] = '\'';
  shown[n] = 0;
  return shown;
}

static kc_status expected(const text *t, const char *what, kc_text *err) {
  char shown[24];
  return kc_fail(err, KC_EIO, "header, byte %td: expected %s, got %s", t->at - t->begin, what, here(t, shown));
}

/* A string literal without escapes, in either kind of quotes. */
static kc_status parse_string(text *t, const char **s, size_t *n, kc_text *err) {
  skip_space(t);
  if (t->at == t->end || (*t->at != '\'' && *t->at != '"')) return expected(t, "a quoted string", err);
  const char *from = t->at + 1, *to = from;
  while (to < t->end && *to != *t->at && *to != '\\' && *to != '\n') to++;
  if (to == t->end || *to != *t->at) return expected(t, "a quoted string without escapes", err);
  *s = from;
  *n = (size_t)(to - from);
  t->at = to + 1;
  return KC_OK;
}

static kc_status parse_dimension(text *t, int64_t *out, kc_text *err) {
  skip_space(t);
  const char *start = t->at;
  int64_t n = 0;
  bool fits = true;
  if (t->at < t->end && *t->at == '-') return expected(t, "a dimension >= 0", err);
  for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
    fits = fits && !__builtin_mul_overflow(n, 10, &n) && !__builtin_add_overflow(n, *t->at - '0', &n);
  bool any = t->at > start;
  if (any && fits && t->at < t->end && *t->at == 'L') t->at++; /* Python 2 wrote long integers so */
  *out = n;
  if (any && fits) return KC_OK;
  t->at = start;
  return expected(t, any ? "a dimension that fits 63 bits" : "a dimension", err);
}

/* A tuple: (), (3,), (3, 4), (3, 4,); (3) is none. */
static kc_status parse_shape(text *t, kc_npy_info *out, kc_text *err) {
  if (!take(t, '(')) return expected(t, "a shape in parentheses", err);
  bool comma = false;
  while (!take(t, ')')) {
    if (out->rank > 0 && !comma) return expected(t, "',' or ')' in the shape", err);
    if (out->rank == KC_MAX_RANK) return kc_fail(err, KC_EUNSUPPORTED, "a shape of more than %d dimensions", KC_MAX_RANK);
    kc_status status = parse_dimension(t, &out->shape[out->rank], err);
    if (status != KC_OK) return status;
    out->rank++;
    comma = take(t, ',');
  }
  return out->rank == 1 && !comma ? expected(t, "a tuple: one dimension is written (N,)", err) : KC_OK;
}

/* ---- element types -------------------------------------------------------------------------------------------------- */

static const struct {
  const char *descr, *format; /* format NULL: raw bytes, format "": refused */
  uint8_t size;
} types[] = {
    {"f2", "f16", 2}, {"f4", "f32", 4}, {"f8", "f64", 8}, {"i1", "i8", 1},  {"i2", "i16", 2}, {"i4", "i32", 4},
    {"i8", "i64", 8}, {"u1", "u8", 1},  {"u2", "u16", 2}, {"u4", "u32", 4}, {"u8", "u64", 8}, {"b1", "u8", 1},
    {"V1", NULL, 1},  {"V2", NULL, 2},  {"V4", NULL, 4},  {"V8", NULL, 8},  {"f1", NULL, 1}, /* how 8-bit floats of ml_dtypes are saved */
};

/* What NumPy's other kinds are, for the refusal. */
static const char *kind_name(char kind) {
  switch (kind) {
  case 'O':
    return "Python objects";
  case 'c':
    return "complex numbers";
  case 'S':
  case 'a':
    return "byte strings";
  case 'U':
    return "strings";
  case 'M':
  case 'm':
    return "dates";
  case 'f':
    return "floats of this size";
  case 'V':
    return "raw bytes of this size";
  default:
    return "elements of this type";
  }
}

static kc_status parse_descr(text *t, kc_npy_info *out, kc_text *err) {
  const char *s;
  size_t n;
  skip_space(t);
  if (t->at < t->end && *t->at == '[')
    return kc_fail(err, KC_EUNSUPPORTED, "structured elements; expected one number per element");
  kc_status status = parse_string(t, &s, &n, err);
  if (status != KC_OK) return status;
  bool order = n > 0 && strchr("<>|=", *s);
  for (size_t i = 0; order && i < sizeof types / sizeof *types; i++) {
    bool found = strlen(types[i].descr) == n - 1 && memcmp(types[i].descr, s + 1, n - 1) == 0;
    if (!found || (*s == '|' && types[i].size > 1 && types[i].format)) continue;
    *out = (kc_npy_info){.format = kc_format_find(types[i].format), .itemsize = types[i].size, .swapped = *s == '>'};
    return KC_OK;
  }
  char kind = n > (size_t)order ? s[order] : 0;
  return kc_fail(err, KC_EUNSUPPORTED,
                 "element type '%.*s': %s are not supported; expected f2 f4 f8 i1..i8 u1..u8 b1 or V1..V8",
                 n < 40 ? (int)n : 40, s, kind_name(kind));
}

/* ---- the dictionary -------------------------------------------------------------------------------------------------- */

enum { DESCR = 1, ORDER = 2, SHAPE = 4 };

static kc_status parse_order(text *t, bool *fortran, kc_text *err) {
  *fortran = take_word(t, "True");
  return *fortran || take_word(t, "False") ? KC_OK : expected(t, "True or False", err);
}

static int key_of(const char *s, size_t n) {
  static const char *const keys[] = {"descr", "fortran_order", "shape"};
  for (int i = 0; i < 3; i++)
    if (strlen(keys[i]) == n && memcmp(keys[i], s, n) == 0) return 1 << i;
  return 0;
}

typedef struct fields {
  kc_npy_info descr, shape;
  bool fortran;
  int seen;
} fields;

static kc_status parse_item(text *t, fields *f, kc_text *err) {
  const char *s;
  size_t n;
  text key_at = *t;
  kc_status status = parse_string(t, &s, &n, err);
  if (status != KC_OK) return status;
  int key = key_of(s, n);
  skip_space(&key_at);
  if (!key || f->seen & key) return expected(&key_at, "each of 'descr', 'fortran_order' and 'shape' once", err);
  f->seen |= key;
  if (!take(t, ':')) return expected(t, "':'", err);
  return key == DESCR   ? parse_descr(t, &f->descr, err)
         : key == ORDER ? parse_order(t, &f->fortran, err)
                        : parse_shape(t, &f->shape, err);
}

kc_status kc__npy_count(kc_npy_info *out, kc_text *err) {
  out->count = 1;
  for (int i = 0; i < out->rank; i++)
    if (out->shape[i] == 0) out->count = 0; /* wins over an overflow of the other dimensions */
  for (int i = 0; out->count && i < out->rank; i++)
    if (__builtin_mul_overflow(out->count, out->shape[i], &out->count))
      return kc_fail(err, KC_EIO, "header: the product of the %d dimensions overflows", out->rank);
  int64_t bytes;
  if (__builtin_mul_overflow(out->count, out->itemsize, &bytes))
    return kc_fail(err, KC_EIO, "header: the shape needs more than 2^63 bytes");
  return KC_OK;
}

kc_status kc__npy_parse(kc_npy_info *out, const char *begin, size_t n, kc_text *err) {
  text t = {begin, begin, begin + n};
  fields f = {.seen = 0};
  if (!take(&t, '{')) return expected(&t, "a dictionary in braces", err);
  bool comma = true;
  while (!take(&t, '}')) {
    if (!comma) return expected(&t, "',' or '}'", err);
    kc_status status = parse_item(&t, &f, err);
    if (status != KC_OK) return status;
    comma = take(&t, ',');
  }
  if (f.seen != (DESCR | ORDER | SHAPE)) {
    t.at = t.begin;
    return expected(&t, "the keys 'descr', 'fortran_order' and 'shape'", err);
  }
  skip_space(&t);
  if (t.at != t.end) return expected(&t, "nothing after the dictionary", err);
  *out = f.shape;
  out->format = f.descr.format;
  out->itemsize = f.descr.itemsize;
  out->swapped = f.descr.swapped;
  out->fortran = f.fortran;
  return kc__npy_count(out, err);
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

bool kc__npy_lacks(const kc_format *f) {
  return f->kind == KC_FLOAT && (f->bits != 8 * f->storage || f->storage == 1 || strcmp(f->name, "bf16") == 0);
}

static char letter(const kc_format *f) {
  if (f->kind == KC_FLOAT) return kc__npy_lacks(f) ? 'u' : 'f';
  return f->kind == KC_INT ? 'i' : 'u';
}

size_t kc__npy_compose(char out[512], const kc_format *f, int rank, const int64_t *shape) {
  enum { PREFIX = KC__NPY_MAGIC + 2, ALIGNMENT = 64 };
  char *dictionary = out + PREFIX;
  size_t room = 512 - PREFIX;
  int n = snprintf(dictionary, room, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", f->storage > 1 ? '<' : '|',
                   letter(f), f->storage);
  for (int i = 0; i < rank; i++)
    n += snprintf(dictionary + n, room - (size_t)n, i == 0 ? "%lld%s" : " %lld%s", (long long)shape[i],
                  i + 1 < rank || rank == 1 ? "," : "");
  n += snprintf(dictionary + n, room - (size_t)n, "), }");
  size_t total = (PREFIX + (size_t)n + ALIGNMENT) / ALIGNMENT * ALIGNMENT; /* room for a line break at least */
  memset(dictionary + n, ' ', total - PREFIX - (size_t)n);
  out[total - 1] = '\n';
  memcpy(out, "\x93NUMPY\x01", KC__NPY_MAGIC);
  out[KC__NPY_MAGIC] = (char)((total - PREFIX) & 0xff);
  out[KC__NPY_MAGIC + 1] = (char)((total - PREFIX) >> 8);
  return total;
}
