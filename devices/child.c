/* child.c - a program in a child process that cannot outlive its time. */
#define _GNU_SOURCE 1
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIME_LIMIT_MS = 120000, LOG_LIMIT = 256 * 1024 };

extern char **environ;

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

kc_status kc__child_run(const char *const *argv, kc__string *out, kc_text *err) {
  int ends[2];
  pid_t pid;
  if (pipe2(ends, O_CLOEXEC) != 0) return kc_fail(err, KC_EIO, "no pipe for a child: %s", strerror(errno));
  int error = spawn(&pid, argv, ends[1]);
  close(ends[1]);
  bool in_time = error == 0 && drain(ends[0], out, now_ms() + TIME_LIMIT_MS);
  close(ends[0]);
  if (error != 0) return kc_fail(err, KC_ENODEV, "%s does not start: %s", argv[0], strerror(error));
  if (!in_time) kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return outcome(argv[0], status, in_time, err);
}
