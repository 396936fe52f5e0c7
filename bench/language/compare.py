#!/usr/bin/env python3
"""Programs in the language beside the same in OCaml, interleaved; prints ratios of processor time.

usage: compare.py BATON [--rounds N]

Needs ocamlc and ocamlopt. A ratio is the peer's time over Baton's: above 1 Baton is faster. Baton
reads, checks and compiles its program in its time; OCaml was compiled before.
"""
import argparse
import os
import pathlib
import re
import resource
import statistics
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).parent


def seconds(command):
    """Processor time of a command, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=True,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (-1, -1)))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, done.stdout.strip()


def compiled(source, folder):
    """The commands of an OCaml program, as bytecode and as machine code."""
    copy = pathlib.Path(folder) / source.name
    copy.write_text(source.read_text())
    commands = {}
    for name, compiler in (("bytecode", "ocamlc"), ("native", "ocamlopt")):
        program = copy.with_suffix("." + name)
        subprocess.run([compiler, "-w", "-a", copy, "-o", program], check=True)
        commands[name] = [program]
    return commands


def near(own, other):
    """Whether two printed values are the same, but for the last digits of a float."""
    if own == other:
        return True
    number = float(re.sub(r"f64$|f$", "", own))
    return abs(number - float(other)) <= 1e-12 * abs(number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print("| program | OCaml bytecode | OCaml native |")
    print("|---|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for program in sorted(FOLDER.glob("*.rly")):
            commands = compiled(program.with_suffix(".ml"), folder)
            ratios = {name: [] for name in commands}
            for _ in range(options.rounds):
                own, value = seconds([options.baton, "run", program])
                for name, command in commands.items():
                    spent, other = seconds(command)
                    ratios[name].append(spent / own)
            # Baton's int32 wraps where OCaml's 63 bits do not.
            agrees = program.stem == "list" or near(value, other)
            row = " | ".join(f"{statistics.median(each):.2f}" for each in ratios.values())
            print(f"| {program.stem} | {row} |" + ("" if agrees else f" {value} is not {other}"))


if __name__ == "__main__":
    os.environ.setdefault("OCAMLRUNPARAM", "l=1G")
    main()
