#!/usr/bin/env python3
"""The optimisers of the standard library against their formulas, written down by hand.

usage: optimisers_test.py BATON PROGRAM
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

A, B = [0.5, -0.25], 1.5
START = [*A, *(2 * x for x in A), B]
TOLERANCE = {"float32": 1e-5, "float64": 1e-6}


def slope(x):
    return 3 * x * x


def sgd(x, rate=0.1, momentum=0.9):
    v = 0
    for _ in range(2):
        v = momentum * v + slope(x)
        x -= rate * v
    return x


def adamw(x, decay=0.01, rate=0.1, beta1=0.9, beta2=0.999, epsilon=1e-8):
    m = v = 0
    for step in (1, 2):
        g = slope(x)
        x -= rate * decay * x
        m = beta1 * m + (1 - beta1) * g
        v = beta2 * v + (1 - beta2) * g * g
        x -= rate * (m / (1 - beta1**step)) / (math.sqrt(v / (1 - beta2**step)) + epsilon)
    return x


def rmsprop(x, rate=0.01, keep=0.99, epsilon=1e-8, momentum=0.5):
    s = v = 0
    for _ in range(2):
        g = slope(x)
        s = keep * s + (1 - keep) * g * g
        v = momentum * v + g / (math.sqrt(s) + epsilon)
        x -= rate * v
    return x


def lion(x, rate=0.1, beta1=0.9, beta2=0.99, decay=0.01):
    m = 0
    for _ in range(2):
        g = slope(x)
        x -= rate * decay * x
        x -= rate * math.copysign(1, beta1 * m + (1 - beta1) * g)
        m = beta2 * m + (1 - beta2) * g
    return x


NORM = math.hypot(*START)
CASES = {
    "sgd_steps": [sgd(x) for x in START],
    "adam_steps": [adamw(x, decay=0) for x in START],
    "adamw_steps": [adamw(x) for x in START],
    "rmsprop_steps": [rmsprop(x) for x in START],
    "lion_steps": [lion(x) for x in START],
    "clipped": [x / (NORM + 1e-6) for x in START],
    "not_clipped": START,
    "rates": [0.3, 0.3, 0.1 + 0.1 * (1 + math.cos(0.3 * math.pi)), 0.1, 0.06, 0.3, 0.3],
    "mixed_adamw_steps": [adamw(x) for x in START],
    "mixed_lion_steps": [lion(x) for x in START],
    "mixed_clipped": [x / (NORM + 1e-6) for x in START],
    "named_types": [3 * B * x + 0.5 for x in START],
    "adamw_doubles": [adamw(x) for x in START],
    "rmsprop_doubles": [rmsprop(x) for x in START],
    "slope_of_rate": [sum(-(slope(x) * slope(x - 0.1 * slope(x))) for x in START)],
}


def floats(value):
    """The floats in a value of the output, in order, each with its type."""
    if "data" not in value:
        return [x for field in value["tuple"] for x in floats(field)]
    data = value["data"] if isinstance(value["data"], list) else [value["data"]]
    return [(float(x), value["dtype"]) for x in data] if value["dtype"] in TOLERANCE else []


def main():
    baton, program = sys.argv[1:]
    problems = 0
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.json")
        for name, wanted in CASES.items():
            done = subprocess.run([baton, "run", program, "--entry", name, "--input", f"a={A}",
                                   "--input", f"b={B}", "--output", out],
                                  capture_output=True, text=True)
            found = floats(json.loads(out.read_text())["out"]) if done.returncode == 0 else []
            fits = len(found) == len(wanted) and all(
                math.isclose(x, y, rel_tol=TOLERANCE[dtype], abs_tol=TOLERANCE[dtype])
                for (x, dtype), y in zip(found, wanted))
            if not fits:
                problems += 1
                print(f"{name}: {found} instead of {wanted}\n{done.stderr}")
    print(f"{len(CASES)} cases, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
