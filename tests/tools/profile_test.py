#!/usr/bin/env python3
"""What `baton run` records of a run: numbers of calls, the picture as XML, the trace as JSON.

usage: profile_test.py BATON

Times are not looked at, but that they add up.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

PROGRAM = """\
def @fib(%n: int32) -> int32 {
  if (%n < 2) { %n } else { @fib(%n - 1) + @fib(%n - 2) }
}
def @even(%n: int32) -> bool {
  if (%n == 0) { True } else { @odd(%n - 1) }
}
def @odd(%n: int32) -> bool {
  if (%n == 0) { False } else { @even(%n - 1) }
}
def @down(%n: int32) -> int32 {
  if (%n == 0) { 0 } else { 1 + @down(%n - 1) }
}
def @broken(%n: int32) -> int32 { @fib(%n); 1 / (%n - %n) }
def @main(%n: int32, %x: Tensor[(4, 4), float32]) {
  let %f = fn (%a: int32) -> int32 { %a + 1 };
  let %l = @map(%f, Cons(1, Cons(2, Nil)));
  %0 = nn.dense(%x, %x, units=None);
  %1 = nn.relu(%0);
  (@fib(%n), @even(1000), @down(1000000), %l, %1)
}
"""
# What a run of @main with n=10 calls, by the names in the table.
CALLS = {
    "@main": 1,
    "@fib": 177,
    "@even": 501,
    "@odd": 500,
    "@down": 1000001,
    "@map": 3,
    "%f": 2,
    "nn.dense+nn.relu": 1,
}
ROW = re.compile(r"^ *(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)  (\S.*?)(?: at (\S+))?$", re.M)
SVG = "{http://www.w3.org/2000/svg}"


def run(baton, folder, *words):
    (folder / "program.rly").write_text(PROGRAM)
    return subprocess.run(
        [baton, "run", "program.rly", *words], cwd=folder, capture_output=True, text=True
    )


def check_table(text):
    rows = {row[5]: row for row in ROW.findall(text)}
    for name, calls in CALLS.items():
        if name not in rows or int(rows[name][0]) != calls:
            yield f"{name} is not called {calls} times:\n{text}"
    if rows["nn.dense+nn.relu"][6] != "18:8":
        yield f"nn.dense is not at its place:\n{text}"
    own = [float(row[1]) for row in ROW.findall(text)]
    whole = float(re.search(r"profile: ([\d.]+) ms", text)[1])
    if abs(sum(own) - whole) > 0.01 + 0.001 * len(own):
        yield f"the own times are {sum(own)} ms and the run took {whole} ms"
    if own != sorted(own, reverse=True):
        yield "the rows are not in the order of their times"
    if float(rows["@main"][3]) < float(rows["@fib"][3]):
        yield "@main takes less time than what it calls"


def check_picture(path):
    root = xml.etree.ElementTree.parse(path).getroot()
    boxes = {}
    for box in root.iter(f"{SVG}g"):
        rect, title = box.find(f"{SVG}rect"), box.find(f"{SVG}title").text
        left, width = float(rect.get("x")), float(rect.get("width"))
        if left < 0 or left + width > float(root.get("width")):
            yield f"{title} is outside of the picture"
        boxes.setdefault(title.split(" at ")[0].split(":")[0], []).append((left, width, title))
    for name in ["all", "@main", "@down"]:
        if name not in boxes:
            yield f"the picture has no {name}"
    deep = len(boxes.get("@down", []))
    if not 100 < deep < 300:
        yield f"the picture shows {deep} calls of a recursion a million deep"


def check_trace(path, note):
    trace = json.loads(path.read_text())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    calls = sum(CALLS.values()) + trace_extra(trace)
    if len(events) + trace["otherData"]["calls left out"] != calls:
        yield f"{len(events)} events and {trace['otherData']} are not {calls} calls"
    if str(trace["otherData"]["calls left out"]) not in note:
        yield f"nothing says how many calls are left out: {note}"
    if len(events) > 100_000:
        yield f"{len(events)} events"
    if events[0]["name"] != "@main" or events[0]["args"]["at"] != "14:10":
        yield f"the first event is {events[0]}"
    if any(event["ts"] < 0 or event["dur"] < 0 for event in events):
        yield "a time is negative"
    ends = [events[0]["ts"] + events[0]["dur"]]
    for event in events[1:]:
        while ends and event["ts"] > ends[-1] - 1e-9:
            ends.pop()
        if ends and event["ts"] + event["dur"] > ends[-1] + 0.002:
            return (yield f"{event} ends behind the call around it")
        ends.append(event["ts"] + event["dur"])


def trace_extra(trace):
    """The comparisons of sizes, which are calls of the host."""
    return sum(event["name"].startswith("(") for event in trace["traceEvents"])


def check_runs(baton, folder):
    inputs = ["--input", "n=10", "--random", "1"]
    plain = run(baton, folder, *inputs)
    result = run(
        baton, folder, *inputs, "--profile", "--flame-graph", "a.svg", "--chrome-trace", "a.json"
    )
    if result.returncode != 0 or result.stdout != plain.stdout:
        return (yield f"the run is not as it is without a profile: {result}")
    yield from check_table(result.stderr)
    yield from check_picture(folder / "a.svg")
    yield from check_trace(folder / "a.json", result.stderr)
    failed = run(baton, folder, "--entry", "broken", "--input", "n=10", "--profile")
    rows = {row[5]: row[0] for row in ROW.findall(failed.stderr)}
    if failed.returncode != 1 or rows != {"@broken": "1", "@fib": "177"}:
        yield f"a run that fails has no profile: {failed}"
    for entry, steps, expected in [
        ("even", 1, {"@even": 1}),
        ("even", 6, {"@even": 3, "@odd": 3}),
        ("down", 1, {"@down": 1}),
        ("down", 9, {"@down": 9}),
    ]:
        words = ["--entry", entry, "--input", "n=100", "--profile", "--max-steps", str(steps)]
        ended = run(baton, folder, *words)
        rows = {row[5]: int(row[0]) for row in ROW.findall(ended.stderr)}
        if ended.returncode != 1 or rows != expected:
            yield f"a run that a limit ends has no profile: {ended}"
    other = run(baton, folder, *inputs, "--profile", "--engine", "interp")
    if other.returncode != 2 or "profiles are of the machine" not in other.stderr:
        yield f"another engine is profiled: {other}"
    nowhere = run(baton, folder, *inputs, "--flame-graph", "no/such/folder.svg")
    if nowhere.returncode != 2 or nowhere.stdout:
        yield f"a file that cannot be written is no error: {nowhere}"


DERIVATIVE = """\
def @layer(%w: Tensor[(200, 200), float32], %x: Tensor[(200, 200), float32]) {
  tanh(nn.dense(%x, %w, units=None))
}
def @walk(%w: Tensor[(200, 200), float32], %x: Tensor[(200, 200), float32], %n: int32) -> float32 {
  if (%n == 0) { sum(%x) } else { @walk(%w, @layer(%w, %x), %n - 1) }
}
def @main(%w: Tensor[(200, 200), float32]) { sum(grad(@walk)(%w, %w, 3)) }
"""


def check_derivative(baton, folder):
    """The way back has rows of its own, and memory is that of what a run keeps."""
    (folder / "derivative.rly").write_text(DERIVATIVE)
    words = ["run", "derivative.rly", "--random", "1", "--profile"]
    result = subprocess.run([baton, *words], cwd=folder, capture_output=True, text=True)
    memory = re.search(r"memory: at most ([\d.]+) MB of tensors and objects, in (\S+)", result.stderr)
    if result.returncode != 0 or not memory:
        return (yield f"no memory is shown: {result}")
    if not 5 * 0.16 < float(memory[1]) < 40 * 0.16:
        yield f"the memory is not that of some tensors: {memory[0]}"
    back = re.search(r"way back: ([\d.]+) ms", result.stderr)
    rows = re.findall(r"^ *\d+ +([\d.]+) .*  (\S.*), way back at", result.stderr, re.M)
    if not back or not rows:
        return (yield f"nothing is on the way back: {result.stderr}")
    if "@walk" not in [name for _, name in rows] or "nn.dense" in [name for _, name in rows]:
        yield f"the rows of the way back are {rows}"
    if abs(sum(float(own) for own, _ in rows) - float(back[1])) > 0.001 * len(rows) + 0.01:
        yield f"the rows of the way back do not add up to {back[0]}: {rows}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        problems = list(check_runs(sys.argv[1], pathlib.Path(folder)))
        problems += check_derivative(sys.argv[1], pathlib.Path(folder))
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
