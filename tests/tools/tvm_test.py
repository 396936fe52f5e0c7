#!/usr/bin/env python3
"""The programs of TVM's own tests, with the inputs that TVM got and the results that it gave.

usage: tvm_test.py BATON CORPUS [--part K/N] [--only TEXT] [--engine NAME]

`--part` takes every N-th program, `--only` those whose name contains the text. A program of
EXCEPTIONS must not agree: one that does is taken off the list. Exit status 77 when there is no
corpus.
"""
import argparse
import array
import json
import lzma
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import tensor_files

# Name of a program: why Baton gives something else than TVM.
EXCEPTIONS = {
    "tvm_op_grad_level3_arange_grad_0": "TVM counts the elements of an arange over floats that it"
    " gets at run time after truncating each of them, so its result goes on far beyond the stop",
    "tvm_pass_defunctionalization_recursive_datatype_1": "the pass gives constructors numbers as"
    " names; TVM's own reader takes them for integers and refuses the text too",
}


class Failure(Exception):
    pass


def half_bits(value):
    """The bits of a float16; what is too large for it is infinite."""
    try:
        return struct.unpack("<H", struct.pack("<e", value))[0]
    except OverflowError:
        return 0x7C00 if value > 0 else 0xFC00


def tensor_of(given):
    """The triple of tensor_files for a tensor as the corpus writes it."""
    numbers = [float(x) if isinstance(x, str) else x for x in given["data"]]
    if given["dtype"] == "float16":
        numbers = [half_bits(x) for x in numbers]
    code = tensor_files.KINDS[given["dtype"]][0]
    return given["dtype"], given["shape"], array.array(code, numbers)


def demand_near(place, ours, theirs, tolerance):
    ours, theirs = float(ours), float(theirs)
    if ours == theirs or (ours != ours and theirs != theirs):
        return
    if not abs(ours - theirs) <= tolerance["atol"] + tolerance["rtol"] * abs(theirs):
        raise Failure(f"{place} is {ours!r}, TVM gives {theirs!r}")


def demand_tensor(place, ours, theirs, tolerance):
    found = (ours.get("dtype"), ours.get("shape"))
    if found != (theirs["dtype"], theirs["shape"]):
        raise Failure(f"{place} is {found}, TVM gives {(theirs['dtype'], theirs['shape'])}")
    for i, (our, their) in enumerate(zip(ours["data"], theirs["data"])):
        demand_near(f"{place}[{i}]", our, their, tolerance)


def compare(ours, theirs, tolerance):
    """Compares two values, part by part."""
    pending = [("out", ours, theirs)]
    while pending:
        place, our, their = pending.pop()
        if "data" in their:
            demand_tensor(place, our, their, tolerance)
            continue
        key = "tuple" if "tuple" in their else "fields"
        if our.get("con") != their.get("con") or len(our.get(key, [])) != len(their[key]):
            raise Failure(f"{place} is {str(our)[:200]}, TVM gives {str(their)[:200]}")
        pairs = enumerate(zip(our[key], their[key]))
        pending += [(f"{place}.{i}", ourPart, theirPart) for i, (ourPart, theirPart) in pairs]


def call(*command):
    """Standard output of a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"exit status {done.returncode}: {done.stderr[:600]}")
    return done.stdout


def plain(text):
    """A type in which sizes do not tell their bits, and those of TVM's own forms are open."""
    text = re.sub(r"\b(\d+)i64\b", r"\1", text)
    return re.sub(r"meta\[tir\.\w+\]\[\d+\]", "?", text).replace(" ", "")


def demand_type(baton, program, theirs):
    ours = next(line for line in call(baton, "check", "--types", program).splitlines()
                if line.startswith("@main : "))
    ours = ours.rpartition(") -> ")[2]
    if plain(ours) != plain(theirs):
        raise Failure(f"the type is {ours}, TVM says {theirs}")


def check(baton, engine, folder, case):
    program, given, result = (folder / name for name in ("case.rly", "given.npz", "result.json"))
    program.write_text(case["program"])
    inputs = {name: tensor_of(value) for name, value in case["inputs"].items()}
    tensor_files.write_npz(given, inputs)
    options = [f"--input={name}={given}:{name}" for name in inputs]
    if case["expect"].get("type"):
        demand_type(baton, program, case["expect"]["type"])
    call(baton, "run", program, "--engine", engine, "--output", result, *options)
    compare(json.loads(result.read_text())["out"], case["expect"]["out"], case["tol"])


def failure_of(baton, engine, folder, case):
    """What is wrong with a case, or None."""
    known = EXCEPTIONS.get(case["id"])
    try:
        check(baton, engine, folder, case)
    except Failure as failure:
        return None if known else str(failure)
    return "agrees with TVM, so it is no exception" if known else None


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton")
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--engine", default="vm")
    return parser.parse_args()


def main():
    options = arguments()
    path = options.corpus / "tvm-tests.jsonl.xz"
    if not path.is_file():
        print(f"skipped: no {path}; set BATON_CORPUS")
        return 77
    part, parts = map(int, options.part.split("/"))
    with lzma.open(path, "rt") as lines:
        cases = [json.loads(line) for i, line in enumerate(lines) if i % parts == part]
    cases = [case for case in cases if options.only in case["id"]]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            failure = failure_of(options.baton, options.engine, pathlib.Path(folder), case)
            if failure:
                failures += 1
                print(f"{case['id']}: {failure}")
    print(f"{len(cases)} programs, {failures} failures")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
