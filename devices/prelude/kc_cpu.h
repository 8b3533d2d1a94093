/* kc_cpu.h - the portable dialect on the cpu device: C11 of gcc or clang. What differs between devices stands here, the rest
 * in kc_common.h. No system header, so that nothing but the dialect's words is declared. */
#define KC_DEVICE_CPU 1
#define KC_UNUSED __attribute__((unused))

#define KC_KERNEL KC_UNUSED static
#define KC_FN KC_UNUSED static inline
#define KC_TABLE KC_UNUSED static const
#define KC_GLOBAL
#define KC_LOCAL

typedef __INT8_TYPE__ kc_i8;
typedef __INT16_TYPE__ kc_i16;
typedef __INT32_TYPE__ kc_i32;
typedef __INT64_TYPE__ kc_i64;
typedef __UINT8_TYPE__ kc_u8;
typedef __UINT16_TYPE__ kc_u16;
typedef __UINT32_TYPE__ kc_u32;
typedef __UINT64_TYPE__ kc_u64;
typedef float kc_f32;
typedef double kc_f64;

/* ---- work-items ---- */

static __thread struct kc_cpu_state *kc_cpu; /* set by the host's call, for the thread that runs the group */

KC_FN kc_i32 kc_lid(kc_i32 d) { return kc_cpu->lid[d]; }
KC_FN kc_i32 kc_grp(kc_i32 d) { return kc_cpu->grp[d]; }
KC_FN kc_i32 kc_lsize(kc_i32 d) { return kc_cpu->lsize[d]; }
KC_FN kc_i32 kc_ngrp(kc_i32 d) { return kc_cpu->ngrp[d]; }
KC_FN kc_i32 kc_gid(kc_i32 d) { return kc_cpu->grp[d] * kc_cpu->lsize[d] + kc_cpu->lid[d]; }
KC_FN kc_i32 kc_gsize(kc_i32 d) { return kc_cpu->ngrp[d] * kc_cpu->lsize[d]; }

#define kc_barrier() kc_cpu->barrier(kc_cpu, __LINE__)

