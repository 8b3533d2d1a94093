/* lkc_embedding.h - what the files behind kc_embed.h share. */
#ifndef LKC_EMBEDDING_H
#define LKC_EMBEDDING_H

#include "drivers.h"
#include "kc_embed.h"
#include "lkc_place.h"
#include "lkc_state.h"

struct kc_embed {
  lua_State *L;
  kc_embed_options options;
  kc_alloc_fn alloc;
  char program[PATH_MAX];
};

/* Calls the function below its arguments. After an error nothing is on the stack, and `status`, or KC_ENOMEM, is returned. */
kc_status lkc_call(kc_embed *e, int nargs, int nresults, kc_status status, kc_text *err);
/* Pushes a field of a module. Raises. */
void lkc_pushfield(lua_State *L, const char *module, const char *field);
/* The status of a call that gave nil or a result, then message and code (nil: KC_OK): these two lie at `message` and above. */
kc_status lkc_outcome(lua_State *L, int message, kc_text *err);

#endif
