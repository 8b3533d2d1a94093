/* lkc_line.c - module kc.line: a line editor with history and completion, by libedit. A library of its own, loaded by the prompt only. */
#define _GNU_SOURCE 1
#include <histedit.h>
#include <locale.h>
#include <string.h>

#include "lkc.h"

#define LKC_EDITOR "kc.editor"

typedef struct lkc_editor {
  EditLine *el;
  History *history;
  lua_State *L;       /* while a line is read: who answers for completions */
  const char *prompt; /* while a line is read */
  bool interrupted;   /* Ctrl-C ended the line */
} lkc_editor;

static lkc_editor *check_editor(lua_State *L) {
  lkc_editor *e = luaL_checkudata(L, 1, LKC_EDITOR);
  if (!e->el) luaL_error(L, "attempt to use a closed editor");
  return e;
}

static lkc_editor *of(EditLine *el) {
  lkc_editor *e = NULL;
  el_get(el, EL_CLIENTDATA, &e);
  return e;
}

static char *prompt_of(EditLine *el) {
  lkc_editor *e = of(el);
  return (char *)(uintptr_t)(e && e->prompt ? e->prompt : "");
}

/* Ctrl-C is a key here: the terminal sends no signal while a line is edited. */
static unsigned char on_interrupt(EditLine *el, int key) {
  (void)key;
  of(el)->interrupted = true;
  return CC_EOF;
}

/* Asks the Lua function in user value 1 of the editor (at index 1): what to insert at the cursor, and what to show. */
static unsigned char on_complete(EditLine *el, int key) {
  (void)key;
  lua_State *L = of(el)->L;
  const LineInfo *line = el_line(el);
  int top = lua_gettop(L);
  lua_getiuservalue(L, 1, 1);
  lua_pushlstring(L, line->buffer, (size_t)(line->cursor - line->buffer));
  unsigned char answer = CC_ERROR;
  if (lua_pcall(L, 1, 2, 0) == LUA_OK) {
    const char *insert = lua_tostring(L, -2), *shown = lua_tostring(L, -1);
    if (insert && insert[0] && el_insertstr(el, insert) == 0) answer = CC_REFRESH;
    if (shown && shown[0]) {
      printf("\n%s\n", shown);
      fflush(stdout);
      answer = CC_REDISPLAY;
    }
  }
  lua_settop(L, top);
  return answer;
}

/*--- Gives the terminal back; again is harmless.
function editor.close(self) end */
static int editor_close(lua_State *L) {
  lkc_editor *e = luaL_checkudata(L, 1, LKC_EDITOR);
  if (e->el) el_end(e->el);
  if (e->history) history_end(e->history);
  e->el = NULL;
  e->history = NULL;
  return 0;
}

/*--- Opens a line editor on the terminal.
--- @param program string whose section of ~/.editrc holds
--- @param complete function called with the text before the cursor: returns what to insert there, and lines to show or nil
--- @return userdata editor
function line.open(program, complete) end */
static int line_open(lua_State *L) {
  const char *program = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  HistEvent event;
  lkc_editor *e = lua_newuserdatauv(L, sizeof *e, 1);
  *e = (lkc_editor){.el = NULL};
  luaL_setmetatable(L, LKC_EDITOR);
  lua_pushvalue(L, 2);
  lua_setiuservalue(L, -2, 1);
  setlocale(LC_CTYPE, "");
  e->history = history_init();
  e->el = el_init(program, stdin, stdout, stderr);
  if (!e->el || !e->history) return luaL_error(L, "no memory for a line editor");
  history(e->history, &event, H_SETSIZE, 5000);
  history(e->history, &event, H_SETUNIQUE, 1);
  el_set(e->el, EL_CLIENTDATA, e);
  el_set(e->el, EL_PROMPT, prompt_of);
  el_set(e->el, EL_EDITOR, "emacs");
  el_set(e->el, EL_SIGNAL, 1);
  el_set(e->el, EL_HIST, history, e->history);
  el_set(e->el, EL_SETTY, "-d", "-isig", NULL);
  el_set(e->el, EL_ADDFN, "kc-interrupt", "gives the line up", on_interrupt);
  el_set(e->el, EL_ADDFN, "kc-complete", "completes the word", on_complete);
  el_set(e->el, EL_BIND, "^C", "kc-interrupt", NULL);
  el_set(e->el, EL_BIND, "^I", "kc-complete", NULL);
  el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
  el_source(e->el, NULL);
  return 1;
}

/*--- Reads a line.
--- @param prompt string
--- @return string|nil line without its end
--- @return string|nil why "interrupted" (Ctrl-C) or "closed" (Ctrl-D, end of the input)
function editor.read(self, prompt) end */
static int editor_read(lua_State *L) {
  lkc_editor *e = check_editor(L);
  int n = 0;
  e->prompt = luaL_checkstring(L, 2);
  e->L = L;
  e->interrupted = false;
  lua_settop(L, 2);
  el_set(e->el, EL_PREP_TERM, 1); /* before the prompt shows: what is typed then is meant for the editor */
  const char *line = el_gets(e->el, &n);
  if (line && n > 0 && !e->interrupted) {
    lua_pushlstring(L, line, (size_t)(line[n - 1] == '\n' ? n - 1 : n));
    return 1;
  }
  lua_pushnil(L);
  lua_pushstring(L, e->interrupted ? "interrupted" : "closed");
  return 2;
}

/*--- Adds an entry to the history.
--- @param text string
function editor.remember(self, text) end */
static int editor_remember(lua_State *L) {
  HistEvent event;
  lkc_editor *e = check_editor(L);
  history(e->history, &event, H_ENTER, luaL_checkstring(L, 2));
  return 0;
}

static int history_file(lua_State *L, int what) {
  HistEvent event;
  lkc_editor *e = check_editor(L);
  lua_pushboolean(L, history(e->history, &event, what, luaL_checkstring(L, 2)) >= 0);
  return 1;
}

/*--- Reads the history of an earlier run.
--- @param path string
--- @return boolean read
function editor.load(self, path) end */
static int editor_load(lua_State *L) {
  return history_file(L, H_LOAD);
}

/*--- Writes the history.
--- @param path string
--- @return boolean written
function editor.save(self, path) end */
static int editor_save(lua_State *L) {
  return history_file(L, H_SAVE);
}

int luaopen_kc_line(lua_State *L);

__attribute__((visibility("default"))) int luaopen_kc_line(lua_State *L) {
  static const luaL_Reg methods[] = {{"read", editor_read}, {"remember", editor_remember}, {"load", editor_load},
                                     {"save", editor_save}, {"close", editor_close},       {NULL, NULL}};
  static const luaL_Reg functions[] = {{"open", line_open}, {NULL, NULL}};
  luaL_checkversion(L);
  lkc_newtype(L, LKC_EDITOR, methods, NULL, editor_close);
  luaL_newlib(L, functions);
  return 1;
}
