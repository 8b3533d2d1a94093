/* lkc_process.c - starting, watching and killing the other roles, with all their descendants.
 *
 * Children are exec'd, never forked (CUDA does not survive fork), each in a process group of its own, so that Ctrl-C on the
 * terminal reaches the supervisor only, which then ends the others in order. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lkc.h"

#define LKC_PROCESS "kc.process"
#define MAX_PIDS 4096

extern char **environ;

typedef struct lkc_process {
  pid_t pid;
  bool reaped;
  int status; /* of waitpid, once reaped */
} lkc_process;

static lkc_process *check_process(lua_State *L) {
  return luaL_checkudata(L, 1, LKC_PROCESS);
}

/* ---- spawn ------------------------------------------------------------------------------------------------------------- */

/* Strings of the list at `index`, NULL-terminated; the memory is a userdata left on the stack. */
static char **string_list(lua_State *L, int index, const char *what) {
  lua_Integer n = luaL_len(L, index);
  char **list = lua_newuserdatauv(L, sizeof(char *) * ((size_t)n + 1), 0);
  for (lua_Integer i = 0; i < n; i++) {
    lua_geti(L, index, i + 1);
    if (lua_type(L, -1) != LUA_TSTRING) luaL_error(L, "%s, item %d: expected a string", what, (int)i + 1);
    list[i] = (char *)(uintptr_t)lua_tostring(L, -1); /* the list keeps it alive */
    lua_pop(L, 1);
  }
  list[n] = NULL;
  return list;
}

/* Descriptors handed to the child pass through copies with high numbers, so that no target number is overwritten before it
 * was itself copied. */
typedef struct lkc_fdplan {
  posix_spawn_file_actions_t actions;
  int high[16];
  int count;
} lkc_fdplan;

static int plan_fd(lkc_fdplan *p, int from, int to) {
  if (p->count == 16) return EMFILE;
  int high = fcntl(from, F_DUPFD_CLOEXEC, 100);
  if (high < 0) return errno;
  p->high[p->count++] = high;
  return posix_spawn_file_actions_adddup2(&p->actions, high, to);
}

/* "null", "inherit" or a descriptor. */
static int plan_stream(lua_State *L, lkc_fdplan *p, const char *field, int target) {
  int rc = 0;
  if (lua_getfield(L, 1, field) == LUA_TNUMBER)
    rc = plan_fd(p, (int)lua_tointeger(L, -1), target);
  else if (lua_isnil(L, -1) || strcmp(lua_tostring(L, -1), "null") == 0)
    rc = posix_spawn_file_actions_addopen(&p->actions, target, "/dev/null", target ? O_WRONLY : O_RDONLY, 0);
  lua_pop(L, 1);
  return rc;
}

static int plan_fds(lua_State *L, lkc_fdplan *p) {
  int rc = plan_stream(L, p, "stdin", 0);
  if (!rc) rc = plan_stream(L, p, "stdout", 1);
  if (!rc) rc = plan_stream(L, p, "stderr", 2);
  if (lua_getfield(L, 1, "fds") == LUA_TTABLE) {
    for (lua_Integer i = 1, n = luaL_len(L, -1); !rc && i <= n; i++) {
      lua_geti(L, -1, i);
      lua_geti(L, -1, 1);
      lua_geti(L, -2, 2);
      rc = plan_fd(p, (int)lua_tointeger(L, -1), (int)lua_tointeger(L, -2));
      lua_pop(L, 3);
    }
  }
  lua_pop(L, 1);
  return rc;
}

static void plan_drop(lkc_fdplan *p) {
  posix_spawn_file_actions_destroy(&p->actions);
  for (int i = 0; i < p->count; i++) close(p->high[i]);
}

static int spawn_with(pid_t *pid, char **argv, char **env, const lkc_fdplan *p) {
  posix_spawnattr_t attr;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_init(&attr);
  posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attr, 0);
  posix_spawnattr_setsigmask(&attr, &none);
  posix_spawnattr_setsigdefault(&attr, &all);
  int rc = posix_spawnp(pid, argv[0], &p->actions, &attr, argv, env);
  posix_spawnattr_destroy(&attr);
  return rc;
}

