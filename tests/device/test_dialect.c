/* test_dialect.c - the rules of the portable dialect, one text each. */
#include <criterion/criterion.h>
#include <string.h>

#include "dialect.h"

static kc_status check(const char *source, kc__dialect_facts *facts, kc__string *log, kc_text *err) {
  const kc_build b = {.dialect = KC_DIALECT_KC, .source = source, .file = "f.k", .entry = "k"};
  err->s[0] = '\0';
  return kc__dialect_check(facts, &b, log, err);
}

static const struct {
  const char *source, *text; /* NULL: accepted */
} cases[] = {
    {"KC_KERNEL void k(void) {}", NULL},
    {"KC_KERNEL void k() {}", NULL},
    {"KC_KERNEL\nvoid\nk(void)\n{\n}\n", NULL},
    {"KC_FN kc_i32 f(kc_i32 a) { return a + 1; }\nKC_KERNEL void k(void) { kc_i32 x = f(f(1)); (void)x; }", NULL},
    {"KC_TABLE kc_f32 t[2] = {1.0f, 2.0f};\nKC_KERNEL void k(void) {}", NULL},
    {"typedef struct pair { kc_f32 a, b; } pair;\nstruct other { kc_i32 n; };\nenum { N = 4 };\nKC_KERNEL void k(void) {}",
     NULL},
    {"#define TWICE(x) ((x) * 2)\n#if TWICE(1) > 1\n#endif\nKC_KERNEL void k(void) {}", NULL},
    {"/* half of the kernel, #include */ // class\nKC_KERNEL void k(void) { const kc_i32 halves = 1; (void)halves; }", NULL},
    {"KC_KERNEL void k(void) { KC_LOCAL_ARRAY(kc_f32, t, [4]); t[0] = 1.0f; }", NULL},
    {"KC_FN kc_f32 f(KC_GLOBAL const kc_f32 *p, KC_LOCAL kc_f32 *q, kc_f32 *r) { return *p + *q + *r; }\nKC_KERNEL void "
     "k(void) {}",
     NULL},
    {"KC_KERNEL void k(void) { kc_i32 (*table)[4] = 0; (void)(*table)[1]; }", NULL},
    {"KC_KERNEL void k(void) { kc_f32 half = 1.0f; }", "f.k:1: 'half' is reserved in OpenCL C; rename it"},
    {"\n\nKC_KERNEL void k(void) { kc_f32 new = 1.0f; }",
     "f.k:3: 'new' is reserved in C++, which CUDA and HIP compile; rename it"},
    {"KC_KERNEL void k(void) { kc_i32 kernel; kc_i32 global; }", "f.k:1: 'kernel' is reserved"},
    {"KC_KERNEL void k(void) { kc_i32 i = threadIdx.x; }", "'threadIdx' belongs to CUDA"},
    {"KC_KERNEL void k(void) { uint i = 0; }", "'uint' is a type in OpenCL C only; write kc_u32"},
    {"KC_KERNEL void k(void) { unsigned long i = 0; }", "'long' has different sizes; write kc_i64"},
    {"KC_KERNEL void k(void) { float4 v; }", "'float4' is a vector type"},
    {"KC_KERNEL void k(void) { uchar16 v; }", "'uchar16' is a vector type"},
    {"KC_KERNEL void k(void) { bool b = true; }", "'bool' is not a type"},
    {"KC_KERNEL void k(void) { static kc_i32 n; }", "'static' is not allowed"},
    {"KC_KERNEL void k(void) { __syncthreads(); }", "'__syncthreads' is reserved for the compilers"},
    {"#include <math.h>\nKC_KERNEL void k(void) {}", "f.k:1: 'include' directive is not allowed in a kernel"},
    {"KC_KERNEL void k(void) {}\n  #  pragma once\n", "f.k:2: 'pragma' directive"},
    {"#define A \\\n  1\n/* two\nlines */\n#line 7\nKC_KERNEL void k(void) {}", "f.k:5: 'line' directive"},
    {"#define GLUE(a, b) a##b\nKC_KERNEL void k(void) { GLUE(kc_bar, rier)(); }", "f.k:1: '##' is not allowed in a kernel"},
    {"KC_KERNEL void k(void) { kc_bar\\\nrier(); }", "f.k:1: 'kc_bar' goes on in the next line"},
    {"#define T half\nKC_KERNEL void k(void) {}", "f.k:1: 'half'"},
    {"KC_KERNEL void k(void) {\n  { KC_LOCAL_ARRAY(kc_f32, t, [4]); }\n}",
     "f.k:2: 'KC_LOCAL_ARRAY' stands at the outermost scope"},
    {"KC_KERNEL void k(void) {\n  for (;;) KC_LOCAL_ARRAY(kc_f32, t, [4]);\n}", NULL}, /* the compiler refuses this one */
    {"KC_FN void f(void) {\n  KC_LOCAL_ARRAY(kc_f32, t, [4]);\n}\nKC_KERNEL void k(void) {}", "f.k:2: 'KC_LOCAL_ARRAY' stands"},
    {"#define A KC_LOCAL_ARRAY(kc_f32, t, [4])\nKC_KERNEL void k(void) {}", "f.k:1: 'KC_LOCAL_ARRAY' stands"},
    {"kc_i32 counter;\nKC_KERNEL void k(void) {}", "f.k:1: 'kc_i32' begins a variable at file scope"},
    {"const kc_f32 t[2] = {1.0f, 2.0f};\nKC_KERNEL void k(void) {}", "f.k:1: 'const' begins a variable at file scope"},
    {"KC_KERNEL void k(void) {}\nkc_f32 late = 1.0f;\n", "f.k:2: 'kc_f32' begins a variable at file scope"},
    {"KC_KERNEL void other(kc_f32 *p) {}\nKC_KERNEL void k(void) {}", "f.k:1: 'p' is a pointer parameter without KC_GLOBAL"},
    {"KC_KERNEL void other(KC_GLOBAL kc_f32 *p, kc_f32 q[]) {}\nKC_KERNEL void k(void) {}",
     "pointer parameter without KC_GLOBAL"},
    {"KC_KERNEL int k(void) { return 1; }", "f.k:1: 'k' must be declared as KC_KERNEL void NAME(...)"},
    {"KC_KERNEL k(void) { }", "'k' must be declared as KC_KERNEL void NAME(...)"},
    {"KC_KERNEL void k(void) { kc_i32 (*f)(kc_i32) = 0; }", "'f' is a function pointer"},
    {"KC_FN kc_i32 f(kc_i32 n) {\n  return n ? f(n - 1) : 0;\n}\nKC_KERNEL void k(void) {}", "f.k:2: 'f' calls itself"},
    {"KC_FN kc_i32 k(void) { return 1; }", "no kernel is called 'k'; the text declares: none"},
    {"KC_KERNEL void k(kc_i32 n) {}", "f.k:1: kernel 'k' has 1 parameters, 0 were named"},
    {"", "f.k:1: no kernel is called 'k'"},
};

