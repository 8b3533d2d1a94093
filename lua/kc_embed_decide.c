/* kc_embed_decide.c - a tensor of the caller's against an oracle written in Lua: the text becomes an enclosure in Lua, C decides. */
#include "lkc_embedding.h"

typedef struct question {
  const kc_buffer *y;
  const char *oracle;
  const kc_input *inputs;
  size_t count;
  const kc_tolerance *tolerance;
  kc_decision *out;
  kc_text *err;
  kc_status status;
} question;

/* Pushes a table name -> buffer; each holds a reference until it is closed. */
static void push_inputs(lua_State *L, const question *q) {
  lua_createtable(L, 0, (int)q->count);
  for (size_t i = 0; i < q->count; i++) {
    lkc_newbuffer(L)->b = kc_buffer_retain((kc_buffer *)(uintptr_t)q->inputs[i].buffer);
    lua_setfield(L, -2, q->inputs[i].name);
  }
}

static void push_shape(lua_State *L, const kc_buffer *b) {
  int rank = kc_buffer_rank(b);
  lua_createtable(L, rank, 0);
  for (int i = 0; i < rank; i++) {
    lua_pushinteger(L, kc_buffer_shape(b)[i]);
    lua_seti(L, -2, i + 1);
  }
}

static int answer(lua_State *L) {
  question *q = lua_touserdata(L, 1);
  lkc_pushfield(L, "kc.embed", "enclose");
  lua_pushstring(L, q->oracle);
  push_inputs(L, q);
  push_shape(L, q->y);
  lua_call(L, 3, 1);
  lkc_enclosure *e = lkc_checkenclosure(L, 2);
  q->status = kc_decide(q->out, q->y, &e->e, q->tolerance, e->refine, e->user, q->err);
  return 0;
}

kc_status kc_embed_decide(kc_decision *out, kc_embed *e, const kc_buffer *y, const char *oracle, const kc_input *inputs,
                          size_t count, const kc_tolerance *tolerance, kc_text *err) {
  question q = {y, oracle, inputs, count, tolerance, out, err, KC_OK};
  kc_fpstate mine = kc_fpstate_get();
  if (!lua_checkstack(e->L, 4)) return kc_fail(err, KC_ENOMEM, "no memory");
  lua_pushcfunction(e->L, answer);
  lua_pushlightuserdata(e->L, &q);
  kc_fpstate_set(kc_fpstate_default());
  kc_status status = lkc_call(e, 1, 0, KC_EINVAL, err);
  kc_fpstate_set(mine);
  lua_gc(e->L, LUA_GCCOLLECT); /* tensors weigh more than the collector knows */
  return status == KC_OK ? q.status : status;
}
