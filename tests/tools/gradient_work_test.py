#!/usr/bin/env python3
"""Gradients over lists, trees and closures take work in proportion to that of their functions.

usage: gradient_work_test.py BATON

Work is counted in calls of functions: a run with too few allowed ends in a fault. Memory is bounded
for derivatives that need no way back.
"""
import pathlib
import subprocess
import sys
import tempfile

HEADER = '#[version = "0.0.5"]\n'

NUMBERS = """
def @numbers(%n: int32) -> List[float64] {
  if (%n == 0) { Nil } else { Cons(cast(%n, dtype="float64"), @numbers(%n - 1)) }
}
def @first(%xs: List[float64]) -> float64 { match (%xs) { Cons(%x, _) => %x, Nil => 0.0f64 } }
"""

ROUGHNESS = NUMBERS + """
def @roughness(%xs: List[float64]) -> float64 {
  match (%xs) {
    Cons(%x, %rest) => match (%rest) {
      Cons(%y, _) => { let %d = %y - %x; %d * %d * %x + @roughness(%rest) },
      Nil => 0.0f64
    },
    Nil => 0.0f64
  }
}
"""

# Name: the program, what it gives for n = 1000 (or a test of it), calls for each n.
PROGRAMS = {
    "neighbours": (ROUGHNESS + """
def @main(%n: int32) { @first(grad(@roughness)(@numbers(%n))) }
""", "1 + 2 * n", 12),
    "prefixes": (NUMBERS + """
def @windows(%xs: List[float64]) -> float64 {
  match (%xs) {
    Cons(%x, Cons(%y, Cons(%z, %rest))) => %x * %y * %z + @windows(Cons(%y, Cons(%z, %rest))),
    _ => 0.0f64
  }
}
def @main(%n: int32) { @first(grad(@windows)(@numbers(%n))) }
""", "(n - 1) * (n - 2)", 16),
    "both ways": (ROUGHNESS + """
def @main(%n: int32) {
  let %two = vjp(@roughness)(@numbers(%n));
  let %back = %two.1;
  @first(%back(2.0f64)) + @first(%back(1.0f64))
}
""", "3 * (1 + 2 * n)", 30),
    "closures": ("""
def @scales(%n: int32, %a: float64) -> List[fn (float64) -> float64] {
  if (%n == 0) { Nil } else { Cons(fn (%x: float64) { %a + %x }, @scales(%n - 1, %a)) }
}
def @through(%fs: List[fn (float64) -> float64], %x: float64) -> float64 {
  match (%fs) { Cons(%f, %rest) => @through(%rest, %f(%x)), Nil => %x }
}
def @loss(%a: float64, %n: int32) -> float64 { @through(@scales(%n, %a), 2.0f64) }
def @main(%n: int32) { grad(@loss, wrt=0)(1.5f64, %n) }
""", "n", 12),
    "one of many": (NUMBERS + """
def @nth(%xs: List[float64], %i: int32) -> float64 {
  match (%xs) { Cons(%x, %rest) => if (%i == 0) { %x } else { @nth(%rest, %i - 1) }, Nil => 0.0f64 }
}
def @reads(%xs: List[float64], %n: int32) -> float64 {
  if (%n == 0) { 0.0f64 } else { @nth(%xs, 3) * @nth(%xs, 0) + @reads(%xs, %n - 1) }
}
def @main(%n: int32) { @first(grad(@reads, wrt=0)(@numbers(%n), %n)) }
""", "n * (n - 3)", 60),
    "trees": ("""
type Tree { Leaf(float64), Node(Tree, Tree) }
def @grow(%d: int32, %x: float64) -> Tree {
  if (%d == 0) { Leaf(%x) } else { Node(@grow(%d - 1, %x), Leaf(%x + 1.0f64)) }
}
def @edge(%t: Tree) -> float64 {
  match (%t) { Leaf(%x) => %x * %x, Node(_, %right) => @edge(%right) }
}
def @all(%t: Tree) -> float64 {
  match (%t) { Leaf(%x) => %x, Node(%left, _) => @edge(%t) + @all(%left) }
}
def @last(%t: Tree) -> float64 {
  match (%t) { Leaf(%x) => %x, Node(_, %right) => @last(%right) }
}
def @main(%n: int32) { @last(grad(@all)(@grow(%n, 3.0f64))) }
""", "8", 16),
    "states": (NUMBERS + """
def @walk(%state: (List[float64], float64), %n: int32) -> float64 {
  if (%n == 0) { %state.1 } else {
    match (%state.0) {
      Cons(%x, %rest) => @walk((%rest, %state.1 + %x * @first(%rest)), %n - 1),
      Nil => %state.1
    }
  }
}
def @loss(%xs: List[float64], %n: int32) -> float64 { @walk((%xs, 0.0f64), %n) }
def @main(%n: int32) { @first(grad(@loss, wrt=0)(@numbers(%n), %n)) }
""", "n - 1", 16),
}