/* Checked before anything is acquired, so that a raise leaks nothing. */
static void check_spawn(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  if (lua_getfield(L, 1, "argv") != LUA_TTABLE || luaL_len(L, -1) < 1)
    luaL_error(L, "field 'argv': expected a list that begins with the program");
  if (lua_getfield(L, 1, "env") != LUA_TTABLE && !lua_isnil(L, -1)) luaL_error(L, "field 'env': expected a list of NAME=VALUE");
  lua_pop(L, 2);
}

/*--- Starts a program in a process group of its own.
--- @param options table {argv = {program, ...}, fds = {{child_fd, fd}, ...}|nil, env = {"NAME=VALUE", ...}|nil (nil: ours),
---   stdin, stdout, stderr = "null" (default) | "inherit" | descriptor}
--- @return userdata|nil process
--- @return string|nil message
--- @return string|nil code
function core.spawn(options) end */
static int process_spawn(lua_State *L) {
  check_spawn(L);
  lua_settop(L, 1);
  lua_getfield(L, 1, "argv");
  char **argv = string_list(L, 2, "argv");
  char **env = environ;
  if (lua_getfield(L, 1, "env") == LUA_TTABLE) env = string_list(L, lua_gettop(L), "env");
  lkc_process *process = lua_newuserdatauv(L, sizeof *process, 0);
  *process = (lkc_process){-1, true, 0};
  luaL_setmetatable(L, LKC_PROCESS);
  lkc_fdplan plan = {.count = 0};
  posix_spawn_file_actions_init(&plan.actions);
  pid_t pid = -1;
  int rc = plan_fds(L, &plan);
  if (!rc) rc = spawn_with(&pid, argv, env, &plan);
  plan_drop(&plan);
  if (rc) {
    kc_text err;
    kc_fail(&err, KC_EIO, "cannot start '%s': %s", argv[0], strerror(rc));
    return lkc_fail(L, KC_EIO, &err);
  }
  *process = (lkc_process){pid, false, 0};
  return 1;
}

/* ---- waiting ------------------------------------------------------------------------------------------------------------- */

/* True when the process has ended. Somebody else may have reaped it (killtree): then it counts as killed. */
static bool reap(lkc_process *p) {
  if (p->reaped) return true;
  pid_t got;
  do got = waitpid(p->pid, &p->status, WNOHANG);
  while (got < 0 && errno == EINTR);
  if (got < 0) p->status = SIGKILL;
  p->reaped = got != 0;
  return p->reaped;
}

static int push_status(lua_State *L, lkc_process *p) {
  if (!reap(p)) {
    lua_pushliteral(L, "running");
    return 1;
  }
  if (WIFSIGNALED(p->status)) {
    lua_pushliteral(L, "signaled");
    lua_pushinteger(L, WTERMSIG(p->status));
    const char *name = sigabbrev_np(WTERMSIG(p->status));
    lua_pushfstring(L, "SIG%s", name ? name : "?");
    return 3;
  }
  lua_pushliteral(L, "exited");
  lua_pushinteger(L, WEXITSTATUS(p->status));
  return 2;
}

