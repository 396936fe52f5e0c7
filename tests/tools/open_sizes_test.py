#!/usr/bin/env python3
"""Programs whose sizes are open, by the library without the language and by the one with it.

usage: open_sizes_test.py BATON LIBBATON_RT LIBBATON

Both must load each program and answer alike at all sizes: the same tensors, or a fault from both;
that of the small library shows the shapes that do not fit.
"""
import array
import itertools
import math
import pathlib
import subprocess
import sys
import tempfile

import library

SIZES = (0, 1, 2, 3, 4)
# Types of the parameters, and the body; every `?` takes each of the sizes, up to the most calls.
CASES = [
    ("(3) (?)", "%a + %b"),
    ("(?) (?)", "%a + %b"),
    ("(?, 3) (?)", "%a / %b"),
    ("(?, ?, ?) (?, ?, ?)", "%a + %b"),
    ("(?) (?) (?)", "where(%a, %b, %c)"),
    ("(?) (1) (3)", "where(%a, %b, %c)"),
    ("(1) (?) (?)", "where(%a, %b, %c)"),
    ("(3) (?) (1)", "where(%a, %b, %c)"),
    ("(1) (?) (?, 1, ?)", "where(%a, %b, %c)"),
    ("(?, ?)", "broadcast_to(%a, shape=[2, 3])"),
    ("(?, ?) (?, ?)", "broadcast_to_like(%a, %b)"),
    ("(?, ?) (?, ?)", "collapse_sum_like(%a, %b)"),
    ("(?, 2, 3) (4, ?, 3)", "nn.batch_matmul(%a, %b, transpose_b=True)"),
    ("(?, ?, 3) (?, ?, 3)", "nn.batch_matmul(%a, %b, transpose_b=True)"),
    ("(?, ?) (?, ?)", "reshape_like(%a, %b)"),
    ("(?, ?)", "reshape(%a, newshape=[2, 6])"),
    ("(?, ?)", "reshape(%a, newshape=[-1, 2])"),
    ("(?, ?)", "squeeze(%a, axis=[1])"),
    ("(?, ?) (?)", "matrix_set_diag(%a, %b)"),
    ("(?, ?)", "strided_slice(%a, begin=[1, -3], end=[4, 2147483647], strides=[2, 1], axes=None)"),
    ("(?, ?)", "strided_slice(%a, begin=[-2, 3], end=[0, -9], strides=[1, -2], axes=None)"),
    ("(1, 2, ?, ?) (2, 2, 3, 3)", "nn.conv2d(%a, %b, padding=[1, 1, 1, 1])"),
    ("(1, ?, ?, ?) (?, 2, 3, 1)", "nn.conv2d(%a, %b, strides=[2, 1])"),
    ("(1, 1, ?, ?)", "nn.max_pool2d(%a, pool_size=[2, 3], strides=[2, 2], padding=[1, 1])"),
    ("(?, ?)", "nn.dilate(%a, strides=[2, 3])"),
    ("(?, ?) (4, 3)", "nn.dense(%a, %b, units=None)"),
    ("(?, 3) (4, ?)", "nn.dense(%a, %b, units=None)"),
    ("(?, 3) (?)", "nn.bias_add(%a, %b)"),
    ("(?, 3) (4, ?)", "stack((%a, %b))"),
    ("(?, 3) (4, ?)", "concatenate((%a, %b))"),
    ("(?, ?) (?, ?)", "concatenate((%a, %b), axis=1)"),
]
# Whole programs, and sizes for them.
PROGRAMS = [
    ("""def @f(%x: Tensor[(?, ?), float32]) -> float32 {
  let %y = reshape(%x, newshape=[-1]);
  sum(%y * %y)
}
def @main(%x: Tensor[(?, ?), float32]) { grad(@f)(%x) }""", [[(2, 3)], [(1, 1)], [(0, 3)]]),
]
MOST_CALLS = 700


def cases():
    for types, body in CASES:
        shapes = [shape.strip("()").replace(",", "").split()
                  for shape in types.replace(") (", ")|(").split("|")]
        names = "abc"[:len(shapes)]
        parameters = ", ".join(f"%{name}: Tensor[({', '.join(shape)}), float32]"
                               for name, shape in zip(names, shapes))
        choices = [SIZES if extent == "?" else (int(extent),)
                   for shape in shapes for extent in shape]
        # A step that shares no factor with the number of sizes meets all sizes everywhere.
        count = math.prod(map(len, choices))
        step = 1 + len(SIZES) * (count // (len(SIZES) * MOST_CALLS))
        calls = list(itertools.product(*choices))[::step]
        sizes = []
        for extents in calls:
            rest = iter(extents)
            sizes.append([tuple(itertools.islice(rest, len(shape))) for shape in shapes])
        yield f"def @main({parameters}) {{ {body} }}", sizes
    yield from PROGRAMS


def answer(model, shapes):
    """The tensors and no fault, or the reverse."""
    given = []
    for shape in shapes:
        count = math.prod(shape)
        given.append(("float32", list(shape), array.array("f", (i % 5 - 1.5 for i in range(count)))))
    try:
        return model(*given), None
    except library.Error as error:
        return None, str(error)


def problems(baton, libraries, folder):
    executable = folder / "program.bvm"
    for text, sizes in cases():
        (folder / "program.rly").write_text(f'#[version = "0.0.5"]\n{text}\n')
        made = subprocess.run([baton, "compile", folder / "program.rly", "-o", executable],
                              capture_output=True, text=True, check=False)
        if made.returncode != 0:
            yield f"{text}: {made.stderr}"
            continue
        try:
            small, whole = (library.Model(each, executable) for each in libraries)
        except library.Error as error:
            yield f"{text}: {error}"
            continue
        faults = 0
        for shapes in sizes:
            (given, fault), (wanted, problem) = answer(small, shapes), answer(whole, shapes)
            faults += fault is not None
            if str(given) != str(wanted) or (fault is None) != (problem is None):
                yield f"{text} at {shapes}: {fault or given}\nand not {problem or wanted}"
            shown = ", ".join(str(shape).replace(",)", ")") for shape in shapes)
            if fault and "no kernel" in fault and not f"the shapes {shown}" in fault:
                yield f"{text} at {shapes}: the shapes are not in `{fault}`"
        print(f"{len(sizes)} calls, {faults} faults: {text.splitlines()[-1]}")
        small.close()
        whole.close()


def main():
    baton, *paths = sys.argv[1:]
    libraries = [library.Library(path) for path in paths]
    with tempfile.TemporaryDirectory() as folder:
        found = list(problems(baton, libraries, pathlib.Path(folder)))
    print(*found[:20], sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
