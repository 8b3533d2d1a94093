/* kc.h - the public C API of numbers, buffers, metrics, oracles and decisions.
 *
 * Conventions: a function that can fail returns kc_status and writes its result through the first parameter; inputs are
 * const; `err` (may be NULL) receives one line of text that names what was wrong, where, and what was expected. Nothing
 * here exits, prints or keeps mutable statics. Objects are not locked: one thread per object.
 */
#ifndef KC_H
#define KC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KC_API __attribute__((visibility("default")))
#define KC_MUST_CHECK __attribute__((warn_unused_result))

/* ---- status ---------------------------------------------------------------------------------------------------- */

/** Outcome of a call that can fail; negative values are failures. */
typedef enum kc_status {
  KC_OK = 0,
  KC_EINVAL = -1,       /* an argument is out of its domain (misuse) */
  KC_ENOMEM = -2,       /* memory of the host or of the device is exhausted */
  KC_EIO = -3,          /* the operating system refused: file, memfd, mapping */
  KC_ENODEV = -4,       /* no such device, or its driver is absent */
  KC_EBUILD = -5,       /* a kernel did not compile or load; the log says why */
  KC_ELAUNCH = -6,      /* a launch failed or was refused by the driver */
  KC_EUNSUPPORTED = -7, /* the driver or format cannot do this */
  KC_EFAULT = -8,       /* the device stopped a kernel for what it did: an illegal address, a trap */
  KC_EINTERNAL = -9,    /* a broken invariant of kc itself */
  KC_ECANCELLED = -10   /* a callback of the caller's asked to stop */
} kc_status;

/** One line of error text, owned by the caller. */
typedef struct kc_text {
  char s[512];
} kc_text;

/** Short stable name of a status, e.g. "invalid", "no-memory"; used as third return value in Lua. */
KC_API const char *kc_status_name(kc_status status);
/** Formats `err` (ignored when NULL, truncated to its size) and returns `status`, so that callers write
 * `return kc_fail(err, KC_EINVAL, "...")`. */
