#!/usr/bin/env python3
"""Every suggestion that Baton makes, followed to the letter.

usage: suggestions_test.py BATON ROOT

The wrong programs are the cases of tests/mistakes, the programs of tests/golden, and those of
docs/messages. For each suggestion of `baton check --json` its edits are made in the text. The
finding must be gone then, and whatever is still found must be what was found before: as many
findings of each code as before at most, and fewer errors in all. A program with one error must be
free of errors. `// later: CODE` in a program allows for an error of another definition, which comes
to light only when the names of the program are known.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import limits

LATER = re.compile(rb"// later: ([\w-]+)")
CASE = re.compile(r"^// case: (.*)$", re.M)
WRONG = re.compile(r"## Wrong\n\n```(rly|baton)\n((?:(?!```).*\n)+?)```")


def programs(root):
    """Name, notation and text of each program."""
    for path in sorted((root / "tests/mistakes").glob("*.rly")):
        _, *parts = CASE.split(path.read_text())
        for title, text in zip(parts[::2], parts[1::2]):
            yield f"{path.name}: {title}", "rly", text.lstrip("\n")
    for notation in "rly", "baton":
        for path in sorted((root / "tests/golden").rglob("*." + notation)):
            yield str(path.relative_to(root)), notation, path.read_text()
    for path in sorted((root / "docs/messages").glob("*.md")):
        for notation, text in WRONG.findall(path.read_text()):
            yield path.name, notation, text


def findings(baton, path, text):
    """What `baton check` finds in a text."""
    path.write_bytes(text)
    result = subprocess.run(
        [baton, "check", "--json", str(path)],
        capture_output=True,
        preexec_fn=limits.processor_time,
    )
    return json.loads(result.stdout)["diagnostics"]


def offset(lines, line, column):
    return sum(len(before) for before in lines[: line - 1]) + column - 1


def edited(text, edits):
    """A text after edits, which are in the order of their places."""
    lines = text.splitlines(keepends=True) or [b""]
    result, place = b"", 0
    for edit in edits:
        begin = offset(lines, edit["line"], edit["column"])
        end = offset(lines, edit["endLine"], edit["endColumn"])
        if begin < place or end < begin:
            raise ValueError("edits overlap")
        result += text[place:begin] + edit["text"].encode()
        place = end
    return result + text[place:]


def errors(found):
    return [item for item in found if item["severity"] == "error"]


def problems_of(baton, name, notation, text):
    """The suggestions of one program that do not help, and how many there are."""
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"program.{notation}"
        before = findings(baton, path, text)
        for item in before:
            for suggestion in item.get("suggestions", []):
                count += 1
                after = findings(baton, path, edited(text, suggestion["edits"]))
                more = collections.Counter(x["code"] for x in errors(after))
                later = [code.decode() for code in LATER.findall(text)]
                more.subtract([*(x["code"] for x in errors(before)), *later])
                wanted = len(errors(before)) - (item["severity"] == "error") + len(later)
                if len(errors(after)) > wanted or any(n > 0 for n in more.values()):
                    found = "; ".join(x["message"] for x in errors(after))
                    problems.append(f"{name}\n  after: {suggestion['message']}\n  still: {found}")
    return problems, count


def main():
    parser = argparse.ArgumentParser(description="Follows every suggestion.")
    parser.add_argument("baton", type=lambda word: str(pathlib.Path(word).resolve()))
    parser.add_argument("root", type=pathlib.Path)
    options = parser.parse_args()
    cases = list(programs(options.root))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(
            pool.map(lambda case: problems_of(options.baton, *case[:2], case[2].encode()), cases)
        )
    problems = [problem for found, _ in answers for problem in found]
    count = sum(number for _, number in answers)
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(cases)} programs, {count} suggestions, {len(problems)} that do not help")
    return 1 if problems or count < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
