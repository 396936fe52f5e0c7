#!/usr/bin/env python3
"""Memory that runs out, at every point of a run: always a diagnostic and an exit status of Baton.

usage: memory_test.py BATON

Each program is run again and again with a little more address space, from too little to begin with
to enough to end.
"""
import os
import resource
import subprocess
import sys
import tempfile

from limits import processor_time

HEADER = '#[version = "0.0.5"]\n'

PROGRAMS = {
    "list": """
def @up(%n: int32, %t: List[int32]) -> List[int32] {
  if (%n == 0) { %t } else { @up(%n - 1, Cons(%n, %t)) }
}
def @main() { @up(100000, Nil) }
""",
    "deep": """
def @count(%n: int32) -> int32 { if (%n == 0) { 0 } else { 1 + @count(%n - 1) } }
def @main() { @count(100000) }
""",
    "tree": """
def @grow(%n: int32) -> Tree[int32] {
  if (%n == 0) { Rose(%n, Nil) } else { Rose(%n, Cons(@grow(%n - 1), Cons(@grow(%n - 1), Nil))) }
}
def @main() { @grow(13) }
""",
    "closures": """
def @compose(%n: int32, %f: fn (int32) -> int32) -> fn (int32) -> int32 {
  if (%n == 0) { %f } else { @compose(%n - 1, fn (%x: int32) -> int32 { %f(%x + 1) }) }
}
def @main() { let %f = @compose(30000, fn (%x: int32) -> int32 { %x }); %f(0) }
""",
    "cycles": """
def @loop(%n: int32) -> int32 {
  if (%n == 0) { 0 } else {
    let %big = zeros(shape=[250000], dtype="float32");
    let %cell = ref(fn () -> Tensor[(250000), float32] { %big });
    let %old = ref_read(%cell);
    ref_write(%cell, fn () -> Tensor[(250000), float32] { let %same = ref_read(%cell); %old() });
    @loop(%n - 1)
  }
}
def @main() { @loop(300) }
""",
    "doubling": """
def @double(%n: int32, %x: Tensor[(?), float32]) -> Tensor[(?), float32] {
  if (%n == 0) { %x } else { @double(%n - 1, concatenate((%x, %x))) }
}
def @main() { @double(26, [1f]) }
""",
    "wide": """
def @main() {
  let %x = ones(shape=[1000, 1000], dtype="float32");
  (nn.dense(%x, %x, units=1000), nn.softmax(%x), sum(%x, axis=[0]), transpose(%x, axes=None))
}
""",
    "digits": """
def @main() { sum(exp(ones(shape=[100000], dtype="float32"))) }
""",
    "fold": """
def @main() { @foldl(fn (%a: int32, %b: int32) -> int32 { %a + %b }, 0, @numbers(20000, Nil)) }
def @numbers(%n: int32, %t: List[int32]) -> List[int32] {
  if (%n == 0) { %t } else { @numbers(%n - 1, Cons(%n, %t)) }
}
""",
    "sorting": """
def @main() {
  let %x = cast(arange(0f, 300000f, 1f, dtype="float32"), dtype="float32");
  (topk(%x, k=1000, ret_type="both"), argsort(%x), cumsum(%x, axis=0), sort(%x))
}
""",
    "long": "def @main(%x: float32) {\n"
    + "".join(f"  let %v{i} = add(%{'x' if i == 0 else f'v{i - 1}'}, 1f);\n" for i in range(20000))
    + "  %v19999\n}\n",
    "literal": "def @main() { [" + ", ".join(["1.5f"] * 100000) + "] }\n",
    "ill-typed": "def @main(%x: Tensor[(3), float32]) {\n"
    + "".join(f"  let %v{i} = reshape(%x, newshape=[{i + 4}]);\n" for i in range(2000))
    + "  %x\n}\n",
}

COMMANDS = {
    "digits": ["--precision", "200"],
    "long": ["--random", "1"],
    # The machine collects them.
    "cycles": ["--engine", "loops"],
}
# In parts of the program's own file, without room for which the system cannot even begin it.
LIMITS = [1.02 * 1.2**step for step in range(26)]
# Somewhere here what is set up before `main` has no room, which is the same for all programs.
SETUP_LIMITS = [int(15e6 + 0.25e6 * step) for step in range(40)]


def run(baton, folder, name, limit):
    def bind():
        processor_time(60)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    command = [baton, "run", os.path.join(folder, name + ".rly")] + COMMANDS.get(name, [])
    done = subprocess.run(command, capture_output=True, preexec_fn=bind)
    says = done.stderr.decode(errors="replace")
    # 127 is the loader's: there is no room for the program itself.
    if name == "cycles" and done.returncode == 0 and "lead back to themselves" not in says:
        return 0, f"{name}: nothing is said of what the references hold"
    if done.returncode in (0, 127) or (done.returncode in (1, 2) and "error" in says):
        return done.returncode, None
    return done.returncode, f"{name} with {limit} bytes: exit status {done.returncode}\n{says[-2000:]}"


def main():
    baton = sys.argv[1]
    seen, problems = set(), []
    limits = [int(os.path.getsize(baton) * part) for part in LIMITS]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PROGRAMS.items():
            with open(os.path.join(folder, name + ".rly"), "w") as file:
                file.write(HEADER + text)
        for name in PROGRAMS:
            for limit in limits + (SETUP_LIMITS if name == "list" else []):
                status, problem = run(baton, folder, name, limit)
                seen.add((name, status))
                if problem:
                    problems.append(problem)
            if not {(name, 0), (name, 1)} & seen:
                problems.append(f"{name}: never had enough memory")
            if (name, 2) not in seen:
                problems.append(f"{name}: never ran out of memory")
    for problem in problems:
        print(problem)
    print(f"{len(PROGRAMS)} programs with {len(LIMITS)} limits, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