Test(dialect, every_rule_names_its_line) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    kc__dialect_facts facts;
    kc__string log = {0};
    kc_text err;
    kc_status status = check(cases[i].source, &facts, &log, &err);
    cr_expect_eq(status, cases[i].text ? KC_EBUILD : KC_OK, "case %zu: '%s'\n%s", i, err.s, cases[i].source);
    if (cases[i].text) {
      cr_expect(strstr(err.s, cases[i].text), "case %zu: '%s'", i, err.s);
      cr_expect(log.s && strstr(log.s, err.s), "case %zu: the log lacks the error", i);
    }
    kc__string_clear(&log);
  }
}

Test(dialect, several_faults_are_all_logged) {
  kc__dialect_facts facts;
  kc__string log = {0};
  kc_text err;
  check("kc_i32 a;\nKC_KERNEL void k(void) {\n  int4 v;\n  half h;\n}\n", &facts, &log, &err);
  cr_expect(strstr(log.s, "f.k:1:") && strstr(log.s, "f.k:3:") && strstr(log.s, "f.k:4:"), "%s", log.s);
  cr_expect(strstr(err.s, "f.k:1:"), "%s", err.s);
  kc__string_clear(&log);
}

/* Whoever may meet in a group must not run as a loop. */
Test(dialect, cooperation_is_recognised) {
  static const struct {
    const char *source;
    bool cooperates;
  } texts[] = {{"KC_KERNEL void k(void) { }", false},
               {"KC_KERNEL void k(void) { /* kc_barrier() */ }", false},
               {"KC_KERNEL void k(void) { kc_barrier(); }", true},
               {"#define SYNC kc_barrier()\nKC_KERNEL void k(void) { SYNC; }", true},
               {"KC_KERNEL void k(void) { KC_LOCAL_ARRAY(kc_f32, t, [4]); t[0] = 1.0f; }", true}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    kc__dialect_facts facts;
    kc__string log = {0};
    kc_text err;
    cr_expect_eq(check(texts[i].source, &facts, &log, &err), KC_OK, "%s", err.s);
    cr_expect_eq(facts.cooperates, texts[i].cooperates, "%s", texts[i].source);
    kc__string_clear(&log);
  }
}

/* Whatever bytes come, the scan ends without a crash; every prefix of a text with all kinds of tokens is tried. */
Test(dialect, torn_texts_do_no_harm) {
  static const char text[] =
      "#define A(x) x##1 \\\n  2\n/* c */ KC_KERNEL void k(KC_GLOBAL kc_f32 *p) { p[0] = 1.5e-3f; // end\\\n more\n"
      "  const char c = '\\'', *s = \"\\\"#\"; (*p)(1); } } ) ; ] \\ ` $ @ \r\n .5 0x1p-3 KC_KERNEL KC_FN (";
  for (size_t n = 0; n <= sizeof text - 1; n++) {
    char part[sizeof text];
    kc__dialect_facts facts;
    kc__string log = {0};
    kc_text err;
    memcpy(part, text, n);
    part[n] = '\0';
    check(part, &facts, &log, &err);
    kc__string_clear(&log);
  }
}
