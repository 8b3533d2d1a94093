/* hiprtc.c - what is hipRTC's own. Older versions live inside libamdhip64. */
#include "rtc.h"
#include "rtc_symbols.h"

static const kc__symbol symbols[] = {
    KC__RTC_SYMBOLS("hiprtc"),
    KC__RTC_ROW(code_size, "hiprtcGetCodeSize", false),
    KC__RTC_ROW(code, "hiprtcGetCode", false),
};

static const char *const patterns[] = {"$ROCM_PATH/lib*/libhiprtc.so*",
                                       "$HIP_PATH/lib*/libhiprtc.so*",
                                       "libhiprtc.so.7",
                                       "libhiprtc.so.6",
                                       "libhiprtc.so.5",
                                       "/opt/rocm/lib*/libhiprtc.so*",
                                       "/opt/rocm-*/lib*/libhiprtc.so*",
                                       "libamdhip64.so.5",
                                       "/opt/rocm/lib*/libamdhip64.so*",
                                       NULL};

static kc_status archs(kc__string *out, const kc__rtc_api *rtc, kc_text *err) {
  (void)rtc;
  return kc__comgr_archs(out, err);
}

static kc_status text(kc__string *out, const kc__rtc_api *rtc, void *program, const char *arch, const kc__part *code,
                      kc_text *err) {
  (void)rtc;
  (void)program;
  return kc__comgr_disassemble(out, arch, code, err);
}

const kc__rtc_vendor kc__rtc_hiprtc = {.name = "hiprtc",
                                       .asked = "KC_HIPRTC",
                                       .symbols = symbols,
                                       .count = sizeof symbols / sizeof *symbols,
                                       .patterns = patterns,
                                       .archs = archs,
                                       .text = text};
