/* kc_opencl.h - the portable dialect in OpenCL C 1.2. What differs between devices stands here, the rest in kc_common.h. The driver
 * defines KC_CONTRACT as ON or OFF. */
#define KC_DEVICE_OPENCL 1

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#else
#define KC_NO_F64 1
#endif
#if KC_CONTRACT
#pragma OPENCL FP_CONTRACT ON
#else
#pragma OPENCL FP_CONTRACT OFF
#endif

#define KC_KERNEL __kernel
#define KC_FN static inline
#define KC_TABLE __constant
#define KC_GLOBAL __global
#define KC_LOCAL __local
#define KC_LOCAL_ARRAY(T, name, n) __local T name n

typedef char kc_i8;
typedef short kc_i16;
typedef int kc_i32;
typedef long kc_i64;
typedef uchar kc_u8;
typedef ushort kc_u16;
typedef uint kc_u32;
typedef ulong kc_u64;
typedef float kc_f32;
#ifndef KC_NO_F64
typedef double kc_f64;
#endif

/* The words are functions, not macros: a kernel's text may call a function of its own by the name of a builtin, and its name is then
 * a macro (kc__dialect_own_names), which must not reach in here. */

/* ---- work-items ---- */

#define KC_PLACE(name, builtin)                                                                                                \
  static inline kc_i32 name(kc_i32 d) { return (kc_i32)builtin((uint)d); }
KC_PLACE(kc_lid, get_local_id)
KC_PLACE(kc_grp, get_group_id)
KC_PLACE(kc_lsize, get_local_size)
KC_PLACE(kc_ngrp, get_num_groups)
KC_PLACE(kc_gid, get_global_id)
KC_PLACE(kc_gsize, get_global_size)

#define kc_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

/* ---- bits ---- */

static inline kc_u32 kc_bits_of_f32(kc_f32 x) { return as_uint(x); }
static inline kc_f32 kc_f32_of_bits(kc_u32 u) { return as_float(u); }
#ifndef KC_NO_F64
static inline kc_u64 kc_bits_of_f64(kc_f64 x) { return as_ulong(x); }
static inline kc_f64 kc_f64_of_bits(kc_u64 u) { return as_double(u); }
#endif

/* ---- mathematics: the builtins are overloaded by type ---- */

#define KC_OVERLOAD __attribute__((overloadable))
#ifndef KC_NO_F64
#define KC_EACH(define, name, builtin) define(kc_f32, name, builtin) define(kc_f64, name, builtin)
#else
#define KC_EACH(define, name, builtin) define(kc_f32, name, builtin)
#endif
#define KC_DEFINE1(T, name, builtin)                                                                                           \
  static inline T KC_OVERLOAD name(T x) { return builtin(x); }
#define KC_DEFINE2(T, name, builtin)                                                                                           \
  static inline T KC_OVERLOAD name(T x, T y) { return builtin(x, y); }
#define KC_DEFINE3(T, name, builtin)                                                                                           \
  static inline T KC_OVERLOAD name(T x, T y, T z) { return builtin(x, y, z); }
#define KC_DEFINE_SCALE(T, name, builtin)                                                                                      \
  static inline T KC_OVERLOAD name(T x, kc_i32 n) { return builtin(x, n); }

KC_EACH(KC_DEFINE1, kc_abs, fabs)
KC_EACH(KC_DEFINE1, kc_acos, acos)
KC_EACH(KC_DEFINE1, kc_acosh, acosh)
KC_EACH(KC_DEFINE1, kc_asin, asin)
KC_EACH(KC_DEFINE1, kc_asinh, asinh)
KC_EACH(KC_DEFINE1, kc_atan, atan)
KC_EACH(KC_DEFINE1, kc_atanh, atanh)
KC_EACH(KC_DEFINE1, kc_cbrt, cbrt)
KC_EACH(KC_DEFINE1, kc_ceil, ceil)
KC_EACH(KC_DEFINE1, kc_cos, cos)
KC_EACH(KC_DEFINE1, kc_cosh, cosh)
KC_EACH(KC_DEFINE1, kc_erf, erf)
KC_EACH(KC_DEFINE1, kc_erfc, erfc)
KC_EACH(KC_DEFINE1, kc_exp, exp)
KC_EACH(KC_DEFINE1, kc_exp2, exp2)
KC_EACH(KC_DEFINE1, kc_expm1, expm1)
KC_EACH(KC_DEFINE1, kc_floor, floor)
KC_EACH(KC_DEFINE1, kc_lgamma, lgamma)
KC_EACH(KC_DEFINE1, kc_log, log)
KC_EACH(KC_DEFINE1, kc_log10, log10)
KC_EACH(KC_DEFINE1, kc_log1p, log1p)
KC_EACH(KC_DEFINE1, kc_log2, log2)
KC_EACH(KC_DEFINE1, kc_rint, rint)
KC_EACH(KC_DEFINE1, kc_round, round)
KC_EACH(KC_DEFINE1, kc_rsqrt, rsqrt)
KC_EACH(KC_DEFINE1, kc_sin, sin)
KC_EACH(KC_DEFINE1, kc_sinh, sinh)
KC_EACH(KC_DEFINE1, kc_sqrt, sqrt)
KC_EACH(KC_DEFINE1, kc_tan, tan)
KC_EACH(KC_DEFINE1, kc_tanh, tanh)
KC_EACH(KC_DEFINE1, kc_tgamma, tgamma)
KC_EACH(KC_DEFINE1, kc_trunc, trunc)

