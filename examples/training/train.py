#!/usr/bin/env python3
"""Trains the programs beside this file and shows how they get on.

usage: train.py BATON digits|pictures|text|formulas [--rounds N] [--checkpoint PATH]

Each round runs @main of the program, which goes on from a checkpoint, the result of the round before,
and gives the next one, the mean loss, and but for text the accuracy on what it did not learn from.
With --checkpoint PATH.npz a later run goes on from where this one ended. The exit status is 0 when the
goal is reached:

  digits    a perceptron reads 95 % of the digits that were kept aside (the 8x8 ones of
            scikit-learn; `pip install numpy scikit-learn`)
  pictures  a small convolutional net reads 97 % of them
  text      an LSTM foresees the letters of the programs beside this file with a loss below 1.6
            (`pip install numpy`)
  formulas  a Tree-LSTM answers 95 % of random formulas right (`pip install numpy`)
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy

FOLDER = pathlib.Path(__file__).parent


def digits():
    from sklearn.datasets import load_digits

    data = load_digits()
    order = numpy.random.default_rng(0).permutation(len(data.target))
    images = (data.data[order] / 16).astype("float32")
    labels = data.target[order].astype("int32")
    return {"images": images[:1440], "labels": labels[:1440],
            "held_images": images[1440:], "held_labels": labels[1440:]}


def text():
    letters = "".join(path.read_text() for path in sorted(FOLDER.glob("*.rly")))
    return {"text": numpy.array([min(ord(letter), 127) for letter in letters], dtype="int32")}


TASKS = {
    "digits": ("perceptron.rly", digits, 20, lambda loss, accuracy: accuracy >= 0.95),
    "pictures": ("convolution.rly", digits, 16, lambda loss, accuracy: accuracy >= 0.97),
    "text": ("lstm.rly", text, 20, lambda loss: loss < 1.6),
    "formulas": ("tree_lstm.rly", dict, 20, lambda loss, accuracy: accuracy >= 0.95),
}


def run(baton, program, checkpoint, *options):
    """Runs a program, whose result becomes the checkpoint."""
    subprocess.run([baton, "run", program, *options, "--output", checkpoint], check=True,
                   stdout=subprocess.DEVNULL)


def train(baton, task, rounds, checkpoint, folder):
    name, data, usual, is_reached = TASKS[task]
    program = FOLDER / name
    weights = "reader" if task == "text" else "net"
    # The first parts of each result are what the next round begins with.
    inputs = [word for i, part in enumerate([weights, "state", "key"])
              for word in ("--input", f"{part}={checkpoint}:out.{i}")]
    if made := data():
        numpy.savez(folder / "data.npz", **made)
        inputs += ["--input", folder / "data.npz"]
    if not checkpoint.exists():
        run(baton, program, checkpoint, "--entry", "start", "--input", "key=seed:1")
    shown = []
    for number in range(1, (rounds or usual) + 1):
        run(baton, program, checkpoint, *inputs)
        with numpy.load(checkpoint) as results:
            shown = [float(results[key]) for key in ("out.3", "out.4") if key in results]
        words = [f"{word} {value:.4f}" for word, value in zip(["loss", "accuracy"], shown)]
        print(f"{task}: round {number:3}   {'   '.join(words)}", flush=True)
    return is_reached(*shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("baton")
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--checkpoint", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        checkpoint = options.checkpoint or folder / "checkpoint.npz"
        is_reached = train(options.baton, options.task, options.rounds, checkpoint, folder)
    return 0 if is_reached else 1


if __name__ == "__main__":
    sys.exit(main())
