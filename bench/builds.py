#!/usr/bin/env python3
"""Programs by two builds of Baton, in turns in one process: processor time of a call, as a ratio.

usage: builds.py OLD NEW PROGRAM... [--rounds 15] [--sizes n=1,...]

OLD and NEW are build folders. Each compiles the programs itself and runs them by its own libbaton. Tensors
are drawn; a named size has the number that --sizes says, or 8. Shown are medians.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import baton  # noqa: E402

TENSOR = re.compile(r"^Tensor\[\(([^)]*)\), (\w+)\]$")


def drawn(type_text, sizes, random):
    found = TENSOR.match(type_text)
    shape = [] if not found else [int(d) if d.strip().isdigit() else sizes.get(d.strip(), 8)
                                  for d in found[1].split(",") if d.strip()]
    dtype = np.dtype(found[2] if found else type_text)
    if dtype.kind == "f":
        return (random.random(shape) * 0.1 + 0.01).astype(dtype)
    return random.integers(0, 10, shape).astype(dtype)


def milliseconds(function, arguments, seconds):
    """Of one call, the mean of as many as take about so long."""
    calls, start = 0, time.process_time()
    while time.process_time() - start < seconds or calls == 0:
        function(*arguments)
        calls += 1
    return (time.process_time() - start) / calls * 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("builds", nargs=2, type=pathlib.Path)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sizes", default="")
    options = parser.parse_args()
    sizes = dict((name, int(number)) for name, number in re.findall(r"(\w+)=(\d+)", options.sizes))
    print("| program | old ms | new ms | old / new |\n|---|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for program in options.programs:
            functions = []
            for number, build in enumerate(options.builds):
                file = pathlib.Path(folder) / f"{program.stem}.{number}.bvm"
                subprocess.run([build / "baton", "compile", program, "-o", file], check=True)
                functions.append(baton.load(file, library_path=build / "libbaton.so").main)
            random = np.random.default_rng(0)
            arguments = [drawn(text, sizes, random) for _, text in functions[0].parameters]
            times = [[], []]
            for _ in range(options.rounds + 1):
                for function, own in zip(functions, times):
                    own.append(milliseconds(function, arguments, 0.05))
            old, new = (float(np.median(own[1:])) for own in times)
            print(f"| {program.stem} | {old:.3f} | {new:.3f} | {old / new:.2f} |", flush=True)


if __name__ == "__main__":
    main()