/*--- State without waiting: "running" | "exited", code | "signaled", number, name.
--- @return string state
--- @return integer|nil code
--- @return string|nil name
function process.status(self) end */
static int process_status(lua_State *L) {
  return push_status(L, check_process(L));
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/*--- Waits at most `timeout` seconds; returns what status() returns.
--- @param timeout number|nil
--- @return string state
--- @return integer|nil code
--- @return string|nil name
function process.wait(self, timeout) end */
static int process_wait(lua_State *L) {
  lkc_process *p = check_process(L);
  double deadline = now() + luaL_optnumber(L, 2, 1e9);
  struct pollfd ends = {.fd = reap(p) ? -1 : pidfd_open(p->pid, 0), .events = POLLIN};
  double left = deadline - now();
  for (int step = 1; !reap(p) && left > 0; step = step < 10 ? step * 2 : step, left = deadline - now()) {
    int most = left < 1000 ? (int)(left * 1000) + 1 : 1000000;
    if (ends.fd >= 0)
      poll(&ends, 1, most); /* returns when it ends */
    else
      poll(NULL, 0, most < step ? most : step); /* an old kernel */
  }
  if (ends.fd >= 0) close(ends.fd);
  return push_status(L, p);
}

/*--- The process id.
--- @return integer pid
function process.pid(self) end */
static int process_pid(lua_State *L) {
  lua_pushinteger(L, check_process(L)->pid);
  return 1;
}

/*--- Sends a signal (default SIGKILL); harmless when the process has ended.
--- @param signal integer|nil
function process.kill(self, signal) end */
static int process_kill(lua_State *L) {
  lkc_process *p = check_process(L);
  if (!reap(p)) kill(p->pid, (int)luaL_optinteger(L, 2, SIGKILL));
  return 0;
}

/* A collected handle must not leave a zombie; a running child goes on (its parent-death signal ends it with us). */
static int process_gc(lua_State *L) {
  reap(check_process(L));
  return 0;
}

static int process_tostring(lua_State *L) {
  lkc_process *p = check_process(L);
  lua_pushfstring(L, "process (pid %d%s)", (int)p->pid, reap(p) ? ", ended" : "");
  return 1;
}

/* ---- trees --------------------------------------------------------------------------------------------------------------- */

typedef struct pid_set {
  pid_t pids[MAX_PIDS];
  size_t count;
} pid_set;

static bool contains(const pid_set *s, pid_t pid) {
  for (size_t i = 0; i < s->count; i++)
    if (s->pids[i] == pid) return true;
  return false;
}

static bool add(pid_set *s, pid_t pid) {
  if (s->count == MAX_PIDS || contains(s, pid)) return false;
  s->pids[s->count++] = pid;
  return true;
}

/* Adds the children of every thread of `pid`; returns how many were new. */
static size_t add_children(pid_set *s, pid_t pid, const pid_set *spare) {
  char path[64];
  size_t added = 0;
  snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
  DIR *tasks = opendir(path);
  if (!tasks) return 0;
  for (struct dirent *t; (t = readdir(tasks));) {
    char list[128];
    snprintf(list, sizeof list, "/proc/%d/task/%.20s/children", (int)pid, t->d_name);
    FILE *f = t->d_name[0] == '.' ? NULL : fopen(list, "re");
    if (!f) continue;
    int child;
    while (fscanf(f, "%d", &child) == 1)
      if (!contains(spare, child) && add(s, child)) added++;
    fclose(f);
  }
  closedir(tasks);
  return added;
}

/* Stops everything below the members until nothing new appears: a stopped process cannot fork, so none escapes between the
 * listing and the kill. */
static void stop_descendants(pid_set *s, const pid_set *spare) {
  for (bool grown = true; grown;) {
    grown = false;
    for (size_t i = 0; i < s->count; i++) {
      kill(s->pids[i], SIGSTOP);
      grown = add_children(s, s->pids[i], spare) > 0 || grown;
    }
  }
}

static void kill_and_reap(const pid_set *s) {
  for (size_t i = 0; i < s->count; i++) kill(s->pids[i], SIGKILL);
  for (size_t i = 0; i < s->count; i++) waitpid(s->pids[i], NULL, WNOHANG);
}

static void read_spare(lua_State *L, int index, pid_set *spare) {
  if (lua_isnoneornil(L, index)) return;
  luaL_checktype(L, index, LUA_TTABLE);
  for (lua_Integer i = 1, n = luaL_len(L, index); i <= n; i++) {
    lua_geti(L, index, i);
    add(spare, (pid_t)luaL_checkinteger(L, -1));
    lua_pop(L, 1);
  }
}

/*--- Kills a process with all its descendants; without a pid, all children of this process but `spare`. Orphans of what was
--- killed are reparented to this process when it is a subreaper, so a second call without a pid finds those that had left the
--- tree (setsid, double fork). Embedded in another program, whose children these are, a call without a pid kills none.
--- @param pid integer|nil
--- @param spare table|nil list of pids
--- @return integer count of processes killed
function core.killtree(pid, spare) end */
static int process_killtree(lua_State *L) {
  lua_settop(L, 2);
  pid_set *spare = lua_newuserdatauv(L, 2 * sizeof *spare, 0), *doomed = spare + 1;
  spare->count = doomed->count = 0;
  read_spare(L, 2, spare);
  size_t killed = 0;
  bool all = lua_isnoneornil(L, 1);
  /* Orphans arrive while their parents die: repeat until there are none, bounded against a fork bomb we cannot stop. */
  for (int round = 0; round < 50 && !(all && lkc_isguest(L)); round++) {
    doomed->count = 0;
    if (all)
      add_children(doomed, getpid(), spare);
    else if (round == 0)
      add(doomed, (pid_t)luaL_checkinteger(L, 1));
    if (doomed->count == 0) break;
    stop_descendants(doomed, spare);
    kill_and_reap(doomed);
    killed += doomed->count;
    struct timespec nap = {0, 200000};
    nanosleep(&nap, NULL);
  }
  lua_pushinteger(L, (lua_Integer)killed);
  return 1;
}

/*--- Makes this process adopt orphans among its descendants, so that none escapes core.killtree; not a program that embeds kc.
function core.subreaper() end */
static int process_subreaper(lua_State *L) {
  if (!lkc_isguest(L)) prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
  return 0;
}

/*--- Asks for a signal when the parent dies.
--- @param signal integer
function core.pdeathsig(signal) end */
static int process_pdeathsig(lua_State *L) {
  prctl(PR_SET_PDEATHSIG, (unsigned long)luaL_checkinteger(L, 1), 0, 0, 0);
  return 0;
}

/*--- Forbids core dumps: a candidate that crashes must not fill the disk.
function core.limit_core() end */
static int process_limit_core(lua_State *L) {
  (void)L;
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  return 0;
}

/*--- This process's id.
--- @return integer pid
function core.pid() end */
static int process_self(lua_State *L) {
  lua_pushinteger(L, getpid());
  return 1;
}

/* ---- signals -------------------------------------------------------------------------------------------------------------- */

/* A signal handler has no other way to leave a message; nothing else in kc is static and mutable. */
static volatile sig_atomic_t caught;

static void remember(int signal) {
  caught = signal;
}

/*--- Lets SIGINT and SIGTERM be noticed with core.interrupted instead of ending the process; SIGPIPE is ignored. A program that
--- embeds kc keeps its handlers.
function core.catch_signals() end */
static int process_catch_signals(lua_State *L) {
  if (lkc_isguest(L)) return 0;
  struct sigaction action = {.sa_handler = remember};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
  return 0;
}

#define INTERRUPT "kc.interrupt"

/* Puts back the action that it holds, once. */
static int interrupt_restore(lua_State *L) {
  struct sigaction *before = luaL_checkudata(L, 1, INTERRUPT);
  if (lua_getiuservalue(L, 1, 1) == LUA_TNIL) return 0;
  sigaction(SIGINT, before, NULL);
  caught = 0;
  lua_pushnil(L);
  lua_setiuservalue(L, 1, 1);
  return 0;
}

/*--- Lets SIGINT be noticed with core.interrupted, in any process, until what this gives is closed: then the action is what it was before.
--- @return userdata guard to be closed
function core.catch_interrupt() end */
static int process_catch_interrupt(lua_State *L) {
  struct sigaction action = {.sa_handler = remember};
  struct sigaction *before = lua_newuserdatauv(L, sizeof *before, 1);
  luaL_setmetatable(L, INTERRUPT);
  sigaction(SIGINT, &action, before);
  lua_pushboolean(L, true);
  lua_setiuservalue(L, -2, 1);
  return 1;
}

/*--- The signal noticed since core.catch_signals or core.catch_interrupt, or nil.
--- @param forget boolean|nil true: it is noticed no more
--- @return integer|nil signal
function core.interrupted(forget) end */
static int process_interrupted(lua_State *L) {
  bool forget = lua_toboolean(L, 1);
  if (caught)
    lua_pushinteger(L, caught);
  else
    lua_pushnil(L);
  if (forget) caught = 0;
  return 1;
}

static const luaL_Reg none[] = {{NULL, NULL}};
static const luaL_Reg methods[] = {
    {"pid", process_pid}, {"status", process_status}, {"wait", process_wait}, {"kill", process_kill}, {NULL, NULL}};
static const luaL_Reg metamethods[] = {{"__tostring", process_tostring}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"spawn", process_spawn},
                                     {"killtree", process_killtree},
                                     {"subreaper", process_subreaper},
                                     {"pdeathsig", process_pdeathsig},
                                     {"limit_core", process_limit_core},
                                     {"pid", process_self},
                                     {"catch_signals", process_catch_signals},
                                     {"catch_interrupt", process_catch_interrupt},
                                     {"interrupted", process_interrupted},
                                     {NULL, NULL}};

void lkc_open_process(lua_State *L) {
  lkc_newtype(L, LKC_PROCESS, methods, metamethods, process_gc);
  lkc_newtype(L, INTERRUPT, none, none, interrupt_restore);
  luaL_setfuncs(L, functions, 0);
}
