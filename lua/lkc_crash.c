/* lkc_crash.c - what a crash leaves behind: a page shared by judge and runner, into which the runner's signal handler writes
 * the fault, so that a verdict can say "SIGSEGV, 40 bytes after the end of buffer 2" instead of "it died".
 *
 * The candidate shares the runner's address space and could write the page too: like everything from a runner it is a claim. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lkc.h"

#define LKC_CRASHPAGE "kc.crashpage"
#define LKC_CRASHHANDLER "kc.crashhandler"
#define PAGE_BYTES 4096
#define MAX_RANGES 64
#define NEARBY (64 << 20) /* an address further away is not blamed on a buffer */
#define MAGIC 0x6b634352u

typedef struct crash_page {
  uint32_t magic; /* set last */
  int32_t signal;
  uint64_t address;
  bool has_address;
  uint32_t range_count;
  struct {
    uint64_t start, end;
  } ranges[MAX_RANGES];
} crash_page;

typedef struct lkc_page {
  int fd; /* -1: closed */
  crash_page *page;
} lkc_page;

static lkc_page *new_page(lua_State *L, const char *type) {
  lkc_page *p = lua_newuserdatauv(L, sizeof *p, 0);
  *p = (lkc_page){-1, NULL};
  luaL_setmetatable(L, type);
  return p;
}

static lkc_page *check_page(lua_State *L, const char *type) {
  lkc_page *p = luaL_checkudata(L, 1, type);
  if (!p->page) luaL_error(L, "attempt to use a closed crash page");
  return p;
}

static int map_page(lua_State *L, lkc_page *p, int fd) {
  void *at = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  kc_text err;
  if (at == MAP_FAILED) return lkc_fail(L, kc_fail(&err, KC_EIO, "cannot map a crash page: %s", strerror(errno)), &err);
  *p = (lkc_page){fd, at};
  return 1;
}

static void close_page(lkc_page *p) {
  if (p->page) munmap(p->page, PAGE_BYTES);
  if (p->fd >= 0) close(p->fd);
  *p = (lkc_page){-1, NULL};
}

/*--- A page on which a runner's crash handler reports.
--- @return userdata|nil page
--- @return string|nil message
--- @return string|nil code
function core.crashpage() end */
static int crash_page_new(lua_State *L) {
  lkc_page *p = new_page(L, LKC_CRASHPAGE);
  kc_text err;
  int fd = memfd_create("kc-crash", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0 || ftruncate(fd, PAGE_BYTES) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    if (fd >= 0) close(fd);
    return lkc_fail(L, kc_fail(&err, KC_EIO, "cannot make a crash page: %s", strerror(errno)), &err);
  }
  p->fd = fd;
  return map_page(L, p, fd);
}

/*--- The descriptor; stays owned by the page.
--- @return integer fd
function crashpage.fd(self) end */
static int crash_page_fd(lua_State *L) {
  lua_pushinteger(L, check_page(L, LKC_CRASHPAGE)->fd);
  return 1;
}

/*--- Forgets what was reported.
function crashpage.clear(self) end */
static int crash_page_clear(lua_State *L) {
  memset(check_page(L, LKC_CRASHPAGE)->page, 0, PAGE_BYTES);
  return 0;
}

/* Where an address lies as seen from a buffer: bytes before it (negative), from its start (inside), or after its end. */
typedef struct place {
  int buffer; /* position from 1; 0: none is near */
  bool inside;
  int64_t offset, distance;
} place;

static place place_in(const crash_page *c, uint32_t i) {
  uint64_t start = c->ranges[i].start, end = c->ranges[i].end, at = c->address;
  int64_t offset = at < start ? -(int64_t)(start - at) : at < end ? (int64_t)(at - start) : (int64_t)(at - end);
  bool inside = at >= start && at < end;
  return (place){(int)i + 1, inside, offset, inside ? 0 : offset < 0 ? -offset : offset};
}

static place nearest_place(const crash_page *c) {
  place best = {.distance = NEARBY};
  for (uint32_t i = 0; i < c->range_count && i < MAX_RANGES; i++) {
    place p = place_in(c, i);
    if (p.distance < best.distance || p.inside) best = p;
  }
  return best;
}

static void push_location(lua_State *L, const crash_page *c, const char *name) {
  char text[160], address[32];
  snprintf(address, sizeof address, "0x%llx", (unsigned long long)c->address);
  lkc_setstring(L, "address", address);
  place p = nearest_place(c);
  if (p.buffer) {
    lkc_setinteger(L, "buffer", p.buffer);
    lkc_setinteger(L, "offset", p.offset);
  }
  if (!p.buffer)
    snprintf(text, sizeof text, "%s at address %s", name, address);
  else if (p.inside)
    snprintf(text, sizeof text, "%s at byte %lld of buffer %d (inputs are read-only)", name, (long long)p.offset, p.buffer);
  else
    snprintf(text, sizeof text, "%s, %lld bytes %s buffer %d", name, (long long)p.distance,
             p.offset < 0 ? "before" : "after the end of", p.buffer);
  lkc_setstring(L, "text", text);
}