/* The array lives in memory of the group between guards; `name` is a pointer to its first row, so it is indexed as usual. */
#define KC_LOCAL_ARRAY(T, name, n)                                                                                             \
  typedef T kc_local_type_##name n;                                                                                            \
  _Static_assert(sizeof(kc_local_type_##name) <= 32768, "local array " #name " is larger than 32768 bytes");                  \
  static struct kc_cpu_local kc_local_site_##name = {#name, sizeof(kc_local_type_##name)};                                    \
  __typeof__(&(*(kc_local_type_##name *)0)[0]) const name =                                                                    \
      (__typeof__(&(*(kc_local_type_##name *)0)[0]))kc_cpu->local(kc_cpu, &kc_local_site_##name)

/* ---- bits ---- */

KC_FN kc_u32 kc_bits_of_f32(kc_f32 x) {
  kc_u32 u;
  __builtin_memcpy(&u, &x, sizeof u);
  return u;
}
KC_FN kc_f32 kc_f32_of_bits(kc_u32 u) {
  kc_f32 x;
  __builtin_memcpy(&x, &u, sizeof x);
  return x;
}
KC_FN kc_u64 kc_bits_of_f64(kc_f64 x) {
  kc_u64 u;
  __builtin_memcpy(&u, &x, sizeof u);
  return u;
}
KC_FN kc_f64 kc_f64_of_bits(kc_u64 u) {
  kc_f64 x;
  __builtin_memcpy(&x, &u, sizeof x);
  return x;
}

/* ---- mathematics: the type of the argument chooses, an integer argument is an error as it is on other devices ---- */

void kc_arguments_differ_in_type(void);

#define KC_MATH1(fn, x) _Generic((x), kc_f32: __builtin_##fn##f, kc_f64: __builtin_##fn)(x)
#define KC_MATH2(fn, x, y)                                                                                                     \
  _Generic((x), kc_f32: _Generic((y), kc_f32: __builtin_##fn##f, default: kc_arguments_differ_in_type),                        \
           kc_f64: _Generic((y), kc_f64: __builtin_##fn, default: kc_arguments_differ_in_type))(x, y)
#define KC_BY_TYPE(fn, x) _Generic((x), kc_f32: fn##_f32, kc_f64: fn##_f64)(x)

#define kc_abs(x) KC_MATH1(fabs, x)
#define kc_acos(x) KC_MATH1(acos, x)
#define kc_acosh(x) KC_MATH1(acosh, x)
#define kc_asin(x) KC_MATH1(asin, x)
#define kc_asinh(x) KC_MATH1(asinh, x)
#define kc_atan(x) KC_MATH1(atan, x)
#define kc_atanh(x) KC_MATH1(atanh, x)
#define kc_cbrt(x) KC_MATH1(cbrt, x)
#define kc_ceil(x) KC_MATH1(ceil, x)
#define kc_cos(x) KC_MATH1(cos, x)
#define kc_cosh(x) KC_MATH1(cosh, x)
#define kc_erf(x) KC_MATH1(erf, x)
#define kc_erfc(x) KC_MATH1(erfc, x)
#define kc_exp(x) KC_MATH1(exp, x)
#define kc_exp2(x) KC_MATH1(exp2, x)
#define kc_expm1(x) KC_MATH1(expm1, x)
#define kc_floor(x) KC_MATH1(floor, x)
#define kc_lgamma(x) KC_MATH1(lgamma, x)
#define kc_log(x) KC_MATH1(log, x)
#define kc_log10(x) KC_MATH1(log10, x)
#define kc_log1p(x) KC_MATH1(log1p, x)
#define kc_log2(x) KC_MATH1(log2, x)
#define kc_rint(x) KC_MATH1(rint, x)
#define kc_round(x) KC_MATH1(round, x)
#define kc_sin(x) KC_MATH1(sin, x)
#define kc_sinh(x) KC_MATH1(sinh, x)
#define kc_sqrt(x) KC_MATH1(sqrt, x)
#define kc_tan(x) KC_MATH1(tan, x)
#define kc_tanh(x) KC_MATH1(tanh, x)
#define kc_tgamma(x) KC_MATH1(tgamma, x)
#define kc_trunc(x) KC_MATH1(trunc, x)
#define kc_rsqrt(x) (1 / kc_sqrt(x))

#define kc_atan2(y, x) KC_MATH2(atan2, y, x)
#define kc_copysign(x, y) KC_MATH2(copysign, x, y)
#define kc_fdim(x, y) KC_MATH2(fdim, x, y)
#define kc_fmod(x, y) KC_MATH2(fmod, x, y)
#define kc_hypot(x, y) KC_MATH2(hypot, x, y)
#define kc_fmax(x, y) KC_MATH2(fmax, x, y)
#define kc_fmin(x, y) KC_MATH2(fmin, x, y)
#define kc_nextafter(x, y) KC_MATH2(nextafter, x, y)
#define kc_pow(x, y) KC_MATH2(pow, x, y)
#define kc_remainder(x, y) KC_MATH2(remainder, x, y)
#define kc_fma(x, y, z) _Generic((x) + (y) + (z), kc_f32: __builtin_fmaf, kc_f64: __builtin_fma)(x, y, z)
#define kc_ldexp(x, n) _Generic((x), kc_f32: __builtin_ldexpf, kc_f64: __builtin_ldexp)(x, n)

#define kc_isnan(x) KC_BY_TYPE(kc_isnan, x)
#define kc_isinf(x) KC_BY_TYPE(kc_isinf, x)
#define kc_isfinite(x) KC_BY_TYPE(kc_isfinite, x)
#define kc_signbit(x) KC_BY_TYPE(kc_signbit, x)

/* ---- atomics: each returns the old value ---- */

#define KC_ATOMIC(op, builtin, t, space)                                                                                       \
  KC_FN kc_##t kc_atomic_##op##_##t##_##space(kc_##t *p, kc_##t v) { return __atomic_##builtin(p, v, __ATOMIC_RELAXED); }
#define KC_ATOMIC_PICK(op, keep, t, space)                                                                                     \
  KC_FN kc_##t kc_atomic_##op##_##t##_##space(kc_##t *p, kc_##t v) {                                                           \
    kc_##t old = __atomic_load_n(p, __ATOMIC_RELAXED);                                                                         \
    while (!(old keep v) && !__atomic_compare_exchange_n(p, &old, v, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {                 \
    }                                                                                                                          \
    return old;                                                                                                                \
  }
#define KC_ATOMIC_CAS(t, space)                                                                                                \
  KC_FN kc_##t kc_atomic_cas_##t##_##space(kc_##t *p, kc_##t expected, kc_##t desired) {                                       \
    __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                                 \
    return expected;                                                                                                           \
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wc++-compat" /* and, or, xor: parts of names here */
#define KC_ATOMICS_INT(t, space)                                                                                               \
  KC_ATOMIC(add, fetch_add, t, space)                                                                                          \
  KC_ATOMIC(sub, fetch_sub, t, space)                                                                                          \
  KC_ATOMIC(and, fetch_and, t, space)                                                                                          \
  KC_ATOMIC(or, fetch_or, t, space)                                                                                            \
  KC_ATOMIC(xor, fetch_xor, t, space)                                                                                          \
  KC_ATOMIC(exch, exchange_n, t, space)                                                                                        \
  KC_ATOMIC_PICK(max, >=, t, space)                                                                                            \
  KC_ATOMIC_PICK(min, <=, t, space)                                                                                            \
  KC_ATOMIC_CAS(t, space)
#define KC_ATOMICS_F32(space)                                                                                                  \
  KC_FN kc_f32 kc_atomic_exch_f32_##space(kc_f32 *p, kc_f32 v) {                                                               \
    kc_f32 old;                                                                                                                \
    __atomic_exchange(p, &v, &old, __ATOMIC_RELAXED);                                                                          \
    return old;                                                                                                                \
  }                                                                                                                            \
  KC_FN kc_f32 kc_atomic_add_f32_##space(kc_f32 *p, kc_f32 v) {                                                                \
    kc_f32 old, sum;                                                                                                           \
    __atomic_load(p, &old, __ATOMIC_RELAXED);                                                                                  \
    do sum = old + v;                                                                                                          \
    while (!__atomic_compare_exchange(p, &old, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));                                  \
    return old;                                                                                                                \
  }

KC_ATOMICS_INT(i32, global)
KC_ATOMICS_INT(u32, global)
KC_ATOMICS_INT(i32, local)
KC_ATOMICS_INT(u32, local)
#pragma GCC diagnostic pop
KC_ATOMICS_F32(global)
KC_ATOMICS_F32(local)
