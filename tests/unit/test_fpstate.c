/* test_fpstate.c - the floating-point state that kc demands, sees and describes. */
#include <criterion/criterion.h>
#include <string.h>

#include "kc.h"

static kc_fpstate with(uint32_t mxcsr, uint16_t x87) {
  kc_fpstate s = kc_fpstate_default();
  s.mxcsr |= mxcsr;
  s.x87 |= x87;
  return s;
}

static const char *describe(kc_text *text, kc_fpstate got) {
  kc_fpstate_describe(text, kc_fpstate_default(), got);
  return text->s;
}

Test(fpstate, a_fresh_process_is_in_the_default_state) {
  kc_text text;
  cr_expect_str_eq(describe(&text, kc_fpstate_get()), "");
}

Test(fpstate, descriptions) {
  kc_text text;
  if (kc_fpstate_default().mxcsr == 0) cr_skip_test("this processor has no MXCSR");
  cr_expect_str_eq(describe(&text, with(0x8000, 0)), "FTZ on");
  cr_expect_str_eq(describe(&text, with(0x0040, 0)), "DAZ on");
  cr_expect_str_eq(describe(&text, with(0xe000, 0)), "FTZ on, rounding towards zero");
  cr_expect_str_eq(describe(&text, with(0x2000, 0)), "rounding towards -infinity");
  cr_expect_str_eq(describe(&text, with(0x4000, 0)), "rounding towards +infinity");
  cr_expect_str_eq(describe(&text, with(0, 0x0c00)), "x87 rounding towards zero");
  kc_fpstate s = kc_fpstate_default();
  s.mxcsr &= ~0x0200u;
  s.x87 = 0x027f;
  cr_expect_str_eq(describe(&text, s), "division-by-zero exception unmasked, x87 precision double");
  kc_fpstate_describe(&text, with(0x8000, 0), kc_fpstate_default());
  cr_expect_str_eq(text.s, "FTZ off");
}

static volatile double tiny = 0x1p-1022, three = 3, one = 1;

Test(fpstate, set_changes_arithmetic_and_get_sees_it) {
  if (kc_fpstate_default().mxcsr == 0) cr_skip_test("this processor has no MXCSR");
  double nearest = one / three, kept = tiny / 2;
  kc_fpstate_set(with(0xe000, 0)); /* FTZ, towards zero */
  double down = -one / three, flushed = tiny / 2;
  kc_fpstate seen = kc_fpstate_get();
  kc_fpstate_set(kc_fpstate_default());
  cr_expect_eq(kept, 0x1p-1023);
  cr_expect_eq(flushed, 0);
  cr_expect_eq(nearest, 0x1.5555555555555p-2);
  cr_expect_eq(down, -0x1.5555555555555p-2);
  cr_expect_eq(seen.mxcsr, with(0xe000, 0).mxcsr);
}

/* Sticky flags are no part of the state and are cleared by set. */
Test(fpstate, flags_are_left_out) {
  volatile double x = one / three;
  (void)x;
  cr_expect_eq(kc_fpstate_get().mxcsr, kc_fpstate_default().mxcsr);
#if defined(__x86_64__)
  kc_fpstate_set((kc_fpstate){.mxcsr = 0xffff0000 | kc_fpstate_default().mxcsr | 0x3f, .x87 = 0x037f});
  uint32_t raw;
  __asm__ volatile("stmxcsr %0" : "=m"(raw));
  cr_expect_eq(raw, 0x1f80);
#endif
}
