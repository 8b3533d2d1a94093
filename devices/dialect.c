/* dialect.c - rules of the portable dialect, checked with the author's line before any compiler sees the text. */
#include "dialect.h"

#include <string.h>

#include "scan.h"

/* ---- words --------------------------------------------------------------------------------------------------------- */

static const char opencl[] = "is reserved in OpenCL C; rename it";
static const char cxx[] = "is reserved in C++, which CUDA and HIP compile; rename it";
static const char cuda[] = "belongs to CUDA and HIP; use the kc_ words";
static const char truth[] = "is not a type or constant in all devices' languages; write kc_i32, 1 or 0";
static const char linkage[] = "is not allowed; helpers are KC_FN, constants KC_TABLE, kernels KC_KERNEL";
static const char gnu[] = "is an extension that not every device has";

static const struct {
  const char *word, *why;
} reserved[] = {
    {"half", opencl},
    {"kernel", opencl},
    {"global", opencl},
    {"local", opencl},
    {"constant", opencl},
    {"private", opencl},
    {"generic", opencl},
    {"uniform", opencl},
    {"read_only", opencl},
    {"write_only", opencl},
    {"read_write", opencl},
    {"pipe", opencl},
    {"event_t", opencl},
    {"sampler_t", opencl},
    {"barrier", opencl},
    {"quad", opencl},
    {"complex", opencl},
    {"imaginary", opencl},
    {"vec_step", opencl},
    {"image1d_t", opencl},
    {"image2d_t", opencl},
    {"image3d_t", opencl},
    {"alignas", cxx},
    {"alignof", cxx},
    {"and", cxx},
    {"and_eq", cxx},
    {"asm", cxx},
    {"bitand", cxx},
    {"bitor", cxx},
    {"catch", cxx},
    {"class", cxx},
    {"compl", cxx},
    {"concept", cxx},
    {"const_cast", cxx},
    {"constexpr", cxx},
    {"decltype", cxx},
    {"delete", cxx},
    {"dynamic_cast", cxx},
    {"explicit", cxx},
    {"export", cxx},
    {"friend", cxx},
    {"mutable", cxx},
    {"namespace", cxx},
    {"new", cxx},
    {"noexcept", cxx},
    {"not", cxx},
    {"not_eq", cxx},
    {"nullptr", cxx},
    {"operator", cxx},
    {"or", cxx},
    {"or_eq", cxx},
    {"protected", cxx},
    {"public", cxx},
    {"reinterpret_cast", cxx},
    {"requires", cxx},
    {"static_assert", cxx},
    {"static_cast", cxx},
    {"template", cxx},
    {"this", cxx},
    {"thread_local", cxx},
    {"throw", cxx},
    {"try", cxx},
    {"typeid", cxx},
    {"typename", cxx},
    {"using", cxx},
    {"virtual", cxx},
    {"wchar_t", cxx},
    {"xor", cxx},
    {"xor_eq", cxx},
    {"threadIdx", cuda},
    {"blockIdx", cuda},
    {"blockDim", cuda},
    {"gridDim", cuda},
    {"warpSize", cuda},
    {"bool", truth},
    {"_Bool", truth},
    {"true", truth},
    {"false", truth},
    {"static", linkage},
    {"extern", linkage},
    {"inline", linkage},
    {"register", linkage},
    {"auto", linkage},
    {"restrict", gnu},
    {"typeof", gnu},
    {"alloca", gnu},
    {"_Generic", gnu},
    {"_Static_assert", gnu},
    {"_Alignas", gnu},
    {"_Atomic", gnu},
    {"_Complex", gnu},
    {"_Float16", gnu},
    {"_Thread_local", gnu},
    {"NULL", "is not declared on every device; write 0"},
    {"long", "has different sizes; write kc_i64"},
    {"uchar", "is a type in OpenCL C only; write kc_u8"},
    {"ushort", "is a type in OpenCL C only; write kc_u16"},
    {"uint", "is a type in OpenCL C only; write kc_u32"},
    {"ulong", "is a type in OpenCL C only; write kc_u64"},
    {"size_t", "has different sizes; write kc_u64"},
};

static const char *const vector_bases[] = {"char", "uchar", "short", "ushort", "int",  "uint",
                                           "long", "ulong", "float", "double", "half", NULL};
static const char *const vector_widths[] = {"2", "3", "4", "8", "16", NULL};

static bool is_vector_type(const char *s, size_t n) {
  for (const char *const *base = vector_bases; *base; base++)
    for (const char *const *width = vector_widths; *width; width++) {
      size_t b = strlen(*base), w = strlen(*width);
      if (n == b + w && memcmp(s, *base, b) == 0 && memcmp(s + b, *width, w) == 0) return true;
    }
  return false;
}

/* Why an author must not use the word, or NULL. */
static const char *objection(const char *s, size_t n) {
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (strlen(reserved[i].word) == n && memcmp(reserved[i].word, s, n) == 0) return reserved[i].why;
  if (is_vector_type(s, n)) return "is a vector type; the dialect has none";
  if (n >= 2 && s[0] == '_' && s[1] == '_') return "is reserved for the compilers";
  return NULL;
}

