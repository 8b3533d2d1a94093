-- What is counted in compiled code, on texts of which the counts are known by hand; and, where the compilers are, that options of a build
-- show in what they make.
local core = require "kc.core"
local evidence = require "kc.evidence"
local passed = 0

-- "fused=2 flushing=1", in the order in which they are shown.
local function counts(language, text, entry)
  local parts = {}
  for i, item in ipairs(evidence.of({ language = language, arch = "a", entry = entry or "k", text = text }).counts) do
    parts[i] = ("%s=%d"):format(item.name, item.count)
  end
  return table.concat(parts, " ")
end

local function check(got, want)
  assert(got == want, ("expected '%s', got '%s'"):format(want, got))
  passed = passed + 1
end

-- ---- one instruction each: what it counts as ----

local ptx = {
  { "fma.rn.f32 %f1, %f2, %f3, %f4", "fused=1" },
  { "fma.rn.ftz.f32 %f1, %f2, %f3, %f4", "fused=1 flushing=1" },
  { "@%p1 fma.rn.f64 %fd1, %fd2, %fd3, %fd4", "fused=1" },
  { "@!%p1 fma.rn.bf16x2 %r1, %r2, %r3, %r4", "fused=1" },
  { "mad.lo.s32 %r1, %r2, %r3, %r4", "" },
  { "mad.rn.f32 %f1, %f2, %f3, %f4", "fused=1" },
  { "mul.rn.f32 %f1, %f2, %f3", "" },
  { "ex2.approx.ftz.f32 %f1, %f2", "approximate=1 flushing=1" },
  { "div.full.f32 %f1, %f2, %f3", "approximate=1" },
  { "div.rn.f32 %f1, %f2, %f3", "rounded=1" },
  { "div.s32 %r1, %r2, %r3", "" },
  { "sqrt.rn.f64 %fd1, %fd2", "rounded=1" },
  { "atom.global.add.f32 %f1, [%rd1], %f2", "float_atomics=1" },
  { "red.global.add.f64 [%rd1], %fd2", "float_atomics=1" },
  { "atom.global.add.noftz.f16x2 %r1, [%rd1], %r2", "float_atomics=1" },
  { "atom.shared.cas.b32 %r1, [%rd1], %r2, %r3", "integer_atomics=1" },
  { "red.global.max.u32 [%rd1], %r2", "integer_atomics=1" },
  { "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f1}, {%r1}, {%r2}, {%f1}", "matrix=1" },
  { "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1}", "matrix=1" },
  { "call.uni (retval0),\nfma,\n(\nparam0,\nfma\n)", "calls=1" },
  { "ld.global.v2.f32 {%f1, %f2}, [%rd1]", "" },
  { "bar.sync 0", "" },
}
for _, row in ipairs(ptx) do
  check(counts("ptx", ".visible .entry k(\n\t.param .u64 p\n)\n{\n\t.reg .f32 %f<9>;\n\t" .. row[1] .. ";\n\tret;\n}\n"), row[2])
end

local amdgcn = {
  { "v_fma_f32 v7, v0, s4, -v6", "fused=1" },
  { "v_fmac_f32_e32 v7, 0x32a5705f, v0", "fused=1" },
  { "v_pk_fma_f16 v1, v2, v3, v4", "fused=1" },
  { "v_mad_f32 v1, v2, v3, v4", "flushing=1" },
  { "v_mac_f32_e32 v1, v2, v3", "flushing=1" },
  { "v_mad_u32_u24 v1, v2, v3, v4", "" },
  { "v_rcp_f32_e32 v1, v2", "approximate=1" },
  { "v_sqrt_f32_e32 v1, v2", "approximate=1" },
  { "v_exp_f32_e32 v1, v2", "approximate=1" },
  { "v_div_fixup_f32 v2, v9, v2, v3", "rounded=1" },
  { "v_add_f32_e32 v1, v2, v3", "" },
  { "global_atomic_add_f32 v[0:1], v2, off", "float_atomics=1" },
  { "global_atomic_cmpswap v0, v2, v[0:1], s[2:3] glc", "integer_atomics=1" },
  { "global_atomic_fmax v[0:1], v2, off", "float_atomics=1" },
  { "flat_atomic_add v[0:1], v2", "integer_atomics=1" },
  { "ds_add_f32 v0, v1", "float_atomics=1" },
  { "ds_add_rtn_u32 v0, v1, v2", "integer_atomics=1" },
  { "ds_and_b32 v0, v1", "integer_atomics=1" },
  { "ds_write_b32 v6, v1", "" },
  { "v_mfma_f32_32x32x1f32 a[0:31], v0, v1, a[0:31]", "matrix=1" },
  { "s_swappc_b64 s[30:31], s[4:5]", "calls=1" },
}
for _, row in ipairs(amdgcn) do check(counts("amdgcn", "k:\n\t" .. row[1] .. "   // 000000001900: C0020242\n\ts_endpgm\n"), row[2]) end

