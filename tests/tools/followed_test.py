#!/usr/bin/env python3
"""Derivatives that somebody follows are those that PyTorch finds.

usage: followed_test.py BATON FOLDER

Each program of FOLDER becomes one that asks for the gradient of the sum of all floats that its
`@main` gives, with respect to the inputs of which expected.json has gradients. It is run with
`--trace-only`, for which derivatives are written in another way than for a usual run. Programs
whose derivative no run has are left out.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import gradient_test

LEAST = 150


def wrapped(text, names):
    """The program, with the gradient of its `@main` as its result."""
    head = re.search(r"def @main(\[[^\]]*\])?\(", text)
    end, depth = head.end(), 1
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    parameters = text[head.end() : end - 1]
    inputs = re.findall(r"%(\w+)\s*:", parameters)
    given = ", ".join(f"%{name}" for name in inputs)
    chosen = ", ".join(str(inputs.index(name)) for name in names)
    added = "fn (%leaf: float64) -> float64 { sum(%leaf) }"
    inner = re.sub(r"@main\b", "@inner", text)
    return (
        f"{inner}\ndef @main{head[1] or ''}({parameters}) {{\n"
        f"  let %sum = fn ({parameters}) {{ sum_leaves({added}, @inner({given})) }};\n"
        f"  grad(%sum, wrt=[{chosen}])({given})\n}}\n"
    )


def run(baton, path, words, output):
    command = [baton, "run", "--allow", "shadowed-local", path, *words, "--output", output]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    baton, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    answers = json.loads((folder / "expected.json").read_text())
    compared, problems = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        path, output = scratch / "followed.rly", scratch / "output.json"
        for name, answer in answers.items():
            wanted = answer.get("grad", {})
            path.write_text(wrapped((folder / f"{name}.rly").read_text(), wanted))
            words = gradient_test.inputs(answer, scratch)
            if not wanted or run(baton, path, words, output).returncode != 0:
                continue
            ran = run(baton, path, [*words, "--trace-only", "nothing"], output)
            compared += 1
            if ran.returncode != 0:
                problems.append(f"{name}: {ran.stderr}")
                continue
            found = gradient_test.tensors(json.loads(output.read_text())["out"])
            wrong = gradient_test.difference("the gradient", found, list(wanted.values()))
            if wrong:
                problems.append(f"{name}: {wrong}")
    if compared < LEAST:
        problems.append(f"only {compared} programs were compared")
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{compared} programs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
