#!/usr/bin/env python3
"""What a recursion over a tensor holds: no state that nothing needs any more.

usage: lent_tensors_test.py BATON

States are tensors of 8 kB. Memory is the most that a process held, beyond what it held with one step.
"""
import os
import subprocess
import sys
import tempfile

from limits import processor_time

STATE, STEPS = 8000, 10000
HEADER = '#[version = "0.0.5"]\n'

PROGRAMS = {
    # The pull-back needs no state: it is linear.
    "gradient": """
def @steps(%n: int32, %x: Tensor[(2000), float32]) -> float32 {
  if (%n == 0) { sum(%x) } else { @steps(%n - 1, %x * 0.5f) }
}
def @main(%x: Tensor[(2000), float32], %n: int32) -> float32 { @steps(%n, %x) }
""",
    # It needs a shape, which another tensor has.
    "named_gradient": """
def @steps(%n: int32, %x: Tensor[(k), float32], %w: Tensor[(k), float32], %s: float32) -> float32 {
  if (%n == 0) { %s } else { @steps(%n - 1, %x * 0.5f, %w, sin(%s) + sum(%x + %w * %s)) }
}
def @main(%x: Tensor[(k), float32], %w: Tensor[(k), float32], %n: int32) -> float32 {
  @steps(%n, %x, %w, 0f)
}
""",
    # The call is not the last thing that is done.
    "recursion": """
def @steps(%n: int32, %x: Tensor[(2000), float32]) -> float32 {
  if (%n == 0) { sum(%x) } else { 1f + @steps(%n - 1, %x * 0.5f) }
}
def @main(%x: Tensor[(2000), float32], %n: int32) -> float32 { @steps(%n, %x) }
""",
    "branches": """
def @steps(%n: int32, %x: Tensor[(2000), float32]) -> float32 {
  if (%n == 0) { sum(%x) } else {
    let %y = %x * 0.5f;
    let %rest = if (%n < 3) { @steps(%n - 1, %y + %x) } else { @steps(%n - 1, %y) };
    1f + %rest
  }
}
def @main(%x: Tensor[(2000), float32], %n: int32) -> float32 { @steps(%n, %x) }
""",
}


def held(baton, program, steps, options):
    with tempfile.NamedTemporaryFile("w", suffix=".rly") as file:
        file.write(HEADER + program)
        file.flush()
        command = [baton, "run", file.name, "--random", "1", "--input", f"n={steps}", *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              preexec_fn=processor_time) as process:
            said = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit status {process.returncode}: {said.decode()}")
    return usage.ru_maxrss * 1024


def main():
    baton, problems = sys.argv[1], 0
    for name, program in PROGRAMS.items():
        options = ["--grad"] if "gradient" in name else []
        options += ["--dim", "k=2000"] if "named" in name else []
        # The interpreter empties variables of blocks around a branch behind it, and takes a kilobyte
        # for a pull-back of ten lines.
        for engine in ["vm"] if name in ["branches", "named_gradient"] else ["vm", "loops"]:
            run = options + ["--engine", engine]
            beyond = held(baton, program, STEPS, run) - held(baton, program, 1, run)
            # A pull-back takes some hundred bytes.
            if beyond > STEPS * STATE / 8:
                problems += 1
                print(f"{name} on {engine}: {beyond / STEPS:.0f} bytes for a step")
    print(f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
