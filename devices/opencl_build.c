/* opencl_build.c - from a kernel's text to a program of an OpenCL device, whose binary is kept. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "dialect.h"
#include "opencl.h"
#include "source.h"

static const char *const prelude[] = {"kc_opencl.h", "kc_common.h", NULL};

/* ---- text and options ------------------------------------------------------------------------------------------------- */

static kc_status write_source(kc__string *out, const kc_build *b, kc_text *err) {
  if (!kc__is_identifier(b->entry, strlen(b->entry)))
    return kc_fail(err, KC_EINVAL, "entry: expected an identifier, got '%.100s'", b->entry);
  if (b->dialect == KC_DIALECT_KC) kc__addf(out, "#define KC_CONTRACT %d\n", b->options.contract);
  if (b->dialect == KC_DIALECT_KC) kc__source_prelude(out, prelude);
  if (b->dialect == KC_DIALECT_KC) kc__dialect_own_names(out, b->source);
  /* The author's own OpenCL C gets the same answer to the same question. */
  if (b->dialect == KC_DIALECT_OPENCL) kc__addf(out, "#pragma OPENCL FP_CONTRACT %s\n", b->options.contract ? "ON" : "OFF");
  kc_status status = kc__source_defines(out, b->options.defines, err);
  if (status != KC_OK) return status;
  kc__source_line(out, b->file);
  kc__add(out, b->source, strlen(b->source));
  return out->failed ? kc_fail(err, KC_ENOMEM, "no memory for the source of %s", b->file) : KC_OK;
}

