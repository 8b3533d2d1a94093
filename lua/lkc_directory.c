/* lkc_directory.c - directories that are handed to programs which are not trusted: made fresh, read without following a link, removed
 * whatever lies in them. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lkc.h"

static int io_failure(lua_State *L, const char *what, const char *path) {
  kc_text err;
  kc_fail(&err, KC_EIO, "%s '%s': %s", what, path, strerror(errno));
  return lkc_fail(L, KC_EIO, &err);
}

/*--- Makes a new directory that only this user can enter; its name is `prefix` with six characters more.
--- @param prefix string path
--- @return string|nil path
--- @return string|nil message
--- @return string|nil code
function core.tempdir(prefix) end */
static int directory_temporary(lua_State *L) {
  char path[PATH_MAX];
  int n = snprintf(path, sizeof path, "%sXXXXXX", luaL_checkstring(L, 1));
  luaL_argcheck(L, n < (int)sizeof path, 1, "path too long");
  if (!mkdtemp(path)) return io_failure(L, "cannot create directory", path);
  lua_pushstring(L, path);
  return 1;
}

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

/* The file, or -1 with what is wrong with it; `what` NULL: errno says it. */
static int open_inside(const char *directory, const char *name, const char **what) {
  struct stat st;
  *what = NULL;
  int at = open(directory, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY);
  if (at < 0) {
    *what = errno == ELOOP || errno == ENOTDIR ? "lies in what is no directory (links are not followed)" : NULL;
    return -1;
  }
  int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  int error = errno;
  close(at);
  errno = error;
  if (fd < 0) {
    *what = error == ELOOP ? "is a link, expected a regular file" : NULL;
    return -1;
  }
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) return fd;
  *what = S_ISDIR(st.st_mode) ? "is a directory, expected a regular file" : "is a pipe or a device, expected a regular file";
  close(fd);
  return -1;
}

/*--- Opens a regular file in a directory for reading; neither may be a link.
--- @param directory string
--- @param name string without a slash
--- @return integer|nil fd the caller's: core.closefd
--- @return string|nil message what is wrong with it; the caller names it
--- @return string|nil code "absent" where there is no such file
function core.openinside(directory, name) end */
static int directory_open(lua_State *L) {
  const char *directory = luaL_checkstring(L, 1), *name = luaL_checkstring(L, 2), *what;
  luaL_argcheck(L, !strchr(name, '/'), 2, "expected a name without a slash");
  int fd = open_inside(directory, name, &what);
  if (fd >= 0) {
    lua_pushinteger(L, fd);
    return 1;
  }
  bool absent = !what && errno == ENOENT;
  lua_pushnil(L);
  lua_pushstring(L, what ? what : absent ? "is not there" : strerror(errno));
  lua_pushstring(L, absent ? "absent" : kc_status_name(KC_EIO));
  return 3;
}

/*--- Bytes of an open file: fewer than asked for where it ends.
--- @param fd integer
--- @param offset integer
--- @param n integer at most 16 MiB
--- @return string|nil bytes
--- @return string|nil message
--- @return string|nil code
function core.readat(fd, offset, n) end */
static int directory_read(lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1);
  size_t offset = lkc_checksize(L, 2), n = lkc_checksize(L, 3), done = 0;
  luaL_argcheck(L, n <= 1 << 24, 3, "expected at most 16 MiB");
  luaL_Buffer text;
  char *bytes = luaL_buffinitsize(L, &text, n);
  while (done < n) {
    ssize_t got = pread(fd, bytes + done, n - done, (off_t)(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_failure(L, "cannot read", "a file");
    if (got == 0) break;
    done += (size_t)got;
  }
  luaL_pushresultsize(&text, done);
  return 1;
}

/*--- Size of an open file.
--- @param fd integer
--- @return integer bytes
function core.sizeof(fd) end */
static int directory_size(lua_State *L) {
  struct stat st;
  if (fstat((int)luaL_checkinteger(L, 1), &st) != 0) return luaL_error(L, "fstat: %s", strerror(errno));
  lua_pushinteger(L, st.st_size);
  return 1;
}

/* ---- removing ----------------------------------------------------------------------------------------------------------- */

static bool is_dot(const char *name) {
  return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static DIR *open_directory(int at, const char *name) {
  fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW); /* what was shut is opened */
  int fd = openat(at, name, O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_RDONLY);
  DIR *directory = fd < 0 ? NULL : fdopendir(fd);
  if (fd >= 0 && !directory) close(fd);
  return directory;
}

/* Empties a directory but for its directories that are not empty: those go up beside it, so that no depth needs a stack. True when
 * something was done. */
static bool flatten(int top, const char *name, unsigned *serial) {
  bool done = false;
  DIR *directory = open_directory(top, name);
  if (!directory) return false;
  for (struct dirent *e; (e = readdir(directory));) {
    int at = dirfd(directory);
    char moved[32];
    if (is_dot(e->d_name)) continue;
    bool gone = unlinkat(at, e->d_name, 0) == 0 || unlinkat(at, e->d_name, AT_REMOVEDIR) == 0;
    if (!gone) {
      fchmodat(at, e->d_name, 0700, AT_SYMLINK_NOFOLLOW); /* a directory that is moved must be writable */
      snprintf(moved, sizeof moved, ".kc.%u", (*serial)++);
      gone = renameat(at, e->d_name, top, moved) == 0;
    }
    done = done || gone;
  }
  closedir(directory);
  return done;
}

/* One pass over the top; true when something was done. */
static bool thin_out(DIR *top, unsigned *serial) {
  bool done = false;
  rewinddir(top);
  for (struct dirent *e; (e = readdir(top));) {
    if (is_dot(e->d_name)) continue;
    bool gone = unlinkat(dirfd(top), e->d_name, 0) == 0 || unlinkat(dirfd(top), e->d_name, AT_REMOVEDIR) == 0;
    if (!gone) gone = flatten(dirfd(top), e->d_name, serial);
    done = done || gone;
  }
  return done;
}

/*--- Removes a directory with all that lies in it, however deep; links are removed, not followed.
--- @param path string
--- @return boolean|nil ok
--- @return string|nil message
--- @return string|nil code
function core.removetree(path) end */
static int directory_remove(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  unsigned serial = 0;
  DIR *top = open_directory(AT_FDCWD, path);
  if (!top) return io_failure(L, "cannot remove", path);
  while (thin_out(top, &serial)) continue;
  closedir(top);
  if (rmdir(path) != 0) return io_failure(L, "cannot remove", path);
  lua_pushboolean(L, 1);
  return 1;
}

static const luaL_Reg functions[] = {{"tempdir", directory_temporary}, {"openinside", directory_open},
                                     {"readat", directory_read},       {"sizeof", directory_size},
                                     {"removetree", directory_remove}, {NULL, NULL}};

void lkc_open_directory(lua_State *L) {
  luaL_setfuncs(L, functions, 0);
}
