/* kc_common.h - the part of the portable dialect that is written in the dialect itself: the same text, and therefore the same
 * bits, on every device. The device's own header stands before it. */

#define KC_INFINITY_F32 kc_f32_of_bits(0x7f800000u)
#define KC_NAN_F32 kc_f32_of_bits(0x7fc00000u)
#define KC_MAX_F32 kc_f32_of_bits(0x7f7fffffu)
#define KC_MIN_F32 kc_f32_of_bits(0x00800000u)
#define KC_EPSILON_F32 kc_f32_of_bits(0x34000000u)

/* Tests of class look at bits, so that fast-math builds cannot assume them away. */
KC_FN kc_i32 kc_isnan_f32(kc_f32 x) { return (kc_bits_of_f32(x) & 0x7fffffffu) > 0x7f800000u; }
KC_FN kc_i32 kc_isinf_f32(kc_f32 x) { return (kc_bits_of_f32(x) & 0x7fffffffu) == 0x7f800000u; }
KC_FN kc_i32 kc_isfinite_f32(kc_f32 x) { return (kc_bits_of_f32(x) & 0x7fffffffu) < 0x7f800000u; }
KC_FN kc_i32 kc_signbit_f32(kc_f32 x) { return (kc_i32)(kc_bits_of_f32(x) >> 31); }

KC_FN kc_f32 kc_sqrt_f32(kc_f32 x) { return kc_sqrt(x); }

#ifndef KC_NO_F64 /* some OpenCL devices have none */
#define KC_INFINITY_F64 kc_f64_of_bits((kc_u64)0x7ff00000u << 32)
#define KC_NAN_F64 kc_f64_of_bits((kc_u64)0x7ff80000u << 32)
#define KC_MAX_F64 kc_f64_of_bits((kc_u64)0x7fefffffu << 32 | 0xffffffffu)
#define KC_MIN_F64 kc_f64_of_bits((kc_u64)0x00100000u << 32)
#define KC_EPSILON_F64 kc_f64_of_bits((kc_u64)0x3cb00000u << 32)

KC_FN kc_u64 kc_magnitude_f64(kc_f64 x) { return kc_bits_of_f64(x) << 1 >> 1; }
KC_FN kc_i32 kc_isnan_f64(kc_f64 x) { return kc_magnitude_f64(x) > (kc_u64)0x7ff00000u << 32; }
KC_FN kc_i32 kc_isinf_f64(kc_f64 x) { return kc_magnitude_f64(x) == (kc_u64)0x7ff00000u << 32; }
KC_FN kc_i32 kc_isfinite_f64(kc_f64 x) { return kc_magnitude_f64(x) < (kc_u64)0x7ff00000u << 32; }
KC_FN kc_i32 kc_signbit_f64(kc_f64 x) { return (kc_i32)(kc_bits_of_f64(x) >> 63); }
KC_FN kc_f64 kc_sqrt_f64(kc_f64 x) { return kc_sqrt(x); }
#endif

KC_FN kc_i32 kc_max_i32(kc_i32 a, kc_i32 b) { return a > b ? a : b; }
KC_FN kc_i32 kc_min_i32(kc_i32 a, kc_i32 b) { return a < b ? a : b; }
KC_FN kc_u32 kc_max_u32(kc_u32 a, kc_u32 b) { return a > b ? a : b; }
KC_FN kc_u32 kc_min_u32(kc_u32 a, kc_u32 b) { return a < b ? a : b; }
KC_FN kc_i64 kc_max_i64(kc_i64 a, kc_i64 b) { return a > b ? a : b; }
KC_FN kc_i64 kc_min_i64(kc_i64 a, kc_i64 b) { return a < b ? a : b; }
KC_FN kc_i32 kc_abs_i32(kc_i32 a) { return a < 0 ? -a : a; }

/* ---- narrow formats: e exponent bits, f fraction bits, bias 2^(e-1) - 1 ---- */

/* A code that is not NaN or infinity. A subnormal significand is shifted until its top bit is the hidden one. */
KC_FN kc_f32 kc_narrow_finite(kc_u32 code, kc_i32 e, kc_i32 f) {
  kc_u32 sign = code >> (e + f) << 31;
  kc_u32 frac = code & ((1u << f) - 1u);
  kc_i32 exponent = (kc_i32)(code >> f & ((1u << e) - 1u)) - ((1 << (e - 1)) - 1);
  if (exponent == 1 - (1 << (e - 1))) {
    if (frac == 0u) return kc_f32_of_bits(sign);
    exponent++;
    if (exponent < -125) return kc_f32_of_bits(sign | frac << (23 - f)); /* bf16: subnormal there as here */
    for (; (frac >> f) == 0u; exponent--) frac <<= 1;
    frac &= (1u << f) - 1u;
  }
  return kc_f32_of_bits(sign | (kc_u32)(exponent + 127) << 23 | frac << (23 - f));
}

