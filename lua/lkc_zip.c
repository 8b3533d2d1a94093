/* lkc_zip.c - module kc.zip: .npz archives by libzip. A library of its own, loaded on first use: it brings libzip and what that needs
 * into the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zip.h>

#include "lkc.h"
#include "npy.h"

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

/* A member that is being read; a userdata would not help: nothing raises while it lives. */
typedef struct lkc_member {
  zip_t *archive;
  zip_file_t *file;
  int fd; /* memory that takes its bytes */
  bool absent;
} lkc_member;

static kc_status open_archive(lkc_member *m, int fd, const char *name, kc_text *err) {
  int code = 0;
  m->archive = zip_fdopen(fd, 0, &code); /* owns fd when it succeeds */
  if (m->archive) return KC_OK;
  close(fd);
  zip_error_t why;
  zip_error_init_with_code(&why, code);
  kc_status status = kc_fail(err, KC_EIO, "'%s' is no sound zip archive: %s", name, zip_error_strerror(&why));
  zip_error_fini(&why);
  return status;
}

/* What the archive says of the member's size is a claim: `read_member` counts. */
static kc_status open_member(lkc_member *m, const char *name, const char *member, uint64_t limit, kc_text *err) {
  zip_stat_t st;
  zip_int64_t at = zip_name_locate(m->archive, member, 0);
  m->absent = at < 0;
  if (at < 0) return kc_fail(err, KC_EIO, "'%s' has no member '%s'", name, member);
  if (zip_stat_index(m->archive, (zip_uint64_t)at, 0, &st) == 0 && st.valid & ZIP_STAT_SIZE && st.size > limit)
    return kc_fail(err, KC_EIO, "'%s': member '%s' has %llu bytes, expected at most %llu", name, member,
                   (unsigned long long)st.size, (unsigned long long)limit);
  m->file = zip_fopen_index(m->archive, (zip_uint64_t)at, 0);
  if (m->file) return KC_OK;
  return kc_fail(err, KC_EIO, "'%s': member '%s': %s", name, member, zip_strerror(m->archive));
}

