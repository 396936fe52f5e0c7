#!/usr/bin/env python3
"""What processes make of compiled kernels on disk that others left there, whole or damaged.

usage: kernel_cache_test.py BATON

Where LLVM must not be opened, `BATON_LLVM` names a library that is not there. Without LLVM there is
nothing to test.
"""
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import limits

SKIPPED = 77

PROGRAM = """\
def @main(%x: Tensor[(6, 40), float32], %w: Tensor[(24, 40), float32], %n: Tensor[(?), float32]) {
  let %y = nn.softmax(nn.dense(%x, %w, units=None));
  (%y, max(transpose(%y, axes=None) * 2f, axis=[0]), tanh(%n) + 1f)
}
"""
RUN = ["run", "program.rly", "--engine", "native", "--random", "1", "--input", "n=[1,2,3]"]
TUNED = """\
def @main(%x: Tensor[(64, 40), float32], %w: Tensor[(48, 40), float32], %v: Tensor[(50, 48), float32]) {
  let %y = nn.softmax(nn.dense(%x, %w, units=None));
  (%y, nn.dense(%y, %v, units=None))
}
"""
HEAVY = """\
def @main(%x: Tensor[(768, 768), float32], %w: Tensor[(768, 768), float32]) {
  sum(nn.dense(%x, %w, units=None), axis=[0])
}
"""
NO_LLVM = {"BATON_LLVM": "/there/is/none"}
SAID = "so there is no native code"


class Kitchen:
    """A program, a cache, and runs of the one with the other."""

    def __init__(self, folder):
        self.folder = folder
        self.cache = folder / "cache"
        (folder / "program.rly").write_text(PROGRAM)

    def start(self, *words, **environment):
        return subprocess.Popen(
            [sys.argv[1], *words], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=limits.processor_time,
            env={**os.environ, "BATON_CACHE": str(self.cache), **environment},
        )

    def baton(self, *words, **environment):
        process = self.start(*words, **environment)
        output, errors = process.communicate()
        return process.returncode, output, errors

    def entries(self):
        return sorted(self.cache.glob("*.kernel"))


def expect(what, found, wanted):
    if found != wanted:
        yield f"{what} is {found!r} and not {wanted!r}"


def check_hit(kitchen, good):
    """What one process compiled the next one runs without LLVM."""
    yield from expect("a second run", kitchen.baton(*RUN, **NO_LLVM), good)
    yield from expect("a run by one thread that finds no code", kitchen.baton(*RUN, "--threads", "1"), good)
    left = kitchen.entries()
    yield from expect("a run by one thread", kitchen.baton(*RUN, "--threads", "1", **NO_LLVM), good)
    yield from expect("entries of three runs", kitchen.entries(), left)
    code, _, errors = kitchen.baton(*RUN, BATON_CACHE="", **NO_LLVM)
    yield from expect("a run without code", (code, errors.count(SAID)), (0, 1))


