#!/usr/bin/env python3
"""The pages of both notations against what Baton reads.

usage: syntax_test.py BATON ROOT

Each program in docs/syntax.md and docs/notation.md checks without a finding; one that ends in
`// => VALUE` gives that when it runs. Every token that the notation's lexer.re spells out stands in one
of them, so that no form of the language is left out, but for those that are told in words alone: what
is still to be written, which makes a program wrong, and what is kept for later.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

NOTATIONS = {
    "rly": ("docs/syntax.md", "parser/relay/lexer.re", set()),
    "baton": ("docs/notation.md", "parser/baton/lexer.re", set()),
}
VALUE = re.compile(r"^// => (.*)\n\Z", re.M)
TOKEN = re.compile(r'^ +"([^"\\]+)" \{ return [^}]*(?:Token::|named\()', re.M)


def bare(value):
    """A value as `baton run` shows it, without the comments and the layout."""
    return re.sub(r"\s+|/\*.*?\*/", "", value).replace(",)", ")")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def problems_of(baton, path, text):
    path.write_text(text)
    problems = []
    checked = run(baton, "check", str(path))
    if checked.returncode != 0 or checked.stderr:
        problems.append(f"{text}\nis no good program:\n{checked.stderr}")
    value = VALUE.search(text)
    if value:
        found = run(baton, "run", str(path))
        if bare(found.stdout) != bare(value[1]):
            problems.append(f"{text}\ngives\n{found.stdout}{found.stderr}")
    return problems


def problems_of_page(baton, root, notation):
    page, lexer, untold = NOTATIONS[notation]
    program = re.compile(rf"^```{notation}\n((?:(?!```).*\n)+?)```$", re.M)
    programs = program.findall((root / page).read_text())
    tokens = set(TOKEN.findall((root / lexer).read_text())) - untold
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for text in programs:
            problems += problems_of(baton, pathlib.Path(folder) / f"program.{notation}", text)
    written = "\n".join(programs)
    problems += [f"no program has `{token}`" for token in sorted(tokens) if token not in written]
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{page}: {len(programs)} programs, {len(tokens)} tokens, {len(problems)} problems")
    return bool(problems) or len(programs) < 8 or len(tokens) < 30


def main():
    baton, root = sys.argv[1], pathlib.Path(sys.argv[2])
    return 1 if any([problems_of_page(baton, root, notation) for notation in NOTATIONS]) else 0


if __name__ == "__main__":
    sys.exit(main())
