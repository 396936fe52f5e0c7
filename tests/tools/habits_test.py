#!/usr/bin/env python3
"""The page of habits: what people write who come from other languages, and what Baton says.

usage: habits_test.py BATON ROOT [--accept]

The rows are the programs of tests/golden/habits, each of one habit, in groups by the first word of
their names. A row shows the line with the habit, what Baton says of it, and the line after the
change that is suggested, if one is. Where docs/habits.md says something else, the test fails;
`--accept` writes it anew.
"""
import argparse
import json
import pathlib
import subprocess
import sys

import limits
import suggestions_test

HEAD = """# Habits of other languages

Who comes from Python, OCaml, Rust or C writes things that mean something there. Baton knows these, says
what is written here, and shows the change where it is certain. This page is made from tests, so it says
what Baton says: `tests/tools/habits_test.py --accept` writes it.
"""
RELAY = """
In [Relay's text](syntax.md), whose names have sigils and whose operators have no other names, Baton
says:
"""
TITLES = {
    "comment": "Comments",
    "definition": "Definitions",
    "import": "Imports",
    "type": "Types",
    "statement": "Statements",
    "function": "Functions as values",
    "choice": "Choices and matches",
    "operator": "Operators",
    "number": "Numbers",
    "call": "Calls and records",
    "method": "Methods of tensors",
    "library": "Other libraries",
    "index": "Brackets behind a value",
    "text": "Texts",
    "name": "Names",
    "mark": "Marks of keyboards",
}


def code(text):
    """Code in a cell of a table."""
    quote = "``" if "`" in text else "`"
    inner = text.replace("|", "\\|").replace("\t", "⇥")
    return f"{quote} {inner} {quote}" if "`" in text else f"{quote}{inner}{quote}"


def changed_lines(before, after):
    """The lines of a text that are others after a change, in one."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        old.pop(0), new.pop(0)
    while old and new and old[-1] == new[-1]:
        old.pop(), new.pop()
    return [line.strip() for line in new if line.strip()]


def row(baton, path):
    text = path.read_bytes()
    result = subprocess.run(
        [baton, "check", "--json", path.name],
        capture_output=True,
        cwd=path.parent,
        preexec_fn=limits.processor_time,
    )
    found = json.loads(result.stdout)["diagnostics"]
    if not found:
        return f"{path.name}: nothing is said of it", None
    first = found[0]
    line = text.decode().splitlines()[first["line"] - 1].strip()
    says = first["message"]
    for note in first.get("notes", [])[:1]:
        says += "; " + note
    becomes = ""
    if first.get("suggestions"):
        after = suggestions_test.edited(text, first["suggestions"][0]["edits"]).decode()
        becomes = "<br>".join(map(code, changed_lines(text.decode(), after))) or "nothing"
    errors = sum(item["severity"] == "error" for item in found)
    problem = f"{path.name}: {errors} errors for one habit" if errors > 1 else None
    return problem, f"| {code(line)} | {says.replace('|', chr(92) + '|')} | {becomes} |"


def table(baton, paths, problems):
    rows = []
    for path in paths:
        problem, line = row(baton, path)
        problems += [problem] if problem else []
        rows += [line] if line else []
    return "\n| You write | Baton says | It becomes |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def page(baton, folder, problems):
    text = HEAD
    own, relay = sorted(folder.glob("*.baton")), sorted(folder.glob("*.rly"))
    for group, title in TITLES.items():
        paths = [path for path in own if path.name.startswith(group + "_")]
        if paths:
            text += f"\n## {title}\n" + table(baton, paths, problems)
    left = [path.name for path in own if path.name.split("_")[0] not in TITLES]
    problems += [f"{name}: is of no group" for name in left]
    return text + "\n## Relay's text\n" + RELAY + table(baton, relay, problems)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--accept", action="store_true")
    options = parser.parse_args()
    problems = []
    text = page(str(pathlib.Path(options.baton).resolve()), options.root / "tests/golden/habits", problems)
    kept = options.root / "docs/habits.md"
    if options.accept:
        kept.write_text(text)
    elif not kept.exists() or kept.read_text() != text:
        problems.append("docs/habits.md says something else; --accept writes it anew")
    print("\n".join(problems) or "the page of habits is true")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
