#!/usr/bin/env python3
"""The libraries for other programs: examples in C, C++ and Python, and what they export.

usage: embed_test.py BATON LIBBATON_RT LIBBATON ROOT [SAN]

Python needs numpy, and is left out, with a word, where there is none. With SAN, libraries are
instrumented ones, whose sizes say nothing and which only programs built like them can load.
"""
import array
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from library import Library, Model

MOST_BYTES = {"libbaton_rt.so": 330_000, "libbaton_natives.so": 300_000}

CALLED = """@main
  %x: Tensor[(n, 3), float32]
  %weight: Tensor[(m, 3), float32]
  -> (Tensor[(n, m), float32], Tensor[(n), int32])
1 2 3 6
0 0 1 0
argument `%weight` of `@main` is declared as `Tensor[(m, 3), float32]`, but here it is `Tensor[(3, 4), float32]`
"""
# Takes and gives what model.rly does, and has an operator that only the language applies.
SORTED = """def @main(%x: Tensor[(n, 3), float32], %weight: Tensor[(m, 3), float32]) {
  let %scores = nn.relu(nn.dense(%x, %weight, units=None));
  let %again = dyn.reshape(%scores, shape_of(%scores), newshape=None);
  (sort(%scores), argmax(%again, axis=[1]))
}
"""
REFUSED = "cannot be told beforehand; run"
SUMS = "15\n30\n45\n60\n"
TREES = """0.762 0.909 0.959
0.964 0.746 0.642
0.958 0.958 0.995
refused: `Sentence` is no constructor of the model
refused: argument `%phrase` of `@main` is `Phrase[]`; `Pair` with 1 fields does not belong there
refused: argument `%phrase` of `@main` is `Phrase[]`; field 0 of `Word` is declared as `Tensor[(3), float32]`, but here it is `Tensor[(2), float32]`
refused: argument `%phrase` of `@mirrored` is `Phrase[]`; another kind of value is given
refused: the model has no function of that number
"""
ARRAYS = """[[ 32.  23.  14.   5.]
 [122.  86.  50.  14.]]
[0 0] True
argument `%weight` of `@main` is declared as `Tensor[(m, 3), float32]`, but here it is `Tensor[(4, 2), float32]`
"""


def run(*words, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, **options)
    return done.stdout if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr}"


def built(compiler, source, library, root, program):
    """The program, or what the compiler says."""
    done = subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-I", root, root / source,
                           "-o", program, library, f"-Wl,-rpath,{library.parent}"],
                          capture_output=True, text=True, check=False)
    return done.stderr


def small_problems(library, folder):
    stripped = folder / "stripped.so"
    run("strip", "-o", stripped, library)
    size = stripped.stat().st_size
    print(f"{library.name}: {size} bytes stripped")
    if size > MOST_BYTES[library.name]:
        yield f"{library.name} takes {size} bytes, more than {MOST_BYTES[library.name]}"
    needed = re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", library))
    print("needs", *needed)
    if any(re.match(r"libLLVM|libmpfr|libz", name) for name in needed):
        yield f"the library needs {needed}"


def export_problems(library):
    exported = re.findall(r" [A-Z] (\w+)", run("nm", "-D", "--defined-only", library))
    if not exported or not all(name.startswith("baton_") for name in exported):
        yield f"{library.name} exports {exported}"


def compare(name, given, wanted):
    if given != wanted:
        yield f"{name} gives\n{given}\nand not\n{wanted}"


def call_problems(library, root, folder):
    """What is wrong with what the examples say of the executables in the folder."""
    model, tree = folder / "model.bvm", folder / "tree.bvm"
    c, cpp = ["cc", "-std=c11"], ["c++", "-std=c++20", "-pthread"]
    for compiler, source, called, wanted in [(c, "call.c", model, CALLED),
                                             (cpp, "threads.cpp", model, SUMS),
                                             (cpp, "tree.cpp", tree, TREES)]:
        said = built(compiler, f"examples/embed/{source}", library, root, folder / "program")
        yield from [f"{source}: {said}"] if said else compare(source, run(folder / "program", called), wanted)
    if importlib.util.find_spec("numpy"):
        given = run(sys.executable, "-B", root / "examples/embed/call.py", library, model)
        yield from compare("call.py", given, ARRAYS)
    else:
        print("without Python: there is no numpy")


def language_problems(small, whole, root, folder):
    """An executable with operators that only the language applies, in several threads."""
    program, sorted_rows = folder / "program", folder / "sorted.bvm"
    for library in small, whole:
        built(["c++", "-std=c++20", "-pthread"], "examples/embed/threads.cpp", library, root, program)
        given = run(program, sorted_rows)
        if library == whole:
            yield from compare("sorted", given, SUMS)
        elif REFUSED not in given:
            yield f"{small.name} says of operators that it cannot apply: {given}"


def training_problems(library, folder):
    """An embedding that starts at random and learns which words stand beside each other."""
    model = Model(Library(library), folder / "embedding.bvm")
    seed = "uint64", [10], array.array("Q", [1, 0, 0, 0, 0, 0, 0, 0, 1 << 63, 0])
    words, beside = [("int32", [5], array.array("i", row)) for row in [[0, 1, 2, 2, 5], [1, 2, 3, 0, 4]]]
    table, losses = model(seed, entry=0), []
    for _ in range(60):
        rows = table["dtype"], table["shape"], array.array("f", table["data"])
        loss, table = model(rows, words, beside, entry=1)["tuple"]
        losses.append(loss["data"][0])
    model.close()
    if table["shape"] != [6, 4] or not losses[0] > 0.3 or not losses[-1] < 0.01:
        yield f"{library.name} trains an embedding from a loss of {losses[0]} to {losses[-1]}"


def problems(baton, small, whole, root, folder, is_plain):
    (folder / "sorted.rly").write_text(SORTED)
    for source, entries in [(root / "examples/embed/model.rly", []),
                            (root / "examples/embed/tree.rly", ["main", "mirrored"]),
                            (root / "examples/embed/train/embedding.rly", ["start", "step"]),
                            (folder / "sorted.rly", [])]:
        words = [word for entry in entries for word in ("--entry", entry)]
        made = folder / f"{source.stem}.bvm"
        yield from compare("compile", run(baton, "compile", source, *words, "-o", made), "")
    if not is_plain:
        return
    for library in small, small.with_name("libbaton_natives.so"):
        yield from small_problems(library, folder)
        yield from export_problems(library)
    yield from export_problems(whole)
    for library in small, whole:
        yield from call_problems(library, root, folder)
        yield from training_problems(library, folder)
    yield from language_problems(small, whole, root, folder)


def main():
    baton, small, whole, root = map(pathlib.Path, sys.argv[1:5])
    is_plain = len(sys.argv) < 6 or sys.argv[5] in ("", "OFF")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        found = list(problems(baton, small, whole, root, pathlib.Path(folder), is_plain))
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
