#!/usr/bin/env python3
"""The programs of the repository: the examples run and say what they should, also after
passes, those that train do a round, and the seeds of the mutation test are good programs.

usage: examples_test.py BATON ROOT
"""
import pathlib
import subprocess
import sys
import tempfile

# What the output must hold, line by line, in this order; blanks count as one.
EXPECTED = {
    "hello.rly": ["14f", "3.5f", "0.875f", "0.21875f", "0.0546875f", "0.013671875f", "2.90625f", "Nil"],
    "hello.baton": ["14.0", "3.5", "0.875", "0.21875", "0.0546875", "0.013671875", "2.90625"],
    "mlp.baton": ["0.4379", "0.4386", "0.4620", "0.6185", "[0, 1, 0, 0]"],
    "sizes.baton": ["2.0, 3.0, 0.5", "4.0, 5.0, 0.5"],
    "dialect.rly": ["[4f, 4f]", "[16f, 16f]"],
    "lists.baton": ["list(1, 2, 5, 7, 9)", "3"],
}

# Sizes that the programs in examples/training leave open.
TRAINING = {"perceptron": ["k=9"], "convolution": ["k=9"], "lstm": ["n=99"], "tree_lstm": []}


def call(problems, *command, given=None):
    done = subprocess.run(command, input=given, capture_output=True, text=True)
    if done.returncode != 0:
        problems.append(f"{' '.join(command[1:])}: exit status {done.returncode}\n{done.stderr}")
    return done.stdout


def check_order(problems, name, output, parts):
    output = " ".join(output.split())
    at = 0
    for part in parts:
        found = output.find(part, at)
        if found < 0:
            problems.append(f"{name}: `{part}` is missing in, or at the wrong place of\n{output}")
            return
        at = found + len(part)


def check_passes(problems, baton, path, output):
    """Each pass alone, and all of them, keep what the program says, by an engine that adds up in order."""
    passes = call(problems, baton, "passes").split("\n\n")[0]
    names = [line.split()[0] for line in passes.splitlines()]
    for passes in [*names, ",".join(names)]:
        text = call(problems, baton, "opt", str(path), "--passes=" + passes, "--verify")
        after = call(problems, baton, "run", "-", "--random", "42", "--engine", "interp", given=text)
        if after != output:
            problems.append(f"{path.stem}: after {passes} it says\n{after}instead of\n{output}")


def check_checkpoint(problems, baton, folder):
    """What one program learned another one reads, also as executables."""
    texts = [str(folder / f"{name}.baton") for name in ("train", "evaluate")]
    with tempfile.TemporaryDirectory() as made:
        executables = [f"{made}/{name}.bvm" for name in ("train", "evaluate")]
        for text, executable in zip(texts, executables):
            call(problems, baton, "compile", text, "-o", executable)
        for train, evaluate in texts, executables:
            weights = f"{made}/points.npz"
            given = ["--seed", "1", "--input", "epochs=200", "--save", f"params={weights}"]
            done = subprocess.run([baton, "run", train, *given], capture_output=True, text=True)
            check_order(problems, train, done.stderr, ["epoch 50: loss", "epoch 200: loss 0.0"])
            found = call(problems, baton, "run", evaluate, "--input", f"p={weights}", "--seed", "2")
            if not found.startswith("0.9"):
                problems.append(f"{evaluate}: {found} of the points are told right")
            fixed = call(problems, baton, "run", texts[1], "--input", f"p={weights}", "--seed", "2", "--fix", "p*")
            # An executable shows values in Relay's text, whose floats end in a letter.
            if fixed.strip() != found.strip().rstrip("f"):
                problems.append(f"{evaluate}: with fixed weights {fixed} instead of {found}")


def main():
    baton, root = sys.argv[1], pathlib.Path(sys.argv[2])
    problems = []
    seeds = sorted(map(str, (root / "tests/seeds").glob("*.rly")))
    call(problems, baton, "check", *seeds)
    examples = sorted(path for path in (root / "examples").iterdir() if path.is_file())
    if {path.name for path in examples} != EXPECTED.keys():
        problems.append("the examples and the list of what they say differ")
    for path in examples:
        output = call(problems, baton, "run", str(path), "--random", "42")
        check_order(problems, path.name, output, EXPECTED.get(path.name, []))
        text = call(problems, baton, "print", str(path))
        exact = call(problems, baton, "run", "-", "--random", "42", "--engine", "interp", given=text)
        check_passes(problems, baton, path, exact)
    training = sorted((root / "examples/training").glob("*.rly"))
    if {path.stem for path in training} != TRAINING.keys():
        problems.append("the programs that train and the list of their sizes differ")
    for path in training:
        sizes = [word for size in TRAINING.get(path.stem, []) for word in ("--dim", size)]
        call(problems, baton, "run", str(path), "--random", "42", "--entry", "start")
        call(problems, baton, "run", str(path), "--random", "42", *sizes)
    check_checkpoint(problems, baton, root / "examples/points")
    for problem in problems:
        print(problem)
    print(f"{len(seeds)} seeds, {len(examples) + len(training)} examples, {len(problems)} problems")
    return 1 if problems or not seeds else 0


if __name__ == "__main__":
    sys.exit(main())
