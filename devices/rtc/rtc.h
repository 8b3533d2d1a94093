/* rtc.h - the program kc-rtc: a runtime compiler (NVRTC, hipRTC) in a process of its own, which may abort or hang without harm.
 * Both libraries have one API apart from the prefix of its names. */
#ifndef KC_DEVICES_RTC_RTC_H
#define KC_DEVICES_RTC_RTC_H

#include "container.h"
#include "dynlib.h"
#include "text.h"

/* Signatures of NVRTC and hipRTC; 0 is success. */
typedef struct kc__rtc_api {
  const char *(*error)(int code);
  int (*version)(int *major, int *minor);
  int (*create)(void **program, const char *source, const char *name, int headers, const char *const *texts,
                const char *const *names);
  int (*compile)(void *program, int count, const char *const *options);
  int (*log_size)(void *program, size_t *size);
  int (*log)(void *program, char *out);
  int (*add_name)(void *program, const char *expression);
  int (*lowered_name)(void *program, const char *expression, const char **name);
  int (*code_size)(void *program, size_t *size);
  int (*code)(void *program, char *out);
  int (*text_size)(void *program, size_t *size); /* NVRTC */
  int (*text)(void *program, char *out);
  int (*arch_count)(int *count);
  int (*archs)(int *numbers);
} kc__rtc_api;

typedef struct kc__rtc_vendor {
  const char *name, *asked; /* the environment variable that names a library */
  const kc__symbol *symbols;
  size_t count;
  const char *const *patterns; /* of the library's file; find.c */
  /* The architectures it compiles for, lowest first, separated by spaces. */
  kc_status (*archs)(kc__string *out, const kc__rtc_api *rtc, kc_text *err);
  /* What people read. */
  kc_status (*text)(kc__string *out, const kc__rtc_api *rtc, void *program, const char *arch, const kc__part *code,
                    kc_text *err);
} kc__rtc_vendor;

extern const kc__rtc_vendor kc__rtc_nvrtc, kc__rtc_hiprtc;

/* Opens the first library that loads: the one that the variable names and no other, else along the patterns. A pattern without a
 * slash is left to the loader; a leading $NAME is an environment variable's value, and * stands for what it does in a shell, the
 * highest version first. */
kc_status kc__rtc_find(void **library, const char *asked, const char *const *patterns, kc_text *err);
/* AMD's code object manager: the architectures of its compiler, "gfx906 gfx90a ...", and a code object disassembled. */
kc_status kc__comgr_archs(kc__string *out, kc_text *err);
kc_status kc__comgr_disassemble(kc__string *out, const char *arch, const kc__part *code, kc_text *err);

#endif
