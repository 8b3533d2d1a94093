/* lkc_channel.c - how the roles talk: a stream socket that carries framed messages and file descriptors.
 *
 * A frame is a 32-bit length in native order (both ends run on one machine) and that many bytes; descriptors ride with the
 * length. The peer may be hostile: lengths and descriptor counts are bounded, and a frame that stops half-way times out. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "lkc.h"

#define LKC_CHANNEL "kc.channel"
#define MAX_FRAME (64u * 1024 * 1024)
#define MAX_FDS 16
#define SEND_SECONDS 60 /* a peer that never reads must not hang us */

typedef struct lkc_channel {
  int fd; /* -1: closed */
} lkc_channel;

static lkc_channel *check_channel(lua_State *L) {
  lkc_channel *c = luaL_checkudata(L, 1, LKC_CHANNEL);
  if (c->fd < 0) luaL_error(L, "attempt to use a closed channel");
  return c;
}

static lkc_channel *new_channel(lua_State *L) {
  lkc_channel *c = lua_newuserdatauv(L, sizeof *c, 0);
  c->fd = -1;
  luaL_setmetatable(L, LKC_CHANNEL);
  return c;
}

static int fail_errno(lua_State *L, const char *what, const char *code) {
  lua_pushnil(L);
  lua_pushfstring(L, "%s: %s", what, strerror(errno));
  lua_pushstring(L, code);
  return 3;
}

static int fail_code(lua_State *L, const char *message, const char *code) {
  lua_pushnil(L);
  lua_pushstring(L, message);
  lua_pushstring(L, code);
  return 3;
}

static void limit_sending(int fd) {
  struct timeval limit = {SEND_SECONDS, 0};
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

/*--- Two connected channels; both ends close on exec unless handed over by core.spawn.
--- @return userdata|nil here
--- @return userdata|string there
--- @return string|nil code
function core.channel() end */
static int channel_pair(lua_State *L) {
  lkc_channel *here = new_channel(L), *there = new_channel(L);
  int fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return fail_errno(L, "cannot make a channel", "io");
  here->fd = fds[0];
  there->fd = fds[1];
  limit_sending(fds[0]);
  limit_sending(fds[1]);
  return 2;
}

/*--- The channel that the parent left at descriptor `fd`.
--- @param fd integer
--- @return userdata channel
function core.inherit(fd) end */
static int channel_inherit(lua_State *L) {
  int fd = (int)luaL_checkinteger(L, 1);
  lkc_channel *c = new_channel(L);
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return luaL_argerror(L, 1, "not an open descriptor");
  c->fd = fd;
  limit_sending(fd);
  return 1;
}

static size_t read_fds(lua_State *L, int index, int fds[MAX_FDS]) {
  if (lua_isnoneornil(L, index)) return 0;
  luaL_checktype(L, index, LUA_TTABLE);
  lua_Integer n = luaL_len(L, index);
  luaL_argcheck(L, n <= MAX_FDS, index, "at most 16 descriptors travel with a message");
  for (int i = 0; i < (int)n; i++) {
    lua_geti(L, index, i + 1);
    fds[i] = (int)luaL_checkinteger(L, -1);
    lua_pop(L, 1);
  }
  return (size_t)n;
}

static ssize_t send_head(int fd, uint32_t length, const int *fds, size_t n) {
  union {
    char bytes[CMSG_SPACE(sizeof(int) * MAX_FDS)];
    struct cmsghdr align;
  } control;
  struct iovec part = {&length, sizeof length};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (n > 0) {
    memset(&control, 0, sizeof control);
    message.msg_control = &control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * n);
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * n);
    memcpy(CMSG_DATA(c), fds, sizeof(int) * n);
  }
  ssize_t sent;
  do sent = sendmsg(fd, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent;
}

static bool send_all(int fd, const char *data, size_t n) {
  while (n > 0) {
    ssize_t k = send(fd, data, n, MSG_NOSIGNAL);
    if (k < 0 && errno == EINTR) continue;
    if (k <= 0) return false;
    data += k;
    n -= (size_t)k;
  }
  return true;
}