/* -cl-mad-enable is no contraction: it permits a product that is less accurate than a rounded one. It comes with fast math. */
static void write_options(char *out, size_t size, const kc_drv_device *d, const kc_build *b) {
  snprintf(out, size, "-cl-std=CL1.2 -cl-kernel-arg-info%s%s%s", b->options.flush ? " -cl-denorms-are-zero" : "",
           b->options.fast_math ? " -cl-fast-relaxed-math" : "",
           !b->options.fast_math && d->rounds_divide ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
}

/* ---- building ------------------------------------------------------------------------------------------------------------ */

static char *build_log(const kc_drv_device *d, kc__cl program) {
  size_t n = 0;
  if (d->cl.build_info(program, d->device, KC__CL_PROGRAM_BUILD_LOG, 0, NULL, &n) != KC__CL_SUCCESS || n < 2) return NULL;
  char *log = calloc(1, n + 1);
  if (log) d->cl.build_info(program, d->device, KC__CL_PROGRAM_BUILD_LOG, n, log, NULL);
  return log;
}

static kc_status compile(kc__cl *program, const kc_drv_device *d, const kc__string *source, const char *options, char **log,
                         kc_text *err) {
  int32_t code;
  const char *texts[] = {source->s};
  *program = d->cl.program_with_source(d->context, 1, texts, &source->n, &code);
  if (!*program) {
    kc__cl_fail(err, "clCreateProgramWithSource", code);
    return KC_ENOMEM;
  }
  code = d->cl.build(*program, 1, &d->device, options, NULL, NULL);
  *log = build_log(d, *program);
  if (code == KC__CL_SUCCESS) return KC_OK;
  kc__cl_fail(err, "clBuildProgram", code);
  kc__source_error(err, *log);
  return KC_EBUILD;
}

/* A binary that the driver no longer takes is no error: the source is there. */
static bool restore(kc__cl *program, const kc_drv_device *d, const kc__cache_entry *e, const char *options) {
  size_t n;
  int32_t each, code;
  uint8_t *bytes = kc__cache_read(e, &n);
  const uint8_t *binaries[] = {bytes};
  if (!bytes) return false;
  *program = d->cl.program_with_binary(d->context, 1, &d->device, &n, binaries, &each, &code);
  free(bytes);
  if (!*program) return false;
  if (code == KC__CL_SUCCESS && each == KC__CL_SUCCESS &&
      d->cl.build(*program, 1, &d->device, options, NULL, NULL) == KC__CL_SUCCESS)
    return true;
  d->cl.release_program(*program);
  *program = NULL;
  return false;
}

/* A program of one device has one binary. What cannot be kept costs time only. */
static void keep(const kc_drv_device *d, kc__cl program, const kc__cache_entry *e) {
  size_t n = 0;
  if (!e->path[0] || d->cl.program_info(program, KC__CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL) != KC__CL_SUCCESS || n == 0)
    return;
  uint8_t *bytes = malloc(n), *binaries[] = {bytes};
  kc_text why;
  if (bytes && d->cl.program_info(program, KC__CL_PROGRAM_BINARIES, sizeof binaries, binaries, NULL) == KC__CL_SUCCESS)
    (void)kc__cache_store(e, bytes, n, &why);
  free(bytes);
}

static kc_status make(kc__cl *program, const kc_drv_device *d, const kc_build *b, const kc__string *source, char **log,
                      kc_text *err) {
  char options[256], name[128], driver[128], version[128];
  kc__cache_entry entry;
  write_options(options, sizeof options, d, b);
  kc__cl_device_text(d, KC__CL_DEVICE_NAME, name, sizeof name);
  kc__cl_device_text(d, KC__CL_DRIVER_VERSION, driver, sizeof driver);
  kc__cl_device_text(d, KC__CL_DEVICE_VERSION, version, sizeof version);
  const char *words[] = {"opencl", name, driver, version, options, NULL};
  kc__cache_locate(&entry, b->cache_dir, ".clbin", words, source);
  if (restore(program, d, &entry, options)) return KC_OK;
  kc_status status = compile(program, d, source, options, log, err);
  if (status == KC_OK) keep(d, *program, &entry);
  return status;
}

/* ---- parameters ---------------------------------------------------------------------------------------------------------- */

/* Types of which the size is known by name. Authors may have names of their own; those are not judged here. */
static size_t known_size(const char *type, size_t n) {
  static const struct {
    const char *type;
    size_t size;
  } rows[] = {{"kc_i8", 1},  {"kc_u8", 1}, {"char", 1},   {"uchar", 1},  {"kc_i16", 2}, {"kc_u16", 2}, {"short", 2},
              {"ushort", 2}, {"half", 2},  {"kc_i32", 4}, {"kc_u32", 4}, {"kc_f32", 4}, {"int", 4},    {"uint", 4},
              {"float", 4},  {"long", 8},  {"ulong", 8},  {"double", 8}, {"kc_i64", 8}, {"kc_u64", 8}, {"kc_f64", 8}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strlen(rows[i].type) == n && memcmp(rows[i].type, type, n) == 0) return rows[i].size;
  return 0;
}

/* OpenCL passes any bytes; whether they are what the text expects shows in the types' names. */
static kc_status check_param(const kc_drv_device *d, kc__cl kernel, const kc_build *b, int i, kc_text *err) {
  char type[128] = "";
  const kc_param *p = &b->params[i];
  if (d->cl.kernel_arg_info(kernel, (uint32_t)i, KC__CL_KERNEL_ARG_TYPE_NAME, sizeof type - 1, type, NULL) != KC__CL_SUCCESS)
    return KC_OK; /* a driver that keeps no names */
  bool pointer = strchr(type, '*') != NULL;
  size_t size = known_size(type, strcspn(type, " *"));
  if (pointer == p->buffer && (size == 0 || size == p->format->storage)) return KC_OK;
  return kc_fail(err, KC_EBUILD, "%.200s: parameter %d of '%.60s' is declared as %s %s%s, the text has %.100s", b->file, i + 1,
                 b->entry, p->name ? p->name : "?", p->format->name, p->buffer ? "[]" : "", type);
}

static kc_status take_kernel(kc__cl *kernel, const kc_drv_device *d, kc__cl program, const kc_build *b, kc_text *err) {
  int32_t code;
  kc__string name = {0};
  kc__dialect_own_entry(&name, b);
  *kernel = name.failed ? NULL : d->cl.create_kernel(program, name.s, &code);
  if (name.failed) code = KC__CL_OUT_OF_HOST_MEMORY;
  kc__string_clear(&name);
  if (!*kernel) {
    kc__cl_fail(err, b->entry, code);
    return KC_EBUILD;
  }
  kc_status status = KC_OK;
  for (int i = 0; i < b->param_count && status == KC_OK; i++) status = check_param(d, *kernel, b, i, err);
  return status;
}

kc_status kc__cl_build(kc__cl *program, kc__cl *kernel, const kc_drv_device *d, const kc_build *b, char **log, kc_text *err) {
  kc__string source = {0};
  kc_status status = kc__source_check(b, log, err);
  if (status == KC_OK) status = write_source(&source, b, err);
  if (status == KC_OK) status = make(program, d, b, &source, log, err);
  if (status == KC_OK) status = take_kernel(kernel, d, *program, b, err);
  kc__string_clear(&source);
  return status;
}
