#!/usr/bin/env python3
"""The programs of TVM's own tests, with the inputs that TVM got and the results that it gave.

usage: tvm_test.py BATON CORPUS [--part K/N] [--only TEXT] [--engine NAME]
                   [--older CPU=EMULATED] [--library PATH [--without-language]]

`--part` takes every N-th program, `--only` those whose name contains the text. With `--older` kernels
are compiled for a processor of that name and run on one that QEMU emulates, which refuses newer
instructions. With `--library`
programs are compiled, and called by the C interface; `--without-language` lets it refuse those with
operators that have no kernel. A program of EXCEPTIONS must not agree: one that does is taken off
the list. Exit status 77 when there is no corpus, or no QEMU.
"""
import argparse
import array
import json
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

import library
import tensor_files

# Name of a program: why Baton gives something else than TVM.
EXCEPTIONS = {
    "tvm_op_grad_level3_arange_grad_0": "TVM counts the elements of an arange over floats that it"
    " gets at run time after truncating each of them, so its result goes on far beyond the stop",
    "tvm_pass_defunctionalization_recursive_datatype_1": "the pass gives constructors numbers as"
    " names; TVM's own reader takes them for integers and refuses the text too",
}


QEMU = shutil.which("qemu-x86_64")


class Failure(Exception):
    pass


class Refused(Exception):
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


def check(options, folder, case):
    program = folder / "case.rly"
    program.write_text(case["program"])
    inputs = {name: tensor_of(value) for name, value in case["inputs"].items()}
    if case["expect"].get("type"):
        demand_type(options.baton, program, case["expect"]["type"])
    way = through_library if options.library else through_command
    compare(way(options, program, inputs), case["expect"]["out"], case["tol"])


def through_command(options, program, inputs):
    given, result = program.with_name("given.npz"), program.with_name("result.json")
    tensor_files.write_npz(given, inputs)
    words = [f"--input={name}={given}:{name}" for name in inputs]
    run = [options.baton, "run", program, "--engine", options.engine, "--output", result, *words]
    if options.older:
        cpu, emulated = options.older.split("=")
        run.append(f"--cpu={cpu}")
        # LLVM takes long under QEMU, so kernels come from the cache.
        call(*run)
        run = [QEMU, "-cpu", emulated, *run]
    call(*run)
    return json.loads(result.read_text())["out"]


def through_library(options, program, inputs):
    executable = program.with_name("case.bvm")
    call(options.baton, "compile", program, "-o", executable)
    model = None
    try:
        model = library.Model(options.library, executable)
        return model(*(inputs[name] for name in model.parameters()))
    except library.Error as error:
        is_refused = options.without_language and "load it with `libbaton`" in str(error)
        raise (Refused if is_refused else Failure)(str(error)) from error
    finally:
        if model:
            model.close()


def failure_of(options, folder, case):
    """What is wrong with a case, or None."""
    known = EXCEPTIONS.get(case["id"])
    try:
        check(options, folder, case)
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
    parser.add_argument("--older")
    parser.add_argument("--library", type=library.Library)
    parser.add_argument("--without-language", action="store_true")
    return parser.parse_args()


def main():
    options = arguments()
    path = options.corpus / "tvm-tests.jsonl.xz"
    if not path.is_file():
        print(f"skipped: no {path}; set BATON_CORPUS")
        return 77
    if options.older and not QEMU:
        print("skipped: no qemu-x86_64")
        return 77
    part, parts = map(int, options.part.split("/"))
    with lzma.open(path, "rt") as lines:
        cases = [json.loads(line) for i, line in enumerate(lines) if i % parts == part]
    cases = [case for case in cases if options.only in case["id"]]
    failures = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        if options.older:
            os.environ["BATON_CACHE"] = str(pathlib.Path(folder) / "kernels")
        for case in cases:
            try:
                failure = failure_of(options, pathlib.Path(folder), case)
            except Refused:
                refused += 1
                continue
            if failure:
                failures += 1
                print(f"{case['id']}: {failure}")
    print(f"{len(cases)} programs, {refused} refused, {failures} failures")
    return 1 if failures or refused > len(cases) / 2 or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