-- ---- one kernel's part of a text ----

local two = [[
// fma.rn.f32 in a comment
.version 9.0
.target sm_90
.func (.param .b32 r) helper(
	.param .b32 a
)
{
	fma.rn.f32 	%f1, %f2, %f3, %f4;
}
.visible .entry other(
	.param .u64 p
)
{
	fma.rn.f32 	%f1, %f2, %f3, %f4; // fma.rn.f32
	ret;
}
.visible .entry k(
	.param .u64 p
)
.maxntid 64, 1, 1
{
	.reg .f32 %f<9>;
	{ mul.f32 %f1, %f2, %f3; sqrt.approx.f32 %f1, %f1; }
$L__BB0_1:
	fma.rn.f32 	%f1, %f2, %f3, %f4;
	@%p1 bra 	$L__BB0_1;
	ret;
}
]]
check(counts("ptx", two), "fused=1 approximate=1")
check(counts("ptx", two, "other"), "fused=1")
check(counts("ptx", two, "nothing"), "")
local e = evidence.of { language = "ptx", arch = "sm_90", entry = "k", text = two }
check(tostring(e.instructions), "5")
check(evidence.text(e), "of 5 instructions in the ptx for sm_90: 1 fused multiply-adds, 1 approximations")
check(evidence.text(evidence.of { language = "ptx", arch = "sm_90", entry = "nothing", text = two }),
  "of 0 instructions in the ptx for sm_90: nothing that bears on rounding or order")
check(counts("amdgcn", "other:\n\tv_fma_f32 v1, v2, v3, v4\nk:\n\ts_nop 0\n\tv_rcp_f32_e32 v1, v2\n"), "approximate=1")
assert(evidence.of { language = "another", arch = "", entry = "k", text = "" } == nil)

-- ---- options show in what the compilers make ----

local function compiled(backend, arch, body, options)
  local params = { { name = "x", format = "f32", buffer = true } }
  local build = { source = "KC_KERNEL void k(KC_GLOBAL kc_f32 *x) { " .. body .. " }", entry = "k", params = params }
  for key, value in pairs(options) do build[key] = value end
  local code, message = core.compile(backend, arch, build)
  return counts(code and code.language or error(message), code.text, code.entry)
end

local product = "x[0] = x[1] * x[2] + x[3];"
local makers = {
  { "cuda", "sm_90", { { product, {}, "" }, { product, { contract = true }, "fused=1" }, { product, { flush = true }, "flushing=2" },
                       { "x[0] = x[1] / x[2];", {}, "rounded=1" }, { "x[0] = kc_sqrt(x[1]);", {}, "rounded=1" },
                       { "x[0] = x[1] / x[2];", { fast_math = true }, "approximate=1" },
                       { "x[0] = kc_fma(x[1], x[2], x[3]);", {}, "fused=1" },
                       { "kc_atomic_add_f32_global(&x[0], x[1]);", {}, "float_atomics=1" } } },
  { "hip", "gfx90a", { { product, {}, "" }, { product, { contract = true }, "fused=1" }, { product, { flush = true }, "flushing=1" },
                       { "x[0] = kc_fma(x[1], x[2], x[3]);", {}, "fused=1" } } },
}
for _, maker in ipairs(makers) do
  local known, why = core.archs(maker[1])
  if known then
    for _, row in ipairs(maker[3]) do check(compiled(maker[1], maker[2], row[1], row[2]), row[3]) end
  else
    print(("skipped: nothing compiles for %s here: %s"):format(maker[1], why))
  end
end
print(passed .. " passed")
