/* fpstate.c - the part of the processor's state that changes what floating-point arithmetic means. */
#include <stdio.h>
#include <string.h>

#include "kc.h"

#define MXCSR_CONTROL 0xffc0u /* below lie the sticky exception flags */
#define MXCSR_DEFAULT 0x1f80u
#define X87_DEFAULT 0x037f

kc_fpstate kc_fpstate_default(void) {
#if defined(__x86_64__)
  return (kc_fpstate){.mxcsr = MXCSR_DEFAULT, .x87 = X87_DEFAULT};
#else
  return (kc_fpstate){0};
#endif
}

kc_fpstate kc_fpstate_get(void) {
  kc_fpstate s = {0};
#if defined(__x86_64__)
  __asm__ volatile("stmxcsr %0" : "=m"(s.mxcsr));
  __asm__ volatile("fnstcw %0" : "=m"(s.x87));
  s.mxcsr &= MXCSR_CONTROL;
#endif
  return s;
}

void kc_fpstate_set(kc_fpstate s) {
#if defined(__x86_64__)
  uint32_t mxcsr = s.mxcsr & MXCSR_CONTROL; /* other bits set would fault */
  __asm__ volatile("ldmxcsr %0" : : "m"(mxcsr));
  __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(s.x87)); /* a pending exception would trap once unmasked */
#else
  (void)s;
#endif
}

/* A field of a control register and what its values are called; no name stands for a number. */
typedef struct field {
  bool x87;
  uint8_t shift, width;
  const char *label;
  const char *names[4];
} field;

#define ROUNDING                                                                                                               \
  { "to nearest", "towards -infinity", "towards +infinity", "towards zero" }
#define MASK                                                                                                                   \
  { "unmasked", "masked" }

static const field fields[] = {
    {false, 15, 1, "FTZ", {"off", "on"}},       {false, 6, 1, "DAZ", {"off", "on"}},
    {false, 13, 2, "rounding", ROUNDING},       {false, 7, 1, "invalid-operation exception", MASK},
    {false, 8, 1, "denormal exception", MASK},  {false, 9, 1, "division-by-zero exception", MASK},
    {false, 10, 1, "overflow exception", MASK}, {false, 11, 1, "underflow exception", MASK},
    {false, 12, 1, "inexact exception", MASK},  {true, 8, 2, "x87 precision", {"single", "reserved", "double", "extended"}},
    {true, 10, 2, "x87 rounding", ROUNDING},    {true, 0, 6, "x87 exception masks", {NULL}},
};

static unsigned extract(const field *f, kc_fpstate s) {
  return ((f->x87 ? s.x87 : s.mxcsr) >> f->shift) & ((1u << f->width) - 1);
}

void kc_fpstate_describe(kc_text *out, kc_fpstate want, kc_fpstate got) {
  size_t used = 0;
  out->s[0] = '\0';
  for (size_t i = 0; i < sizeof fields / sizeof *fields && used < sizeof out->s; i++) {
    unsigned value = extract(&fields[i], got);
    if (value == extract(&fields[i], want)) continue;
    const char *comma = used ? ", " : "", *label = fields[i].label;
    char *end = out->s + used;
    size_t room = sizeof out->s - used;
    used += (size_t)(fields[i].names[0] ? snprintf(end, room, "%s%s %s", comma, label, fields[i].names[value])
                                        : snprintf(end, room, "%s%s 0x%x", comma, label, value));
  }
}
