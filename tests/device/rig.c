/* rig.c - devices, kernels and launches for the device tests. */
#include "rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool rig_next(rig *r) {
  kc_text why;
  rig_close(r);
  while ((r->v = kc_drivers[r->row])) {
    r->row++;
    if (kc_driver_probe(r->v, &why) > 0) {
      cr_assert_eq(kc_driver_open(&r->d, r->v, 0, &why), KC_OK, "%s: %s", r->v->name, why.s);
      return true;
    }
    fprintf(stderr, "skipped on %s: %s\n", r->v->name, why.s);
  }
  return false;
}

rig rig_open(const char *name) {
  rig r = {0};
  while (rig_next(&r))
    if (strcmp(r.v->name, name) == 0) return r;
  cr_assert_fail("no driver is called %s", name);
  return r;
}

void rig_close(rig *r) {
  if (r->d) r->v->close(r->d);
  r->d = NULL;
}

/* "name:format[]" */
static kc_param parse_param(const char *word, char *name, size_t size) {
  char format[16];
  const char *colon = strchr(word, ':');
  size_t n = strcspn(colon + 1, "[");
  snprintf(name, size, "%.*s", (int)(colon - word), word);
  snprintf(format, sizeof format, "%.*s", (int)n, colon + 1);
  kc_param p = {.name = name, .format = kc_format_find(format), .buffer = colon[1 + n] == '['};
  cr_assert(p.format, "format %s", format);
  return p;
}

kc_status rig_build(rig *r, kc_drv_kernel **k, recipe c, char **log, kc_text *err) {
  kc_param params[80];
  char names[80][16], words[1024], *rest = words, *own_log = NULL;
  int n = 0;
  snprintf(words, sizeof words, "%s", c.signature ? c.signature : "");
  for (char *word = strtok_r(rest, " ", &rest); word; word = strtok_r(NULL, " ", &rest), n++)
    params[n] = parse_param(word, names[n], sizeof names[n]);
  if (!c.options.defines) c.options.defines = "";
  const kc_build b = {.dialect = c.dialect,
                      .source = c.source,
                      .file = c.file ? c.file : "test.k",
                      .entry = c.entry ? c.entry : "k",
                      .params = params,
                      .param_count = n,
                      .result = c.result ? kc_format_find(c.result) : NULL,
                      .map = c.map,
                      .options = c.options,
                      .cache_dir = c.cache};
  kc_status status = kc_driver_build(k, r->v, r->d, &b, &own_log, err);
  if (log)
    *log = own_log;
  else
    free(own_log);
  return status;
}

kc_drv_kernel *rig_kernel(rig *r, recipe c) {
  kc_drv_kernel *k = NULL;
  char *log = NULL;
  kc_text err;
  kc_status status = rig_build(r, &k, c, &log, &err);
  cr_assert_eq(status, KC_OK, "%s: %s\n%s\n%s", r->v->name, err.s, log ? log : "", c.source);
  free(log);
  return k;
}

kc_status rig_run(rig *r, kc_drv_kernel *k, geometry g, const value *values, int count, kc_launch_record *record,
                  kc_text *err) {
  kc_arg args[80] = {0};
  kc_binding bindings[80] = {0};
  kc_status status = KC_OK;
  kc_launch l = {.args = args, .arg_count = count, .schedule = g.schedule};
  memcpy(l.grid, g.grid, sizeof l.grid);
  memcpy(l.group, g.group, sizeof l.group);
  for (int i = 0; i < count && status == KC_OK; i++) {
    args[i].scalar = values[i].code;
    if (!values[i].buffer) continue;
    status = kc_bind(&bindings[i], r->v, r->d, values[i].buffer, err);
    args[i] = (kc_arg){.buffer = true, .mem = bindings[i].mem, .offset = kc_buffer_guard_bytes(values[i].buffer)};
  }
  if (status == KC_OK) status = kc_driver_launch(r->v, r->d, k, &l, record, err);
  for (int i = 0; i < count; i++) {
    if (status == KC_OK && bindings[i].open) status = kc_bind_collect(&bindings[i], r->v, r->d, err);
    kc_unbind(&bindings[i], r->v, r->d);
  }
  return status;
}

kc_launch_record rig_launch(rig *r, kc_drv_kernel *k, geometry g, const value *values, int count) {
  kc_launch_record record;
  kc_text err;
  cr_assert_eq(rig_run(r, k, g, values, count, &record, &err), KC_OK, "%s: %s", r->v->name, err.s);
  return record;
}

kc_buffer *rig_buffer(const char *format, int64_t n) {
  kc_buffer *b = NULL;
  kc_text err;
  cr_assert_eq(kc_buffer_create(&b, kc_format_find(format), 1, &n, 64, &err), KC_OK, "%s", err.s);
  return b;
}
