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

/* ---- work-items ---- */

#define kc_lid(d) ((kc_i32)get_local_id((uint)(d)))
#define kc_grp(d) ((kc_i32)get_group_id((uint)(d)))
#define kc_lsize(d) ((kc_i32)get_local_size((uint)(d)))
#define kc_ngrp(d) ((kc_i32)get_num_groups((uint)(d)))
#define kc_gid(d) ((kc_i32)get_global_id((uint)(d)))
#define kc_gsize(d) ((kc_i32)get_global_size((uint)(d)))

#define kc_barrier() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

/* ---- bits ---- */

#define kc_bits_of_f32(x) as_uint((kc_f32)(x))
#define kc_f32_of_bits(u) as_float((kc_u32)(u))
#define kc_bits_of_f64(x) as_ulong((kc_f64)(x))
#define kc_f64_of_bits(u) as_double((kc_u64)(u))

/* ---- mathematics: the builtins are overloaded by type ---- */

#define kc_abs(x) fabs(x)
#define kc_acos(x) acos(x)
#define kc_acosh(x) acosh(x)
#define kc_asin(x) asin(x)
#define kc_asinh(x) asinh(x)
#define kc_atan(x) atan(x)
#define kc_atanh(x) atanh(x)
#define kc_cbrt(x) cbrt(x)
#define kc_ceil(x) ceil(x)
#define kc_cos(x) cos(x)
#define kc_cosh(x) cosh(x)
#define kc_erf(x) erf(x)
#define kc_erfc(x) erfc(x)
#define kc_exp(x) exp(x)
#define kc_exp2(x) exp2(x)
#define kc_expm1(x) expm1(x)
#define kc_floor(x) floor(x)
#define kc_lgamma(x) lgamma(x)
#define kc_log(x) log(x)
#define kc_log10(x) log10(x)
#define kc_log1p(x) log1p(x)
#define kc_log2(x) log2(x)
#define kc_rint(x) rint(x)
#define kc_round(x) round(x)
#define kc_rsqrt(x) rsqrt(x)
#define kc_sin(x) sin(x)
#define kc_sinh(x) sinh(x)
#define kc_sqrt(x) sqrt(x)
#define kc_tan(x) tan(x)
#define kc_tanh(x) tanh(x)
#define kc_tgamma(x) tgamma(x)
#define kc_trunc(x) trunc(x)

#define kc_atan2(y, x) atan2(y, x)
#define kc_copysign(x, y) copysign(x, y)
#define kc_fdim(x, y) fdim(x, y)
#define kc_fmod(x, y) fmod(x, y)
#define kc_hypot(x, y) hypot(x, y)
#define kc_fmax(x, y) fmax(x, y)
#define kc_fmin(x, y) fmin(x, y)
#define kc_nextafter(x, y) nextafter(x, y)
#define kc_pow(x, y) pow(x, y)
#define kc_remainder(x, y) remainder(x, y)
#define kc_fma(x, y, z) fma(x, y, z)
#define kc_ldexp(x, n) ldexp(x, n)

#define KC_OVERLOAD __attribute__((overloadable))
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