def check_damage(kitchen, good):
    """Damaged entries are as none, and are replaced."""
    whole = {path: path.read_bytes() for path in kitchen.entries()}
    other = next(iter(whole.values()))
    damages = {
        "empty": lambda bytes: b"",
        "short": lambda bytes: bytes[: len(bytes) // 2],
        "too short by one": lambda bytes: bytes[:-1],
        "too long": lambda bytes: bytes + b"\0",
        "of another kernel": lambda bytes: other if bytes != other else b"",
        "a bit off in the front": lambda bytes: bytes[:9] + bytes[9:10].translate(FLIPPED) + bytes[10:],
        "a bit off in the middle": lambda bytes: bytes[:300] + bytes[300:301].translate(FLIPPED) + bytes[301:],
        "a bit off at the end": lambda bytes: bytes[:-1] + bytes[-1:].translate(FLIPPED),
    }
    for what, damage in damages.items():
        for path, bytes in whole.items():
            path.write_bytes(damage(bytes))
        code, _, errors = kitchen.baton(*RUN, **NO_LLVM)
        yield from expect(f"what uses entries that are {what}", (code, errors.count(SAID)), (0, 1))
        yield from expect(f"a run over entries that are {what}", kitchen.baton(*RUN), good)
        yield from expect(f"a run after entries that were {what}", kitchen.baton(*RUN, **NO_LLVM), good)


FLIPPED = bytes(each ^ 4 for each in range(256))


def check_at_once(kitchen, good):
    """Processes that begin with no cache at the same time."""
    kitchen.baton("cache", "--clear")
    yield from expect("entries of a cache that was cleared", kitchen.entries(), [])
    processes = [kitchen.start(*RUN) for _ in range(6)]
    for process in processes:
        output, errors = process.communicate()
        yield from expect("one of several runs", (process.returncode, output, errors), good)
    yield from expect("what is left beside entries", [*kitchen.cache.glob("*.part")], [])
    yield from expect("a run after several", kitchen.baton(*RUN, **NO_LLVM), good)


def check_places(kitchen, good):
    """Where nothing can be written, nothing is kept."""
    (kitchen.folder / "file").write_text("")
    for place in "", "file", "file/below":
        there = place and str(kitchen.folder / place)
        yield from expect(f"a run with the cache {place!r}", kitchen.baton(*RUN, BATON_CACHE=there), good)
    code, output, _ = kitchen.baton("cache", BATON_CACHE="")
    yield from expect("`baton cache` without a place", (code, "no place" in output), (0, True))
    code, _, errors = kitchen.baton("cache", "--max-bytes", "1M", BATON_CACHE=str(kitchen.folder / "file"))
    yield from expect("a limit that cannot be written", (code, "cannot write" in errors), (2, True))


def check_bound(kitchen, good):
    """Entries take no more than they may, and runs go well with little room or none."""
    before = kitchen.entries()
    total = sum(path.stat().st_size for path in before)
    os.utime(before[0], (0, 0))
    code, output, _ = kitchen.baton("cache", "--max-bytes", str(total - 1))
    yield from expect("a new limit", (code, f"of at most {total - 1}" in output), (0, True))
    yield from expect("what goes first", kitchen.entries(), before[1:])
    kitchen.baton("cache", "--max-bytes", "1000")
    yield from expect("a run with little room", kitchen.baton(*RUN), good)
    kept = sum(path.stat().st_size for path in kitchen.entries())
    yield from expect("bytes in little room", kept <= 1000, True)
    kitchen.baton("cache", "--max-bytes", "256M")


def check_processors(kitchen, good):
    """Code for other processors is other code, and a processor must be there."""
    kitchen.baton(*RUN)
    count = len(kitchen.entries())
    code, _, errors = kitchen.baton(*RUN, "--cpu=x86-64")
    yield from expect("a run for the first x86-64", (code, errors), (0, ""))
    yield from expect("code for another processor", len(kitchen.entries()), 2 * count)
    code, _, errors = kitchen.baton(*RUN, "--cpu=x86-64", **NO_LLVM)
    yield from expect("a second run for the first x86-64", (code, errors), (0, ""))
    code, _, errors = kitchen.baton(*RUN, "--cpu=z80")
    yield from expect("an unknown processor", (code, "there is no processor `z80`" in errors), (2, True))
    code, _, errors = kitchen.baton("run", "program.rly", "--engine", "interp", "--cpu=x86-64")
    yield from expect("a processor for no native code", (code, "`--cpu` is for native" in errors), (2, True))
    code, output, _ = kitchen.baton("lower", "program.rly", "--choose", "--emit=asm", "--cpu=x86-64")
    yield from expect("registers of the first x86-64", (code, "%xmm" in output, "%ymm" in output), (0, True, False))


def are_close(one, other):
    """Whether two texts have the same numbers but for the order in which they were added up."""
    numbers = [[float(each) for each in re.findall(r"-?\d[\d.e+-]*", text)] for text in (one, other)]
    return len(numbers[0]) == len(numbers[1]) and all(
        math.isclose(*pair, rel_tol=1e-4, abs_tol=1e-6) for pair in zip(*numbers))


def check_tuning(kitchen, _):
    """What a search for schedules finds is said, gives the same, and is what later runs take."""
    kitchen.baton("cache", "--clear")
    (kitchen.folder / "tuned.rly").write_text(TUNED)
    run = ["run", "tuned.rly", "--engine", "native", "--random", "1"]
    plain = kitchen.baton(*run)
    code, output, errors = kitchen.baton(*run, "--tune", "3")
    yield from expect("a run behind a search", (code, are_close(output, plain[1])), (0, True))
    lines = errors.splitlines()
    found = [re.fullmatch(r"tuned: [\d.e-]+ ms(?: became [\d.e-]+ ms, the best|, which no other) of (\d+) schedules.* of kernel .*", line) for line in lines]
    yield from expect("lines of a search", (len(lines), all(found)), (2, True))
    yield from expect("schedules that were tried", all(each and int(each[1]) > 1 for each in found), True)
    yield from expect("a run of what was found", kitchen.baton(*run, **NO_LLVM), (0, output, ""))
    code, output, _ = kitchen.baton("lower", "tuned.rly", "--choose")
    yield from expect("schedules that were found", (code, len(re.findall("# found by --tune: .* of [0-9]+ schedules", output))), (0, 2))
    (kitchen.folder / "heavy.rly").write_text(HEAVY)
    code, _, errors = kitchen.baton("run", "heavy.rly", "--random", "1", "--tune", "1000", "--timeout", "0.3")
    yield from expect("a search beyond the limit of a run", (code, "takes longer than 0.3 s" in errors), (1, True))
    for words in ["--engine", "interp"], ["--engine", "native", "--cpu", "x86-64"]:
        code, _, errors = kitchen.baton("run", "program.rly", "--random", "1", "--tune", "1", *words)
        yield from expect("a search that has nothing to measure", (code, "`--tune` measures" in errors), (2, True))
    code, _, errors = kitchen.baton("run", "program.rly", "--tune", "0")
    yield from expect("no time at all", (code, "no positive number of seconds" in errors), (2, True))


def check_when(kitchen, _):
    """By itself a run has native code of what takes long, and opens no LLVM for what does not."""
    kitchen.baton("cache", "--clear")
    small = ["run", "program.rly", "--random", "1", "--input", "n=[1,2,3]"]
    code, _, errors = kitchen.baton(*small, **NO_LLVM)
    yield from expect("a small program", (code, errors, kitchen.entries()), (0, "", []))
    heavy = ["run", "heavy.rly", "--random", "1"]
    code, output, errors = kitchen.baton(*heavy)
    yield from expect("a heavy program", (code, errors, len(kitchen.entries()) > 0), (0, "", True))
    yield from expect("the same again", kitchen.baton(*heavy, **NO_LLVM), (0, output, ""))
    kitchen.baton("cache", "--clear")
    yield from expect("the same by one thread", kitchen.baton(*heavy, "--threads", "1"), (0, output, ""))


def main():
    with tempfile.TemporaryDirectory() as name:
        kitchen = Kitchen(pathlib.Path(name))
        good = kitchen.baton(*RUN)
        if SAID in good[2]:
            return SKIPPED
        problems = [*expect("a first run", (good[0], good[2]), (0, ""))]
        checks = [check_hit, check_damage, check_at_once, check_places, check_bound, check_processors,
                  check_tuning, check_when]
        for check in checks:
            problems += check(kitchen, good)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