bool kc__dialect_name_ok(const char *name, size_t n) {
  if (n == 0) return false;
  kc__scanner s = kc__scan(name);
  kc__token t = kc__next(&s);
  return t.kind == KC__WORD && t.n == n && !objection(name, n);
}

/* ---- rules that need the surroundings ------------------------------------------------------------------------------- */

enum { WINDOW = 4, MAX_MESSAGES = 20 };

typedef struct checker {
  const kc_build *b;
  kc__string *log;
  kc_text *err;
  int messages;
  int braces, parens;
  bool in_kernel;           /* inside the body, or the head, of a kernel */
  kc__token function;       /* the function whose body or head this is */
  kc__token recent[WINDOW]; /* the tokens before the current one, latest first */
  kc__token first;          /* of the current statement at file scope */
  int statement_words;
  bool statement_calls; /* a parenthesis was seen */
  int entry_line, entry_params;
  bool param_pointer, param_global, param_empty;
  kc__string kernels; /* their names, for the message when the entry is missing */
  kc__dialect_facts facts;
} checker;

static void complain(checker *c, int line, const char *what, kc__token t) {
  if (c->messages++ >= MAX_MESSAGES) return;
  size_t start = c->log->n;
  kc__addf(c->log, "%s:%d: ", c->b->file, line);
  if (t.n) kc__addf(c->log, "'%.*s' ", (int)t.n, t.s);
  kc__addf(c->log, "%s\n", what);
  if (c->messages == 1 && !c->log->failed)
    (void)kc_fail(c->err, KC_EBUILD, "%.*s", (int)(c->log->n - start - 1), c->log->s + start);
}

static const kc__token nothing = {.kind = KC__END, .s = "", .n = 0};

static void check_directive(checker *c, kc__token t) {
  static const char *const refused[] = {"include", "include_next", "import", "pragma", "line", NULL};
  if (c->recent[0].kind != KC__HASH) return;
  for (const char *const *word = refused; *word; word++)
    if (kc__token_is(t, *word)) complain(c, t.line, "directive is not allowed in a kernel", t);
}

static void check_word(checker *c, kc__token t) {
  const char *why = objection(t.s, t.n);
  if (why) complain(c, t.line, why, t);
  if (t.directive) check_directive(c, t);
  bool array = kc__token_is(t, "KC_LOCAL_ARRAY");
  if (array && (t.directive || !c->in_kernel || c->braces != 1 || c->parens != 0))
    complain(c, t.line, "stands at the outermost scope of a kernel only", t);
  if (array || kc__token_is(t, "kc_barrier")) c->facts.cooperates = true;
}

/* Heads: KC_KERNEL void NAME ( parameters ). */
static void begin_function(checker *c) {
  c->function = c->recent[0];
  c->in_kernel = kc__token_is(c->first, "KC_KERNEL");
  c->param_pointer = c->param_global = false;
  c->param_empty = true;
  if (!c->in_kernel) return;
  if (!kc__token_is(c->recent[1], "void") || !kc__token_is(c->recent[2], "KC_KERNEL"))
    complain(c, c->function.line, "must be declared as KC_KERNEL void NAME(...)", c->function);
  kc__addf(&c->kernels, "%s%.*s", c->kernels.n ? ", " : "", (int)c->function.n, c->function.s);
  if (!kc__token_is(c->function, c->b->entry)) return;
  c->entry_line = c->function.line;
  c->entry_params = 0;
}

static void end_param(checker *c) {
  if (c->param_pointer && !c->param_global)
    complain(c, c->recent[0].line, "is a pointer parameter without KC_GLOBAL", c->recent[0]);
  if (kc__token_is(c->function, c->b->entry) && !c->param_empty) c->entry_params++;
  c->param_pointer = c->param_global = false;
  c->param_empty = true;
}

static void check_param(checker *c, kc__token t) {
  if (!c->in_kernel || c->braces != 0 || c->parens == 0) return;
  bool lone_void = kc__token_is(t, "void") && kc__token_is(c->recent[0], "(");
  if (kc__token_is(t, ",") || (kc__token_is(t, ")") && c->parens == 1)) {
    end_param(c);
    return;
  }
  if (!lone_void) c->param_empty = false;
  if (kc__token_is(t, "*") || kc__token_is(t, "[")) c->param_pointer = true;
  if (kc__token_is(t, "KC_GLOBAL")) c->param_global = true;
}

/* What stands at file scope: functions, types and tables. */
static void check_statement(checker *c, kc__token t) {
  static const char *const allowed[] = {"KC_TABLE", "KC_FN", "KC_KERNEL", "typedef", "struct", "union", "enum", NULL};
  if (c->first.kind == KC__END) c->first = t;
  c->statement_words += t.kind == KC__WORD;
  if (kc__token_is(t, "(") && c->parens == 0) {
    if (!c->statement_calls && c->recent[0].kind == KC__WORD) begin_function(c);
    c->statement_calls = true;
  }
  if (!kc__token_is(t, ";")) return;
  bool fine = c->statement_calls || c->statement_words < 2;
  for (const char *const *word = allowed; !fine && *word; word++) fine = kc__token_is(c->first, *word);
  if (!fine) complain(c, c->first.line, "begins a variable at file scope; only KC_TABLE constants may stand there", c->first);
  c->in_kernel = false;
}

