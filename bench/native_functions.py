#!/usr/bin/env python3
"""Native functions of operators beside numpy, in turns: processor time of a call.

usage: native_functions.py BATON [--rounds 3]

numpy's stable sorts stand beside ours, which are stable; `sort` without that is faster there.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time

import numpy

PROGRAM = pathlib.Path(__file__).parent / "programs" / "native_functions.rly"
values = numpy.random.default_rng(1).random(1_000_000, dtype="float32")
square, rows = values.reshape(1000, 1000), values.reshape(10000, 100)
draws = numpy.random.Generator(numpy.random.Philox(1))
PEERS = {
    "sort": lambda: numpy.sort(values, kind="stable"),
    "argsort": lambda: numpy.argsort(values, kind="stable"),
    "sort_rows": lambda: numpy.sort(rows, kind="stable"),
    "sort_columns": lambda: numpy.sort(square, axis=0, kind="stable"),
    "topk": lambda: numpy.argpartition(values, -10),
    "topk_rows": lambda: numpy.partition(square, -10, axis=1),
    "unique": lambda: numpy.unique(values, return_index=True, return_inverse=True),
    "uniform": lambda: draws.random(1_000_000, dtype="float32"),
    "normal": lambda: draws.standard_normal(1_000_000, dtype="float32"),
}


def own(baton, entry):
    words = [baton, "bench", PROGRAM, "--entry", entry, "--random", "1", "--threads", "1", "--json"]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)["processor_s"]


def peer(call):
    took = []
    for _ in range(7):
        start = time.process_time()
        call()
        took.append(time.process_time() - start)
    return statistics.median(took)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    print("| function | Baton ms | numpy ms | numpy / Baton |\n|---|--:|--:|--:|")
    for name, call in PEERS.items():
        pairs = [(own(options.baton, name), peer(call)) for _ in range(options.rounds)]
        ours, theirs = (statistics.median(pair[i] for pair in pairs) * 1e3 for i in (0, 1))
        ratio = statistics.median(second / first for first, second in pairs)
        print(f"| {name} | {ours:.2f} | {theirs:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
