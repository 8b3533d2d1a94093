/* lkc_system.c - what the roles need of the operating system besides processes: digests, clocks, the terminal, files. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "lkc.h"

static int io_failure(lua_State *L, const char *what, const char *path) {
  kc_text err;
  kc_fail(&err, KC_EIO, "%s '%s': %s", what, path, strerror(errno));
  return lkc_fail(L, KC_EIO, &err);
}

/* ---- digests ------------------------------------------------------------------------------------------------------- */

/*--- SHA-256 of a byte string.
--- > require("kc.core").sha256("abc")
--- "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
--- @param text string
--- @return string hex 64 hexadecimal digits
function core.sha256(text) end */
static int sha256_text(lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  char hex[SHA256_DIGEST_STRING_LENGTH];
  SHA256Data((const uint8_t *)text, n, hex);
  lua_pushstring(L, hex);
  return 1;
}

/*--- SHA-256 of a file's bytes.
--- @param path string
--- @return string|nil hex
--- @return string|nil message
--- @return string|nil code
function core.sha256file(path) end */
static int sha256_file(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char hex[SHA256_DIGEST_STRING_LENGTH];
  if (!SHA256File(path, hex)) return io_failure(L, "cannot digest", path);
  lua_pushstring(L, hex);
  return 1;
}

/*--- Key of a random stream: the first 8 bytes of SHA-256 over `text`, big-endian.
--- @param text string canonical encoding of what names the stream
--- @return integer key
function core.key(text) end */
static int key_of_text(lua_State *L) {
  size_t n;
  const char *text = luaL_checklstring(L, 1, &n);
  uint8_t digest[SHA256_DIGEST_LENGTH];
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, (const uint8_t *)text, n);
  SHA256Final(digest, &context);
  uint64_t key = 0;
  for (int i = 0; i < 8; i++) key = key << 8 | digest[i];
  lua_pushinteger(L, (lua_Integer)key);
  return 1;
}

/* ---- clocks and machine -------------------------------------------------------------------------------------------- */

static int push_clock(lua_State *L, clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  lua_pushnumber(L, (double)t.tv_sec + (double)t.tv_nsec * 1e-9);
  return 1;
}

/*--- Monotonic time.
--- @return number seconds since an arbitrary origin
function core.clock() end */
static int system_clock(lua_State *L) {
  return push_clock(L, CLOCK_MONOTONIC);
}

/*--- Wall-clock time.
--- @return number seconds since 1970-01-01 UTC
function core.realtime() end */
static int system_realtime(lua_State *L) {
  return push_clock(L, CLOCK_REALTIME);
}

/*--- Sleeps; a signal ends it early.
--- @param seconds number
function core.sleep(seconds) end */
static int system_sleep(lua_State *L) {
  double s = luaL_checknumber(L, 1);
  luaL_argcheck(L, s >= 0 && s < 1e9, 1, "expected seconds between 0 and 1e9");
  struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};
  nanosleep(&t, NULL);
  return 0;
}

/*--- Processors this process may use.
--- @return integer count
function core.cpus() end */
static int system_cpus(lua_State *L) {
  long n = sysconf(_SC_NPROCESSORS_ONLN);
  lua_pushinteger(L, n > 0 ? n : 1);
  return 1;
}

/*--- Operating system: sysname, release, machine.
--- @return table facts
function core.uname() end */
static int system_uname(lua_State *L) {
  struct utsname u;
  lua_newtable(L);
  if (uname(&u) != 0) return 1;
  lkc_setstring(L, "sysname", u.sysname);
  lkc_setstring(L, "release", u.release);
  lkc_setstring(L, "machine", u.machine);
  return 1;
}

/* ---- terminal -------------------------------------------------------------------------------------------------------- */