/*--- Sends bytes and descriptors (duplicated into the peer).
--- @param text string at most 64 MiB
--- @param fds table|nil list of at most 16 descriptors
--- @return boolean|nil ok
--- @return string|nil message
--- @return string|nil code
function channel.send(self, text, fds) end */
static int channel_send(lua_State *L) {
  lkc_channel *c = check_channel(L);
  size_t n;
  const char *text = luaL_checklstring(L, 2, &n);
  luaL_argcheck(L, n <= MAX_FRAME, 2, "a message has at most 64 MiB");
  int fds[MAX_FDS];
  size_t fd_count = read_fds(L, 3, fds);
  if (send_head(c->fd, (uint32_t)n, fds, fd_count) != 4 || !send_all(c->fd, text, n))
    return fail_errno(L, "cannot send", errno == EPIPE || errno == ECONNRESET ? "closed" : "io");
  lua_pushboolean(L, 1);
  return 1;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* 1 readable (or closed), 0 deadline passed. A negative deadline waits for ever. */
static int wait_readable(int fd, double deadline) {
  for (;;) {
    double left = deadline < 0 ? -1 : deadline - now();
    if (deadline >= 0 && left < 0) left = 0;
    struct pollfd p = {fd, POLLIN, 0};
    int timeout = left < 0 ? -1 : left > 1e6 ? 1000000000 : (int)(left * 1000 + 0.999);
    int n = poll(&p, 1, timeout);
    if (n != 0 && !(n < 0 && errno == EINTR)) return 1;
    if (n == 0) return 0;
  }
}

static int take_fds(struct msghdr *message, int fds[MAX_FDS]) {
  int n = 0;
  for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    int k = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int i = 0; i < k; i++) {
      int fd;
      memcpy(&fd, CMSG_DATA(c) + sizeof(int) * (size_t)i, sizeof fd);
      if (n < MAX_FDS)
        fds[n++] = fd;
      else
        close(fd);
    }
  }
  return n;
}

typedef enum { GOT, ENDED, LATE } outcome;