/*--- What the handler wrote: {signal = number, name = "SIGSEGV", address = hex text, buffer = argument position, offset = bytes
--- (negative before the buffer, else from its start inside it, or after its end), text = one line}; nil when nothing crashed.
--- @return table|nil report
function crashpage.report(self) end */
static int crash_page_report(lua_State *L) {
  crash_page c;
  memcpy(&c, check_page(L, LKC_CRASHPAGE)->page, sizeof c); /* a snapshot: the runner may still be writing */
  if (c.magic != MAGIC) return 0;
  const char *abbreviation = sigabbrev_np(c.signal);
  char name[32];
  snprintf(name, sizeof name, "SIG%.24s", abbreviation ? abbreviation : "?");
  lua_newtable(L);
  lkc_setinteger(L, "signal", c.signal);
  lkc_setstring(L, "name", name);
  if (c.has_address)
    push_location(L, &c, name);
  else
    lkc_setstring(L, "text", name);
  return 1;
}

/*--- Unmaps the page; again is harmless.
function crashpage.close(self) end */
static int crash_page_close(lua_State *L) {
  close_page(luaL_checkudata(L, 1, LKC_CRASHPAGE));
  return 0;
}

/* ---- in the runner ------------------------------------------------------------------------------------------------------- */

/* Where the handler writes; a signal handler has no other way to know. */
static crash_page *volatile handler_page;

static void on_crash(int signal, siginfo_t *info, void *context) {
  (void)context;
  crash_page *c = handler_page;
  if (c) {
    c->signal = signal;
    c->has_address = signal == SIGSEGV || signal == SIGBUS;
    c->address = (uint64_t)(uintptr_t)info->si_addr;
    __atomic_store_n(&c->magic, MAGIC, __ATOMIC_RELEASE);
  }
  raise(signal); /* SA_RESETHAND: the default action ends the process with this signal once the handler returns */
}

static void install_handlers(void *stack, size_t bytes) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
  stack_t alternate = {.ss_sp = stack, .ss_size = bytes};
  sigaltstack(&alternate, NULL);
  struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND};
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
}

/*--- Installs handlers for fatal signals, which report on the page at descriptor `fd` and then let the process die.
--- @param fd integer descriptor of a crash page
--- @return userdata|nil handler
--- @return string|nil message
--- @return string|nil code
function core.crashhandler(fd) end */
static int crash_handler_new(lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1);
  lkc_page *p = new_page(L, LKC_CRASHHANDLER);
  void *stack = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* for the process's life */
  int pushed = map_page(L, p, fd);
  if (!p->page || stack == MAP_FAILED) return pushed;
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  handler_page = p->page;
  install_handlers(stack, 65536);
  return 1;
}

/*--- Buffers that a following fault may be blamed on, in the order of the arguments.
--- @param buffers table list of buffers
function crashhandler.ranges(self, buffers) end */
static int crash_handler_ranges(lua_State *L) {
  crash_page *c = check_page(L, LKC_CRASHHANDLER)->page;
  luaL_checktype(L, 2, LUA_TTABLE);
  c->range_count = 0;
  for (int i = 0, n = (int)luaL_len(L, 2); i < n && i < MAX_RANGES; i++) {
    lua_geti(L, 2, i + 1);
    const kc_buffer *b = lkc_checkbuffer(L, -1);
    c->ranges[i].start = (uint64_t)(uintptr_t)kc_buffer_cdata(b);
    c->ranges[i].end = c->ranges[i].start + kc_buffer_bytes(b);
    c->range_count = (uint32_t)i + 1;
    lua_pop(L, 1);
  }
  return 0;
}

/*--- Unmaps the page; the handlers stay and report nothing.
function crashhandler.close(self) end */
static int crash_handler_close(lua_State *L) {
  lkc_page *p = luaL_checkudata(L, 1, LKC_CRASHHANDLER);
  if (p->page && handler_page == p->page) handler_page = NULL;
  close_page(p);
  return 0;
}

static const luaL_Reg page_methods[] = {{"fd", crash_page_fd},
                                        {"clear", crash_page_clear},
                                        {"report", crash_page_report},
                                        {"close", crash_page_close},
                                        {NULL, NULL}};
static const luaL_Reg handler_methods[] = {{"ranges", crash_handler_ranges}, {"close", crash_handler_close}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"crashpage", crash_page_new}, {"crashhandler", crash_handler_new}, {NULL, NULL}};

void lkc_open_crash(lua_State *L) {
  lkc_newtype(L, LKC_CRASHPAGE, page_methods, NULL, crash_page_close);
  lkc_newtype(L, LKC_CRASHHANDLER, handler_methods, NULL, crash_handler_close);
  luaL_setfuncs(L, functions, 0);
}
