#!/usr/bin/env python3
"""What the gradient of a loop holds: all states, or with segments about the root of as many.

usage: checkpoint_test.py BATON

States are tensors of 4096 floats, so memory is counted in them: the most that a process held,
beyond what it held with one step. LLVM, which kernels that run long would open, holds as much as
4,000 of them, so there is no native code.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

STATE = 4096 * 4
PROGRAM = """#[version = "0.0.5"]
def @step(%s: Tensor[(4096), float32], %w: Tensor[(4096), float32]) { sin(%s * %w) + %s }

def @plain(%x: Tensor[(4096), float32], %w: Tensor[(4096), float32], %n: int32) -> float32 {
  sum(@loop(0, %n, fn (%i: int32, %s: Tensor[(4096), float32]) { @step(%s, %w) }, %x))
}

def @segments(%x: Tensor[(4096), float32], %w: Tensor[(4096), float32], %n: int32) -> float32 {
  sum(@checkpointed_loop(0, %n, fn (%i: int32, %s: Tensor[(4096), float32]) { @step(%s, %w) }, %x))
}

def @steps(%n: int32, %x: Tensor[(4096), float32], %w: Tensor[(4096), float32])
    -> Tensor[(4096), float32] {
  if (%n == 0) { %x } else { @steps(%n - 1, @step(%x, %w), %w) }
}

def @hundreds(%n: int32, %x: Tensor[(4096), float32], %w: Tensor[(4096), float32])
    -> Tensor[(4096), float32] {
  let %hundred = checkpoint(fn (%s: Tensor[(4096), float32], %v: Tensor[(4096), float32]) {
    @steps(100, %s, %v)
  });
  if (%n == 0) { %x } else { @hundreds(%n - 1, %hundred(%x, %w), %w) }
}

def @by_hand(%x: Tensor[(4096), float32], %w: Tensor[(4096), float32], %n: int32) -> float32 {
  sum(@hundreds(%n / 100, %x, %w))
}
"""


def states(baton, program, entry, steps):
    """The states that the gradient held at most, about, and what it gave."""
    command = [baton, "run", program, "--entry", entry, "--input", f"n={steps}", "--grad",
               "--random", "1", "--engine", "vm"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{entry} of {steps} steps: exit status {process.returncode}")
    return usage.ru_maxrss * 1024 / STATE, out


def main():
    baton, problems = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "loops.rly")
        program.write_text(PROGRAM)
        # Steps, and the fewest and the most states that may be held.
        for entry, steps, least, most in [
            ("plain", 1000, 1000, 3000),
            ("plain", 4000, 4000, 12000),
            ("segments", 2500, 0, 300),
            ("segments", 10000, 0, 600),
            ("by_hand", 10000, 0, 600),
        ]:
            held = states(baton, program, entry, steps)[0] - states(baton, program, entry, 1)[0]
            if not least <= held <= most:
                problems += 1
                print(f"{entry}: {held:.0f} states for {steps} steps, not {least} to {most}")
        first = {states(baton, program, entry, 400)[1] for entry in ("plain", "by_hand")}
        if len(first) != 1:
            problems += 1
            print("gradients by blocks are others")
    print(f"{problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