/* Exponent all ones is infinity and NaN. */
KC_FN kc_f32 kc_narrow_ieee(kc_u32 code, kc_i32 e, kc_i32 f) {
  kc_u32 magnitude = code & ((1u << (e + f)) - 1u);
  kc_u32 infinity = ((1u << e) - 1u) << f;
  if (magnitude > infinity) return KC_NAN_F32;
  if (magnitude == infinity) return kc_f32_of_bits(code >> (e + f) << 31 | 0x7f800000u);
  return kc_narrow_finite(code, e, f);
}

/* Rounds once, to nearest even, in integers. A magnitude above `largest` becomes `over`. With a value of sig * 2^(x - 23), the
 * code of what is kept is (field - 1) << f plus the rounded significand: the hidden bit, or a carry, adds the missing one. */
KC_FN kc_u32 kc_narrow_encode(kc_f32 value, kc_i32 e, kc_i32 f, kc_u32 largest, kc_u32 over, kc_u32 nan) {
  kc_u32 bits = kc_bits_of_f32(value);
  kc_u32 sign = bits >> 31 << (e + f);
  kc_i32 exponent = (kc_i32)(bits >> 23 & 255u);
  kc_u32 sig = bits & 0x7fffffu;
  kc_i32 emin = 2 - (1 << (e - 1));
  kc_i32 x = (exponent == 0 ? 1 : exponent) - 127;
  kc_i32 field = x < emin ? 1 : x - emin + 1;
  kc_i32 drop = 23 - f + (x < emin ? emin - x : 0);
  kc_u32 kept, rest, code;
  if (kc_isnan_f32(value)) return nan;
  if (exponent != 0) sig |= 0x800000u;
  if (drop > 25) drop = 25; /* below half of the smallest subnormal: rounds to zero all the same */
  kept = sig >> drop;
  rest = sig & ((1u << drop) - 1u);
  if (rest > (1u << (drop - 1)) || (rest == (1u << (drop - 1)) && (kept & 1u) != 0u)) kept++;
  code = ((kc_u32)(field - 1) << f) + kept;
  return sign | (code > largest ? over : code);
}

KC_FN kc_f32 kc_f16_to_f32(kc_u16 code) { return kc_narrow_ieee(code, 5, 10); }
KC_FN kc_f32 kc_bf16_to_f32(kc_u16 code) { return kc_narrow_ieee(code, 8, 7); }
KC_FN kc_f32 kc_e5m2_to_f32(kc_u8 code) { return kc_narrow_ieee(code, 5, 2); }
KC_FN kc_f32 kc_e4m3fn_to_f32(kc_u8 code) {
  return (code & 0x7fu) == 0x7fu ? KC_NAN_F32 : kc_narrow_finite(code, 4, 3);
}

KC_FN kc_u16 kc_f32_to_f16(kc_f32 x) { return (kc_u16)kc_narrow_encode(x, 5, 10, 0x7bffu, 0x7c00u, 0x7e00u); }
KC_FN kc_u16 kc_f32_to_bf16(kc_f32 x) { return (kc_u16)kc_narrow_encode(x, 8, 7, 0x7f7fu, 0x7f80u, 0x7fc0u); }
KC_FN kc_u8 kc_f32_to_e5m2(kc_f32 x) { return (kc_u8)kc_narrow_encode(x, 5, 2, 0x7bu, 0x7cu, 0x7eu); }
KC_FN kc_u8 kc_f32_to_e5m2_sat(kc_f32 x) { return (kc_u8)kc_narrow_encode(x, 5, 2, 0x7bu, 0x7bu, 0x7eu); }
KC_FN kc_u8 kc_f32_to_e4m3fn(kc_f32 x) { return (kc_u8)kc_narrow_encode(x, 4, 3, 0x7eu, 0x7fu, 0x7fu); }
KC_FN kc_u8 kc_f32_to_e4m3fn_sat(kc_f32 x) { return (kc_u8)kc_narrow_encode(x, 4, 3, 0x7eu, 0x7eu, 0x7fu); }
