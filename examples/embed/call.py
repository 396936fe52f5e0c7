#!/usr/bin/env python3
"""Calls an executable from Python with numpy arrays, which go in and out without a copy.

usage: call.py LIBRARY MODEL.bvm
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import baton  # noqa: E402


def main():
    library, path = sys.argv[1:]
    model = baton.load(path, library_path=library)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    weight = np.arange(12, dtype=np.float32).reshape(4, 3)[::-1]
    scores, best = model(x, weight)
    print(scores.numpy())
    print(best.numpy(), np.allclose(scores, np.maximum(x @ weight.T, 0)))
    try:
        model(x, weight[:, :2])
    except baton.ArgumentError as error:
        print(error)


if __name__ == "__main__":
    main()
