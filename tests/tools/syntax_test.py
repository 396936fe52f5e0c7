#!/usr/bin/env python3
"""The page of the syntax against what Baton reads.

usage: syntax_test.py BATON ROOT

Each program in docs/syntax.md checks without a finding; one that ends in `// => VALUE` gives that
when it runs. Every token that parser/relay/lexer.re spells out stands in one of them, so that no form of
the language is left out. `_` as an expression, which makes a program wrong, is told in words alone.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAM = re.compile(r"^```rly\n((?:(?!```).*\n)+?)```$", re.M)
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


def main():
    baton, root = sys.argv[1], pathlib.Path(sys.argv[2])
    programs = PROGRAM.findall((root / "docs/syntax.md").read_text())
    tokens = TOKEN.findall((root / "parser/relay/lexer.re").read_text())
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for text in programs:
            problems += problems_of(baton, pathlib.Path(folder) / "program.rly", text)
    written = "\n".join(programs)
    problems += [f"no program has `{token}`" for token in tokens if token not in written]
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(programs)} programs, {len(tokens)} tokens, {len(problems)} problems")
    return 1 if problems or len(programs) < 10 or len(tokens) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
