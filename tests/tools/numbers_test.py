#!/usr/bin/env python3
"""Programs without functions such as exp give with `--numbers reference` what the interpreter gives, to the last
bit, on every engine and compiled; without it sums of products are added up in another order.

usage: numbers_test.py BATON
"""
import pathlib
import subprocess
import sys
import tempfile
import zipfile

HEADER = '#[version = "0.0.5"]\n'
X, W = "%x: Tensor[(13, 700), float32]", "%w: Tensor[(37, 700), float32]"
PICTURE, KERNEL = "%x: Tensor[(2, 24, 9, 9), float32]", "%w: Tensor[(31, 24, 3, 3), float32]"
HALF = "%x: Tensor[(13, 700), float16], %w: Tensor[(37, 700), float16]"
# Name: parameters, body, and whether it adds up products.
CASES = {
    "dense": (f"{X}, {W}", "nn.dense(%x, %w, units=37) * 3f - 0.1f", True),
    "products of halves": (HALF, "nn.dense(%x, %w, units=37)", False),
    "attention without softmax": (
        "%x: Tensor[(3, 50, 70), float32], %w: Tensor[(3, 50, 70), float32]",
        "nn.batch_matmul(nn.batch_matmul(%x, %w, transpose_b=True), %w, transpose_b=False)", True),
    "convolution": (f"{PICTURE}, {KERNEL}", "nn.relu(nn.conv2d(%x, %w, channels=31, kernel_size=[3, 3]))", True),
    "depthwise": (f"{PICTURE}, %w: Tensor[(24, 1, 5, 5), float32]",
                  "nn.conv2d(%x, %w, channels=24, groups=24, kernel_size=[5, 5])", True),
    "sums": (X, "(sum(%x, axis=[1]), mean(%x, axis=[0]), prod(%x * 0.01f + 1f), cumsum(%x, axis=1))", False),
    "rows": (X, 'nn.layer_norm(%x * 0.3f - %x * %x, ones(shape=[700], dtype="float32"), '
                'zeros(shape=[700], dtype="float32"))', False),
    "pools": (PICTURE, "(nn.avg_pool2d(%x, pool_size=[3, 3]), nn.max_pool2d(%x, pool_size=[2, 2]))", False),
    "open sizes": ("%x: Tensor[(n, 300), float32], %w: Tensor[(m, 300), float32]",
                   "nn.dense(%x, %w, units=None)", True),
}
SIZES = {"n": 11, "m": 35}


def results(baton, folder, *words):
    """The members of the file that a run writes."""
    output = folder / "results.npz"
    open_sizes = [f"{name}={size}" for name, size in SIZES.items() if f"({name}," in (folder / "program.rly").read_text()]
    dims = [word for size in open_sizes for word in ("--dim", size)]
    command = [baton, *words, *dims, "--random", "5", "--output", output]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        return done.stderr
    with zipfile.ZipFile(output) as file:
        return {name: file.read(name) for name in file.namelist()}


def problems_of(baton, folder, adds):
    expected = results(baton, folder, "run", "program.rly", "--engine", "interp")
    if isinstance(expected, str):
        return [expected]
    ways = {engine: ["run", "program.rly", "--engine", engine] for engine in ("loops", "vm", "native", "auto")}
    found = [f"{name} differs" for name, words in ways.items()
             if results(baton, folder, *words, "--numbers", "reference") != expected]
    if adds and results(baton, folder, *ways["vm"]) == expected:
        found.append("reordered numbers make no difference")
    subprocess.run([baton, "compile", "program.rly", "-o", "program.bvm", "--numbers", "reference"],
                   cwd=folder, check=True)
    if results(baton, folder, "run", "program.bvm", "--numbers", "reference") != expected:
        found.append("the executable differs")
    return found


def main():
    baton = sys.argv[1]
    failures = 0
    for name, (parameters, body, adds) in CASES.items():
        with tempfile.TemporaryDirectory() as place:
            folder = pathlib.Path(place)
            (folder / "program.rly").write_text(f"{HEADER}def @main({parameters}) {{ {body} }}")
            for problem in problems_of(baton, folder, adds):
                failures += 1
                print(f"{name}: {problem}")
    print(f"{len(CASES)} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