/*--- True when the descriptor is a terminal.
--- @param fd integer
--- @return boolean
function core.isatty(fd) end */
static int system_isatty(lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

/*--- Width of the terminal behind a descriptor; 80 when it cannot tell.
--- @param fd integer
--- @return integer columns
function core.columns(fd) end */
static int system_columns(lua_State *L) {
  struct winsize size;
  bool known = ioctl((int)luaL_checkinteger(L, 1), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  lua_pushinteger(L, known ? size.ws_col : 80);
  return 1;
}

/* ---- files ------------------------------------------------------------------------------------------------------------ */

/*--- Path of the program kc: the running one; in another program that embeds kc, the one which it starts.
--- @return string path
function core.exe() end */
static int system_exe(lua_State *L) {
  lkc_pushprogram(L);
  return 1;
}

/*--- Absolute path without links.
--- @param path string
--- @return string|nil path
--- @return string|nil message
--- @return string|nil code
function core.realpath(path) end */
static int system_realpath(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char real[PATH_MAX];
  if (!realpath(path, real)) return io_failure(L, "cannot resolve", path);
  lua_pushstring(L, real);
  return 1;
}

static const char *file_type(mode_t mode) {
  return S_ISDIR(mode) ? "directory" : S_ISREG(mode) ? "file" : "other";
}

/*--- What lies at a path: {type = "file"|"directory"|"other", size = bytes, mtime = seconds}.
--- @param path string
--- @return table|nil stat
--- @return string|nil message
--- @return string|nil code
function core.stat(path) end */
static int system_stat(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  struct stat st;
  if (stat(path, &st) != 0) return io_failure(L, "cannot read", path);
  lua_newtable(L);
  lkc_setstring(L, "type", file_type(st.st_mode));
  lkc_setinteger(L, "size", st.st_size);
  lkc_setnumber(L, "mtime", (double)st.st_mtim.tv_sec + (double)st.st_mtim.tv_nsec * 1e-9);
  return 1;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static char **read_names(DIR *directory, size_t *count) {
  char **names = NULL;
  size_t n = 0, room = 0;
  for (struct dirent *e; (e = readdir(directory));) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    if (n == room) {
      room = room ? 2 * room : 32;
      char **grown = realloc(names, room * sizeof *names);
      if (!grown) break;
      names = grown;
    }
    if (!(names[n] = strdup(e->d_name))) break;
    n++;
  }
  *count = n;
  return names;
}

/*--- Names in a directory, in byte order, without . and ..
--- @param path string
--- @return table|nil names
--- @return string|nil message
--- @return string|nil code
function core.listdir(path) end */
static int system_listdir(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  DIR *directory = opendir(path);
  if (!directory) return io_failure(L, "cannot list", path);
  size_t n;
  char **names = read_names(directory, &n);
  closedir(directory);
  if (n) qsort(names, n, sizeof *names, compare_names);
  lua_createtable(L, (int)n, 0);
  for (size_t i = 0; i < n; i++) {
    lua_pushstring(L, names[i]);
    lua_seti(L, -2, (lua_Integer)i + 1);
    free(names[i]);
  }
  free(names);
  return 1;
}

/*--- Creates a directory and its parents; true also when it is there.
--- @param path string
--- @return boolean|nil ok
--- @return string|nil message
--- @return string|nil code
function core.mkdirs(path) end */
static int system_mkdirs(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  char part[PATH_MAX];
  if (strlen(path) >= sizeof part) luaL_argerror(L, 1, "path too long");
  for (size_t i = 0; path[i]; i++) {
    part[i] = path[i];
    part[i + 1] = 0;
    if (path[i + 1] != '/' && path[i + 1] != 0) continue;
    if (mkdir(part, 0700) != 0 && errno != EEXIST) return io_failure(L, "cannot create directory", part);
  }
  lua_pushboolean(L, 1);
  return 1;
}

/*--- Removes a file or an empty directory.
--- @param path string
--- @return boolean|nil ok
--- @return string|nil message
--- @return string|nil code
function core.remove(path) end */
static int system_remove(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  if (remove(path) != 0) return io_failure(L, "cannot remove", path);
  lua_pushboolean(L, 1);
  return 1;
}

/*--- Cuts a file to `size` bytes.
--- @param path string
--- @param size integer
--- @return boolean|nil ok
--- @return string|nil message
--- @return string|nil code
function core.truncate(path, size) end */
static int system_truncate(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  if (truncate(path, (off_t)lkc_checksize(L, 2)) != 0) return io_failure(L, "cannot truncate", path);
  lua_pushboolean(L, 1);
  return 1;
}

static const luaL_Reg functions[] = {{"sha256", sha256_text},     {"sha256file", sha256_file},   {"key", key_of_text},
                                     {"clock", system_clock},     {"realtime", system_realtime}, {"sleep", system_sleep},
                                     {"cpus", system_cpus},       {"uname", system_uname},       {"isatty", system_isatty},
                                     {"columns", system_columns}, {"exe", system_exe},           {"realpath", system_realpath},
                                     {"stat", system_stat},       {"listdir", system_listdir},   {"mkdirs", system_mkdirs},
                                     {"remove", system_remove},   {"truncate", system_truncate}, {NULL, NULL}};

void lkc_open_system(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
