"""relu in NumPy, right or wrong in one way: python3 numpy_relu.py HOW IN OUT"""
import json
import os
import signal
import struct
import sys
import time
import zipfile

import numpy as np

how, source, target = sys.argv[1:4]


def load_safetensors(path):
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8))[0]
        entry = json.loads(file.read(length))["x"]
        assert entry["dtype"] == "F32" and length % 8 == 0
        return np.frombuffer(file.read(), dtype="<f4").reshape(entry["shape"])


def header_of(**changes):
    entry = {"dtype": "F32", "shape": list(y.shape), "data_offsets": [0, y.nbytes]}
    entry.update(changes)
    return {"y": entry}


def save_safetensors(header, data=None, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    with open(target + "/outputs.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text) if length is None else length) + text + (y.tobytes() if data is None else data))


def load():
    if os.path.exists(source + "/inputs.npz"):
        return np.load(source + "/inputs.npz")["x"]
    if os.path.exists(source + "/inputs.safetensors"):
        return load_safetensors(source + "/inputs.safetensors")
    return np.load(source + "/x.npy")


x = load()
y = np.where(x < 0, np.float32(0), x)
assert json.load(open(source + "/sizes.json")) == {"n": len(x)}
path = target + "/y.npy"


def saved():
    np.save(path, y)
    return open(path, "rb").read()


def rewritten(data):
    with open(path, "wb") as file:
        file.write(data)


def elsewhere(link):
    os.rename(path, source + "/elsewhere")
    os.symlink(source + "/elsewhere", link)


def linked_directory():
    saved()
    os.rename(target, target + ".real")
    os.symlink(target + ".real", target)


def archive(name, data, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(target + "/outputs.npz", "w", method) as file:
        file.writestr(name, data)


def damaged_archive():
    np.savez(target + "/outputs.npz", y=y)
    data = bytearray(open(target + "/outputs.npz", "rb").read())
    data[200] ^= 1
    open(target + "/outputs.npz", "wb").write(data)


def lies_about_size():
    """A member that says 4 bytes and unpacks to 64 MiB."""
    archive("y.npy", bytes(1 << 26), zipfile.ZIP_DEFLATED)
    data = open(target + "/outputs.npz", "rb").read().replace(struct.pack("<I", 1 << 26), struct.pack("<I", 4))
    open(target + "/outputs.npz", "wb").write(data)


def escaped():
    if os.fork() == 0:
        os.setsid()
        os.execvp("sleep", ["sleep", "48.25"])
    saved()


ways = {
    "npy": saved,
    "npz": lambda: np.savez(target + "/outputs.npz", y=y),
    "npz_deflated": lambda: np.savez_compressed(target + "/outputs.npz", y=y),
    "safetensors": lambda: save_safetensors(header_of()),
    "big_endian": lambda: np.save(path, y.astype(">f4")),
    "extra_files": lambda: (saved(), rewritten(saved()), os.mkfifo(target + "/pipe"), os.symlink("/", target + "/root")),
    "escaped": escaped,
    "wrong": lambda: np.save(path, np.maximum(x, 0) + np.float32(1)),
    "wrong_shape": lambda: np.save(path, np.concatenate([y, y])),
    "wrong_rank": lambda: np.save(path, y.reshape(1, -1)),
    "wrong_dtype": lambda: np.save(path, y.astype(np.float64)),
    "integers": lambda: np.save(path, y.view(np.uint32)),
    "objects": lambda: np.save(path, np.array([{}] * len(y), dtype=object), allow_pickle=True),
    "missing": lambda: None,
    "truncated": lambda: rewritten(saved()[:-1]),
    "too_long": lambda: rewritten(saved() + b"\0"),
    "no_npy": lambda: rewritten(b"hello"),
    "huge_header": lambda: rewritten(b"\x93NUMPY\x02\0" + struct.pack("<I", 1 << 31) + saved()),
    "huge_shape": lambda: rewritten(saved().replace(b"'shape': (%d,)" % len(y), b"'shape': (%d,)" % (1 << 62))),
    "link": lambda: (saved(), elsewhere(path)),
    "linked_directory": linked_directory,
    "pipe": lambda: os.mkfifo(path),
    "directory": lambda: os.mkdir(path),
    "no_member": lambda: archive("z.npy", b""),
    "no_zip": lambda: open(target + "/outputs.npz", "wb").write(b"PK"),
    "damaged_zip": damaged_archive,
    "bomb": lambda: archive("y.npy", bytes(1 << 28), zipfile.ZIP_DEFLATED),
    "lies_about_size": lies_about_size,
    "large_zip": lambda: archive("z.npy", bytes(1 << 25)),
    "st_no_tensor": lambda: save_safetensors({"z": header_of()["y"]}),
    "st_wrong_dtype": lambda: save_safetensors(header_of(dtype="I32")),
    "st_wrong_shape": lambda: save_safetensors(header_of(shape=[1, len(y)])),
    "st_past_the_end": lambda: save_safetensors(header_of(), y.tobytes()[:-4]),
    "st_wrong_offsets": lambda: save_safetensors(header_of(data_offsets=[0, y.nbytes - 4])),
    "st_huge_header": lambda: save_safetensors(header_of(), length=1 << 63),
    "st_long_header": lambda: save_safetensors(header_of(), length=1 << 19),
    "st_no_json": lambda: save_safetensors(b"{"),
    "st_overlap": lambda: save_safetensors(dict(header_of(), z=header_of()["y"])),
    "exits": lambda: (print("on purpose", file=sys.stderr), sys.exit(3)),
    "raises": lambda: 1 // 0,
    "killed": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "hangs": lambda: (saved(), time.sleep(60)),
}
if len(x) > 0:
    ways[how]()
