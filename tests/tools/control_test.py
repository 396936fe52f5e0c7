#!/usr/bin/env python3
"""Golden programs that run, once in the machine's loop and once as machine code.

usage: control_test.py BATON FOLDER

Both must say the same, word for word: values, faults, places, traces and exit codes. Programs that
ask for another engine, or for what only another one has, are left out, and so are those whose output
hangs on memory that the engines hold differently or on how kernels round. Where no LLVM is
installed, there is nothing to compare.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

import golden_test
import limits

LEFT_OUT = ("--engine", "--precision", "--trace", "--trap-nan", "--profile", "--flame-graph",
            "--chrome-trace")
# Bytes that a run holds beside tensors, and sums that kernels add up in another order.
DIFFERENT = ("memory_deep", "memory_in_place", "memory_result", "memory_tensors", "threads_one",
             "threads_three")


def outcome(baton, case, engine, folder):
    """What a run says, and how it ends."""
    _, *words = golden_test.command_of(case)
    entered = case.with_suffix(".in")
    with open(entered if entered.exists() else os.devnull, encoding="utf-8") as given:
        done = subprocess.run([baton, "run", *words, "--engine", engine, case.name], cwd=case.parent,
                              stdin=given, capture_output=True, check=False,
                              env={**os.environ, "BATON_CACHE": folder},
                              preexec_fn=limits.processor_time)
    return tuple(golden_test.readable(part) for part in (done.stdout, done.stderr)), done.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    baton = os.path.abspath(options.baton)
    compared = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for case in sorted(options.folder.rglob("*.rly")) + sorted(options.folder.rglob("*.baton")):
            words = golden_test.command_of(case)
            if words[0] != "run" or case.stem in DIFFERENT:
                continue
            if any(word.startswith(LEFT_OUT) for word in words):
                continue
            loop, native = (outcome(baton, case, engine, folder) for engine in ("vm", "native"))
            if "is not installed" in native[0][1]:
                print("LLVM is not installed, so nothing is compared")
                return 0
            compared += 1
            if loop != native:
                failed += 1
                print(f"{case}:\n{native}\nis not\n{loop}")
    print(f"{compared} programs, {failed} differ")
    return failed > 0 or compared < 50


if __name__ == "__main__":
    sys.exit(main())