static void end_statement(checker *c) {
  c->first = nothing;
  c->statement_words = 0;
  c->statement_calls = false;
}

static void check_calls(checker *c, kc__token t) {
  const kc__token *r = c->recent;
  if (!kc__token_is(t, "(")) return;
  if (kc__token_is(r[0], ")") && r[1].kind == KC__WORD && kc__token_is(r[2], "*") && kc__token_is(r[3], "("))
    complain(c, t.line, "is a function pointer; the dialect has none", r[1]);
  if (c->braces > 0 && r[0].kind == KC__WORD && c->function.n == r[0].n && memcmp(c->function.s, r[0].s, r[0].n) == 0)
    complain(c, t.line, "calls itself; the dialect has no recursion", r[0]);
}

static void track(checker *c, kc__token t) {
  c->parens += kc__token_is(t, "(") - kc__token_is(t, ")");
  c->braces += kc__token_is(t, "{");
  if (kc__token_is(t, "}") && --c->braces == 0 && c->statement_calls) end_statement(c); /* end of a function */
  if (kc__token_is(t, ";") && c->braces == 0) end_statement(c);
}

static void check_token(checker *c, kc__token t) {
  if (t.kind == KC__WORD) check_word(c, t);
  /* Either would build words that these rules do not see. */
  if (kc__token_is(t, "##")) complain(c, t.line, "is not allowed in a kernel", t);
  if (t.kind == KC__WORD && t.s[t.n] == '\\') complain(c, t.line, "goes on in the next line; a word stands in one", t);
  if (!t.directive) {
    if (c->braces == 0) check_statement(c, t);
    check_calls(c, t);
    check_param(c, t);
    track(c, t);
  }
  memmove(c->recent + 1, c->recent, sizeof *c->recent * (WINDOW - 1));
  c->recent[0] = t;
}

static void check_entry(checker *c) {
  if (c->entry_line == 0) {
    kc__string text = {0};
    kc__addf(&text, "no kernel is called '%s'; the text declares: %s", c->b->entry, c->kernels.n ? c->kernels.s : "none");
    if (!text.failed) complain(c, 1, text.s, nothing);
    kc__string_clear(&text);
  } else if (c->entry_params != c->b->param_count) {
    kc_text text;
    (void)kc_fail(&text, KC_EBUILD, "kernel '%s' has %d parameters, %d were named", c->b->entry, c->entry_params,
                  c->b->param_count);
    complain(c, c->entry_line, text.s, nothing);
  }
}

kc_status kc__dialect_check(kc__dialect_facts *facts, const kc_build *b, kc__string *log, kc_text *err) {
  checker c = {.b = b, .log = log, .err = err, .function = nothing, .first = nothing};
  for (int i = 0; i < WINDOW; i++) c.recent[i] = nothing;
  kc__scanner s = kc__scan(b->source);
  for (kc__token t = kc__next(&s); t.kind != KC__END; t = kc__next(&s)) check_token(&c, t);
  check_entry(&c);
  bool failed = c.kernels.failed || log->failed;
  kc__string_clear(&c.kernels);
  *facts = c.facts;
  if (failed) return kc_fail(err, KC_ENOMEM, "out of memory while checking %s", b->file);
  return c.messages ? KC_EBUILD : KC_OK;
}

/* ---- names ------------------------------------------------------------------------------------------------------------ */

static bool is_ours(kc__token t) {
  return t.n > 3 && (memcmp(t.s, "kc_", 3) == 0 || memcmp(t.s, "KC_", 3) == 0);
}

/* At file scope, a word before the first parenthesis names a function. */
void kc__dialect_own_names(kc__string *out, const char *source) {
  kc__scanner s = kc__scan(source);
  kc__token before = nothing;
  int braces = 0, parens = 0;
  for (kc__token t = kc__next(&s); t.kind != KC__END; t = kc__next(&s)) {
    if (t.directive) continue;
    bool names = braces == 0 && parens == 0 && before.kind == KC__WORD && kc__token_is(t, "(") && !is_ours(before);
    int n = (int)before.n;
    if (names) kc__addf(out, "#undef %.*s\n#define %.*s kc__%.*s\n", n, before.s, n, before.s, n, before.s);
    braces += kc__token_is(t, "{") - kc__token_is(t, "}");
    parens += kc__token_is(t, "(") - kc__token_is(t, ")");
    before = t;
  }
}

void kc__dialect_own_entry(kc__string *out, const kc_build *b) {
  kc__addf(out, "%s%s", b->dialect == KC_DIALECT_KC ? "kc__" : "", b->entry);
}
