"""Compares what NumPy computes with kc's certified oracle, in ulps, through ctypes: python3 check_numpy.py [libkc.so]"""
import ctypes as c
import sys

import numpy as np

kc = c.CDLL(sys.argv[1] if len(sys.argv) > 1 else "libkc.so.0.1")


class Text(c.Structure):
    _fields_ = [("s", c.c_char * 512)]


class Input(c.Structure):
    _fields_ = [("name", c.c_char_p), ("buffer", c.c_void_p)]


class Tolerance(c.Structure):
    _fields_ = [("kind", c.c_uint8), ("denormals", c.c_uint8), ("either_zero", c.c_bool), ("value", c.c_double),
                ("allowed", c.c_void_p), ("scale", c.c_void_p)]


class Summary(c.Structure):
    _fields_ = [("count", c.c_int64), ("finite", c.c_int64), ("class_mismatches", c.c_int64), ("bit_differences", c.c_int64),
                ("worst", c.c_int64), ("first_mismatch", c.c_int64), ("max", c.c_double), ("mean", c.c_double),
                ("quantile", c.c_double * 5), ("histogram", c.c_int64 * 66)]


class Decision(c.Structure):
    _fields_ = [(name, c.c_int64) for name in (
        "count", "class_yes", "class_no", "class_unknown", "anything", "undeclared", "value_yes", "value_no", "value_unknown",
        "vacuous", "exact", "refined", "zeros", "first_class_no", "first_value_no", "worst")] + [
        (name, c.c_double) for name in ("worst_ratio_lo", "worst_ratio_hi", "worst_lo", "worst_hi", "worst_error",
                                        "worst_allowed", "worst_scaled")] + [
        ("confusion", c.c_int64 * 49), ("histogram", c.c_int64 * 66)]


kc.kc_format_find.restype = kc.kc_buffer_data.restype = kc.kc_metric_find.restype = c.c_void_p
kc.kc_status_name.restype = c.c_char_p
ULP = 1  # kc_tol_kind


def call(name, *arguments):
    err = Text()
    status = getattr(kc, name)(*arguments, c.byref(err))
    if status != 0:
        raise RuntimeError(f"{name}: {kc.kc_status_name(status).decode()}: {err.s.decode()}")


def tensor(array):
    """A kc buffer of an array of f32 or f64; the caller releases it."""
    array = np.ascontiguousarray(array)
    name = {"float32": b"f32", "float64": b"f64"}[array.dtype.name]
    b, shape = c.c_void_p(), (c.c_int64 * array.ndim)(*array.shape)
    call("kc_buffer_create", c.byref(b), c.c_void_p(kc.kc_format_find(name)), array.ndim, shape, c.c_size_t(4096))
    c.memmove(kc.kc_buffer_data(b), array.ctypes.data, array.nbytes)
    return b


def ulps(got, reference):
    s, a, b = Summary(), tensor(got), tensor(reference)
    call("kc_metric_run", c.byref(s), c.c_void_p(kc.kc_metric_find(b"ulp")), a, b, None, None)
    kc.kc_buffer_release(a)
    kc.kc_buffer_release(b)
    return s


def decide(y, oracle, limit, **inputs):
    """How many elements of y are proven within `limit` ulp of the exact values, and the largest error in ulps."""
    d, e, buffers = Decision(), c.c_void_p(), {name: tensor(x) for name, x in inputs.items()}
    rows = (Input * len(inputs))(*[Input(name.encode(), b) for name, b in buffers.items()])
    call("kc_embed_open", c.byref(e), None)
    got = tensor(y)
    call("kc_embed_decide", c.byref(d), e, got, oracle.encode(), rows, c.c_size_t(len(rows)), c.byref(Tolerance(ULP, 0, False, limit)))
    for b in [got, *buffers.values()]:
        kc.kc_buffer_release(b)
    kc.kc_embed_close(e)
    return d


x = np.linspace(-20, 20, 1000, dtype=np.float32)

apart = ulps(np.exp(x), np.exp(x.astype(np.float64)).astype(np.float32))
print(f"exp in float32 beside float64 rounded: {apart.max:g} ulp at most, {apart.bit_differences} of {apart.count} differ")
assert apart.max <= 4 and apart.class_mismatches == 0

off = ulps(np.nextafter(x, np.float32(np.inf)), x)
assert off.max == 1 and off.mean == 1, "the next number is one ulp away"

right = decide(np.exp(x), "function(t) return kc.exp(t.x) end", 4.0, x=x)
print(f"exp: {right.value_yes} of {right.count} proven within 4 ulp, worst {right.worst_ratio_hi * 4:.3g} ulp")
assert right.value_yes == right.count == 1000

wrong = decide(np.log(np.exp(x) + 1), "function(t) return kc.log1p(kc.exp(t.x)) end", 4.0, x=x)
print(f"log(exp(x) + 1) for log1p(exp(x)): {wrong.value_no} of {wrong.count} are off by more than 4 ulp")
assert wrong.value_no > 100
