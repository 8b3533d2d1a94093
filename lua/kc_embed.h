/* kc_embed.h - kc in a program of your own. It stands to kc.h as lauxlib.h to lua.h: kc.h is numbers, buffers, metrics and oracles, and
 * needs none of this; here is judging, the Lua state behind it, and the prompt. spec/embedding.md says more.
 *
 * Judging happens in processes of kc's own, exactly as on the command line: kc_embed_run starts the installed program kc, which starts
 * its judges and runners. A candidate that crashes, hangs or forks costs them, not the caller (unless in_process is asked for). In the
 * caller's process no signal handler is set, nothing is printed, nothing exits, and no child but kc's is touched.
 *
 * Conventions are those of kc.h. Objects are not locked: one thread per kc_embed at a time; a callback must not use the kc_embed that
 * calls it. Texts are UTF-8, never NULL in results ("" where there is none), and belong to the object that they come from.
 */
#ifndef KC_EMBED_H
#define KC_EMBED_H

#include "kc.h"
#include "kc_extension.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lua_State; /* lua.h, where it is wanted */

/** The library's version, e.g. "0.1.0". */
KC_API const char *kc_version(void);

/* ---- a state --------------------------------------------------------------------------------------------------------- */

/** An allocator, as Lua's: frees `block` and returns NULL when new_size is 0, else resizes it (NULL: a new one; old_size then means
 * nothing) or returns NULL and leaves it as it was. */
typedef void *(*kc_alloc_fn)(void *user, void *block, size_t old_size, size_t new_size);

/** What a state is opened with; zeroed, every field has its default. */
typedef struct kc_embed_options {
  kc_alloc_fn
      alloc; /* of the Lua state, its objects and results (NULL: realloc); tensors are memfds, and C's own structures malloc */
  void *alloc_user;    /* handed to alloc */
  const char *program; /* path of kc (NULL: $KC_PROGRAM, else the one installed with this library, else the first on PATH) */
  void (*log)(void *user, const char *line);              /* a message that kc would print to stderr; NULL: dropped */
  void (*progress)(void *user, int64_t done, int64_t of); /* cells judged so far */
  bool (*cancel)(void *user);                             /* asked every 0.1 s during a run; true ends it */
  void *user;                                             /* handed to the three above */
} kc_embed_options;

/** A Lua state that knows kc. */
typedef struct kc_embed kc_embed;

/** Opens a state; `options` may be NULL. The program kc need not be there until something is judged. The caller closes it. */
KC_API KC_MUST_CHECK kc_status kc_embed_open(kc_embed **out, const kc_embed_options *options, kc_text *err);
/** Closes the state and frees what it holds; results must have been freed. NULL is allowed. */
KC_API void kc_embed_close(kc_embed *e);
/** The Lua state: `require "kc"` works in it. Devices opened there run in a runner; kc.judge is kc_embed_run. */
KC_API struct lua_State *kc_embed_lua(kc_embed *e);
/** Path of the program kc that runs will start; owned by e. */
KC_API const char *kc_embed_program(const kc_embed *e);
/** Runs Lua text in the state; a text, number or boolean that it returns goes to `out` (may be NULL), else "". An error is KC_EINVAL. */
KC_API KC_MUST_CHECK kc_status kc_embed_eval(kc_embed *e, const char *code, kc_text *out, kc_text *err);
/** The prompt on this process's terminal, until Ctrl-D; KC_EUNSUPPORTED where standard input is none. It prints. Until
 * it returns, SIGINT ends the entry that runs, then the caller's handler is back. */
KC_API KC_MUST_CHECK kc_status kc_embed_repl(kc_embed *e, kc_text *err);
/** Makes backends, oracles and metrics of the caller's known in this state; they must live as long as e. All are added or, KC_EINVAL, none.
 * They serve kc_embed_decide, kc.metric, kc.device(name, { isolation = "none" }) and runs in this process (in_process); for other runs name a shared object, kc_run_options.extensions, which kc's processes load. */
KC_API KC_MUST_CHECK kc_status kc_embed_add(kc_embed *e, const kc_extension *extension, kc_text *err);

/** For a Lua state of the caller's: luaL_requiref(L, "kc", kc_luaopen, 0) gives it module kc, as `require "kc"` does in lua5.4. */
KC_API int kc_luaopen(struct lua_State *L);

/* ---- a tensor of the caller's ------------------------------------------------------------------------------------------- */

/** An input of an oracle, by the name that the oracle's text has for it. */
typedef struct kc_input {
  const char *name;
  const kc_buffer *buffer;
} kc_input;

