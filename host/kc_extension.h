/* kc_extension.h - what others add to kc without recompiling it: backends, oracles and metrics, from a shared object that kc and its roles
 * load, or from a program that embeds kc (kc_embed_add). spec/embedding.md says more.
 */
#ifndef KC_EXTENSION_H
#define KC_EXTENSION_H

#include "kc.h"
#include "kc_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What an extension was compiled against; another value is refused. */
#define KC_EXTENSION_ABI (sizeof(kc_extension) << 16 | sizeof(kc_oracle) << 8 | sizeof(kc_metric))

/** What is added. Lists end with NULL; NULL is an empty one. Everything pointed to lives as long as it is known to kc. A name that kc, or
 * an extension before, has for another thing of the kind is refused. */
typedef struct kc_extension {
  size_t abi;                      /* KC_EXTENSION_ABI */
  const kc_driver *const *drivers; /* behind kc's own in `kc devices` */
  const kc_oracle *const *oracles; /* kc.oracle.NAME(input, ..., { parameters }) in contracts */
  const kc_metric *const *metrics; /* kc.metric(NAME, got, reference) */
} kc_extension;

/** A shared object exports this symbol (KC_API): kc and its roles load what KC_EXTENSIONS=PATH[:PATH]... names. NULL is refused. */
KC_API const kc_extension *kc_extension_entry(void);

#ifdef __cplusplus
}
#endif
#endif
