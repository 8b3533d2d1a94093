// emulate.h - enough of CUDA C++ that the host's compiler takes a kernel: work-items are threads where the text has barriers, a loop
// where it has none. It computes what the host computes and says nothing about a GPU's numbers.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <utility>
#include <xmmintrin.h>

#define __global__
#define __device__
#define __constant__
#define __shared__ static
#ifdef EMULATE_HIP
#define __HIP__ 1
#endif

namespace emulated {
struct place {
  unsigned x, y, z;
};
static pthread_barrier_t barrier;
} // namespace emulated
static thread_local emulated::place threadIdx, blockIdx;
static emulated::place blockDim, gridDim;

namespace emulated {
static bool trapped;
}
static inline void __trap() {
  emulated::trapped = true;
}
static inline void __syncthreads() {
  pthread_barrier_wait(&emulated::barrier);
}

template <class To, class From> static inline To emulated_bits(From from) {
  To to;
  static_assert(sizeof to == sizeof from, "bits are moved between types of one size");
  memcpy(&to, &from, sizeof to);
  return to;
}
static inline unsigned __float_as_uint(float x) {
  return emulated_bits<unsigned>(x);
}
static inline float __uint_as_float(unsigned x) {
  return emulated_bits<float>(x);
}
static inline long long __double_as_longlong(double x) {
  return emulated_bits<long long>(x);
}
static inline double __longlong_as_double(long long x) {
  return emulated_bits<double>(x);
}
static inline float rsqrtf(float x) {
  return 1.0f / sqrtf(x);
}
static inline double rsqrt(double x) {
  return 1.0 / sqrt(x);
}

// Every read-modify-write is a loop of compare and exchange on the bits.
template <class T, class F> static inline T emulated_update(T *p, F next) {
  unsigned *at = (unsigned *)p, seen = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &seen, emulated_bits<unsigned>(next(emulated_bits<T>(seen))), false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return emulated_bits<T>(seen);
}
#define EMULATE_ATOMIC(name, T, expression)                                                                                    \
  static inline T name(T *p, T v) {                                                                                            \
    return emulated_update(p, [v](T old) -> T {                                                                                \
      (void)old;                                                                                                               \
      return expression;                                                                                                       \
    });                                                                                                                        \
  }
#define EMULATE_ATOMICS(T)                                                                                                     \
  EMULATE_ATOMIC(atomicAdd, T, old + v)                                                                                        \
  EMULATE_ATOMIC(atomicSub, T, old - v)                                                                                        \
  EMULATE_ATOMIC(atomicAnd, T, old &v)                                                                                         \
  EMULATE_ATOMIC(atomicOr, T, old | v)                                                                                         \
  EMULATE_ATOMIC(atomicXor, T, old ^ v)                                                                                        \
  EMULATE_ATOMIC(atomicExch, T, v)                                                                                             \
  EMULATE_ATOMIC(atomicMax, T, old > v ? old : v)                                                                              \
  EMULATE_ATOMIC(atomicMin, T, old < v ? old : v)                                                                              \
  static inline T atomicCAS(T *p, T expected, T desired) {                                                                     \
    return emulated_update(p, [=](T old) -> T { return old == expected ? desired : old; });                                    \
  }
EMULATE_ATOMICS(int)
EMULATE_ATOMICS(unsigned)
EMULATE_ATOMIC(atomicAdd, float, old + v)
EMULATE_ATOMIC(atomicExch, float, v)

// ---- launching ----

namespace emulated {
typedef void item(void **arguments);

struct job {
  item *run;
  void **arguments;
  place group, at;
};

static void run_item(const job &j) {
#ifdef EMULATE_FLUSH
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  threadIdx = j.at;
  blockIdx = j.group;
  j.run(j.arguments);
}

static void *thread(void *job_of_mine) {
  run_item(*(job *)job_of_mine);
  return nullptr;
}

static void run_group(item *run, void **arguments, place group, bool meets) {
  size_t count = (size_t)blockDim.x * blockDim.y * blockDim.z, n = 0;
  job *jobs = (job *)malloc(count * sizeof *jobs);
  pthread_t *threads = (pthread_t *)malloc(count * sizeof *threads);
  for (unsigned z = 0; z < blockDim.z; z++)
    for (unsigned y = 0; y < blockDim.y; y++)
      for (unsigned x = 0; x < blockDim.x; x++) jobs[n++] = {run, arguments, group, {x, y, z}};
  if (meets) pthread_barrier_init(&barrier, nullptr, (unsigned)count);
  for (size_t i = 0; i < count; i++)
    if (meets)
      pthread_create(&threads[i], nullptr, thread, &jobs[i]);
    else
      run_item(jobs[i]);
  for (size_t i = 0; meets && i < count; i++) pthread_join(threads[i], nullptr);
  if (meets) pthread_barrier_destroy(&barrier);
  free(threads);
  free(jobs);
}

enum { LAUNCH_FAILED = 719 };
static int launch(item *run, void **arguments, const unsigned *grid, const unsigned *block, bool meets) {
  unsigned csr = _mm_getcsr();
  gridDim = {grid[0], grid[1], grid[2]};
  blockDim = {block[0], block[1], block[2]};
  for (unsigned z = 0; z < grid[2]; z++)
    for (unsigned y = 0; y < grid[1]; y++)
      for (unsigned x = 0; x < grid[0]; x++) run_group(run, arguments, {x, y, z}, meets);
  _mm_setcsr(csr);
  return trapped ? LAUNCH_FAILED : 0;
}

template <class... P, size_t... I> static inline void call(void (*kernel)(P...), void **a, std::index_sequence<I...>) {
  kernel(*(P *)a[I]...);
}
template <class... P> static inline void call(void (*kernel)(P...), void **a) {
  call(kernel, a, std::index_sequence_for<P...>());
}
} // namespace emulated
#define EMULATE_KERNEL(name, meets)                                                                                            \
  static void emulated_item(void **a) {                                                                                        \
    emulated::call(&name, a);                                                                                                  \
  }                                                                                                                            \
  extern "C" __attribute__((visibility("default"))) int emulated_launch(void **a, const unsigned *grid,                        \
                                                                        const unsigned *block) {                               \
    return emulated::launch(emulated_item, a, grid, block, meets);                                                             \
  }
