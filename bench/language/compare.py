#!/usr/bin/env python3
"""Programs in the language beside the same in others, interleaved; prints ratios of processor time.

usage: compare.py BATON [--rounds N] [--engine NAME] [PROGRAM...]

A ratio is the peer's time over Baton's: above 1 Baton is faster. Baton reads, checks and compiles
its program in its time; OCaml was compiled before. A peer that is not installed has no figures; one
that takes long runs once.
"""
import argparse
import os
import pathlib
import re
import resource
import shutil
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


# Peers that compile, and those that run the source; what is slower than this runs once.
COMPILERS = {"OCaml bytecode": "ocamlc", "OCaml native": "ocamlopt"}
RUNNERS = {"LuaJIT": ("luajit", ".lua"), "Lua": ("lua5.4", ".lua"), "CPython": ("python3", ".py")}
LONG = 4


def commands_for(program, folder):
    """The commands of the program's peers, by name."""
    commands = {}
    for name, compiler in COMPILERS.items():
        if shutil.which(compiler):
            source = pathlib.Path(folder) / (program.stem + ".ml")
            source.write_text(program.with_suffix(".ml").read_text())
            binary = source.with_suffix("." + compiler)
            subprocess.run([compiler, "-w", "-a", source, "-o", binary], check=True)
            commands[name] = [binary]
    for name, (runner, suffix) in RUNNERS.items():
        if shutil.which(runner):
            commands[name] = [runner, program.with_suffix(suffix)]
    return commands


def near(own, other):
    """Whether two printed values are the same, but for the last digits of a float."""
    if own == other:
        return True
    number = float(re.sub(r"f64$|f$", "", own))
    return abs(number - float(other)) <= 1e-12 * abs(number)


def compare(command_of_baton, program, rounds):
    """The ratios of one program by peer, and the peers that print something else."""
    with tempfile.TemporaryDirectory() as folder:
        commands = commands_for(program, folder)
        ratios = {name: [] for name in commands}
        others = set()
        slow = set()
        for _ in range(rounds):
            for name, command in commands.items():
                if name in slow:
                    continue
                own, value = seconds([*command_of_baton, program])
                spent, other = seconds(command)
                ratios[name].append(spent / own)
                if spent > LONG:
                    slow.add(name)
                # Baton's int32 wraps where the numbers of others have more bits.
                if program.stem != "list" and not near(value, other):
                    others.add(f"{name}: {other} is not {value}")
    return ratios, others


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton")
    parser.add_argument("programs", nargs="*")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engine", default="auto")
    options = parser.parse_args()
    baton = [options.baton, "run", "--engine", options.engine]
    names = [*COMPILERS, *RUNNERS]
    print("| program | " + " | ".join(names) + " |")
    print("|---|" + "--:|" * len(names))
    for program in sorted(FOLDER.glob("*.rly")):
        if options.programs and program.stem not in options.programs:
            continue
        ratios, others = compare(baton, program, options.rounds)
        cells = [f"{statistics.median(ratios[name]):.2f}" if name in ratios else "" for name in names]
        print(f"| {program.stem} | {' | '.join(cells)} | {' '.join(others)}".rstrip(), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("OCAMLRUNPARAM", "l=1G")
    main()
