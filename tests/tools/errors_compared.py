#!/usr/bin/env python3
"""Writes docs/errors-compared.md: one mistake, three messages.

usage: errors_compared.py [--check] [--document docs/errors-compared.md]

Baton's messages are those of tests/golden/shapes. Those of PyTorch and JAX are asked for where both
can be imported, and else kept from the document, whose opening says which versions were asked.
--check writes nothing and fails when the document is not what it would write without the two.
"""
import argparse
import pathlib
import re
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from errors_compared_cases import CASES, OPENING  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "shapes"
LONGEST = 12
NO_ERROR = "(no error"


def said(expression, names):
    """What evaluating the expression says: the exception's text, or that there is none."""
    if expression is None:
        return "(cannot be asked)"
    try:
        value = eval(expression, names)  # Of our own table.
    except Exception as error:  # Whatever the library throws is what we want to see.
        kind = type(error)
        lines = f"{kind.__name__}: {error}".splitlines()
        cut = [] if len(lines) <= LONGEST else ["..."]
        return "\n".join(line.rstrip() for line in lines[:LONGEST] + cut).rstrip()
    fields = value if isinstance(value, (tuple, list)) else [value]
    shapes = ", ".join(f"{tuple(field.shape)} of {field.dtype}" for field in fields)
    return f"{NO_ERROR}; the result is {shapes})"


def ask_peers():
    """The messages of both libraries by case and their versions, or nothing without them."""
    try:
        import jax
        import torch
    except ImportError:
        return None
    warnings.simplefilter("ignore")
    jax.config.update("jax_platforms", "cpu")
    torch_names = {"torch": torch, "F": torch.nn.functional}
    jax_names = {"jax": jax, "jnp": jax.numpy, "lax": jax.lax}
    messages = {
        case.name: (said(case.torch, torch_names), said(case.jax, jax_names)) for case in CASES
    }
    return messages, f"PyTorch {torch.__version__.split('+')[0]} and JAX {jax.__version__}"


def kept_peers(text):
    """The messages and versions that the document holds."""
    messages = {}
    for section in text.split("\n## ")[1:]:
        name = re.search(r"tests/golden/shapes/(\w+)\.rly", section)
        blocks = re.findall(r"```text\n(.*?)\n```", section, re.DOTALL)
        if name and len(blocks) >= 2:
            messages[name.group(1)] = (blocks[0], blocks[1])
    versions = re.search(r"\bPyTorch \S+ and JAX [\d.]*\d", text)
    return messages, versions.group(0) if versions else "PyTorch and JAX"


def baton_says(name):
    """The golden text of a case, without the summary line and the exit code."""
    lines = (GOLDEN / f"{name}.out").read_text().splitlines()
    return "\n".join(lines[:-2]).rstrip()


def asked(library, expression):
    return f"{library}, `{expression}`:" if expression else f"{library}:"


def section(case, peers):
    torch_says, jax_says = peers.get(case.name, ("(not asked)", "(not asked)"))
    return f"""## {case.title}

{case.text}

{asked("PyTorch", case.torch)}

```text
{torch_says}
```

{asked("JAX", case.jax)}

```text
{jax_says}
```

Baton, [{case.name}.rly](../tests/golden/shapes/{case.name}.rly):

```text
{baton_says(case.name)}
```
"""


def document(peers, versions):
    torch_passes, jax_passes = (
        sum(says[i].startswith(NO_ERROR) for says in peers.values()) for i in (0, 1)
    )
    parts = [
        OPENING.format(
            versions=versions,
            count=len(CASES),
            torch_passes=torch_passes,
            jax_passes=jax_passes,
        )
    ]
    parts += [section(case, peers) for case in CASES]
    return "\n".join(parts)


def main():
    parser = argparse.ArgumentParser(description="Compares messages for the same mistakes.")
    parser.add_argument("--check", action="store_true")
    parser.add_argument(
        "--document", type=pathlib.Path, default=ROOT / "docs" / "errors-compared.md"
    )
    options = parser.parse_args()
    before = options.document.read_text() if options.document.exists() else ""
    peers, versions = (not options.check and ask_peers()) or kept_peers(before)
    text = document(peers, versions)
    if options.check:
        same = text == before
        print("the document is as it should be" if same else "run errors_compared.py again")
        return 0 if same else 1
    options.document.write_text(text)
    print(f"wrote {len(CASES)} cases with {versions}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
