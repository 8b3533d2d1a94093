-- The BLAS suite: it judges what is installed and counts the rest as skipped, finds a planted faulty BLAS in each of its cases, and a
-- library computes the same bits inside the runner as in a small program that loads it alone.
local core = require "kc.core"
local json = require "kc.json"
local kc = require "kc"
local t = dofile "tests/cli/harness.lua"()
local suite = "contracts/suites/blas.lua"
local text = t.read(suite)

local function document(arguments)
  local got = t:run(arguments)
  return assert(json.decode(got.stdout), got.command .. "\n" .. got.stdout .. got.stderr), got
end

local function matrix_of(d, name)
  for _, m in ipairs(d.matrices) do if m.name == name then return m end end
  error("no matrix " .. name)
end

local function cell(matrix, row, column)
  for _, r in ipairs(matrix.rows) do if r.name == row then return r.cells[column] end end
  error("no row " .. row)
end

-- The suite as it is, on the shortest of its contracts: every implementation is judged or skipped with its reason.
local d = document { "run", suite, "--filter", "C-EXC-01/dot.f32", "--format", "json" }
assert(#d.results == 6, #d.results .. " results")
for _, r in ipairs(d.results) do
  if r.verdict.name == "skipped" then
    assert(r.verdict.reason:find("is not installed", 1, true), r.verdict.reason)
  else
    assert(r.verdict.name == "held" and r.library.sha256 == core.sha256file(r.library.path), r.implementation .. " " .. r.verdict.name)
  end
end

-- ---- planted mistakes -----------------------------------------------------------------------------------------------------------

local blas = [[
#include <math.h>
void cblas_sgemm(int order, int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
                 float beta, float *c, int ldc) {
  (void)order;
#ifdef PADDING
  if (ldc > n) c[n] = 0;
#endif
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int l = 0; alpha != 0 && l < k; l++) {
        float x = a[ta == 111 ? i * lda + l : l * lda + i], y = b[tb == 111 ? l * ldb + j : j * ldb + l];
#ifdef SKIPS
        if (y == 0) continue;
#endif
#ifdef LEADING
        x = a[ta == 111 ? i * k + l : l * m + i];
#endif
        sum += x * y;
      }
#ifdef READS_C
      c[i * ldc + j] = alpha * sum + beta * c[i * ldc + j];
#else
      c[i * ldc + j] = (alpha != 0 && k > 0 ? alpha * sum : 0) + (beta != 0 ? beta * c[i * ldc + j] : 0);
#endif
    }
}
]]
t:file("blas.c", blas)
local planted = { "RIGHT", "READS_C", "SKIPS", "LEADING", "PADDING" }
local rows = {}
for _, name in ipairs(planted) do
  assert(os.execute(("cc -O1 -ffp-contract=off -shared -fPIC -D%s -o %s/%s.so %s/blas.c"):format(name, t.directory, name, t.directory)))
  rows[#rows + 1] = ('  { name = "%s", file = "%s/%s.so" },'):format(name, t.directory, name)
end
rows[#rows + 1] = ('  { name = "ABSENT", file = "%s/none.so" },'):format(t.directory)

-- The suite with these libraries instead of Debian's, and sgemm alone.
local from, to = text:find("\nlocal libraries = {.-\n}\n")
local judged = text:sub(1, from) .. "local libraries = {\n" .. table.concat(rows, "\n") .. "\n}\n" .. text:sub(to + 1)
local file = t:file("planted.lua", judged)
d = document { "run", file, "--filter", "C-EXC-01/gemm.f32", "--format", "json" }
local verdicts = {}
for _, r in ipairs(d.results) do verdicts[r.implementation:match("[^/]*$")] = r.verdict end
assert(verdicts.RIGHT.name == "held", verdicts.RIGHT.reason)
for i = 2, #planted do assert(verdicts[planted[i]].name == "violated", planted[i] .. " is " .. verdicts[planted[i]].name) end
assert(verdicts.PADDING.reason:find("wrote between the rows of the result", 1, true), verdicts.PADDING.reason)
assert(verdicts.ABSENT.name == "skipped" and verdicts.ABSENT.reason:find("none.so", 1, true), verdicts.ABSENT.name)
local m = matrix_of(d, "sgemm")
assert(cell(m, "beta = 0, NaN in C", "READS_C").word == "NaN leaks")
assert(cell(m, "beta = 0, NaN in C", "SKIPS").word == "ok")
assert(cell(m, "NaN in A, 0 in B", "SKIPS").word == "NaN lost")
assert(cell(m, "0 in A, NaN in B", "SKIPS").word == "ok")
assert(cell(m, "ld > width", "LEADING").word == "NaN leaks", "NaN between the rows of A is read")
assert(cell(m, "ld > width", "RIGHT").word == "ok" and cell(m, "K = 0", "RIGHT").word == "ok")

-- The text shows the same, says what the words mean, and its lines replay: the same bits, the same verdict.
local got = t:expect({ "run", file, "--filter", "C-EXC-01/gemm.f32", "--impl", "*S*" },
  { code = 1, out = { "sgemm on cpu, case by case", "NaN lost", "a number came out where the result is NaN", "absent", "libraries",
                      "Not explained by the suite." } })
local token = assert(got.stdout:match("NaN lost %(SKIPS%)\n[^\n]-kc replay (%S+)") or got.stdout:match("     kc replay (%S+)"))
t:expect({ "replay", token }, { code = 1, out = { "the same bits as recorded" } })

-- ---- the same bits as alone -----------------------------------------------------------------------------------------------------

local M, N, K = 37, 29, 41
t:file("alone.c", [[
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
enum { M = 37, N = 29, K = 41 };
typedef void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
int main(int argc, char **argv) {
  static float a[M * K], b[K * N], c[M * N];
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (!library) return 1;
  for (int i = 0; i < M * K; i++) a[i] = 1.0f / (float)(i % 97 + 1);
  for (int i = 0; i < K * N; i++) b[i] = 1.0f / (float)(i % 89 + 3);
  ((sgemm)dlsym(library, "cblas_sgemm"))(101, 111, 111, M, N, K, 1.0f, a, K, b, N, 0.0f, c, N);
  for (int i = 0; i < M * N; i++) {
    uint32_t bits;
    memcpy(&bits, &c[i], 4);
    printf("%08x", (unsigned)bits);
  }
  return 0;
}
]])
assert(os.execute(("cc -O1 -o %s/alone %s/alone.c -ldl"):format(t.directory, t.directory)))

local function alone(path)
  local pipe = assert(io.popen(("%s/alone %s"):format(t.directory, path)))
  local bits = pipe:read("a")
  assert(pipe:close(), "the program alone fails on " .. path)
  return bits
end

local function in_runner(path)
  local device = kc.device "cpu"
  local a, b, c = kc.buffer("f32", M * K), kc.buffer("f32", K * N), kc.buffer("f32", M * N)
  for i = 1, M * K do a[i] = 1 / ((i - 1) % 97 + 1) end
  for i = 1, K * N do b[i] = 1 / ((i - 1) % 89 + 3) end
  local sgemm = device:kernel { file = path, entry = "cblas_sgemm", params = { "order: i32", "ta: i32", "tb: i32", "m: i32", "n: i32",
    "k: i32", "alpha: f32", "a: f32[]", "lda: i32", "b: f32[]", "ldb: i32", "beta: f32", "c: f32[]", "ldc: i32" } }
  device:launch(sgemm, { 101, 111, 111, M, N, K, 1, a, K, b, N, 0, c, N })
  local bits = {}
  for i = 1, M * N do bits[i] = ("%08x"):format(c:code(i)) end
  device:close()
  return table.concat(bits)
end

local compared = 0
for path in text:sub(from, to):gmatch('installed "([^"]+)"') do
  for _, machine in ipairs { "x86_64", "aarch64" } do
    local full = ("/usr/lib/%s-linux-gnu/%s"):format(machine, path)
    if core.stat(full) then
      assert(alone(full) == in_runner(full), full .. " computes other bits in the runner than alone")
      compared = compared + 1
    end
  end
end
print(("blas: %d libraries compared with a program that loads them alone"):format(compared))
t:done "blas"
