/* status.c - names of statuses and the one formatter of error text. */
#include <stdarg.h>
#include <stdio.h>

#include "kc.h"

const char *kc_status_name(kc_status status) {
  switch (status) {
  case KC_OK:
    return "ok";
  case KC_EINVAL:
    return "invalid";
  case KC_ENOMEM:
    return "no-memory";
  case KC_EIO:
    return "io";
  case KC_ENODEV:
    return "no-device";
  case KC_EBUILD:
    return "build";
  case KC_ELAUNCH:
    return "launch";
  case KC_EUNSUPPORTED:
    return "unsupported";
  case KC_EFAULT:
    return "fault";
  case KC_EINTERNAL:
    return "internal";
  case KC_ECANCELLED:
    return "cancelled";
  }
  return "unknown-status";
}

kc_status kc_fail(kc_text *err, kc_status status, const char *format, ...) {
  if (!err) return status;
  va_list args;
  va_start(args, format);
  vsnprintf(err->s, sizeof err->s, format, args);
  va_end(args);
  return status;
}