# Name: the program, and the most megabytes that may be held for 400000 steps.
UNKEPT = {
    "solved under a stop_gradient": ("""
def @solve(%a: float64, %x: float64, %n: int32) -> float64 {
  if (%n == 0) { %x } else { @solve(%a, 0.5f64 * (%x + %a / %x), %n - 1) }
}
def @root(%a: float64, %n: int32) -> float64 {
  let %y = stop_gradient(@solve(%a, 1.0f64, %n));
  %y - (%y * %y - %a) / stop_gradient(2.0f64 * %y)
}
def @main(%n: int32) { grad(@root, wrt=0)(4.0f64, %n) }
""", "0.25", 1),
    "only compared": ("""
def @solve(%a: float64, %x: float64, %n: int32) -> float64 {
  if (%n == 0) { %x } else { @solve(%a, 0.5f64 * (%x + %a / %x), %n - 1) }
}
def @bent(%a: float64, %n: int32) -> float64 {
  if (@solve(%a, 1.0f64, %n) > 1.0f64) { %a * %a } else { %a }
}
def @main(%n: int32) { grad(@bent, wrt=0)(4.0f64, %n) }
""", "8", 1),
    "given to what only compares": ("""
def @solve(%a: float64, %x: float64, %n: int32) -> float64 {
  if (%n == 0) { %x } else { @solve(%a, 0.5f64 * (%x + %a / %x), %n - 1) }
}
def @clipped(%x: float64, %limit: float64) -> float64 { if (%x > %limit) { 3.0f64 * %x } else { %x } }
def @loss(%a: float64, %n: int32) -> float64 { @clipped(%a, @solve(%a, 1.0f64, %n)) }
def @main(%n: int32) { grad(@loss, wrt=0)(4.0f64, %n) }
""", "3", 1),
    "solved under a rule, at two orders": ("""
def @steps(%a: float64, %x: float64, %n: int32) -> float64 {
  if (%n == 0) { %x } else { @steps(%a, 0.5f64 * (%x + %a / %x), %n - 1) }
}
def @solve(%a: float64, %n: int32) -> float64 { @steps(%a, 1.0f64, %n) }
def @back(%a: float64, %n: int32, %y: float64, %d: float64) -> float64 { %d / (2.0f64 * %y) }
def @root(%a: float64, %n: int32) -> float64 { custom_grad(@solve, @back)(%a, %n) }
def @main(%n: int32) {
  grad(@root)(4.0f64, %n) + grad(grad(@root))(4.0f64, %n) + jvp(@root)(4.0f64, %n, 1.0f64).1
}
""", "0.46875", 1),
}

# The same for so many steps, with how many megabytes may be held: that of a tensor a step is more.
OF_EXTENTS = {
    "a mean over named sizes": ("""
def @steps(%x: Tensor[(m), float64], %n: int32) -> Tensor[(m), float64] {
  if (%n == 0) { %x } else { @steps(%x + mean(%x), %n - 1) }
}
def @loss(%x: Tensor[(m), float64], %n: int32) -> float64 { sum(@steps(%x, %n)) }
def @main(%n: int32, %x: Tensor[(m), float64]) { sum(grad(@loss, wrt=0)(%x, %n)) }
""", "20000 * 2.0 ** 10", 10, 8),
}


def run(baton, program, *options):
    result = subprocess.run([baton, "run", program, *options], capture_output=True, text=True)
    return result.returncode, result.stdout.strip(), result.stderr


def expect(name, answer, value):
    """A line of what is wrong, or none."""
    status, out, err = answer
    if status != 0:
        return f"{name}: {err.strip()}"
    found = float(out.removesuffix("f64").removesuffix("f"))
    if abs(found - value) > 1e-9 * abs(value):
        return f"{name}: {found}, not {value}"
    return None


def main():
    baton, problems = sys.argv[1], []
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program.rly")
        for name, (text, value, calls) in PROGRAMS.items():
            program.write_text(HEADER + text)
            for n in (1000, 4000):
                problems.append(expect(f"{name}, {n}",
                                       run(baton, program, "--input", f"n={n}", "--max-steps",
                                           str(calls * n + 100)), eval(value, {"n": n})))
        for name, (text, value, megabytes) in UNKEPT.items():
            program.write_text(HEADER + text)
            problems.append(expect(name, run(baton, program, "--input", "n=400000", "--max-memory",
                                             f"{megabytes}M"), eval(value)))
        for name, (text, value, steps, megabytes) in OF_EXTENTS.items():
            program.write_text(HEADER + text)
            problems.append(expect(name, run(baton, program, "--input", f"n={steps}", "--random", "1",
                                             "--dim", "m=20000", "--max-memory", f"{megabytes}M"),
                                   eval(value)))
    problems = [problem for problem in problems if problem]
    print("\n".join(problems + [f"{len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
