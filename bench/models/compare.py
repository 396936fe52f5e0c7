#!/usr/bin/env python3
"""Ten models in Baton beside PyTorch and JAX, as the page docs/models-compared.md.

usage: compare.py [ROOT] > docs/models-compared.md
       compare.py ROOT --check    (whether the page is what this writes; exit status 1 if not)

Lines are those with code, imports among them; characters those of the lines without the blanks in front.
"""
import pathlib
import re
import sys

MODELS = {
    "linear_regression": "Linear regression, by descent",
    "perceptron": "A perceptron and its training",
    "convolution": "A convolutional net and its training in batches",
    "lstm": "An LSTM over a list",
    "tree_lstm": "A tree LSTM",
    "attention": "Attention of several heads",
    "transformer": "A transformer's encoder of N layers",
    "interpreter": "An interpreter of expressions",
    "nbody": "Bodies that attract each other, and sorting",
    "gcn": "A graph convolution, and beam search",
}
PEERS = {"_torch.py": "PyTorch", "_jax.py": "JAX", ".ml": "OCaml"}
COMMENTS = {".py": r"#.*$", ".ml": r"\(\*.*?\*\)", ".baton": r"//.*$"}
LANGUAGES = {".py": "python", ".ml": "ocaml", ".baton": ""}

HEAD = """# Ten models compared

Baton beside what people would write elsewhere: PyTorch with its modules, JAX by itself or with Flax and Optax, OCaml
for the interpreter. Each says the same: the model, how its weights are made at first, and its training where the title
says so; `Mlp.init(key)` makes weights by their types, so nothing is written for that. `python3
bench/models/compare.py` writes this page, from `examples/models` and `bench/models`. Lines are those with code, types
and imports among them, characters those of the lines without indentation; the last two columns are Baton's over those of
the shortest other one.
`baton test examples/models/tests.baton` holds what Baton's models give against numpy
(`bench/models/reference.py`).

"""


def code_of(path):
    """The lines with code, without comments and indentation."""
    text = re.sub(COMMENTS[path.suffix], "", path.read_text(), flags=re.M)
    return [line.strip() for line in text.splitlines() if line.strip()]


def size_of(path):
    lines = code_of(path)
    return len(lines), sum(map(len, lines))


def peers_of(root, model):
    paths = {name: root / "bench/models" / (model + suffix) for suffix, name in PEERS.items()}
    return {name: path for name, path in paths.items() if path.exists()}


def block(path):
    return f"```{LANGUAGES[path.suffix]}\n{path.read_text().strip()}\n```\n"


def page(root):
    rows = ["| model | Baton | PyTorch | JAX | OCaml | lines | characters |",
            "|---|---|---|---|---|---|---|"]
    parts = []
    for model, title in MODELS.items():
        own, peers = root / f"examples/models/{model}.baton", peers_of(root, model)
        sizes = {name: size_of(path) for name, path in peers.items()}
        lines, letters = size_of(own)
        cells = ["{} / {}".format(*sizes[name]) if name in sizes else "" for name in PEERS.values()]
        fewest = [min(each[i] for each in sizes.values()) for i in (0, 1)]
        rows.append(f"| {title} | {lines} / {letters} | {' | '.join(cells)} "
                    f"| {lines / fewest[0]:.2f} | {letters / fewest[1]:.2f} |")
        parts.append(f"## {title}\n\nBaton:\n\n{block(own)}")
        parts += [f"{name}:\n\n{block(path)}" for name, path in peers.items()]
    return HEAD + "\n".join(rows) + "\n\n" + "\n".join(parts)


def main():
    arguments = [each for each in sys.argv[1:] if each != "--check"]
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).parents[2]
    text = page(root)
    if "--check" not in sys.argv:
        sys.stdout.write(text)
        return 0
    isSame = (root / "docs/models-compared.md").read_text() == text
    print("the page is up to date" if isSame else "docs/models-compared.md differs; write it anew")
    return 0 if isSame else 1


if __name__ == "__main__":
    sys.exit(main())
