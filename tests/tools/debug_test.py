#!/usr/bin/env python3
"""What golden texts cannot show of `baton debug`: the files it writes, Ctrl-C, deep calls.

usage: debug_test.py BATON
"""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import tensor_files

PROGRAM = """\
type Tree { Node(Tree, int32), Leaf }
def @twice(%n: int32) -> int32 {
  let %m = %n + %n;
  %m * 1
}
def @broken(%n: int32) -> int32 { 1 / (@twice(%n) - 4) }
def @deep(%n: int32) -> int32 {
  if (%n == 0) {
    let %z = 7;
    %z
  } else { 1 + @deep(%n - 1) }
}
def @main(%x: Tensor[(2), int32]) {
  %0 = add(%x, %x);
  let %a = (@twice(1), (@twice(2), %0));
  let %b = Node(Node(Leaf, 5), 6);
  let %r = ref(%0);
  let %f = fn (%y: int32) { %y };
  let %c = %f(8);
  (%a, %b, %c)
}
def @endless(%n: int32) -> int32 { @endless(%n + 1) }
def @start(%n: int32) -> int32 { debug(%n); @endless(%n) }
def @narrow(%n: int32) -> int32 {
  let %b = cast(%n, dtype="bfloat16");
  %n * 2
}
"""
WORDS = ["--input", "x=[1, 2]"]