static bool put(int fd, const char *bytes, size_t n) {
  for (size_t done = 0; done < n;) {
    ssize_t got = write(fd, bytes + done, n - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    done += (size_t)got;
  }
  return true;
}

/* Unpacks at most `limit` bytes; libzip compares the checksum at the end. */
static kc_status read_member(lkc_member *m, const char *name, const char *member, uint64_t limit, kc_text *err) {
  char piece[1 << 16];
  uint64_t total = 0;
  zip_int64_t n;
  m->fd = memfd_create("kc.member", MFD_CLOEXEC);
  if (m->fd < 0) return kc_fail(err, KC_EIO, "memfd_create: %s", strerror(errno));
  while ((n = zip_fread(m->file, piece, sizeof piece)) > 0) {
    total += (uint64_t)n;
    if (total > limit)
      return kc_fail(err, KC_EIO, "'%s': member '%s' unpacks to more than %llu bytes", name, member, (unsigned long long)limit);
    if (!put(m->fd, piece, (size_t)n)) return kc_fail(err, KC_ENOMEM, "no memory to unpack '%s'", name);
  }
  if (n == 0) return KC_OK;
  return kc_fail(err, KC_EIO, "'%s': member '%s': %s", name, member, zip_file_strerror(m->file));
}

/*--- Unpacks a member of an open archive into memory of its own.
--- @param fd integer closed by this call
--- @param name string the archive in messages
--- @param member string
--- @param limit integer bytes that the member may have
--- @return integer|nil fd the caller's: core.closefd
--- @return string|nil message
--- @return string|nil code "absent" where the archive has no such member
function zip.extract(fd, name, member, limit) end */
static int zip_extract(lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1);
  const char *name = luaL_checkstring(L, 2), *member = luaL_checkstring(L, 3);
  uint64_t limit = lkc_checksize(L, 4);
  lkc_member m = {.fd = -1};
  kc_text err = {""};
  kc_status status = open_archive(&m, fd, name, &err);
  if (status == KC_OK) status = open_member(&m, name, member, limit, &err);
  if (status == KC_OK) status = read_member(&m, name, member, limit, &err);
  if (m.file) zip_fclose(m.file);
  if (m.archive) zip_discard(m.archive);
  if (status == KC_OK) {
    lua_pushinteger(L, m.fd);
    return 1;
  }
  if (m.fd >= 0) close(m.fd);
  lkc_fail(L, status, &err);
  if (m.absent) lua_pushliteral(L, "absent"); /* in place of the status */
  if (m.absent) lua_replace(L, -2);
  return 3;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

static kc_status archive_failure(zip_t *archive, const char *path, kc_text *err) {
  return kc_fail(err, KC_EIO, "cannot write '%s': %s", path, zip_strerror(archive));
}

/* The member "NAME.npy": header and data as they lie in memory. */
static kc_status add_member(zip_t *archive, const char *path, const char *name, const kc_buffer *b, char header[512],
                            kc_text *err) {
  char member[256];
  snprintf(member, sizeof member, "%s.npy", name);
  zip_buffer_fragment_t parts[2] = {{(zip_uint8_t *)header, kc_npy_header(header, b)},
                                    {(zip_uint8_t *)(uintptr_t)kc_buffer_cdata(b), kc_buffer_bytes(b)}};
  zip_source_t *source = zip_source_buffer_fragment(archive, parts, parts[1].length ? 2 : 1, 0);
  if (!source) return archive_failure(archive, path, err);
  zip_int64_t at = zip_file_add(archive, member, source, ZIP_FL_ENC_UTF_8);
  if (at < 0) {
    zip_source_free(source);
    return archive_failure(archive, path, err);
  }
  /* Stored: random bits do not shrink. One time for all, so that equal tensors make equal archives. */
  bool set = zip_set_file_compression(archive, (zip_uint64_t)at, ZIP_CM_STORE, 0) == 0 &&
             zip_file_set_mtime(archive, (zip_uint64_t)at, 315619200, 0) == 0;
  return set ? KC_OK : archive_failure(archive, path, err);
}

/*--- Writes a new .npz archive: a .npy member for each tensor.
--- @param path string no such file yet
--- @param tensors table list of {name =, buffer =}
--- @return boolean|nil ok
--- @return string|nil message
--- @return string|nil code
function zip.create(path, tensors) end */
static int zip_create(lua_State *L) {
  const char *path = luaL_checkstring(L, 1);
  luaL_checktype(L, 2, LUA_TTABLE);
  lua_Integer n = luaL_len(L, 2);
  luaL_argcheck(L, n <= 4096, 2, "expected at most 4096 tensors");
  char(*headers)[512] = lua_newuserdatauv(L, (size_t)n * sizeof *headers + 1, 0);
  const char **names = lua_newuserdatauv(L, (size_t)n * sizeof *names + 1, 0);
  const kc_buffer **buffers = lua_newuserdatauv(L, (size_t)n * sizeof(const kc_buffer *) + 1, 0);
  luaL_checkstack(L, (int)n + 8, NULL);
  for (lua_Integer i = 0; i < n; i++) { /* all that may raise, before anything is acquired */
    lua_geti(L, 2, i + 1);
    names[i] = lkc_fieldstring(L, -1, "name", "");
    lua_getfield(L, -1, "buffer");
    const lkc_buffer *u = luaL_checkudata(L, -1, LKC_BUFFER);
    if (!u->b) return luaL_error(L, "tensor '%s': attempt to use a closed buffer", names[i]);
    buffers[i] = u->b;
    lua_pop(L, 2);
  }
  kc_text err = {""};
  int code = 0;
  zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_EXCL, &code);
  if (!archive) {
    kc_fail(&err, KC_EIO, "cannot create '%s': %s", path, code == ZIP_ER_EXISTS ? "it exists" : strerror(errno));
    return lkc_fail(L, KC_EIO, &err);
  }
  kc_status status = KC_OK;
  for (lua_Integer i = 0; i < n && status == KC_OK; i++)
    status = add_member(archive, path, names[i], buffers[i], headers[i], &err);
  if (status == KC_OK && zip_close(archive) != 0) status = archive_failure(archive, path, &err);
  if (status != KC_OK) {
    zip_discard(archive);
    return lkc_fail(L, status, &err);
  }
  lua_pushboolean(L, 1);
  return 1;
}

static const luaL_Reg functions[] = {{"extract", zip_extract}, {"create", zip_create}, {NULL, NULL}};

int luaopen_kc_zip(lua_State *L);

__attribute__((visibility("default"))) int luaopen_kc_zip(lua_State *L) {
  luaL_checkversion(L);
  luaL_newlib(L, functions);
  return 1;
}