/* Reads exactly n bytes; descriptors that come along are collected. */
static outcome read_exactly(int fd, void *to, size_t n, double deadline, int fds[MAX_FDS], int *fd_count) {
  char *at = to;
  while (n > 0) {
    if (!wait_readable(fd, deadline)) return LATE;
    union {
      char bytes[CMSG_SPACE(sizeof(int) * MAX_FDS)];
      struct cmsghdr align;
    } control;
    struct iovec part = {at, n};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t k = recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (k < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (k <= 0) return ENDED;
    int more[MAX_FDS], m = take_fds(&message, more);
    for (int i = 0; i < m; i++) {
      if (*fd_count < MAX_FDS)
        fds[(*fd_count)++] = more[i];
      else
        close(more[i]);
    }
    at += k;
    n -= (size_t)k;
  }
  return GOT;
}

static int drop_fds(const int *fds, int n) {
  for (int i = 0; i < n; i++) close(fds[i]);
  return 0;
}

/*--- Receives one message; its descriptors belong to the caller (core.closefd, or core.attach takes them over).
--- @param timeout number|nil seconds; nil waits for ever
--- @return string|nil text
--- @return table|string fds or the message of the failure
--- @return string|nil code "timeout", "closed", "io"
function channel.receive(self, timeout) end */
static int channel_receive(lua_State *L) {
  lkc_channel *c = check_channel(L);
  double deadline = lua_isnoneornil(L, 2) ? -1 : now() + luaL_checknumber(L, 2);
  int fds[MAX_FDS], fd_count = 0;
  uint32_t length = 0;
  outcome got = read_exactly(c->fd, &length, sizeof length, deadline, fds, &fd_count);
  if (got == GOT && length > MAX_FRAME) {
    drop_fds(fds, fd_count);
    return fail_code(L, "a frame of more than 64 MiB", "io");
  }
  luaL_Buffer buffer;
  if (got == GOT && length > 0) {
    char *text = luaL_buffinitsize(L, &buffer, length);
    got = read_exactly(c->fd, text, length, deadline, fds, &fd_count);
  } else if (got == GOT) {
    luaL_buffinit(L, &buffer);
  }
  if (got != GOT) {
    drop_fds(fds, fd_count);
    return got == LATE ? fail_code(L, "timed out", "timeout") : fail_code(L, "the peer closed the channel", "closed");
  }
  luaL_pushresultsize(&buffer, length);
  lua_createtable(L, fd_count, 0);
  for (int i = 0; i < fd_count; i++) {
    lua_pushinteger(L, fds[i]);
    lua_seti(L, -2, i + 1);
  }
  return 2;
}

/*--- The descriptor; stays owned by the channel.
--- @return integer fd
function channel.fd(self) end */
static int channel_fd(lua_State *L) {
  lua_pushinteger(L, check_channel(L)->fd);
  return 1;
}

/*--- Closes the channel; again is harmless.
function channel.close(self) end */
static int channel_close(lua_State *L) {
  lkc_channel *c = luaL_checkudata(L, 1, LKC_CHANNEL);
  if (c->fd >= 0) close(c->fd);
  c->fd = -1;
  return 0;
}

static int channel_tostring(lua_State *L) {
  lkc_channel *c = luaL_checkudata(L, 1, LKC_CHANNEL);
  if (c->fd < 0)
    lua_pushliteral(L, "channel (closed)");
  else
    lua_pushfstring(L, "channel (fd %d)", c->fd);
  return 1;
}

/*--- Waits until one of the descriptors can be read or was closed by its peer; a signal ends the wait early.
--- @param fds table list of descriptors
--- @param timeout number|nil seconds; nil waits for ever
--- @return table ready positions in the list
function core.poll(fds, timeout) end */
static int channel_poll(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  struct pollfd set[64];
  lua_Integer n = luaL_len(L, 1);
  luaL_argcheck(L, n <= 64, 1, "at most 64 descriptors");
  for (int i = 0; i < (int)n; i++) {
    lua_geti(L, 1, i + 1);
    set[i] = (struct pollfd){(int)luaL_checkinteger(L, -1), POLLIN, 0};
    lua_pop(L, 1);
  }
  double seconds = luaL_optnumber(L, 2, -1);
  int count = poll(set, (nfds_t)n, seconds < 0 ? -1 : seconds > 1e6 ? 1000000000 : (int)(seconds * 1000 + 0.999));
  lua_newtable(L);
  for (int i = 0, k = 0; count > 0 && i < (int)n; i++) {
    if (!set[i].revents) continue;
    lua_pushinteger(L, i + 1);
    lua_seti(L, -2, ++k);
  }
  return 1;
}

/*--- Closes a descriptor that came with a message.
--- @param fd integer
function core.closefd(fd) end */
static int channel_closefd(lua_State *L) {
  close((int)luaL_checkinteger(L, 1));
  return 0;
}

/*--- Another descriptor of the same file, the caller's.
--- @param fd integer
--- @return integer|nil fd
--- @return string|nil message
--- @return string|nil code
function core.dupfd(fd) end */
static int channel_dupfd(lua_State *L) {
  kc_text err;
  int fd = fcntl((int)luaL_checkinteger(L, 1), F_DUPFD_CLOEXEC, 3);
  if (fd < 0) return lkc_result(L, kc_fail(&err, KC_EIO, "cannot duplicate a descriptor: %s", strerror(errno)), &err);
  lua_pushinteger(L, fd);
  return 1;
}

static const luaL_Reg methods[] = {
    {"send", channel_send}, {"receive", channel_receive}, {"fd", channel_fd}, {"close", channel_close}, {NULL, NULL}};
static const luaL_Reg metamethods[] = {{"__tostring", channel_tostring}, {NULL, NULL}};
static const luaL_Reg functions[] = {{"channel", channel_pair},    {"inherit", channel_inherit}, {"poll", channel_poll},
                                     {"closefd", channel_closefd}, {"dupfd", channel_dupfd},     {NULL, NULL}};

void lkc_open_channel(lua_State *L) {
  lkc_newtype(L, LKC_CHANNEL, methods, metamethods, channel_close);
  luaL_setfuncs(L, functions, 0);
}
