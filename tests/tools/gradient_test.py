#!/usr/bin/env python3
"""Baton's gradients against those that an oracle found.

usage: gradient_test.py BATON FOLDER [--only NAME] [--orders 0,1,2]

FOLDER has programs and expected.json, which gradient_oracle.py wrote. Each program is run with
`--grad`, and with `--grad=2` where the second order is expected too; order 0 is what a program gives
without either. Numbers must agree to 1e-6 of the larger of 1 and their size, also with NaN and
infinities, and a gradient must have the shape of its input.
"""
import argparse
import array
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import limits
import tensor_files

TOLERANCE = 1e-6
ORDERS = {0: [], 1: ["--grad"], 2: ["--grad=2"]}


def tensors(value):
    """The tensors in a value of the output, in order."""
    if "data" in value:
        return [value]
    return [leaf for field in value.get("tuple", value.get("fields", [])) for leaf in tensors(field)]


def agrees(found, wanted):
    found, wanted = float(found), float(wanted)
    if math.isnan(wanted) or math.isinf(wanted):
        return found == wanted or (math.isnan(found) and math.isnan(wanted))
    return abs(found - wanted) <= TOLERANCE * max(1, abs(wanted))


def difference(what, found, wanted):
    """What differs between two lists of tensors; None when nothing does."""
    if len(found) != len(wanted):
        return f"{what} has {len(found)} tensors, not {len(wanted)}"
    for number, (a, b) in enumerate(zip(found, wanted)):
        if a["shape"] != b["shape"]:
            return f"{what}, tensor {number}, has shape {a['shape']}, not {b['shape']}"
        for place, (x, y) in enumerate(zip(a["data"], b["data"])):
            if not agrees(x, y):
                return f"{what}, tensor {number}, element {place} is {x}, not {y}"
    return None


def inputs(answer, folder):
    """The arguments by which a program gets its inputs, from files in the folder."""
    arguments = []
    for name, value in answer["inputs"].items():
        path = folder / f"{name}.npy"
        elements = array.array(tensor_files.KINDS[value["dtype"]][0], value["data"])
        path.write_bytes(tensor_files.npy_bytes((value["dtype"], value["shape"], elements)))
        arguments += ["--input", f"{name}={path}"]
    return arguments


def problem(baton, program, answer, order, folder):
    """What is wrong with a program's values and gradients; None when nothing is."""
    arguments = inputs(answer, folder)
    output = folder / "output.json"
    output.unlink(missing_ok=True)
    command = [baton, "run", program, *ORDERS[order], *arguments, "--output", output]
    ran = subprocess.run(command, capture_output=True, text=True, preexec_fn=limits.processor_time)
    if ran.returncode != 0:
        return f"exit code {ran.returncode}\n{ran.stderr}"
    given = json.loads(output.read_text())
    found = difference("the value", tensors(given["out"]), answer["out"])
    wanted = answer["grad" if order == 1 else "grad2"] if order else {}
    gradients = given.get("grad", {})
    if not found and set(gradients) != set(wanted):
        return f"gradients of {sorted(gradients)}, not of {sorted(wanted)}"
    for name, value in wanted.items():
        found = found or difference(f"the gradient of %{name}", tensors(gradients[name]), [value])
    return found


def run(baton, folder, answers, orders):
    """Prints what is wrong; the exit code."""
    counts, failed = {order: 0 for order in orders}, 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, answer in answers.items():
            for order in orders:
                if order == 2 and "grad2" not in answer:
                    continue
                wrong = problem(baton, folder / f"{name}.rly", answer, order, pathlib.Path(scratch))
                counts[order] += 1
                if wrong:
                    failed += 1
                    print(f"{name}, order {order}: {wrong}")
    tried = ", ".join(f"{count} of order {order}" for order, count in counts.items())
    print(f"{tried}; {failed} wrong")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", help="the program of this name alone")
    parser.add_argument("--orders", default="1,2")
    options = parser.parse_args()
    answers = json.loads((options.folder / "expected.json").read_text())
    if options.only:
        answers = {options.only: answers[options.only]}
    orders = [int(order) for order in options.orders.split(",")]
    return run(options.baton, options.folder, answers, orders)


if __name__ == "__main__":
    sys.exit(main())
