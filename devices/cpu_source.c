/* cpu_source.c - the text that the system compiler sees, and its flags. */
#include <string.h>

#include "cpu.h"
#include "source.h"

static const char *const prelude_files[] = {"kc_cpu_state.h", "kc_cpu.h", "kc_common.h", NULL};

/* ---- the calls ----------------------------------------------------------------------------------------------------- */

/* The C type of a format in memory, written with words that need no header. */
static const char *type_name(const kc_format *f) {
  static const char *const signed_names[9] = {
      [1] = "__INT8_TYPE__", [2] = "__INT16_TYPE__", [4] = "__INT32_TYPE__", [8] = "__INT64_TYPE__"};
  static const char *const unsigned_names[9] = {
      [1] = "__UINT8_TYPE__", [2] = "__UINT16_TYPE__", [4] = "__UINT32_TYPE__", [8] = "__UINT64_TYPE__"};
  if (f->kind == KC_FLOAT && f->storage >= 4) return f->storage == 8 ? "double" : "float";
  return (f->kind == KC_INT ? signed_names : unsigned_names)[f->storage];
}

/* Host functions take whatever pointer their author likes (_Float16 *, int8_t *); kernels are held to the format's type. */
static void add_call(kc__string *out, const kc_build *b) {
  bool typed = b->dialect == KC_DIALECT_KC;
  kc__addf(out, "%s(", b->entry);
  for (int i = 0; i < b->param_count; i++) {
    const kc_param *p = &b->params[i];
    if (i > 0) kc__addf(out, ", ");
    if (!p->buffer)
      kc__addf(out, "*(const %s *)kc_args[%d]", type_name(p->format), i);
    else if (typed)
      kc__addf(out, "(%s *)kc_args[%d]", type_name(p->format), i);
    else
      kc__addf(out, "kc_args[%d]", i);
  }
  kc__addf(out, ");\n");
}

static const char strict[] =
    "#pragma GCC diagnostic error \"-Wconversion\"\n#pragma GCC diagnostic error \"-Wsign-conversion\"\n";
static const char exported[] = "__attribute__((visibility(\"default\"))) ";

static void add_kernel_calls(kc__string *out, const kc_build *b) {
  kc__addf(out, "%svoid kc_cpu_item(struct kc_cpu_state *kc_s, void *const *kc_args);\n%s", exported, strict);
  kc__addf(out, "void kc_cpu_item(struct kc_cpu_state *kc_s, void *const *kc_args) {\n(void)kc_args;\nkc_cpu = kc_s;\n");
  add_call(out, b);
  kc__addf(out, "}\n%svoid kc_cpu_group(struct kc_cpu_state *kc_s, void *const *kc_args, const int *kc_order);\n", exported);
  kc__addf(out, "void kc_cpu_group(struct kc_cpu_state *kc_s, void *const *kc_args, const int *kc_order) {\n(void)kc_args;\n"
                "const int kc_x = kc_s->lsize[0], kc_y = kc_s->lsize[1], kc_n = kc_x * kc_y * kc_s->lsize[2];\nkc_cpu = kc_s;\n"
                "for (int kc_i = 0; kc_i < kc_n; kc_i++) {\nint kc_at = kc_order ? kc_order[kc_i] : kc_i;\n"
                "kc_s->lid[0] = kc_at %% kc_x;\nkc_s->lid[1] = kc_at / kc_x %% kc_y;\nkc_s->lid[2] = kc_at / kc_x / kc_y;\n");
  add_call(out, b);
  kc__addf(out, "kc_s->left(kc_s);\n}\n}\n");
}

static void add_host_call(kc__string *out, const kc_build *b) {
  static const char head[] = "void kc_cpu_call(void *const *kc_args, void *kc_result)";
  kc__addf(out, "%s%s;\n%s%s {\n(void)kc_args;\n(void)kc_result;\n", exported, head, strict, head);
  if (b->result) kc__addf(out, "*(%s *)kc_result = ", type_name(b->result));
  add_call(out, b);
  kc__addf(out, "}\n");
}

kc_status kc__cpu_source(kc__string *out, const kc_build *b, kc_text *err) {
  bool kernel = b->dialect == KC_DIALECT_KC;
  if (!kc__is_identifier(b->entry, strlen(b->entry)))
    return kc_fail(err, KC_EINVAL, "entry: expected an identifier, got '%.100s'", b->entry);
  if (kernel) kc__source_prelude(out, prelude_files);
  kc_status status = kc__source_defines(out, b->options.defines, err);
  if (status != KC_OK) return status;
  kc__source_line(out, b->file);
  kc__add(out, b->source, strlen(b->source));
  kc__source_call(out, b); /* a wrong number or type of arguments shows up here */
  (kernel ? add_kernel_calls : add_host_call)(out, b);
  return out->failed ? kc_fail(err, KC_ENOMEM, "no memory for the source of %s", b->file) : KC_OK;
}

/* ---- flags --------------------------------------------------------------------------------------------------------- */

/* Fused operations exist on this baseline only when asked for, so allowing them asks for them too. */
static bool has_fma(void) {
  return __builtin_cpu_supports("fma");
}

void kc__cpu_flags(const char *flags[KC__MAX_FLAGS], const kc_build *b, const kc__compiler *c) {
  static const char *const always[] = {"-x",
                                       "c",
                                       "-std=gnu11",
                                       "-O2",
                                       "-g1",
                                       "-fPIC",
                                       "-shared",
                                       "-fvisibility=hidden",
                                       "-fno-math-errno",
                                       "-fno-strict-aliasing",
                                       "-fwrapv",
                                       "-Wall",
                                       "-Werror=vla",
                                       "-Werror=implicit-function-declaration",
                                       "-Werror=implicit-int",
                                       "-Werror=incompatible-pointer-types",
                                       "-Werror=int-conversion",
                                       "-Wl,-z,defs",
                                       "-Wl,-Bsymbolic",
                                       "-Wl,--build-id=none",
                                       NULL};
  static const char *const portable[] = {"-Wc++-compat", "-Wno-unused-function", NULL};
  int n = 0;
  for (const char *const *flag = always; *flag; flag++) flags[n++] = *flag;
  for (const char *const *flag = portable; b->dialect == KC_DIALECT_KC && *flag; flag++) flags[n++] = *flag;
  if (!strstr(c->version, "clang"))
    flags[n++] = "-ftrack-macro-expansion=0"; /* gcc: errors at the author's line, as clang does */
  if (b->options.fast_math) flags[n++] = "-ffast-math";
  if (b->options.contract && has_fma()) flags[n++] = "-mfma";
  flags[n++] = b->options.contract ? "-ffp-contract=fast" : "-ffp-contract=off"; /* after -ffast-math, which turns it on */
  flags[n] = NULL;
}
