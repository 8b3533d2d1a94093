/* judge.c - judges a contract from a program: the verdicts of `kc run` as data; then a run that the program itself stops.
 *
 *   cc judge.c $(pkg-config --cflags --libs kc) && ./a.out C-EXC-01/relu.f32
 */
#include <kc/kc_embed.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct watcher {
  int64_t seen, stop_at; /* cells judged; how many are enough, -1: all */
} watcher;

static void on_log(void *user, const char *line) {
  (void)user;
  fprintf(stderr, "kc says: %s\n", line);
}

static void on_progress(void *user, int64_t done, int64_t of) {
  watcher *w = (watcher *)user;
  w->seen = done;
  (void)of;
}

static bool on_cancel(void *user) {
  watcher *w = (watcher *)user;
  return w->stop_at >= 0 && w->seen >= w->stop_at;
}

static void show(const kc_results *r) {
  const kc_cell *c;
  for (size_t i = 0; (c = kc_results_at(r, i)) != NULL; i++)
    printf("%s %s on %s: %s %s (%.3g of the tolerance)\n  kc replay %s\n", c->contract, c->implementation, c->device,
           kc_verdict_name(c->verdict), c->signature, c->ratio, c->replay);
}

int main(int argc, char **argv) {
  kc_text err;
  kc_embed *kc;
  kc_results *r;
  watcher w = {0, -1};
  kc_embed_options options = {.log = on_log, .progress = on_progress, .cancel = on_cancel, .user = &w};
  const char *targets[] = {argc > 1 ? argv[1] : "C-EXC-01/relu.f32", NULL};
  kc_run_options run = {.targets = targets, .impl = "*", .seed = 7};
  if (kc_embed_open(&kc, &options, &err) != KC_OK) {
    fprintf(stderr, "%s\n", err.s);
    return 2;
  }
  kc_status status = kc_embed_run(&r, kc, &run, &err);
  if (status != KC_OK) fprintf(stderr, "%s: %s\n", kc_status_name(status), err.s);
  int ok = status == KC_OK && kc_results_tally(r, KC_VERDICT_HELD) > 0 && kc_results_tally(r, KC_VERDICT_VIOLATED) > 0 &&
           kc_results_exit(r) == 1;
  if (r) show(r);
  kc_results_free(r);

  w = (watcher){0, 0};
  status = kc_embed_run(&r, kc, &(kc_run_options){.targets = NULL}, &err); /* everything, stopped at once */
  printf("stopped: %s, %s\n", kc_status_name(status), err.s);
  kc_results_free(r);
  kc_embed_close(kc);
  return ok && status == KC_ECANCELLED ? 0 : 1;
}
