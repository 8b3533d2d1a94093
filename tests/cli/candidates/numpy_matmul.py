"""A matrix product in NumPy for C-PRC-01/matmul.f16.acc_f32: python3 numpy_matmul.py IN OUT

Reads A (f16[M,K]) and B (f16[K,N]), writes C (f32[M,N]), in the format in which the inputs are there: .npy or .npz.
"""
import os
import sys

import numpy as np

source, target = sys.argv[1:3]
packed = os.path.exists(source + "/inputs.npz")
inputs = np.load(source + "/inputs.npz") if packed else {name: np.load(f"{source}/{name}.npy") for name in "AB"}
C = inputs["A"].astype(np.float32) @ inputs["B"].astype(np.float32)
if packed:
    np.savez_compressed(target + "/outputs.npz", C=C)
else:
    np.save(target + "/C.npy", C)
