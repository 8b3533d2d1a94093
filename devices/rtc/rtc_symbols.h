/* rtc_symbols.h - rows of a table of symbols. */
#ifndef KC_DEVICES_RTC_SYMBOLS_H
#define KC_DEVICES_RTC_SYMBOLS_H

#include <stddef.h>

#include "rtc.h"

#define KC__RTC_ROW(field, name, optional)                                                                                     \
  { name, offsetof(kc__rtc_api, field), optional }
/* What differs in the prefix only. */
#define KC__RTC_SYMBOLS(prefix)                                                                                                \
  KC__RTC_ROW(error, prefix "GetErrorString", false), KC__RTC_ROW(version, prefix "Version", false),                           \
      KC__RTC_ROW(create, prefix "CreateProgram", false), KC__RTC_ROW(compile, prefix "CompileProgram", false),                \
      KC__RTC_ROW(log_size, prefix "GetProgramLogSize", false), KC__RTC_ROW(log, prefix "GetProgramLog", false),               \
      KC__RTC_ROW(add_name, prefix "AddNameExpression", false), KC__RTC_ROW(lowered_name, prefix "GetLoweredName", false)

/* What one of the pairs "size, bytes" gives. */
kc_status kc__rtc_bytes(kc__string *out, const kc__rtc_api *rtc, void *program, int (*size)(void *, size_t *),
                        int (*bytes)(void *, char *), const char *what, kc_text *err);

#endif