/** Decides every element of y, which the caller's own kernel computed, against an oracle: kc_decide with all tiers of kc's certified
 * arithmetic. `oracle` is a Lua expression, what a contract's oracle is (spec/oracles.md): "kc.oracle.softmax('x', { axis = -1 })", or
 * "function(t) return kc.exp(t.x) end". Runs in this process; MPFR and Arb are loaded when the first such oracle is evaluated. KC_EINVAL:
 * the text is no oracle, or does not fit the tensors. */
KC_API KC_MUST_CHECK kc_status kc_embed_decide(kc_decision *out, kc_embed *e, const kc_buffer *y, const char *oracle,
                                               const kc_input *inputs, size_t count, const kc_tolerance *tolerance,
                                               kc_text *err);

/* ---- a run ------------------------------------------------------------------------------------------------------------- */

/** What `kc run` is given; zeroed, every field has the command line's default. Lists end with NULL. */
typedef struct kc_run_options {
  const char *const *targets;    /* contracts (file, folder, id), suites, incidents; NULL: all contracts of the installation */
  const char *const *devices;    /* NULL: cpu */
  const char *const *extensions; /* full paths of shared objects with drivers, oracles or metrics (kc_extension_entry) */
  const char *filter;            /* only contracts whose id matches */
  const char *impl;              /* these implementations instead of the good ones */
  int64_t seed;
  int jobs;           /* 0: processors */
  double timeout;     /* seconds for one cell; 0: 60 */
  bool thorough;      /* also what contracts keep for a thorough run */
  bool in_process;    /* judged in this process, with what kc_embed_add gave: see kc_embed_run */
  const char *trace;  /* a new file */
  const char *report; /* a file called .json or .txt */
} kc_run_options;

/** Verdicts, best first. */
typedef enum kc_verdict {
  KC_VERDICT_HELD,
  KC_VERDICT_SKIPPED,
  KC_VERDICT_UNDECLARED,
  KC_VERDICT_UNKNOWN,
  KC_VERDICT_MISTRUSTED,
  KC_VERDICT_VIOLATED
} kc_verdict;

/** Number of verdicts; they count from 0. */
#define KC_VERDICTS 6

/** Name of a verdict: "held", "skipped", ... */
KC_API const char *kc_verdict_name(kc_verdict v);

/** One cell of a run: an implementation judged against a contract on a device. */
typedef struct kc_cell {
  const char *contract; /* its id, e.g. "C-EXC-01/relu.f32" */
  const char *path;     /* the file that holds it */
  const char *implementation;
  const char *role; /* "good", "bad", "candidate", ... */
  const char *device;
  kc_verdict verdict;
  const char *reason;      /* why, unless held */
  const char *signature;   /* violated: what the contract's signature says */
  const char *note;        /* what else belongs to the verdict */
  const char *replay;      /* token of `kc replay`, of the sample that decided */
  double ratio;            /* largest error / tolerance */
  int64_t judged, vacuous; /* elements; those at which zero would pass */
  double seconds;
  bool isolated; /* false: judged in the caller's process */
} kc_cell;

/** What a run gave. */
typedef struct kc_results kc_results;

/** Runs to its end, or until cancel says so, calling the state's callbacks from this thread. Violations are results, not failures.
 * KC_EINVAL: a target or an option was refused. KC_ECANCELLED: cancelled. Both give the results that came before. KC_EIO: kc is not there
 * or died; then *out is NULL. The caller frees *out in every case.
 *
 * in_process: oracles and candidates run here, with what kc_embed_add gave. A crash or a hang of a candidate is then the caller's, `timeout`
 * bounds contract code only, `cancel` is asked after each sample, `jobs` is 1, and results say that nothing was isolated. Verdicts are
 * reached in the same way. Calibrations are made anew, in runners unless the device is of the caller's own. */
KC_API KC_MUST_CHECK kc_status kc_embed_run(kc_results **out, kc_embed *e, const kc_run_options *options, kc_text *err);
/** Frees results; NULL is allowed. */
KC_API void kc_results_free(kc_results *r);
/** Number of cells. */
KC_API size_t kc_results_count(const kc_results *r);
/** The i-th cell, in the order of the plan; NULL past the end. */
KC_API const kc_cell *kc_results_at(const kc_results *r, size_t i);
/** How many cells have this verdict. */
KC_API size_t kc_results_tally(const kc_results *r, kc_verdict v);
/** The exit code of the same command line: 0 held, 1 violated, 3 undecided, 4 host error, 5 nothing judged (spec/verdicts.md). */
KC_API int kc_results_exit(const kc_results *r);

#ifdef __cplusplus
}
#endif
#endif
