/* comgr.c - AMD's code object manager, which hipRTC itself loads: which architectures its compiler knows, and what a code object
 * says in the assembler's words. Names, values and signatures are those of amd_comgr.h, version 2. */
#include <stdlib.h>
#include <string.h>

#include "rtc.h"

/* Handles are structs of one 64-bit integer, passed as such an integer is. */
typedef uint64_t handle;

enum { KIND_SOURCE = 0x1, KIND_EXECUTABLE = 0x8 };

typedef struct comgr {
  int (*isa_count)(size_t *count);
  int (*isa_name)(size_t index, const char **name);
  int (*create_data)(int kind, handle *data);
  int (*release_data)(handle data);
  int (*set_data)(handle data, size_t size, const char *bytes);
  int (*get_data)(handle data, size_t *size, char *bytes);
  int (*set_name)(handle data, const char *name);
  int (*create_set)(handle *set);
  int (*add)(handle set, handle data);
  int (*data_at)(handle set, int kind, size_t index, handle *data);
  int (*create_action)(handle *action);
  int (*set_isa)(handle action, const char *name);
  int (*act)(int kind, handle action, handle input, handle output);
} comgr;

#define ROW(field, name)                                                                                                       \
  { "amd_comgr_" name, offsetof(comgr, field), false }

static kc_status load(comgr *c, kc_text *err) {
  static const char *const patterns[] = {"libamd_comgr.so.3", "libamd_comgr.so.2", "$ROCM_PATH/lib*/libamd_comgr.so*",
                                         "/opt/rocm*/lib*/libamd_comgr.so*", NULL};
  static const kc__symbol symbols[] = {
      ROW(isa_count, "get_isa_count"),
      ROW(isa_name, "get_isa_name"),
      ROW(create_data, "create_data"),
      ROW(release_data, "release_data"),
      ROW(set_data, "set_data"),
      ROW(get_data, "get_data"),
      ROW(set_name, "set_data_name"),
      ROW(create_set, "create_data_set"),
      ROW(add, "data_set_add"),
      ROW(data_at, "action_data_get_data"),
      ROW(create_action, "create_action_info"),
      ROW(set_isa, "action_info_set_isa_name"),
      ROW(act, "do_action"),
  };
  void *library;
  kc_status status = kc__rtc_find(&library, "KC_COMGR", patterns, err);
  return status == KC_OK ? kc__dynlib_fill(library, c, symbols, sizeof symbols / sizeof *symbols, err) : status;
}

static const char triple[] = "amdgcn-amd-amdhsa--";

kc_status kc__comgr_archs(kc__string *out, kc_text *err) {
  comgr c;
  size_t n = 0;
  kc_status status = load(&c, err);
  if (status != KC_OK) return status;
  (void)c.isa_count(&n);
  for (size_t i = 0; i < n; i++) {
    const char *name;
    if (c.isa_name(i, &name) != 0 || strncmp(name, triple, sizeof triple - 1) != 0) continue;
    kc__addf(out, "%s%s", out->n ? " " : "", name + sizeof triple - 1);
  }
  return out->n ? KC_OK : kc_fail(err, KC_EBUILD, "amd_comgr_get_isa_name names no architecture");
}

/* The one source that the action has made. */
static bool collect(kc__string *out, const comgr *c, handle set) {
  handle data;
  size_t n = 0;
  if (c->data_at(set, KIND_SOURCE, 0, &data) != 0) return false;
  char *bytes = c->get_data(data, &n, NULL) == 0 ? malloc(n + 1) : NULL;
  bool got = bytes && c->get_data(data, &n, bytes) == 0;
  if (got) kc__add(out, bytes, n);
  free(bytes);
  (void)c->release_data(data);
  return got;
}

/* AMD_COMGR_ACTION_DISASSEMBLE_EXECUTABLE_TO_SOURCE is 12 until version 2 and 10 in version 3; the wrong one makes no source of an
 * executable. */
static bool disassemble(kc__string *out, const comgr *c, int kind, handle action, handle input) {
  handle output;
  return c->create_set(&output) == 0 && c->act(kind, action, input, output) == 0 && collect(out, c, output);
}

kc_status kc__comgr_disassemble(kc__string *out, const char *arch, const kc__part *code, kc_text *err) {
  comgr c;
  handle data, input, action;
  kc__string isa = {0};
  kc_status status = load(&c, err);
  if (status != KC_OK) return status;
  kc__addf(&isa, "%s%s", triple, arch);
  bool ready = c.create_data(KIND_EXECUTABLE, &data) == 0 && c.set_data(data, code->n, code->s) == 0 &&
               c.set_name(data, "code.so") == 0 && c.create_set(&input) == 0 && c.add(input, data) == 0 &&
               c.create_action(&action) == 0 && c.set_isa(action, isa.s) == 0;
  bool done = ready && (disassemble(out, &c, 12, action, input) || disassemble(out, &c, 10, action, input));
  kc__string_clear(&isa); /* the handles end with this process */
  return done ? KC_OK : kc_fail(err, KC_EBUILD, "amd_comgr does not disassemble the code for %s", arch);
}
