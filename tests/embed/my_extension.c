/* my_extension.c - what a shared object of somebody else's adds to kc: a backend, an oracle and a metric.
 *
 * The backend has one device, whose memory is the host's, and understands of a kernel's text one line, "y[i] = NUMBERf * x[i];". A
 * simulator of an accelerator would understand more. */
#include <kc/kc_extension.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kc_drv_device {
  int opened;
};

struct kc_drv_kernel {
  float factor;
};

static int probe(kc_text *why) {
  if (why) why->s[0] = '\0';
  return 1;
}

static kc_status open_device(kc_drv_device **out, int index, kc_text *err) {
  if (index != 0) return kc_fail(err, KC_ENODEV, "mine:%d: there is one device, mine:0", index);
  *out = (kc_drv_device *)calloc(1, sizeof **out);
  return *out ? KC_OK : kc_fail(err, KC_ENOMEM, "no memory for a device");
}

static void close_device(kc_drv_device *d) {
  free(d);
}

static void describe(kc_drv_device *d, kc_fingerprint *out) {
  (void)d;
  memset(out, 0, sizeof *out);
  strcpy(out->name, "a device of mine");
  strcpy(out->driver, "mine 1.0");
}

static kc_status alloc_memory(kc_mem *out, kc_drv_device *d, size_t bytes, kc_text *err) {
  void *p = malloc(bytes ? bytes : 1);
  (void)d;
  *out = (kc_mem)(uintptr_t)p;
  return p ? KC_OK : kc_fail(err, KC_ENOMEM, "no memory");
}

static void free_memory(kc_drv_device *d, kc_mem mem) {
  (void)d;
  free((void *)(uintptr_t)mem);
}

static kc_status write_memory(kc_drv_device *d, kc_mem to, size_t offset, const void *from, size_t bytes, kc_text *err) {
  (void)d, (void)err;
  memcpy((char *)(uintptr_t)to + offset, from, bytes);
  return KC_OK;
}

static kc_status read_memory(kc_drv_device *d, void *to, kc_mem from, size_t offset, size_t bytes, kc_text *err) {
  (void)d, (void)err;
  memcpy(to, (const char *)(uintptr_t)from + offset, bytes);
  return KC_OK;
}

static kc_status build(kc_drv_kernel **out, kc_drv_device *d, const kc_build *b, char **log, kc_text *err) {
  (void)d;
  const char *line = strstr(b->source, "y[i] = ");
  float factor;
  *log = NULL;
  if (!line || sscanf(line, "y[i] = %ff * x[i];", &factor) != 1 || b->param_count != 3)
    return kc_fail(err, KC_EBUILD, "%s: expected y[i] = NUMBERf * x[i];", b->file);
  *out = (kc_drv_kernel *)calloc(1, sizeof **out);
  if (!*out) return kc_fail(err, KC_ENOMEM, "no memory for a kernel");
  (*out)->factor = factor;
  return KC_OK;
}

static void unload(kc_drv_device *d, kc_drv_kernel *k) {
  (void)d;
  free(k);
}

static float *data_of(const kc_arg *a) {
  return (float *)(void *)((char *)(uintptr_t)a->mem + a->offset);
}

static kc_status launch(kc_drv_device *d, kc_drv_kernel *k, const kc_launch *l, kc_launch_record *record, kc_text *err) {
  const float *x = data_of(&l->args[0]);
  float *y = data_of(&l->args[1]);
  (void)d, (void)record, (void)err;
  for (uint64_t i = 0; i < l->args[2].scalar; i++) y[i] = k->factor * x[i];
  return KC_OK;
}

static kc_status synchronize(kc_drv_device *d, kc_text *err) {
  (void)d, (void)err;
  return KC_OK;
}

static const kc_driver driver = {.abi_size = sizeof(kc_driver),
                                 .name = "mine",
                                 .probe = probe,
                                 .open = open_device,
                                 .close = close_device,
                                 .describe = describe,
                                 .alloc = alloc_memory,
                                 .free = free_memory,
                                 .import = NULL,
                                 .write = write_memory,
                                 .read = read_memory,
                                 .build = build,
                                 .unload = unload,
                                 .launch = launch,
                                 .sync = synchronize,
                                 .archs = NULL,
                                 .compile = NULL,
                                 .code = NULL};

/* ---- an oracle: a x, with a of 1 when absent ------------------------------------------------------------------------------------ */

static kc_status count_scaled(int64_t *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  if (!isfinite(p->a) || p->a <= 0) return kc_fail(err, KC_EINVAL, "a is %g: expected a number above 0", p->a);
  if (kc_buffer_format(inputs[0])->bits > 32) return kc_fail(err, KC_EUNSUPPORTED, "input 1: expected at most 32 bits");
  *out = kc_buffer_count(inputs[0]);
  return KC_OK;
}

/* A product of two doubles is rounded once: the exact value lies between the neighbours. It is exact where a is a power of two. */
static kc_status eval_scaled(kc_enclosure *out, const kc_buffer *const *inputs, const kc_oracle_params *p, kc_text *err) {
  const kc_format *f = kc_buffer_format(inputs[0]);
  const void *x = kc_buffer_cdata(inputs[0]);
  int exponent;
  int exact = frexp(p->a, &exponent) == 0.5;
  (void)err;
  for (int64_t i = 0; i < out->count; i++) {
    double y = p->a * kc_decode(f, kc_load(f, x, (size_t)i));
    out->lo[i] = exact || !isfinite(y) || y == 0 ? y : nextafter(y, -INFINITY);
    out->hi[i] = exact || !isfinite(y) || y == 0 ? y : nextafter(y, INFINITY);
    out->classes[i] = (uint8_t)kc_classify_double(y);
  }
  return KC_OK;
}

static const kc_oracle scaled = {.name = "scaled",
                                 .doc = "a x, of formats of at most 32 bits",
                                 .arity = 1,
                                 .index = false,
                                 .parameters = "a",
                                 .count = count_scaled,
                                 .eval = eval_scaled};

/* ---- a metric ------------------------------------------------------------------------------------------------------------------ */

static double percent_of(double got, double ref, const kc_format *f) {
  (void)f;
  return got == ref ? 0 : 100 * fabs((got - ref) / ref);
}

static const kc_metric percent = {.name = "percent", .unit = "%", .doc = "100 |got - ref| / |ref|", .value = percent_of};

/* ---- what kc asks for ------------------------------------------------------------------------------------------------------------ */

static const kc_driver *const drivers[] = {&driver, NULL};
static const kc_oracle *const oracles[] = {&scaled, NULL};
static const kc_metric *const metrics[] = {&percent, NULL};
static const kc_extension extension = {.abi = KC_EXTENSION_ABI, .drivers = drivers, .oracles = oracles, .metrics = metrics};

const kc_extension *kc_extension_entry(void) {
  return &extension;
}
