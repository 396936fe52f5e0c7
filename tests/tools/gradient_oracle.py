#!/usr/bin/env python3
"""What the gradients of the programs in tests/gradients are, by PyTorch in float64.

usage: gradient_oracle.py ROOT [--check BATON]

Writes ROOT/tests/gradients/expected.json: for each program its inputs, what it gives, and the
gradient of the sum of all floats that it gives with respect to each input of floats; `grad2` is that
of the sum of all these gradients. The functions are in gradient_cases/. They need `pip install
torch`, and the tests of what Baton computes do not. --check runs the programs and compares only what
they give: a program and its function must be the same before their gradients are worth comparing.
"""
import argparse
import importlib
import json
import pathlib
import sys

import torch

import gradient_test
from gradient_cases.cases import CASES, gradients, leaves

TOPICS = (
    "basics", "networks", "indexing", "control", "closures", "data", "derivatives", "learning",
)


def described(array):
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": array.reshape(-1).tolist()}


def total(values):
    floats = [value.double().sum() for value in values if value.is_floating_point()]
    return sum(floats, torch.zeros((), dtype=torch.float64))


def expected(case):
    tensors = {name: torch.tensor(array) for name, array in case.inputs.items()}
    wanted = {name: t.requires_grad_() for name, t in tensors.items() if t.is_floating_point()}
    out = leaves(case.function(**tensors))
    first = gradients(total(out), list(wanted.values()))
    answer = {
        "inputs": {name: described(array) for name, array in case.inputs.items()},
        "out": [described(value.detach().numpy()) for value in out],
        "grad": {name: described(g.detach().numpy()) for name, g in zip(wanted, first)},
    }
    if case.second:
        second = gradients(total(first), list(wanted.values()))
        answer["grad2"] = {name: described(g.detach().numpy()) for name, g in zip(wanted, second)}
    return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--check", metavar="BATON")
    options = parser.parse_args()
    for topic in TOPICS:
        importlib.import_module(f"gradient_cases.{topic}")
    folder = options.root / "tests/gradients"
    programs = {path.stem for path in folder.glob("*.rly")}
    for name in sorted(programs ^ set(CASES)):
        sys.exit(f"{name} has no {'function' if name in programs else 'program'}")
    answers = {}
    for name, case in sorted(CASES.items()):
        answers[name] = expected(case)
    if options.check:
        return gradient_test.run(options.check, folder, answers, orders=[0])
    lines = [f"{json.dumps(name)}: {json.dumps(answer)}" for name, answer in answers.items()]
    (folder / "expected.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    sys.exit(main())
