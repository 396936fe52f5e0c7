#!/usr/bin/env python3
"""How often the kernels of a program go over their rows, by the loop nests that Baton chooses.

usage: nests_test.py BATON [CASE...]

A kernel goes over its rows once where its nest has one outermost loop, in which everything that only
one row needs is allocated.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HEADER = '#[version = "0.0.5"]\n'
ROWS = "Tensor[(n, 300), float32]"
WIDE = "Tensor[(300), float32]"


def gradient(parameters, body):
    names = ", ".join(name for name, _ in parameters)
    declared = ", ".join(f"{name}: {kind}" for name, kind in parameters)
    return f"""
def @f({declared}) -> {ROWS} {{ {body} }}
def @main({declared}, %d: {ROWS}) {{ vjp(@f)({names}).1(%d) }}"""


NORM = [("%x", ROWS), ("%g", WIDE), ("%b", WIDE)]
# Name: the program.
CASES = {
    "softmax": f"def @main(%x: {ROWS}) {{ nn.softmax(%x) }}",
    "softmax of a scaled tensor": f"def @main(%x: {ROWS}) {{ nn.softmax(%x * 0.125f) + 1f }}",
    "log_softmax": f"def @main(%x: {ROWS}) {{ nn.log_softmax(%x) }}",
    "layer_norm": f"def @main(%x: {ROWS}, %g: {WIDE}, %b: {WIDE}) {{ nn.layer_norm(%x, %g, %b) }}",
    "gradient of softmax": gradient([("%x", ROWS)], "nn.softmax(%x)"),
    "gradient of layer_norm": gradient(NORM, "nn.layer_norm(%x, %g, %b)"),
}


def problem_of(baton, program):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.rly"
        path.write_text(HEADER + program)
        done = subprocess.run([baton, "lower", "--choose", path], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr
    kernels = done.stdout.split("\n\n")
    for kernel in kernels:
        loops = re.findall(r"^  (?:for|parallel|vector|unroll) .*", kernel, re.MULTILINE)
        shared = re.findall(r"^  alloc .*", kernel, re.MULTILINE)
        if len(loops) != 1 or shared:
            return f"{len(loops)} outermost loops, and scratch outside of them: {shared}\n{kernel}"
    return ""


def main():
    baton, *names = sys.argv[1:]
    failures = 0
    for name, program in CASES.items():
        if names and name not in names:
            continue
        if problem := problem_of(baton, program):
            failures += 1
            print(f"{name}: {problem}")
    print(f"{len(names or CASES)} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
