/* cpu_compiler.c - finding the system compiler and running it in a child that cannot outlive its time. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"

enum { TIME_LIMIT_MS = 120000, LOG_LIMIT = 256 * 1024 };

extern char **environ;

/* ---- a child process ----------------------------------------------------------------------------------------------- */

/* Its own process group, so that the compiler's passes die with it; no descriptors of ours beyond the three. */
static int spawn(pid_t *pid, const char *const *argv, int output) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, 1);
  posix_spawn_file_actions_adddup2(&files, output, 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  int error = posix_spawn(pid, argv[0], &files, &attributes, (char *const *)(uintptr_t)argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads until the other end closes; false at the deadline. What exceeds the limit is read and dropped. */
static bool drain(int fd, kc__string *out, int64_t deadline) {
  char block[4096];
  for (;;) {
    int64_t left = deadline - now_ms();
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    ssize_t n = read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    if (out->n < LOG_LIMIT) kc__add(out, block, (size_t)n);
  }
}

static kc_status outcome(const char *program, int status, bool in_time, kc_text *err) {
  if (!in_time) return kc_fail(err, KC_EBUILD, "%s did not finish within %d s", program, TIME_LIMIT_MS / 1000);
  if (WIFSIGNALED(status)) return kc_fail(err, KC_EBUILD, "%s was ended by signal %d", program, WTERMSIG(status));
  int code = WEXITSTATUS(status);
  return code == 0 ? KC_OK : kc_fail(err, KC_EBUILD, "%s failed with exit status %d", program, code);
}

kc_status kc__compiler_run(const char *const *argv, kc__string *out, kc_text *err) {
  int ends[2];
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC) != 0) return kc_fail(err, KC_EIO, "no pipe for the compiler: %s", strerror(errno));
  int error = spawn(&pid, argv, ends[1]);
  close(ends[1]);
  bool in_time = error == 0 && drain(ends[0], out, now_ms() + TIME_LIMIT_MS);
  close(ends[0]);
  if (error != 0) return kc_fail(err, KC_ENODEV, "no C compiler: %s does not start: %s", argv[0], strerror(error));
  if (!in_time) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return outcome(argv[0], status, in_time, err);
}

/* ---- which compiler ------------------------------------------------------------------------------------------------ */

static bool runnable(const char *path) {
  return path[0] == '/' && access(path, X_OK) == 0;
}

/* Looks a bare name up along PATH; a name with a slash stands for itself. False when nothing there can be run. */
static bool resolve(char *out, size_t size, const char *name) {
  kc_text path;
  const char *list = getenv("PATH");
  if (strchr(name, '/')) {
    char *real = realpath(name, NULL);
    bool fits = real && strlen(real) < size && runnable(real);
    if (fits) strcpy(out, real);
    free(real);
    return fits;
  }
  for (list = list ? list : "/usr/local/bin:/usr/bin:/bin"; *list;) {
    size_t n = strcspn(list, ":");
    (void)kc_fail(&path, KC_OK, "%.*s/%s", (int)n, list, name);
    if (runnable(path.s) && strlen(path.s) < size) {
      strcpy(out, path.s);
      return true;
    }
    list += n + (list[n] == ':');
  }
  return false;
}

kc_status kc__compiler_find(kc__compiler *c, kc_text *err) {
  if (c->path[0]) return KC_OK;
  const char *asked = getenv("KC_CC"), *name = asked && asked[0] ? asked : "cc";
  char path[sizeof c->path];
  if (!resolve(path, sizeof path, name))
    return kc_fail(err, KC_ENODEV, "no C compiler: '%.200s' (%s) is not a program that can be run; install one or set KC_CC",
                   name, asked && asked[0] ? "from KC_CC" : "looked for on PATH");
  const char *argv[] = {path, "--version", NULL};
  kc__string text = {0};
  kc_text why;
  kc_status status = kc__compiler_run(argv, &text, &why);
  size_t n = text.n ? strcspn(text.s, "\r\n") : 0;
  if (n >= sizeof c->version) n = sizeof c->version - 1;
  if (status == KC_OK && n > 0) memcpy(c->version, text.s, n);
  c->version[n] = '\0';
  kc__string_clear(&text);
  if (status != KC_OK) return kc_fail(err, KC_ENODEV, "no C compiler: %.400s", why.s);
  strcpy(c->path, path);
  return KC_OK;
}
