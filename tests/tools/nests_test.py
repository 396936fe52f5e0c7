#!/usr/bin/env python3
"""How often the kernels of a program go over their rows, by the loop nests that Baton chooses.

usage: nests_test.py BATON [CASE...]

A kernel goes over its rows once where its nest has one outermost loop, in which everything that only
one row needs is allocated. Attention is one kernel that keeps the scores of a few rows at a time. Products over
channels go along whole maps.
"""
import math
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


SCORES = "nn.batch_matmul(%q, %k, transpose_b=True) * 0.125f"
BY_HAND = f"""let %s = {SCORES};
  let %e = exp(%s - max(%s, axis=[-1], keepdims=True));
  nn.batch_matmul(%e / sum(%e, axis=[-1], keepdims=True), %v, transpose_b=False)"""


def attention(heads, rows, columns, width, body=f"nn.batch_matmul(nn.softmax({SCORES}), %v, transpose_b=False)"):
    def tensor(*shape):
        return f"Tensor[({', '.join(map(str, shape))}), float32]"

    keys = tensor(heads, columns, width)
    return (f"def @main(%q: {tensor(heads, rows, width)}, %k: {keys}, %v: {keys}, %m: {tensor(1, rows, columns)}) {{ "
            f"{body} }}"), rows * columns


# Name: the program, and how many scores a head has.
ATTENTION = {
    "attention of one head": attention(1, 384, 384, 64),
    "attention of heads": attention(12, 128, 128, 32),
    "attention to what is longer": attention(2, 60, 500, 32),
    "attention with a mask": attention(
        2, 96, 96, 16, f"nn.batch_matmul(nn.softmax({SCORES} + %m), %v, transpose_b=False)"),
    "attention by hand": attention(1, 384, 384, 64, BY_HAND),
}


def on_maps(size, step):
    """Two products over channels, one of them at some points of a larger map."""
    maps = f"Tensor[(1, 24, {size}, {size}), float32]"
    larger = f"Tensor[(1, 40, {size * step}, {size * step}), float32]"
    one = "channels=32, kernel_size=[1, 1]"
    return (f"def @main(%x: {maps}, %y: {larger}, %v: Tensor[(32, 24, 1, 1), float32], %w: Tensor[(32, 40, 1, 1), float32]) {{ "
            f"nn.relu(nn.conv2d(%x, %v, {one}) + nn.conv2d(%y, %w, strides=[{step}, {step}], {one})) }}"), size * size


MAPS = {
    "products over channels": on_maps(14, 1),
    "products over channels, one in steps": on_maps(14, 2),
    "products over channels, one in longer steps": on_maps(9, 3),
}


def kernels_of(baton, program):
    """The texts of the kernels, or what Baton says is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "program.rly"
        path.write_text(HEADER + program)
        done = subprocess.run([baton, "lower", "--choose", path], capture_output=True, text=True)
    return (done.stdout.split("\n\n"), "") if done.returncode == 0 else ([], done.stderr)


def problem_of_rows(baton, program):
    kernels, problem = kernels_of(baton, program)
    for kernel in kernels:
        loops = re.findall(r"^  (?:for|parallel|vector|unroll) .*", kernel, re.MULTILINE)
        shared = re.findall(r"^  alloc .*", kernel, re.MULTILINE)
        if len(loops) != 1 or shared:
            return f"{len(loops)} outermost loops, and scratch outside of them: {shared}\n{kernel}"
    return problem


def problem_of_attention(baton, program, scores):
    kernels, problem = kernels_of(baton, program)
    if len(kernels) > 1:
        return f"{len(kernels)} kernels"
    for extents in re.findall(r"^ *alloc .*\[(.+)\]$", "".join(kernels), re.MULTILINE):
        if math.prod(map(int, extents.split(","))) > scores * 0.6:
            return f"scratch of {extents}\n{kernels[0]}"
    return problem


def problem_of_maps(baton, program, points):
    kernels, problem = kernels_of(baton, program)
    if len(kernels) != 1 or f"-> (y: float32[1, 32, {points}])" not in kernels[0]:
        return f"{problem}{len(kernels)} kernels\n{''.join(kernels)}"
    return ""


def main():
    baton, *names = sys.argv[1:]
    checks = {name: (problem_of_rows, program) for name, program in CASES.items()}
    checks |= {name: (problem_of_attention, *case) for name, case in ATTENTION.items()}
    checks |= {name: (problem_of_maps, *case) for name, case in MAPS.items()}
    failures = 0
    for name in names or checks:
        check, *case = checks[name]
        if problem := check(baton, *case):
            failures += 1
            print(f"{name}: {problem}")
    print(f"{len(names or checks)} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