def debug(baton, folder, commands, *words):
    return subprocess.run(
        [baton, "debug", "program.rly", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        input="\n".join(commands),
    )


def values(path):
    return {key: list(tensor[2]) for key, tensor in tensor_files.read_npz(path).items()}


def expect(what, found, wanted):
    if found != wanted:
        yield f"{what}: {found} and not {wanted}"


def check_dump(baton, folder):
    result = debug(baton, folder, ["break %m", "run", "c", "next", "dump a.npz"], *WORDS)
    yield from expect("the exit code", result.returncode, 0)
    yield from expect(
        "the open calls",
        values(folder / "a.npz"),
        {"0.m": [4], "0.n": [2], "1.15:13-15:22": [2], "1.x": [1, 2]},
    )
    debug(baton, folder, ["break %c", "run", "dump b.npz"], *WORDS)
    found = values(folder / "b.npz")
    yield from expect("the fields of a constructor", found.get("0.b.0.1"), [5])
    yield from expect("what a reference holds", found.get("0.r.ref"), [2, 4])
    yield from expect("a part of a tuple", found.get("0.a.1.1"), [2, 4])


def check_record(baton, folder):
    result = debug(baton, folder, ["record all.npz", "run"], *WORDS)
    found = values(folder / "all.npz")
    for key, wanted in {
        "x@13:11#1": [1, 2],
        "0@14:8#1": [2, 4],
        "m@3:12#1": [2],
        "m@3:12#2": [4],
        "4:3-4:9#2": [4],
        "15:13-15:22#1": [2],
        "a@15:12#1.1.0": [4],
        "c@19:12#1": [8],
        "20:3-20:15#1.2": [8],
    }.items():
        yield from expect(f"{key} of {sorted(found)}", found.get(key), wanted)
    yield from expect("a third count", "m@3:12#3" in found, False)
    said = f"all.npz has {len(found)} tensors; "
    yield from expect(f"whether it says {said}", said in result.stdout, True)
    failed = debug(
        baton, folder, ["record e.npz", "record f.npz", "run"], "--entry", "broken",
        "--input", "n=2",
    )
    found = values(folder / "f.npz")
    yield from expect(f"a run that fails: {failed.stdout}", found.get("m@3:12#1"), [4])
    yield from expect("nothing recorded", values(folder / "e.npz"), {})


ALIKE = """\
def @main(%x: float32) -> float32 {
  let %a = if (%x < 9f) { let %y = %x * 2f; %y } else { 0f };
  let %b = if (%x < 9f) { let %y = %x * 6f; %y } else { 0f };
  let %r = %x * 2f * 3f + 1f;
  %r * 10f
}
"""
SLOPE = """\
def @main(%x: float32) -> (float32, float32) {
  value_and_grad(fn (%y: float32) -> float32 { %y * %y * %y })(%x)
}
"""


def check_alike(baton, folder):
    """Values whose names or places are alike have keys of their own."""
    (folder / "program.rly").write_text(ALIKE)
    debug(baton, folder, ["break %r", "run", "dump r.npz"], "--input", "x=1")
    found = values(folder / "r.npz")
    wanted = {"0.x": [1], "0.y": [6], "0.y#2": [2], "0.4:12-4:19": [2], "0.4:12-4:24": [6]}
    for key, value in wanted.items():
        yield from expect(f"{key} of {sorted(found)}", found.get(key), value)
    (folder / "program.rly").write_text(SLOPE)
    result = debug(baton, folder, ["record s.npz", "run"], "--input", "x=2")
    found = values(folder / "s.npz")
    said = f"s.npz has {len(found)} tensors"
    yield from expect(f"whether {result.stdout} says {said}", said in result.stdout, True)
    yield from expect(f"a second value in {sorted(found)}", "2:48-2:55#2" in found, True)


def check_narrow(baton, folder):
    """An element type that numpy has not."""
    commands = ["record n.npz", "break %b", "run", "next", "dump d.npz", "c"]
    result = debug(baton, folder, commands, "--entry", "narrow", "--input", "n=2")
    yield from expect("what is dumped", values(folder / "d.npz"), {"0.n": [2]})
    found = values(folder / "n.npz")
    yield from expect(f"what is recorded: {result.stdout}", found.get("26:3-26:9#1"), [4])
    said = "; 1 other part is left out: "
    yield from expect(f"how often it says {said}", result.stdout.count(said), 2)


def check_deep(baton, folder):
    result = debug(
        baton, folder, ["break %z", "run", "bt", "dump d.npz", "finish", "delete", "c"],
        "--entry", "deep", "--input", "n=300000",
    )
    yield from expect("the exit code", result.returncode, 0)
    for wanted in ["#300000 @deep at 11:16", "the innermost 1000 calls of 300001", "\n300007\n"]:
        yield from expect(f"whether it says {wanted}", wanted in result.stdout, True)


def until(process, end):
    """What the process says to where it says `end`."""
    said = ""
    while not said.endswith(end):
        more = process.stdout.read(1)
        if not more:
            raise EOFError(f"{said!r} ends before {end!r}")
        said += more
    return said


def check_interrupt(baton, folder):
    process = subprocess.Popen(
        [baton, "debug", "program.rly", "--entry", "start", "--input", "n=-100"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        bufsize=0,
    )
    said = ""
    for _ in range(2):
        process.stdin.write("run\nprint\n")
        said += until(process, "run\n-100\n")
        process.send_signal(signal.SIGINT)
        said += until(process, "%n = ")
    process.stdin.write("quit\n")
    process.stdin.close()
    said += process.stdout.read()
    yield from expect("the exit code", process.wait(), 0)
    yield from expect(f"interrupts in {said}", said.count("interrupted, in @"), 2)


def check_interrupted_prompt(baton, folder):
    """What is recorded is not lost, and half a command is forgotten."""
    process = subprocess.Popen(
        [baton, "debug", "program.rly", *WORDS], cwd=folder, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, bufsize=0,
    )
    said = until(process, "(baton) ")
    for typed in "", "record i.npz\n", "break %b\n", "run\n", "c":
        process.stdin.write(typed)
        if typed.endswith("\n"):
            said += until(process, "(baton) ")
        # It must be reading when the interrupt comes.
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        said += until(process, "\n(baton) ")
    process.stdin.write("quit\n")
    process.stdin.close()
    said += process.stdout.read()
    yield from expect(f"the exit code of {said}", process.wait(), 0)
    yield from expect(f"whether it quits in {said}", "(baton) quit" in said, True)
    yield from expect("whether there is a record", (folder / "i.npz").exists(), True)


def check_warnings(baton, folder):
    """They come before the first command is asked for."""
    (folder / "program.rly").write_text("def @main() { let %x = 1; %0 = %x + 1; %x }\n")
    process = subprocess.Popen(
        [baton, "debug", "program.rly"], cwd=folder, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    said = until(process, "(baton) ")
    process.communicate("quit\n")
    yield from expect(f"whether {said} warns", "warning[" in said, True)


def check_input(baton, folder):
    result = subprocess.run([baton, "debug", "-"], capture_output=True, text=True, input="")
    yield from expect(f"a program from standard input: {result}", result.returncode, 2)
    result = debug(baton, folder, ["x" * 100_000, "run"], *WORDS)
    said = "error: a command has at most 4096 bytes", "the run gives"
    yield from expect("a long line", [part in result.stdout for part in said], [True, True])
    yield from expect("the exit code behind a long line", result.returncode, 0)


def main():
    checks = [check_dump, check_record, check_alike, check_narrow, check_deep, check_interrupt, check_interrupted_prompt, check_warnings, check_input]
    problems = []
    for check in checks:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "program.rly").write_text(PROGRAM)
            problems += check(sys.argv[1], pathlib.Path(folder))
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
