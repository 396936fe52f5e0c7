#!/usr/bin/env python3
"""What it costs to make derivatives, before anything runs.

usage: derivative_cost_test.py BATON

For programs of more and more definitions the processor time grows as they do, and for orders one
after the other the code grows as a power of the order.
"""
import cmath
import math
import pathlib
import resource
import subprocess
import sys
import tempfile

import limits

HEADER = '#[version = "0.0.5"]\n'
TENSOR = "Tensor[(3), float32]"


def chain(count, body):
    """So many functions, each of which calls the one before."""
    rows = [f"def @f0(%x: {TENSOR}) -> {TENSOR} {{ sin(%x) }}"]
    for i in range(1, count):
        rows.append(f"def @f{i}(%x: {TENSOR}) -> {TENSOR} {{ {body.format(before=f'@f{i - 1}')} }}")
    rows.append(f"def @loss(%x: {TENSOR}) -> float32 {{ sum(@f{count - 1}(%x)) }}")
    return "\n".join(rows)


def calls(count, derivative):
    """So many derivatives of functions of their own."""
    rows = [f"def @f{i}(%x: {TENSOR}) -> float32 {{ sum(sin(%x) * {i}f) }}" for i in range(count)]
    steps = [f"let %a{i} = {derivative(f'@f{i}', '%x' if i == 0 else f'%a{i - 1}')};" for i in range(count)]
    return "\n".join([*rows, f"def @main(%x: {TENSOR}) {{", *steps, f"%a{count - 1} }}"])


def grad(function, at):
    return f"grad({function})({at})"


def hvp(function, at):
    return f"hvp({function})({at}, %x)"


def asked(definitions, derivative):
    return f"{definitions}\ndef @main(%x: {TENSOR}) {{ {derivative('@loss', '%x')} }}"


STRAIGHT = "sin({before}(%x) * %x)"
BRANCHES = "if (sum(%x) > 0f) {{ sin({before}(%x)) * %x }} else {{ {before}(%x) }}"

# Name: the program of a count, and the least count; the largest is eight times that.
PROGRAMS = {
    "gradient of a chain": (lambda n: asked(chain(n, STRAIGHT), grad), 200),
    "second order of a chain": (lambda n: asked(chain(n, STRAIGHT), hvp), 100),
    "gradient of branches": (lambda n: asked(chain(n, BRANCHES), grad), 40),
    "gradients of functions": (lambda n: calls(n, grad), 200),
    "second orders of functions": (lambda n: calls(n, hvp), 100),
}
FACTOR = 8
# What is linear takes a little more than its share where memory is far; what is quadratic 64 times.
MOST_GROWTH = 20


def compiled(baton, text, folder):
    """The processor time of a compilation and the bytes of what it gives."""
    (folder / "program.rly").write_text(HEADER + text + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(
        [baton, "compile", "program.rly", "-o", "program.bvm"], cwd=folder, check=True,
        preexec_fn=limits.processor_time,
    )
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return seconds, (folder / "program.bvm").stat().st_size


def growth_problems(baton, folder):
    for name, (program, least) in PROGRAMS.items():
        few, _ = min(compiled(baton, program(least), folder) for _ in range(3))
        many, _ = min(compiled(baton, program(FACTOR * least), folder) for _ in range(2))
        print(f"{name}: {few:.2f} s, {FACTOR} times as many {many:.2f} s")
        if many > MOST_GROWTH * few:
            yield f"{name}: {FACTOR} times as many take {many / few:.1f} times as long"


def derivative_of_product(order, x):
    """Of `sin(x) * exp(x) * x`, the imaginary part of `exp((1 + i) * x) * x`."""
    factor = 1 + 1j
    return (cmath.exp(factor * x) * (factor**order * x + order * factor ** (order - 1))).imag


def derivative_of_power(order, x):
    return math.perm(12, order) * x ** (12 - order)


# Functions of one number, and their derivatives of an order.
FUNCTIONS = {
    "a product": ("def @f(%x: float64) -> float64 { sin(%x) * exp(%x) * %x }\n", derivative_of_product),
    "a recursion": (
        "def @power(%x: float64, %n: int32) -> float64 {\n"
        "  if (%n == 0) { 1f64 } else { %x * @power(%x, %n - 1) }\n}\n"
        "def @f(%x: float64) -> float64 { @power(%x, 12) }\n", derivative_of_power),
    "a loop": (
        "def @f(%x: float64) -> float64 {\n"
        "  @loop(0, 12, fn (%i: int32, %y: float64) { %y * %x }, 1f64)\n}\n", derivative_of_power),
}
MOST_ORDERS = 8


def nested(function, order):
    return function + "def @main(%x: float64) { " + "grad(" * order + "@f" + ")" * order + "(%x) }"


def printed_number(line):
    return float(line.split("f64")[0].split("=")[-1].strip(" (,)"))


def run(baton, text, words, folder):
    (folder / "program.rly").write_text(HEADER + text + "\n")
    done = subprocess.run(
        [baton, "run", "program.rly", "--input", "x=1.25", *words], cwd=folder, check=True,
        capture_output=True, text=True, preexec_fn=lambda: limits.processor_time(20),
    )
    return done.stdout.splitlines()


def order_problems(baton, folder, name):
    function, derivative = FUNCTIONS[name]
    sizes = []
    for order in range(1, MOST_ORDERS + 1):
        wanted = derivative(order, 1.25)
        alone = function.replace("@f", "@main")
        for what, found in {
            f"--grad {order}": run(baton, alone, ["--grad", str(order)], folder)[-1],
            f"`grad` {order} times": run(baton, nested(function, order), [], folder)[0],
        }.items():
            if abs(printed_number(found) - wanted) > 1e-9 * abs(wanted):
                yield f"{name}: {what} gives {found}, not {wanted}"
        sizes.append(compiled(baton, nested(function, order), folder)[1])
    print(f"bytes by order of {name}:", sizes)
    # Of twice the order no more than the fourth power of two; each order twice as much is 16 too.
    for order in range(2, MOST_ORDERS // 2 + 1):
        if sizes[2 * order - 1] > 12 * sizes[order - 1]:
            yield f"{name}: order {2 * order} takes {sizes[2 * order - 1]} bytes, {order} {sizes[order - 1]}"


def tensor_problems(baton, folder):
    """Orders of the gradient of a recursion over tensors, as the code that runs."""
    (folder / "program.rly").write_text(HEADER + f"""
def @steps(%x: {TENSOR}, %n: int32) -> {TENSOR} {{
  if (%n == 0) {{ %x }} else {{ @steps(sin(%x) * %x, %n - 1) }}
}}
def @main(%x: {TENSOR}) {{ sum(@steps(%x, 5)) }}
""")
    sizes = []
    for order in range(1, MOST_ORDERS + 1):
        done = subprocess.run([baton, "opt", "program.rly", "--for=machine", "--grad", str(order)],
                              cwd=folder, check=True, capture_output=True,
                              preexec_fn=limits.processor_time)
        sizes.append(len(done.stdout))
    print("bytes by order of a recursion over tensors:", sizes)
    for order in range(2, MOST_ORDERS // 2 + 1):
        if sizes[2 * order - 1] > 12 * sizes[order - 1]:
            yield f"order {2 * order} over tensors takes {sizes[2 * order - 1]} bytes, {order} {sizes[order - 1]}"


def main():
    baton = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        problems = [problem for each in FUNCTIONS for problem in order_problems(baton, folder, each)]
        problems += tensor_problems(baton, folder)
        problems += growth_problems(baton, folder)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
