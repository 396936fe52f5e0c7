#!/usr/bin/env python3
"""Weights that are constants give what weights give that come with the run, on all engines.

usage: fixed_weights_test.py BATON

Each program computes both, the second with weights that hang on the other operand by a zero, and their
greatest difference beside the greatest element. Weights that are laid out in panels are told by the pass. An
executable holds weights once, however many calls give them to a function, and once more where they are in panels.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = """\
#[version = "0.0.5"]
def @main(%x: Tensor[({x}), float32], %w: Tensor[({w}), float32]) {{
  let %zero = multiply(min(%x), 0f);
  let %late = add(%w, %zero);
  let %fixed = {call};
  let %free = {late};
  (max(abs(subtract(%fixed, %free))), max(abs(%free)))
}}
"""


def convolution(rank, attributes):
    return lambda w: f"nn.relu(nn.conv{rank}d(%x, {w}, {attributes}))"


CASES = [
    # operand, weights, whether they are laid out, call of weights
    ("1, 16, 28, 28", "32, 16, 3, 3", True, convolution(2, "padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3]")),
    ("2, 3, 37, 41", "48, 3, 7, 7", True, convolution(2, "strides=[2, 2], padding=[3, 3, 3, 3], channels=48, kernel_size=[7, 7]")),
    ("3, 8, 17, 13", "64, 8, 3, 3", True, convolution(2, "padding=[1, 0, 2, 1], channels=64, kernel_size=[3, 3]")),
    ("1, 4, 20, 20", "16, 4, 3, 5", True, convolution(2, "dilation=[2, 1], channels=16, kernel_size=[3, 5]")),
    ("1, 32, 56, 56", "64, 32, 3, 3", True, convolution(2, "padding=[1, 1, 1, 1], channels=64, kernel_size=[3, 3]")),
    ("1, 16, 7, 7", "128, 16, 3, 3", True, convolution(2, "padding=[1, 1, 1, 1], channels=128, kernel_size=[3, 3]")),
    ("1, 16, 13, 13", "96, 16, 3, 3", True, convolution(2, "strides=[2, 2], padding=[1, 1, 1, 1], channels=96, kernel_size=[3, 3]")),
    ("1, 16, 5, 5", "128, 16, 3, 3", False, convolution(2, "padding=[1, 1, 1, 1], channels=128, kernel_size=[3, 3]")),
    ("1, 16, 28, 28", "32, 16, 1, 1", False, convolution(2, "channels=32, kernel_size=[1, 1]")),
    ("1, 32, 28, 28", "32, 1, 3, 3", False, convolution(2, "groups=32, channels=32, kernel_size=[3, 3]")),
    ("1, 32, 28, 28", "64, 16, 3, 3", False, convolution(2, "groups=2, channels=64, kernel_size=[3, 3]")),
    ("1, 14, 14, 8", "3, 3, 8, 32", False, convolution(2, 'padding=[1, 1, 1, 1], channels=32, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO"')),
    ("1, 8, 300", "32, 8, 5", True, convolution(1, "padding=[2, 2], channels=32, kernel_size=[5]")),
    ("1, 4, 9, 10, 11", "16, 4, 3, 3, 3", True, convolution(3, "padding=[1, 1, 1, 1, 1, 1], channels=16, kernel_size=[3, 3, 3]")),
    ("64, 100", "512, 100", True, lambda w: f"nn.dense(%x, {w}, units=512)"),
    ("9, 33", "80, 33", True, lambda w: f"nn.dense(%x, {w}, units=80)"),
    ("7, 33", "80, 33", False, lambda w: f"nn.dense(%x, {w}, units=80)"),
    ("9, 33", "70, 33", False, lambda w: f"nn.dense(%x, {w}, units=70)"),
    ("3, 21, 100", "128, 100", True, lambda w: f"nn.relu(nn.dense(%x, {w}, units=128))"),
    ("64, 100", "100, 96", True, lambda w: f"nn.matmul(%x, {w}, units=96)"),
    ("64, 100", "100, 90", False, lambda w: f"nn.matmul(%x, {w}, units=90)"),
    ("5, 12, 40", "1, 32, 40", False, lambda w: f"nn.batch_matmul(%x, repeat({w}, repeats=5, axis=0), transpose_b=True)"),
]
STEPS = """\
#[version = "0.0.5"]
def @run(%xs: List[Tensor[(1, 128), float32]], %h: Tensor[(1, 128), float32], %w: Tensor[(128, 128), float32],
         %v: Tensor[(128, 128), float32]) -> Tensor[(1, 128), float32] {
  match (%xs) {
    Nil => %h,
    Cons(%x, %rest) =>
      @run(%rest, tanh(nn.dense(%x, %w, units=None) + nn.dense(%h, %v, units=None)), %w, %v)
  }
}
def @main(%xs: List[Tensor[(1, 128), float32]], %w: Tensor[(128, 128), float32], %v: Tensor[(128, 128), float32]) {
  @run(%xs, zeros(shape=[1, 128], dtype="float32"), %w, %v)
}
"""
FOUND = re.compile(r"^\(([^,]+)f, ([^)]+)f\)$", re.M)


def run(baton, folder, *words):
    done = subprocess.run([baton, *words], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def problems(baton, folder):
    for x, w, is_laid_out, call in CASES:
        (folder / "net.rly").write_text(PROGRAM.format(x=x, w=w, call=call("%w"), late=call("%late")))
        given = ["net.rly", "--random", "3", "--fix", "w"]
        shown = run(baton, folder, "run", *given, "--stop-after", "lay-out-weights").stdout
        if ("layout_transform" in shown) != is_laid_out:
            yield f"{call('%w')} of ({x}) and ({w}): laid out: {not is_laid_out}"
        for engine in "native", "loops", "vm":
            text = run(baton, folder, "run", *given, "--engine", engine).stdout
            found = FOUND.search(text)
            if not found:
                raise SystemExit(f"unexpected: {text}")
            difference, most = map(float, found.groups())
            if not difference <= 1e-5 * most:
                yield f"{call('%w')} of ({x}) and ({w}), {engine}: {difference} apart of {most}"


def sizes(baton, folder):
    (folder / "steps.rly").write_text(STEPS)
    run(baton, folder, "compile", "steps.rly", "--random", "3", "--fix", "w,v", "-o", "steps.bvm")
    size, weights = (folder / "steps.bvm").stat().st_size, 3 * 128 * 128 * 4
    if not weights <= size <= weights + (64 << 10):
        yield f"an executable with {weights} bytes of weights has {size}"


def main():
    baton = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        found = [*problems(baton, pathlib.Path(folder)), *sizes(baton, pathlib.Path(folder))]
    print("\n".join(found) or f"{len(CASES)} programs give the same with weights that are constants")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
