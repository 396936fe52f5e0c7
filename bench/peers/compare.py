#!/usr/bin/env python3
"""Workloads of the table of goals beside ONNX Runtime, PyTorch and numpy, in turns in one process.

usage: compare.py BATON [--rounds 7] [--threads 2] [--processor-time] [--only NAME...] [--compile] [--results FILE]

Each round times Baton, by `baton bench` with weights fixed, and then each peer. Before that, the result of Baton is
compared with each peer's. Shown are medians, the median of the rounds' ratios of the best peer's time to ours with
the least and the greatest one, and how much of the multiply-adds that the machine does on registers ours are, as
`baton bench` measures them in the same rounds. On a machine that does other things, `--processor-time` takes the time of
the processor on one thread in place of the clock's. `--results` puts table and command into a file, in place of what stands between
its marks, and a plot beside it. Needs numpy, onnx, onnxruntime and torch: `pip install onnx onnxruntime torch`.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

BEGIN, END = "<!-- peers: begin -->", "<!-- peers: end -->"


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--processor-time", action="store_true", help="of one thread, in place of the clock")
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--compile", action="store_true", help="PyTorch compiled too")
    parser.add_argument("--results", type=pathlib.Path)
    options = parser.parse_args()
    if options.processor_time:
        options.threads = 1
    return options


class Ours:
    """A network as a program in a folder."""

    def __init__(self, baton, net, folder, threads):
        (folder / "net.rly").write_text(net.relay())
        np.savez(folder / "values.npz", **net.values)
        self.folder, self.common = folder, ["net.rly", "--input", "values.npz", "--threads", str(threads), "--engine", "native"]
        self.baton = str(baton.resolve())
        self.common += ["--fix", net.fixed] if net.fixed else []
        for name, (file, text) in net.files.items():
            (folder / file).write_text(text)
            self.common += ["--input", f"{name}={file}"]

    def call(self, command, *more):
        words = [self.baton, command, *self.common, *more]
        return subprocess.run(words, cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def results(self):
        self.call("run", "--output", "result.npz")
        with np.load(self.folder / "result.npz") as file:
            return [file[name] for name in file.files]

    def figures(self):
        return json.loads(self.call("bench", "--json", "--rounds", "5"))


def seconds_of(call, clock, least=0.25):
    """The median time of calls that take so long together."""
    times, start = [], clock()
    while len(times) < 5 or clock() - start < least:
        before = clock()
        call()
        times.append(clock() - before)
    return statistics.median(times)


def compare(name, options, folder):
    import torch

    from workloads import WORKLOADS

    row, goal, make = WORKLOADS[name]
    net = make()
    clock, key = (time.thread_time, "processor_s") if options.processor_time else (time.perf_counter, "median_s")
    ours, others = Ours(options.baton, net, folder, options.threads), net.calls(options)
    with torch.inference_mode():
        results = ours.results()
        for peer, call in others.items():
            for result, expected in zip(results, map(np.asarray, call()), strict=True):
                error = np.abs(result - expected).max() / np.abs(expected).max()
                if result.shape != expected.shape or not error < 1e-4:
                    sys.exit(f"{name}: Baton and {peer} differ by {error:.2g} of the greatest element")
        rounds = []
        for _ in range(options.rounds):
            figures = ours.figures()
            rounds.append((figures, {peer: seconds_of(call, clock) for peer, call in others.items()}))
    best = min(others, key=lambda peer: statistics.median(times[peer] for _, times in rounds))
    ratios = [times[best] / figures[key] for figures, times in rounds]
    shares = [flops_of(figures) / figures[key] / figures["roof"]["gflop_per_s"] / 1e9 for figures, _ in rounds]
    return {
        "name": name,
        "row": row,
        "goal": goal,
        "ours": statistics.median(figures[key] for figures, _ in rounds) * 1e3,
        "peers": {peer: statistics.median(times[peer] for _, times in rounds) * 1e3 for peer in others},
        "best": best,
        "ratio": statistics.median(ratios),
        "least": min(ratios),
        "most": max(ratios),
        "share": statistics.median(shares),
    }


def flops_of(figures):
    return sum(kernel["calls"] * kernel["flops"] for kernel in figures["kernels"])


def line_of(found):
    others = ", ".join(f"{peer} {time:.3f}" for peer, time in found["peers"].items())
    return (
        f"| {found['row']} | {found['name']} | {found['ours']:.3f} | {others} | "
        f"{found['ratio']:.2f} ({found['least']:.2f} to {found['most']:.2f}) | {found['goal']} | {found['share'] * 100:.0f} % |"
    )


HEAD = "| row | workload | Baton ms | peers ms | best peer / Baton | goal | of peak |\n|--:|---|--:|---|--:|--:|--:|"


def plot(all_found):
    """Bars of the ratios, with a mark at each goal and a line at 1."""
    wide, high, left, most = 720, 22, 200, 6
    unit = (wide - left - 60) / most
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high * len(all_found) + 40}" font-family="sans-serif" font-size="12">']
    for i, found in enumerate(all_found):
        y = 24 + i * high
        end = left + min(found["ratio"], most) * unit
        colour = "#2a7d4f" if found["ratio"] >= 1 else "#b5533c"
        parts += [
            f'<text x="{left - 8}" y="{y + 12}" text-anchor="end">{found["name"]}</text>',
            f'<rect x="{left}" y="{y}" width="{end - left:.1f}" height="15" fill="{colour}"/>',
            f'<text x="{end + 4:.1f}" y="{y + 12}">{found["ratio"]:.2f}</text>',
            f'<path d="M{left + min(found["goal"], most) * unit:.1f} {y - 2}v19" stroke="#333" stroke-width="2"/>',
        ]
    bottom = 24 + len(all_found) * high
    parts += [
        f'<path d="M{left + unit:.1f} 18V{bottom}" stroke="#999" stroke-dasharray="3 3"/>',
        f'<text x="{left}" y="12">best peer\'s time over Baton\'s; a mark is the goal</text>',
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def write(options, all_found):
    picture = options.results.with_name("peers.svg")
    picture.write_text(plot(all_found))
    how = "--processor-time" if options.processor_time else f"--threads {options.threads}"
    told = f"    python3 bench/peers/compare.py build/baton --rounds {options.rounds} {how}"
    load = os.getloadavg()[0]
    about = (
        f"{processor()}, {options.threads} threads, {options.rounds} rounds; load average {load:.1f} at the end.\n\n"
        f"![ratios]({picture.name})"
    )
    table = "\n".join([HEAD, *map(line_of, all_found)])
    text = options.results.read_text()
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    options.results.write_text(f"{before}{BEGIN}\n{told}\n\n{about}\n\n{table}\n{END}{after}")


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return "a processor"


def main():
    options = arguments()
    # OpenBLAS asks when it is loaded, which numpy has done by now.
    if os.environ.get("OPENBLAS_NUM_THREADS") != str(options.threads):
        os.environ["OPENBLAS_NUM_THREADS"] = str(options.threads)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    from workloads import WORKLOADS

    if options.results and BEGIN not in options.results.read_text():
        sys.exit(f"{options.results} has no line {BEGIN}")
    print(HEAD)
    all_found = []
    for name in options.only or WORKLOADS:
        with tempfile.TemporaryDirectory() as folder:
            all_found.append(compare(name, options, pathlib.Path(folder)))
        print(line_of(all_found[-1]), flush=True)
    if options.results:
        write(options, all_found)


if __name__ == "__main__":
    main()
