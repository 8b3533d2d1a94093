/* kc_cuda.h - the portable dialect in CUDA C++, which HIP compiles too. What differs between devices stands here, the rest in
 * kc_common.h. */
#ifdef __HIP__
#define KC_DEVICE_HIP 1
#else
#define KC_DEVICE_CUDA 1
#endif

#define KC_KERNEL extern "C" __global__
#define KC_FN __device__ inline
#define KC_TABLE static __constant__ const
#define KC_GLOBAL
#define KC_LOCAL
#define KC_LOCAL_ARRAY(T, name, n) __shared__ T name n

typedef signed char kc_i8;
typedef short kc_i16;
typedef int kc_i32;
typedef long long kc_i64;
typedef unsigned char kc_u8;
typedef unsigned short kc_u16;
typedef unsigned kc_u32;
typedef unsigned long long kc_u64;
typedef float kc_f32;
typedef double kc_f64;

/* ---- work-items ---- */

#define KC_AXIS(v, d) ((kc_i32)((d) == 0 ? v.x : (d) == 1 ? v.y : v.z))
KC_FN kc_i32 kc_lid(kc_i32 d) { return KC_AXIS(threadIdx, d); }
KC_FN kc_i32 kc_grp(kc_i32 d) { return KC_AXIS(blockIdx, d); }
KC_FN kc_i32 kc_lsize(kc_i32 d) { return KC_AXIS(blockDim, d); }
KC_FN kc_i32 kc_ngrp(kc_i32 d) { return KC_AXIS(gridDim, d); }
KC_FN kc_i32 kc_gid(kc_i32 d) { return kc_grp(d) * kc_lsize(d) + kc_lid(d); }
KC_FN kc_i32 kc_gsize(kc_i32 d) { return kc_ngrp(d) * kc_lsize(d); }

#define kc_barrier() __syncthreads()

/* ---- bits ---- */

KC_FN kc_u32 kc_bits_of_f32(kc_f32 x) { return __float_as_uint(x); }
KC_FN kc_f32 kc_f32_of_bits(kc_u32 u) { return __uint_as_float(u); }
KC_FN kc_u64 kc_bits_of_f64(kc_f64 x) { return (kc_u64)__double_as_longlong(x); }
KC_FN kc_f64 kc_f64_of_bits(kc_u64 u) { return __longlong_as_double((kc_i64)u); }

/* ---- mathematics: the type of the argument chooses; an integer fits neither better, which is an error as it is elsewhere ---- */

#define KC_OVERLOAD __device__ inline
#define KC_MATH1(word, fn)                                                                                                     \
  KC_OVERLOAD kc_f32 kc_##word(kc_f32 x) { return fn##f(x); }                                                                  \
  KC_OVERLOAD kc_f64 kc_##word(kc_f64 x) { return fn(x); }
#define KC_MATH2(word, fn)                                                                                                     \
  KC_OVERLOAD kc_f32 kc_##word(kc_f32 x, kc_f32 y) { return fn##f(x, y); }                                                     \
  KC_OVERLOAD kc_f64 kc_##word(kc_f64 x, kc_f64 y) { return fn(x, y); }
#define KC_MATH3(word, fn)                                                                                                     \
  KC_OVERLOAD kc_f32 kc_##word(kc_f32 x, kc_f32 y, kc_f32 z) { return fn##f(x, y, z); }                                        \
  KC_OVERLOAD kc_f64 kc_##word(kc_f64 x, kc_f64 y, kc_f64 z) { return fn(x, y, z); }
#define KC_MATH_SCALE(word, fn)                                                                                                \
  KC_OVERLOAD kc_f32 kc_##word(kc_f32 x, kc_i32 n) { return fn##f(x, n); }                                                     \
  KC_OVERLOAD kc_f64 kc_##word(kc_f64 x, kc_i32 n) { return fn(x, n); }

