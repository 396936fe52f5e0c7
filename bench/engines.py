#!/usr/bin/env python3
"""Programs on the machine with strips and with native kernels, in turns: processor time of a call.

usage: engines.py BATON PROGRAM... [--rounds 3] [--dims n=1,...]

Each round runs `baton bench` with one engine and then the other, on one thread; shown are medians of
the rounds, with the time that the first call takes beyond the others.
"""
import argparse
import json
import pathlib
import statistics
import subprocess


def figures(baton, program, engine, dims):
    command = [baton, "bench", program, "--random", "1", "--threads", "1", "--engine", engine, "--json"]
    done = subprocess.run(command + [f"--dim={dim}" for dim in dims], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--dims", default="")
    options = parser.parse_args()
    dims = [dim for dim in options.dims.split(",") if dim]
    print("| program | strips ms | native ms | strips / native | kernels | first call s |\n|---|--:|--:|--:|--:|--:|")
    for program in options.programs:
        rounds = [
            [figures(options.baton, program, engine, dims) for engine in ("vm", "native")]
            for _ in range(options.rounds)
        ]
        strips, native = (statistics.median(pair[i]["processor_s"] for pair in rounds) * 1e3 for i in (0, 1))
        ratio = statistics.median(old["processor_s"] / new["processor_s"] for old, new in rounds)
        last = rounds[-1][1]
        left = f" (+{last['left_to_strips']})" if last["left_to_strips"] else ""
        first = statistics.median(pair[1]["compile_s"] for pair in rounds)
        print(f"| {program.stem} | {strips:.3f} | {native:.3f} | {ratio:.2f} | {last['compiled']}{left} | {first:.2f} |")


if __name__ == "__main__":
    main()
