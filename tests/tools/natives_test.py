#!/usr/bin/env python3
"""Every native function by the library for other programs.

usage: natives_test.py BATON LIBRARY REFERENCE

REFERENCE is the list of operators, docs/operators.md. Each example of an operator that is computed
by a native function is compiled and called in LIBRARY, which knows nothing of the language; it must
give what `baton run` gives, from an executable without a text of the operator where its shapes are
numbers. A copy of the library without the one of native functions beside it has to say so.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import library

NATIVE = "Computed by a native function"
FEWEST_OPERATORS = 30
# Their results have sizes that hang on values, so the operator is there for its words.
OPEN = {"argwhere", "dyn.random.normal", "dyn.random.uniform", "dyn.sparse_to_dense", "dyn.topk",
        "sparse_fill_empty_rows", "strided_set"}
FAULTS = {
    "scatter_elements([1f, 2f], [2], [3f])": "the index 2 lies outside an extent of 2",
    "invert_permutation([0, 0])": "the data is no permutation of 0 to 1: 0 at position 1",
}


def examples(reference):
    """Operators with the examples of those that native functions compute; what is said of variables
    are simplifications."""
    for section in re.split(r"^## ", reference.read_text(encoding="utf-8"), flags=re.M)[1:]:
        if NATIVE in section:
            yield section.split("\n", 1)[0], re.findall(r"^    ([^%\n]+) => .+$", section, re.M)


def compiled(baton, expression, folder):
    program, made = folder / "program.rly", folder / "program.bvm"
    program.write_text(f"def @main() {{ {expression} }}\n", encoding="utf-8")
    subprocess.run([baton, "compile", str(program), "-o", str(made)], check=True)
    return program, made


def rounded(value):
    """Reals with the digits that are written of float32."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return f"{value:.9g}" if isinstance(value, float) and value % 1 else value


def example_problems(baton, loaded, operator, expression, folder):
    program, made = compiled(baton, expression, folder)
    output = folder / "output.json"
    subprocess.run([baton, "run", str(program), "--output", str(output)], check=True,
                   stdout=subprocess.DEVNULL)
    try:
        model = library.Model(loaded, made)
        given = model()
        model.close()
    except library.Error as error:
        yield f"{expression}: {error}"
        return
    if rounded(json.loads(output.read_text())["out"]) != rounded(given):
        yield f"{expression} gives {given} and not {output.read_text()}"
    if operator not in OPEN and re.search(rb"@site_\d+\([^}]*%s\(" % operator.encode(), made.read_bytes()):
        yield f"{expression} leaves a text of `{operator}` in the executable"


def fault_problems(baton, loaded, folder):
    for expression, wanted in FAULTS.items():
        program, made = compiled(baton, expression, folder)
        run = subprocess.run([baton, "run", str(program)], capture_output=True, text=True, check=False)
        try:
            given = str(library.Model(loaded, made)())
        except library.Error as error:
            given = str(error)
        if wanted not in given or wanted not in run.stderr:
            yield f"{expression} ends with\n{given}\nand\n{run.stderr}\nand not {wanted}"


def alone_problems(baton, path, folder):
    """The library where there is no other one beside it, and where another copy of it has that."""
    alone = folder / path.name
    shutil.copy(path, alone)
    _, sorting = compiled(baton, "sort([2f, 1f])", folder)
    sorting = sorting.rename(folder / "sorting.bvm")
    _, other = compiled(baton, "exp([2f, 1f])", folder)
    load = ("import sys, library; loaded = library.Library(sys.argv[1]); "
            "library.Model(loaded, sys.argv[2])(); library.Model(loaded, sys.argv[3])")
    process = subprocess.run([sys.executable, "-B", "-c", load, str(alone), str(other),
                              str(sorting)], capture_output=True, text=True, check=False,
                             cwd=pathlib.Path(__file__).parent)
    if "it calls native functions, and there is no " not in process.stderr:
        yield f"without native functions it says {process.stderr}"
    try:
        library.Model(library.Library(alone), sorting)
        yield "native functions are those of another library"
    except library.Error as error:
        if "it calls native functions, and there is no " not in str(error):
            yield f"beside another library it says {error}"


def main():
    baton, path, reference = sys.argv[1], *map(pathlib.Path, sys.argv[2:4])
    loaded, problems, operators, count = library.Library(path), [], 0, 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for operator, expressions in examples(reference):
            operators += 1
            count += len(expressions)
            for expression in expressions:
                problems += example_problems(baton, loaded, operator, expression, folder)
        problems += fault_problems(baton, loaded, folder)
        problems += alone_problems(baton, path, folder)
    if operators < FEWEST_OPERATORS or count < operators:
        problems.append(f"there are only {count} examples of {operators} operators")
    print(*problems, f"{count} examples of {operators} operators, {len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