KC_MATH1(abs, fabs)
KC_MATH1(acos, acos)
KC_MATH1(acosh, acosh)
KC_MATH1(asin, asin)
KC_MATH1(asinh, asinh)
KC_MATH1(atan, atan)
KC_MATH1(atanh, atanh)
KC_MATH1(cbrt, cbrt)
KC_MATH1(ceil, ceil)
KC_MATH1(cos, cos)
KC_MATH1(cosh, cosh)
KC_MATH1(erf, erf)
KC_MATH1(erfc, erfc)
KC_MATH1(exp, exp)
KC_MATH1(exp2, exp2)
KC_MATH1(expm1, expm1)
KC_MATH1(floor, floor)
KC_MATH1(lgamma, lgamma)
KC_MATH1(log, log)
KC_MATH1(log10, log10)
KC_MATH1(log1p, log1p)
KC_MATH1(log2, log2)
KC_MATH1(rint, rint)
KC_MATH1(round, round)
KC_MATH1(rsqrt, rsqrt)
KC_MATH1(sin, sin)
KC_MATH1(sinh, sinh)
KC_MATH1(sqrt, sqrt)
KC_MATH1(tan, tan)
KC_MATH1(tanh, tanh)
KC_MATH1(tgamma, tgamma)
KC_MATH1(trunc, trunc)

KC_MATH2(atan2, atan2)
KC_MATH2(copysign, copysign)
KC_MATH2(fdim, fdim)
KC_MATH2(fmod, fmod)
KC_MATH2(hypot, hypot)
KC_MATH2(fmax, fmax)
KC_MATH2(fmin, fmin)
KC_MATH2(nextafter, nextafter)
KC_MATH2(pow, pow)
KC_MATH2(remainder, remainder)
KC_MATH3(fma, fma)
KC_MATH_SCALE(ldexp, ldexp)

KC_OVERLOAD kc_i32 kc_isnan(kc_f32 x) { return (kc_bits_of_f32(x) & 0x7fffffffu) > 0x7f800000u; }
KC_OVERLOAD kc_i32 kc_isinf(kc_f32 x) { return (kc_bits_of_f32(x) & 0x7fffffffu) == 0x7f800000u; }
KC_OVERLOAD kc_i32 kc_isfinite(kc_f32 x) { return (kc_bits_of_f32(x) & 0x7fffffffu) < 0x7f800000u; }
KC_OVERLOAD kc_i32 kc_signbit(kc_f32 x) { return (kc_i32)(kc_bits_of_f32(x) >> 31); }
KC_OVERLOAD kc_i32 kc_isnan(kc_f64 x) { return kc_bits_of_f64(x) << 1 > 0xffe0000000000000ull; }
KC_OVERLOAD kc_i32 kc_isinf(kc_f64 x) { return kc_bits_of_f64(x) << 1 == 0xffe0000000000000ull; }
KC_OVERLOAD kc_i32 kc_isfinite(kc_f64 x) { return kc_bits_of_f64(x) << 1 < 0xffe0000000000000ull; }
KC_OVERLOAD kc_i32 kc_signbit(kc_f64 x) { return (kc_i32)(kc_bits_of_f64(x) >> 63); }

/* ---- atomics: each returns the old value ---- */

#define KC_ATOMIC(op, builtin, t, space)                                                                                       \
  KC_FN kc_##t kc_atomic_##op##_##t##_##space(kc_##t *p, kc_##t v) { return builtin(p, v); }
#define KC_ATOMIC_CAS(t, space)                                                                                                \
  KC_FN kc_##t kc_atomic_cas_##t##_##space(kc_##t *p, kc_##t expected, kc_##t desired) {                                       \
    return atomicCAS(p, expected, desired);                                                                                    \
  }
#define KC_ATOMICS_INT(t, space)                                                                                               \
  KC_ATOMIC(add, atomicAdd, t, space)                                                                                          \
  KC_ATOMIC(sub, atomicSub, t, space)                                                                                          \
  KC_ATOMIC(and, atomicAnd, t, space)                                                                                          \
  KC_ATOMIC(or, atomicOr, t, space)                                                                                            \
  KC_ATOMIC(xor, atomicXor, t, space)                                                                                          \
  KC_ATOMIC(exch, atomicExch, t, space)                                                                                        \
  KC_ATOMIC(max, atomicMax, t, space)                                                                                          \
  KC_ATOMIC(min, atomicMin, t, space)                                                                                          \
  KC_ATOMIC_CAS(t, space)
#define KC_ATOMICS_F32(space)                                                                                                  \
  KC_ATOMIC(exch, atomicExch, f32, space)                                                                                      \
  KC_ATOMIC(add, atomicAdd, f32, space)

KC_ATOMICS_INT(i32, global)
KC_ATOMICS_INT(u32, global)
KC_ATOMICS_INT(i32, local)
KC_ATOMICS_INT(u32, local)
KC_ATOMICS_F32(global)
KC_ATOMICS_F32(local)
