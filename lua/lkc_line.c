/* lkc_line.c - module kc.line: a line editor with history and completion, by libedit. A library of its own, loaded by the prompt only. */
#define _GNU_SOURCE 1
#include <histedit.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lkc.h"

#define LKC_EDITOR "kc.editor"

typedef struct lkc_editor {
  EditLine *el;
  History *history;
  lua_State *L;       /* while a line is read: who answers for completions */
  const char *prompt; /* while a line is read */
  bool interrupted;   /* Ctrl-C ended the line */
  bool pastes;        /* the terminal is one that may be asked to mark what is pasted */
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

/* Keys that stand for libedit's own commands where ours come before them. */
#define KEY_SUBMIT "\035"  /* ^] */
#define KEY_EARLIER "\020" /* ^P */
#define KEY_LATER "\016"   /* ^N */

/* Calls the Lua function in user value `which` with the text and returns whether it answered yes; an error is no answer. */
static bool asks(lua_State *L, int which, const char *text, size_t size) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, 1, which);
  lua_pushlstring(L, text, size);
  bool yes = lua_pcall(L, 1, 1, 0) == LUA_OK && lua_toboolean(L, -1);
  lua_settop(L, top);
  return yes;
}

/* Enter: another line of the same entry while the entry lacks its end. */
static unsigned char on_enter(EditLine *el, int key) {
  (void)key;
  const LineInfo *line = el_line(el);
  if (asks(of(el)->L, 2, line->buffer, (size_t)(line->lastchar - line->buffer)))
    return el_insertstr(el, "\n") == 0 ? CC_REFRESH : CC_ERROR;
  el_push(el, KEY_SUBMIT);
  return CC_NORM;
}

static const char *line_start(const LineInfo *line, const char *at) {
  while (at > line->buffer && at[-1] != '\n') at--;
  return at;
}

static const char *line_end(const LineInfo *line, const char *at) {
  while (at < line->lastchar && *at != '\n') at++;
  return at;
}

/* Characters of UTF-8 text, as the editor counts its cursor. */
static int characters(const char *from, const char *to) {
  int n = 0;
  for (; from < to; from++) n += ((unsigned char)*from & 0xc0) != 0x80;
  return n;
}

/* The place in a line, or its end, that lies as far from its start as the cursor from its own line's. */
static const char *below_or_above(const char *start, const char *end, int column) {
  while (start < end && column > 0) {
    start++;
    while (start < end && ((unsigned char)*start & 0xc0) == 0x80) start++;
    column--;
  }
  return start;
}

static unsigned char on_up(EditLine *el, int key) {
  (void)key;
  const LineInfo *line = el_line(el);
  const char *start = line_start(line, line->cursor);
  if (start == line->buffer) {
    el_push(el, KEY_EARLIER);
    return CC_NORM;
  }
  const char *to = below_or_above(line_start(line, start - 1), start - 1, characters(start, line->cursor));
  el_cursor(el, -characters(to, line->cursor));
  return CC_CURSOR;
}

static unsigned char on_down(EditLine *el, int key) {
  (void)key;
  const LineInfo *line = el_line(el);
  const char *end = line_end(line, line->cursor);
  if (end == line->lastchar) {
    el_push(el, KEY_LATER);
    return CC_NORM;
  }
  int column = characters(line_start(line, line->cursor), line->cursor);
  const char *to = below_or_above(end + 1, line_end(line, end + 1), column);
  el_cursor(el, characters(line->cursor, to));
  return CC_CURSOR;
}

static unsigned char on_home(EditLine *el, int key) {
  (void)key;
  const LineInfo *line = el_line(el);
  el_cursor(el, -characters(line_start(line, line->cursor), line->cursor));
  return CC_CURSOR;
}

static unsigned char on_end(EditLine *el, int key) {
  (void)key;
  const LineInfo *line = el_line(el);
  el_cursor(el, characters(line->cursor, line_end(line, line->cursor)));
  return CC_CURSOR;
}

typedef struct pasted {
  wchar_t *text;
  size_t size, room;
  bool lost; /* no memory: what follows is read and dropped, for as keys it would mean something */
} pasted;

