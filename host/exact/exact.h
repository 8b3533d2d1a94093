/* exact.h - certified elementwise functions from Arb and MPFR: enclosures for whole tensors, and their refinement.
 *
 * Only the judge links this. GMP, MPFR and FLINT abort the process when memory runs out; everything of kc's own reports it.
 */
#ifndef KC_EXACT_H
#define KC_EXACT_H

#include <mpfr.h>

#include "kc.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An elementwise function, e.g. "exp". */
typedef struct kc_exact kc_exact;

/** The function called `name`, or NULL: exp exp2 log log2 log1p expm1 tanh erf sigmoid gelu silu rsqrt sqrt sin cos cbrt log10 tan
 * sinh cosh asin acos atan asinh acosh atanh erfc div pow hypot. */
KC_API const kc_exact *kc_exact_find(const char *name);
/** The i-th function, NULL past the end; for listing. */
KC_API const kc_exact *kc_exact_at(size_t i);
/** Its name. */
KC_API const char *kc_exact_name(const kc_exact *op);
/** One line: definition and what is particular to it. */
KC_API const char *kc_exact_doc(const kc_exact *op);
/** Number of input tensors, 1 or 2. */
KC_API int kc_exact_arity(const kc_exact *op);

/** What is known of one value: the classes that it may have (more than one only where a limit has no sign), and bounds. A zero has
 * bounds 0, an infinity itself, NaN 0. A finite value beyond the largest double has hi = +inf, a non-zero one below the smallest
 * lo = 0 (and their mirror images); such a value keeps its class, finite. lo == hi only for exact values. */
typedef struct kc_exact_value {
  double lo, hi;
  uint8_t classes; /* OR of kc_class */
} kc_exact_value;

/** The function at one point; x[1] is read by functions of two arguments only. Bounds are nearly always neighbours or equal. */
KC_API kc_exact_value kc_exact_point(const kc_exact *op, const double x[2]);

/** Writes the enclosure of a whole tensor: `inputs` are arity buffers of float formats and equal shapes, `out` is already created
 * with their number of elements. Large tensors are worked on in parallel; a 16-bit or narrower input with at least as many
 * elements as codes costs one evaluation per code. Fails with KC_EINVAL for formats and shapes, KC_ENOMEM. */
KC_API KC_MUST_CHECK kc_status kc_exact_eval(kc_enclosure *out, const kc_exact *op, const kc_buffer *const *inputs,
                                             kc_text *err);

/** What kc_exact_refine needs: the function and its inputs. */
typedef struct kc_exact_refiner kc_exact_refiner;

/** Creates a refiner, which holds a reference to each input; the caller frees it. */
KC_API KC_MUST_CHECK kc_status kc_exact_refiner_create(kc_exact_refiner **out, const kc_exact *op,
                                                       const kc_buffer *const *inputs, kc_text *err);
/** Frees a refiner (a kc_exact_refiner; NULL is allowed). */
KC_API void kc_exact_refiner_free(void *refiner);
/** A kc_refine_fn over a kc_exact_refiner: Arb at 128, 256 and 512 bits, then MPFR at 160 and 4096, whose ternary value settles
 * exact results, hence exact ties. An output y that is NaN gives the difference [-inf, inf]. */
KC_API KC_MUST_CHECK kc_status kc_exact_refine(void *refiner, int64_t i, double y, int tier, double *lo, double *hi,
                                               double *dlo, double *dhi, uint8_t *classes);

/* ---- oracles of whole tensors: sums, products, rows ------------------------------------------------------------------ */

/** An oracle whose elements depend on many input elements. `open` checks inputs and parameters, retains the inputs and makes a
 * state; `eval` writes the whole enclosure (already created, with the count that `open` gave); `refine` is a kc_refine_fn over the
 * state; `close` frees the state and releases the inputs. */
typedef struct kc_tensor_oracle {
  const char *name, *doc;
  int least, most; /* number of input tensors */
  kc_status (*open)(void **state, int64_t *count, const kc_buffer *const *inputs, int n, const kc_oracle_params *p,
                    kc_text *err);
  kc_status (*eval)(void *state, kc_enclosure *out, kc_text *err);
  kc_refine_fn refine;
  void (*close)(void *state);
} kc_tensor_oracle;

/** The tensor oracle called `name`, or NULL. */
KC_API const kc_tensor_oracle *kc_tensor_oracle_find(const char *name);
/** The i-th tensor oracle, NULL past the end; for listing. */
KC_API const kc_tensor_oracle *kc_tensor_oracle_at(size_t i);

/** Takes an MPFR number apart: the leading 128 bits, the rest as sticky. Exponents beyond +-2^30 are clamped, which no format can
 * tell. With kc_encode_parts this rounds once into any format. */
KC_API kc_parts kc_exact_parts(mpfr_srcptr x);

#ifdef __cplusplus
}
#endif
#endif