KC_EACH(KC_DEFINE2, kc_atan2, atan2)
KC_EACH(KC_DEFINE2, kc_copysign, copysign)
KC_EACH(KC_DEFINE2, kc_fdim, fdim)
KC_EACH(KC_DEFINE2, kc_fmod, fmod)
KC_EACH(KC_DEFINE2, kc_hypot, hypot)
KC_EACH(KC_DEFINE2, kc_fmax, fmax)
KC_EACH(KC_DEFINE2, kc_fmin, fmin)
KC_EACH(KC_DEFINE2, kc_nextafter, nextafter)
KC_EACH(KC_DEFINE2, kc_pow, pow)
KC_EACH(KC_DEFINE2, kc_remainder, remainder)

KC_EACH(KC_DEFINE3, kc_fma, fma)
KC_EACH(KC_DEFINE_SCALE, kc_ldexp, ldexp)

static inline kc_i32 KC_OVERLOAD kc_isnan(kc_f32 x) { return (as_uint(x) & 0x7fffffffu) > 0x7f800000u; }
static inline kc_i32 KC_OVERLOAD kc_isinf(kc_f32 x) { return (as_uint(x) & 0x7fffffffu) == 0x7f800000u; }
static inline kc_i32 KC_OVERLOAD kc_isfinite(kc_f32 x) { return (as_uint(x) & 0x7fffffffu) < 0x7f800000u; }
static inline kc_i32 KC_OVERLOAD kc_signbit(kc_f32 x) { return (kc_i32)(as_uint(x) >> 31); }
#ifndef KC_NO_F64
static inline kc_i32 KC_OVERLOAD kc_isnan(kc_f64 x) { return as_ulong(x) << 1 > 0xffe0000000000000ul; }
static inline kc_i32 KC_OVERLOAD kc_isinf(kc_f64 x) { return as_ulong(x) << 1 == 0xffe0000000000000ul; }
static inline kc_i32 KC_OVERLOAD kc_isfinite(kc_f64 x) { return as_ulong(x) << 1 < 0xffe0000000000000ul; }
static inline kc_i32 KC_OVERLOAD kc_signbit(kc_f64 x) { return (kc_i32)(as_ulong(x) >> 63); }
#endif

/* ---- atomics: each returns the old value ---- */

#define KC_ATOMIC(op, builtin, t, space)                                                                                       \
  static inline kc_##t kc_atomic_##op##_##t##_##space(volatile __##space kc_##t *p, kc_##t v) { return builtin(p, v); }
#define KC_ATOMIC_CAS(t, space)                                                                                                \
  static inline kc_##t kc_atomic_cas_##t##_##space(volatile __##space kc_##t *p, kc_##t expected, kc_##t desired) {            \
    return atomic_cmpxchg(p, expected, desired);                                                                               \
  }
#define KC_ATOMICS_INT(t, space)                                                                                               \
  KC_ATOMIC(add, atomic_add, t, space)                                                                                         \
  KC_ATOMIC(sub, atomic_sub, t, space)                                                                                         \
  KC_ATOMIC(and, atomic_and, t, space)                                                                                         \
  KC_ATOMIC(or, atomic_or, t, space)                                                                                           \
  KC_ATOMIC(xor, atomic_xor, t, space)                                                                                         \
  KC_ATOMIC(exch, atomic_xchg, t, space)                                                                                       \
  KC_ATOMIC(max, atomic_max, t, space)                                                                                         \
  KC_ATOMIC(min, atomic_min, t, space)                                                                                         \
  KC_ATOMIC_CAS(t, space)
/* OpenCL C 1.2 adds no floats atomically: compare and exchange until nobody came between. */
#define KC_ATOMICS_F32(space)                                                                                                  \
  KC_ATOMIC(exch, atomic_xchg, f32, space)                                                                                     \
  static inline kc_f32 kc_atomic_add_f32_##space(volatile __##space kc_f32 *p, kc_f32 v) {                                     \
    kc_u32 seen = as_uint(*p), old;                                                                                            \
    do {                                                                                                                       \
      old = seen;                                                                                                              \
      seen = atomic_cmpxchg((volatile __##space kc_u32 *)p, old, as_uint(as_float(old) + v));                                  \
    } while (seen != old);                                                                                                     \
    return as_float(old);                                                                                                      \
  }

KC_ATOMICS_INT(i32, global)
KC_ATOMICS_INT(u32, global)
KC_ATOMICS_INT(i32, local)
KC_ATOMICS_INT(u32, local)
KC_ATOMICS_F32(global)
KC_ATOMICS_F32(local)