static void add(pasted *p, wchar_t c) {
  if (p->lost || !c) return;
  if (p->size + 1 >= p->room) {
    size_t room = p->room ? 2 * p->room : 256;
    wchar_t *text = realloc(p->text, room * sizeof *text);
    p->lost = !text;
    if (p->lost) return;
    p->text = text;
    p->room = room;
  }
  p->text[p->size++] = c == L'\r' ? L'\n' : c;
}

/* What the terminal says is pasted (between ESC [ 200 ~ and ESC [ 201 ~) goes in as one piece: keys in it mean nothing, and the line is
 * drawn once. */
static unsigned char on_paste(EditLine *el, int key) {
  (void)key;
  static const wchar_t end[] = L"\033[201~";
  size_t matched = 0, length = sizeof end / sizeof *end - 1;
  pasted p = {.text = NULL};
  wchar_t c;
  while (matched < length && el_wgetc(el, &c) == 1) {
    if (c != end[matched]) {
      for (size_t i = 0; i < matched; i++) add(&p, end[i]);
      matched = 0;
    }
    if (c == end[matched])
      matched++;
    else
      add(&p, c);
  }
  if (p.text) p.text[p.size] = L'\0';
  bool inserted = p.size > 0 && !p.lost && el_winsertstr(el, p.text) == 0;
  free(p.text);
  return inserted ? CC_REFRESH : CC_ERROR;
}

static void paste_mode(lkc_editor *e, bool on) {
  if (!e->pastes) return;
  fputs(on ? "\033[?2004h" : "\033[?2004l", stdout);
  fflush(stdout);
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

static void bind_keys(EditLine *el) {
  static const struct {
    const char *name, *help;
    unsigned char (*run)(EditLine *, int);
    const char *keys[4];
  } commands[] = {{"kc-interrupt", "gives the entry up", on_interrupt, {"^C"}},
                  {"kc-complete", "completes the word", on_complete, {"^I"}},
                  {"kc-enter", "ends the entry, or goes on in another line", on_enter, {"^M", "^J"}},
                  {"kc-up", "a line up, or an earlier entry", on_up, {"\033[A", "\033OA"}},
                  {"kc-down", "a line down, or a later entry", on_down, {"\033[B", "\033OB"}},
                  {"kc-home", "to the start of the line", on_home, {"^A", "\033[H", "\033OH", "\033[1~"}},
                  {"kc-end", "to the end of the line", on_end, {"^E", "\033[F", "\033OF", "\033[4~"}},
                  {"kc-paste", "takes what is pasted", on_paste, {"\033[200~"}}};
  static const char *const own[][2] = {{KEY_SUBMIT, "ed-newline"},
                                       {KEY_EARLIER, "ed-prev-history"},
                                       {KEY_LATER, "ed-next-history"},
                                       {"^R", "em-inc-search-prev"}};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    el_set(el, EL_ADDFN, commands[i].name, commands[i].help, commands[i].run);
    for (int k = 0; k < 4 && commands[i].keys[k]; k++) el_set(el, EL_BIND, commands[i].keys[k], commands[i].name, NULL);
  }
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) el_set(el, EL_BIND, own[i][0], own[i][1], NULL);
}

/*--- Opens a line editor on the terminal.
--- @param program string whose section of ~/.editrc holds
--- @param complete function called with the text before the cursor: returns what to insert there, and lines to show or nil
--- @param more function called with the text when Enter is pressed: true when the entry goes on in another line
--- @return userdata editor
function line.open(program, complete, more) end */
static int line_open(lua_State *L) {
  const char *program = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TFUNCTION);
  luaL_checktype(L, 3, LUA_TFUNCTION);
  HistEvent event;
  lkc_editor *e = lua_newuserdatauv(L, sizeof *e, 2);
  const char *terminal = getenv("TERM");
  *e = (lkc_editor){.el = NULL, .pastes = terminal && strcmp(terminal, "dumb") != 0};
  luaL_setmetatable(L, LKC_EDITOR);
  for (int i = 1; i <= 2; i++) {
    lua_pushvalue(L, i + 1);
    lua_setiuservalue(L, -2, i);
  }
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
  bind_keys(e->el);
  el_source(e->el, NULL);
  return 1;
}

/*--- Reads an entry of one or more lines.
--- @param prompt string
--- @return string|nil text without its end
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
  paste_mode(e, true);
  const char *line = el_gets(e->el, &n);
  paste_mode(e, false);
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