KC_API kc_status kc_fail(kc_text *err, kc_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- formats ---------------------------------------------------------------------------------------------------- */

typedef enum kc_kind { KC_FLOAT, KC_INT, KC_UINT } kc_kind;

/** Where a format keeps its NaNs (silicon: OCP 8-bit formats, FNUZ, MX). */
typedef enum kc_nan_rule {
  KC_NAN_NONE,     /* no NaN: integers, e3m2, e2m3, e2m1 */
  KC_NAN_IEEE,     /* exponent all ones, fraction not zero */
  KC_NAN_ALL_ONES, /* exponent and fraction all ones: e4m3fn, e8m0 */
  KC_NAN_NEG_ZERO  /* the code of -0: FNUZ formats */
} kc_nan_rule;

/** A number format as data. A *code* is the value's bits, right-aligned in a uint64_t (tf32: 19 bits, hf32: 20); in
 * memory a code occupies `storage` bytes, shifted left by `shift` (tf32 13, hf32 12, else 0). Formats narrower than a
 * byte occupy one byte each. */
typedef struct kc_format {
  const char *name;
  uint8_t kind;      /* kc_kind */
  uint8_t bits;      /* width of a code */
  uint8_t storage;   /* bytes in memory: 1, 2, 4, 8 */
  uint8_t shift;     /* code << shift == word in memory */
  uint8_t exp_bits;  /* 0 for integers */
  uint8_t frac_bits; /* stored fraction bits */
  int16_t bias;
  uint8_t nan_rule;     /* kc_nan_rule */
  bool has_sign;        /* e8m0 and unsigned integers have none */
  bool has_inf;         /* exponent all ones, fraction zero */
  bool has_signed_zero; /* FNUZ and integers have only +0 */
  bool has_zero;        /* e8m0 has none */
  int16_t emin, emax;   /* exponents of the smallest normal and of the largest finite number */
  uint64_t max_code;    /* code of the largest finite number */
} kc_format;

/** The format called `name`, or NULL. Names: f64 f32 tf32 hf32 bf16 f16 e4m3fn e4m3fnuz e5m2 e5m2fnuz e3m2 e2m3 e2m1 e8m0
 * i8 i16 i32 i64 u8 u16 u32 u64. */
KC_API const kc_format *kc_format_find(const char *name);
/** The i-th format of the table, NULL past the end; for listing. */
KC_API const kc_format *kc_format_at(size_t i);

typedef enum kc_rounding {
  KC_RNE, /* to nearest, ties to even */
  KC_RZ,  /* towards zero */
  KC_RU,  /* towards +infinity */
  KC_RD,  /* towards -infinity */
  KC_RNA, /* to nearest, ties away from zero */
  KC_SR   /* stochastic: up in magnitude iff discarded fraction (in units of the last place) + random / 2^random_bits >= 1 */
} kc_rounding;

/** How to convert into a format; every field is explicit. */
typedef struct kc_encoding {
  uint8_t rounding;    /* kc_rounding */
  bool saturate;       /* finite overflow and infinity give the largest finite number instead of inf / NaN */
  bool flush;          /* a subnormal result becomes zero of its sign */
  uint8_t random_bits; /* KC_SR: 1..64 */
  uint64_t random;     /* KC_SR: the random bits, right-aligned */
} kc_encoding;

/** Classes of a value; a set of classes is an OR of these. */
typedef enum kc_class {
  KC_NAN = 1,
  KC_NINF = 2,
  KC_NFIN = 4, /* negative finite, not zero */
  KC_NZERO = 8,
  KC_PZERO = 16,
  KC_PFIN = 32,
  KC_PINF = 64,
  KC_ANYTHING = 128 /* only in the classes of an enclosure: the policy leaves the element free */
} kc_class;

/** Class of a code. */
KC_API kc_class kc_classify(const kc_format *f, uint64_t code);
/** Class of a double. */
KC_API kc_class kc_classify_double(double x);
/** Name of one class: "nan" "-inf" "-finite" "-0" "+0" "+finite" "+inf". */
KC_API const char *kc_class_name(kc_class c);

/** 128 bits; an extension of the compilers that build kc. */
__extension__ typedef unsigned __int128 kc_u128;

/** A finite or special value taken apart: class, and for finite non-zero values |x| = sig * 2^exp with sig != 0;
 * `sticky` says that a non-zero remainder smaller than one unit of sig was cut off (sig must then have at least two bits more
 * than the format's significand, for SR also random_bits more). Every conversion, from a double or from an MPFR number, goes
 * through this one struct, so that it rounds once. */
typedef struct kc_parts {
  kc_class cls;
  bool sticky;
  int32_t exp;
  kc_u128 sig;
} kc_parts;

/** Takes a double apart, exactly. */
KC_API kc_parts kc_parts_of_double(double x);
/** Takes a code apart, exactly (integers too). */
KC_API kc_parts kc_parts_of_code(const kc_format *f, uint64_t code);
/** Rounds once into the format and returns the code. NaN becomes the format's quiet NaN (positive where it has a sign);
 * where a format lacks what the value needs: NaN in a format without NaN gives +0 for integers and the largest finite
 * number for fp6 / fp4 (documented, never silent in Lua, which raises); infinity saturates where the format has neither
 * infinity nor NaN. Integers: round by the mode, then clamp when `saturate`, else wrap modulo 2^bits. */
KC_API uint64_t kc_encode_parts(const kc_format *f, kc_parts p, const kc_encoding *e);
/** kc_encode_parts of a double. */
KC_API uint64_t kc_encode(const kc_format *f, double x, const kc_encoding *e);
/** The exact value of a code as a double (f64 and narrower; 64-bit integers beyond 2^53 are rounded to nearest). */
KC_API double kc_decode(const kc_format *f, uint64_t code);
/** Reads element i of an array in memory layout. */
KC_API uint64_t kc_load(const kc_format *f, const void *array, size_t i);
/** Writes element i of an array in memory layout. */
KC_API void kc_store(const kc_format *f, void *array, size_t i, uint64_t code);
/** Decodes n elements in memory layout into doubles. */
KC_API void kc_decode_array(const kc_format *f, double *out, const void *in, size_t n);
/** Encodes n doubles into memory layout. */
KC_API void kc_encode_array(const kc_format *f, void *out, const double *in, size_t n, const kc_encoding *e);

/** The largest power of two of which every element of an array is a multiple: writes its exponent. False when an element is not finite
 * or all are zero. Sums of multiples of q are exact in every order while they stay below 2^p q. */
KC_API bool kc_quantum(const kc_format *f, const void *array, size_t n, int *exponent);

/** Replaces finite elements below the code `lo` by it, and above `hi` by that; infinities and NaN stay. */
KC_API void kc_clamp_array(const kc_format *f, void *array, size_t n, uint64_t lo, uint64_t hi);

/** Position of a finite or infinite code on the line of the format's values: strictly increasing, -0 and +0 both 0 (u64, whose
 * codes exceed int64_t: code - 2^63). A NaN's position means nothing. */
KC_API int64_t kc_ordered(const kc_format *f, uint64_t code);
/** The inverse of kc_ordered: writes the code at a position (+0 at 0); false where the format has no number there. */
KC_API bool kc_code_at(const kc_format *f, int64_t ordered, uint64_t *code);
/** Spacing of the format's numbers at |x|: the distance between the two consecutive finite numbers that enclose |x|
 * (2^(e - frac_bits) with e = floor(log2 |x|) clamped to [emin, emax]); never below the subnormal spacing. At a power of two,
 * the larger one (above). Integers: 1. Source: Muller, "On the definition of ulp(x)", INRIA RR-5504, 2005. */
KC_API double kc_ulp_at(const kc_format *f, double x);
/** Unit roundoff 2^-(frac_bits + 1) under rounding to nearest. */
KC_API double kc_unit_roundoff(const kc_format *f);

/* ---- random numbers --------------------------------------------------------------------------------------------- */

/** Philox4x32-10. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011. */
KC_API void kc_philox4x32(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

typedef enum kc_dist_kind {
  KC_DIST_CONSTANT,    /* a */
  KC_DIST_UNIFORM,     /* [a, b), rounded into the format */
  KC_DIST_NORMAL,      /* mean a, standard deviation b: a must be 0 and b a power of two, so that integers suffice */
  KC_DIST_LOG_UNIFORM, /* |x| in [2^a, 2^b): integer exponent, uniform significand; c: 0 both signs, 1 positive */
  KC_DIST_INTEGERS,    /* uniform among the integers a, a + c, a + 2 c ... up to b; c 0 counts as 1 */
  KC_DIST_BITS,        /* every code equally likely, exceptional ones included */
  KC_DIST_FINITE_BITS, /* every finite code equally likely */
  KC_DIST_SUBNORMAL,   /* every subnormal code equally likely, both signs */
  KC_DIST_EXHAUSTIVE,  /* element i is code (a + i) modulo 2^bits: all codes of a 16-bit format in 65536 elements */
  KC_DIST_EXCEPTIONAL, /* element i, with probability a, one of NaN +inf -inf +0 -0 smallest / largest finite; else untouched */
  KC_DIST_STRATIFIED /* exponents a..b in turn, in each both signs, the significand at random; below the normal ones: subnormals */
} kc_dist_kind;

/** A distribution: kind and parameters as above. */
typedef struct kc_dist {
  uint8_t kind; /* kc_dist_kind */
  double a, b, c;
} kc_dist;

/** Fills n elements in memory layout; element i depends only on (key, first + i, distribution, format): the same bits on
 * every machine and under every rounding mode. Fails with KC_EINVAL when the parameters do not fit the format. */
KC_API KC_MUST_CHECK kc_status kc_fill(const kc_format *f, void *out, size_t n, uint64_t first, uint64_t key, const kc_dist *d,
                                       kc_text *err);
/** Fills x and y (n elements each) so that the dot product x.y has condition number 2 sum|x_i y_i| / |x.y| near `condition`:
 * within a factor of about ten where n is at least 64 and the condition at least 100; a few terms of a narrow format cannot
 * cancel more than their significands hold. Fails with KC_EINVAL when the exponents do not fit the format.
 * Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005), algorithm 6.1. */
KC_API KC_MUST_CHECK kc_status kc_fill_dot(const kc_format *f, void *x, void *y, size_t n, uint64_t key, double condition,
                                           kc_text *err);

/* ---- floating-point environment ---------------------------------------------------------------------------------- */

/** State that changes what arithmetic means: MXCSR control bits and x87 control word (0 where the CPU has none). */
typedef struct kc_fpstate {
  uint32_t mxcsr; /* control bits only: the sticky exception flags are masked off */
  uint16_t x87;
} kc_fpstate;

/** The state kc demands: round to nearest, denormals kept, exceptions masked, x87 in extended precision. */
KC_API kc_fpstate kc_fpstate_default(void);
/** Reads the calling thread's state. */
KC_API kc_fpstate kc_fpstate_get(void);
/** Sets the calling thread's state and clears the sticky flags. */
KC_API void kc_fpstate_set(kc_fpstate s);
/** One line naming what differs, e.g. "FTZ on, rounding towards zero"; empty when equal. */
KC_API void kc_fpstate_describe(kc_text *out, kc_fpstate want, kc_fpstate got);

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

#define KC_MAX_RANK 8

/** Refcounted host memory in a memfd: guard | data | guard. The guards hold position-dependent canaries, the data poison
 * until it is written. A runner maps the same memfd, so inputs and outputs cross without a copy. */
typedef struct kc_buffer kc_buffer;

/** Creates a buffer of `shape` (rank 0..KC_MAX_RANK, dimensions >= 0) with `guard` bytes on each side (rounded up to a page),
 * paints guards and poison. The caller owns one reference. */
KC_API KC_MUST_CHECK kc_status kc_buffer_create(kc_buffer **out, const kc_format *f, int rank, const int64_t *shape,
                                                size_t guard, kc_text *err);
/** Maps a buffer that another process created: takes ownership of `fd` on success; `writable` false maps it read-only.
 * Fails with KC_EIO when the file is smaller than the layout needs (a hostile peer must not cause SIGBUS: the size seal is
 * checked). */
KC_API KC_MUST_CHECK kc_status kc_buffer_attach(kc_buffer **out, int fd, const kc_format *f, int rank, const int64_t *shape,
                                                size_t guard, bool writable, kc_text *err);
/** Adds a reference; returns b. */
KC_API kc_buffer *kc_buffer_retain(kc_buffer *b);
/** Drops a reference; frees at zero. NULL is allowed. */
KC_API void kc_buffer_release(kc_buffer *b);
/** First data byte (not the guard). */
KC_API void *kc_buffer_data(kc_buffer *b);
/** First data byte, for reading. */
KC_API const void *kc_buffer_cdata(const kc_buffer *b);
KC_API const kc_format *kc_buffer_format(const kc_buffer *b);
KC_API int kc_buffer_rank(const kc_buffer *b);
KC_API const int64_t *kc_buffer_shape(const kc_buffer *b);
/** Number of elements: the product of the shape. */
KC_API int64_t kc_buffer_count(const kc_buffer *b);
/** Bytes of data, guards not counted. */
KC_API size_t kc_buffer_bytes(const kc_buffer *b);
/** Bytes of each guard. */
KC_API size_t kc_buffer_guard_bytes(const kc_buffer *b);
/** The memfd; stays owned by the buffer. */
KC_API int kc_buffer_fd(const kc_buffer *b);
KC_API bool kc_buffer_writable(const kc_buffer *b);
/** Seals the memfd against writing, growing and shrinking, and remaps it read-only here. Pointers taken before are invalid. */
KC_API KC_MUST_CHECK kc_status kc_buffer_seal(kc_buffer *b, kc_text *err);
/** Repaints guards, and the data with poison number `which` (0 or 1): the two differ in every element, so an element that
 * equals its poison under both was not written. Does nothing to a read-only buffer. */
KC_API void kc_buffer_poison(kc_buffer *b, int which);
/** Elements whose bytes still equal poison number `which`; `first` (may be NULL) receives the index of the first, or -1. */
KC_API int64_t kc_buffer_unwritten(const kc_buffer *b, int which, int64_t *first);

/** Elements of an integer buffer whose value is not in [lo, hi); `first` (may be NULL) receives the index of the first, or -1. */
KC_API int64_t kc_buffer_outside(const kc_buffer *b, int64_t lo, int64_t hi, int64_t *first);

/** Where in b's guards an element with this code would be read: its offset in elements from the first one (negative before, #elements and
 * more after); 0 where no aligned place of the guards holds it. Canaries tell their place, so this names a read outside. */
KC_API int64_t kc_buffer_guard_place(const kc_buffer *b, uint64_t code);

/** What guards() found. */
typedef struct kc_guard_report {
  bool damaged;
  bool after;              /* false: the guard before the data, true: the one after it */
  int64_t offset;          /* first damaged byte, relative to the first data byte (negative before it) */
  int64_t nearest;         /* damaged byte nearest to the data, same origin */
  int64_t count;           /* damaged bytes in both guards */
  uint8_t expected, found; /* at `nearest` */
} kc_guard_report;

/** Compares both guards with their canaries. */
KC_API void kc_buffer_guards(const kc_buffer *b, kc_guard_report *out);

/* ---- enclosures and tolerances: host/enclosure.h part of this API ------------------------------------------------- */

/** What an oracle knows of a tensor: per element the set of classes of the exact value and, when that value is finite,
 * bounds lo <= y* <= hi, with lo == hi only for exact values. Index outputs may carry `sets`: element i admits the indices
 * set_items[set_offsets[i] .. set_offsets[i+1]). */
typedef struct kc_enclosure {
  int64_t count;
  double *lo, *hi;
  uint8_t *classes;     /* OR of kc_class of the exact value, zeros with their sign */
  int64_t *set_offsets; /* NULL unless sets are given: count + 1 entries */
  int64_t *set_items;
} kc_enclosure;

/** Allocates lo, hi and classes (zeroed) for `count` elements. */
KC_API KC_MUST_CHECK kc_status kc_enclosure_create(kc_enclosure *e, int64_t count);
/** Frees what the enclosure holds and zeroes it; idempotent. */
KC_API void kc_enclosure_clear(kc_enclosure *e);

/** Two results of one format beside the exact values. */
typedef struct kc_nearness {
  int64_t different, payloads; /* elements with other bits; those of them that are NaN in both */
  int64_t nearer[3];           /* of the others: proven nearer the exact value is a, b, neither */
  int64_t first;               /* the first of these; -1: there is none */
} kc_nearness;

/** Compares a and b, element by element. A result between the bounds of the exact value is at least 0 and at most their width away;
 * where one has the exact value's class (NaN, an infinity, a number) and the other not, the former is nearer. KC_EINVAL unless formats
 * and counts agree. */
KC_API KC_MUST_CHECK kc_status kc_nearer(kc_nearness *out, const kc_buffer *a, const kc_buffer *b, const kc_enclosure *e,
                                         kc_text *err);

typedef enum kc_tol_kind {
  KC_TOL_EXACT, /* equal to the exact value */
  KC_TOL_ULP,   /* |y - y*| <= value * ulp(y*) of the output format */
  KC_TOL_ABS,   /* |y - y*| <= value */
  KC_TOL_REL,   /* |y - y*| <= value * |y*| */
  KC_TOL_GIVEN  /* |y - y*| <= allowed[i], computed upward by a derived formula */
} kc_tol_kind;

typedef enum kc_denormals {
  KC_DENORMALS_PRESERVE, /* subnormal results are kept */
  KC_DENORMALS_FLUSH,    /* subnormal results may become zero of their sign */
} kc_denormals;

/** A tolerance as the deciding core needs it. */
typedef struct kc_tolerance {
  uint8_t kind;      /* kc_tol_kind */
  uint8_t denormals; /* kc_denormals */
  bool either_zero;  /* a zero of either sign stands for a number that is near enough, not only one of that number's sign */
  double value;
  const double *allowed; /* KC_TOL_GIVEN: one per element; +inf where nothing is claimed: then every result is admissible */
  const double *scale;   /* NULL, or one per element: what errors are measured in, beside the tolerance */
} kc_tolerance;

typedef enum kc_truth { KC_NO = -1, KC_UNKNOWN = 0, KC_YES = 1 } kc_truth;

/** One element decided: class first, then value. */
typedef struct kc_element_decision {
  kc_truth cls;              /* is the output's class admissible */
  kc_truth value;            /* is the error within the tolerance; KC_YES for an admissible exceptional value */
  bool vacuous;              /* the tolerance would accept zero here although the exact value is not zero */
  double ratio_lo, ratio_hi; /* enclosure of error / allowed: 0 when exact, inf when allowed is 0 and the error is not */
  double error_lo, error_hi; /* enclosure of |y - y*| */
  double allowed;            /* the smallest that the tolerance can be here */
} kc_element_decision;

/** Refines element i: writes bounds of the exact value y* and, more tightly, of the signed difference y* - y (outward-rounded
 * doubles, so a tie can be settled although y* is not a double). `tier` counts up from 1. Returns KC_EUNSUPPORTED when there is
 * no further tier. */
typedef kc_status (*kc_refine_fn)(void *user, int64_t i, double y, int tier, double *lo, double *hi, double *dlo, double *dhi,
                                  uint8_t *classes);

/** Decides one element with code `code` of format f against bounds [lo, hi], classes, and [dlo, dhi] enclosing y* - y (for an
 * infinite output y is taken as +-2^(emax + 1), see kc_decision_anchor). Class before value:
 * - NaN and infinite exact values demand their class. Several kinds in `classes` (NaN, an infinity, finite) mean "not known
 *   which": yes needs all of them, no needs all of them. Two zeros mean that either sign is right.
 * - A zero is admissible for an exact zero of its sign, and for a finite exact value of its sign when the tolerance, or the flush
 *   policy, allows it. For a value of the other sign: no for EXACT, ULP and REL; as the tolerance says for ABS and GIVEN, where
 *   sums with cancellation rightly give +0 for a tiny negative sum.
 * - An infinity is admissible for a finite exact value of its sign when +-2^(emax + 1) is within the tolerance (error 0 beyond it);
 *   never for EXACT.
 * - Where the format has no class for the exact value (an exact infinity or overflow without infinities, NaN without NaNs), what
 *   the conversion gives is not declared by a tolerance: NaN and the largest number are unknown rather than no. */
KC_API kc_element_decision kc_decide_element(const kc_format *f, uint64_t code, double lo, double hi, double dlo, double dhi,
                                             uint8_t classes, const kc_tolerance *t, double allowed);

/** The double that stands for an output in a value test: y itself, for an infinity +-2^(emax + 1), for an infinite f64 the
 * largest finite f64, which falls short by 2^971 = *rest (signed; else 0). A refiner receives this double as y. */
KC_API double kc_decision_anchor(const kc_format *f, double y, double *rest);

/** Everything a verdict needs from one output tensor. Indices are 0-based positions in row-major order, -1 when none. */
typedef struct kc_decision {
  int64_t count;
  int64_t class_yes, class_no, class_unknown;
  int64_t anything;                           /* elements that may be anything: not judged */
  int64_t undeclared;                         /* of the class_unknown: the oracle says nothing, because a policy is missing */
  int64_t value_yes, value_no, value_unknown; /* elements with an inadmissible class are value_no */
  int64_t vacuous;
  int64_t exact;          /* elements at which the tolerance allows no error */
  int64_t refined;        /* elements that needed a further tier */
  int64_t zeros;          /* outputs that are zero */
  int64_t first_class_no; /* index */
  int64_t first_value_no; /* index */
  int64_t worst;          /* index of the largest ratio_lo among admissible classes */
  double worst_ratio_lo, worst_ratio_hi;
  double worst_lo, worst_hi; /* enclosure of the exact value there */
  double worst_error;        /* |y - y*| there, from above */
  double worst_allowed;      /* what the tolerance allows there */
  double worst_scaled;       /* largest error / scale, from above; 0 without scale */
  int64_t confusion[7][7];   /* [class expected][class found] by bit number; where several are expected: the one found, if it is
                               among them, else the lowest; index sets and unknown classes are left out */
  int64_t histogram[66];     /* of ratio_hi where the class is not inadmissible: [0] exact zero, [k] in (2^(k-34), 2^(k-33)],
                               ends clamp */
} kc_decision;

/** Decides every element of `y` against the enclosure; undecided elements go to `refine` (may be NULL) until it has no further
 * tier. Multi-threaded over elements that need no refinement; `refine` is called by the calling thread only. With index sets
 * (integer outputs) an element is right when its value is in its set; an empty set is undeclared, hence unknown. */
KC_API KC_MUST_CHECK kc_status kc_decide(kc_decision *out, const kc_buffer *y, const kc_enclosure *e, const kc_tolerance *t,
                                         kc_refine_fn refine, void *user, kc_text *err);

/* ---- metrics ------------------------------------------------------------------------------------------------------ */

/** A metric compares what was got with a reference, both in memory layout of one format, and yields a summary. */
typedef struct kc_metric {
  const char *name; /* e.g. "ulp" */
  const char *unit; /* e.g. "ulp", "1", "bit" */
  const char *doc;  /* one line */
  /* The value of one element, from two finite numbers of format f; anything but a number >= 0 counts as infinite. Called by several
   * threads at a time. NULL in kc's own metrics. */
  double (*value)(double got, double ref, const kc_format *f);
} kc_metric;

/** Summary of a metric over a buffer; never a bare float. Elements where either side is not finite are counted as class
 * matches or mismatches and are left out of max, mean, quantiles and histogram; zeros of different sign count as mismatch too.
 * "bitwise" and "class" give every element a value (`finite` is then the count), and count any two different classes as
 * mismatch. Indices are those of the first largest value and of the first mismatch. */
typedef struct kc_summary {
  int64_t count, finite, class_mismatches, bit_differences;
  int64_t worst, first_mismatch; /* indices, -1 when none */
  double max, mean;
  double quantile[5];    /* 0.5 0.9 0.99 0.999 1; upper edges of histogram bins except the last */
  int64_t histogram[66]; /* [0] zero; [k] value in (2^(k-34), 2^(k-33)], ends clamp */
} kc_summary;

/** The metric called `name`, or NULL: ulp abs rel denom bits bitwise class. */
KC_API const kc_metric *kc_metric_find(const char *name);
/** The i-th metric, NULL past the end. */
KC_API const kc_metric *kc_metric_at(size_t i);
/** Runs a metric over two buffers of the same shape and format. `as` measures ulps in another format (NULL: the buffer's own);
 * `denominator` is used by "denom" (one double per element, or NULL). */
KC_API KC_MUST_CHECK kc_status kc_metric_run(kc_summary *out, const kc_metric *m, const kc_buffer *got, const kc_buffer *ref,
                                             const kc_format *as, const double *denominator, kc_text *err);

/* ---- oracles ------------------------------------------------------------------------------------------------------- */

/** Most input tensors of an oracle. */
#define KC_MAX_ORACLE_INPUTS 8

/** Parameters of an oracle; each oracle documents which it reads, the others are ignored. */
typedef struct kc_oracle_params {
  double a, b;     /* the limits of clamp; matmul: alpha and beta */
  double epsilon;  /* layernorm, rmsnorm: added to the variance or mean square */
  int axis;        /* reductions: 0-based, negative from the end */
  int ddof;        /* variance: the divisor is n - ddof */
  uint8_t tie;     /* 0 first, 1 last, 2 any, 3 undeclared */
  uint8_t nan;     /* 0 propagate, 1 ignore (IEEE 754-2019 maximumNumber), 2 undeclared */
  uint8_t outside; /* gather, scatter: what an index outside does: 0 undeclared, 1 clamp, 2 zero, 3 wrap, 4 fill (with a),
                                    5 anything, 6 drop */
  bool transpose_a, transpose_b; /* matmul: the stored matrix is the transpose */
  bool magnitude; /* sums, products: of the absolute values of every operand, alpha and beta (the S1 of error bounds) */
} kc_oracle_params;

/** A tier-1 oracle: exact comparison of codes, or binary64 with a proven radius. */
typedef struct kc_oracle {
  const char *name;
  const char *doc;
  int arity;  /* input tensors, 1 to KC_MAX_ORACLE_INPUTS */
  bool index; /* the output is an index */
  const char
      *parameters; /* those that it reads, in words: "axis nan"; "alpha" and "beta" are a and b, "fill" is a; NULL: none */
  /* Checks number, formats and shapes of the inputs and the parameters it reads; gives the number of output elements. */
  kc_status (*count)(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err);
  /* Writes the enclosure of the whole output (already created, count elements); assumes that `count` accepted the same. */
  kc_status (*eval)(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err);
} kc_oracle;

/** The tier-1 oracle called `name`, or NULL: relu clamp max reduce_max argmax gather sqrt div rsqrt. */
KC_API const kc_oracle *kc_oracle_find(const char *name);
/** The i-th tier-1 oracle, NULL past the end. */
KC_API const kc_oracle *kc_oracle_at(size_t i);
/** Checks the inputs, creates the enclosure and evaluates the oracle into it; the caller clears it. On failure nothing is held. What an
 * oracle that is none of kc's own gives is checked: KC_EINTERNAL names the element where bounds and classes are no enclosure. */
KC_API KC_MUST_CHECK kc_status kc_oracle_run(kc_enclosure *out, const kc_oracle *o, const kc_buffer *const *inputs,
                                             const kc_oracle_params *p, kc_text *err);

#ifdef __cplusplus
}
#endif
#endif
