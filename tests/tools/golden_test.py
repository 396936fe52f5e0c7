#!/usr/bin/env python3
"""What Baton says of small programs, word for word.

usage: golden_test.py BATON FOLDER [--accept]

Each NAME.rly and NAME.baton in FOLDER or below it, each text of an executable NAME.bvt, and each kernel NAME.nest
has its expected text beside it in NAME.out: standard output,
then standard error, then the exit code as the line `exit N`. The first line of the program may
name the command, `// baton run --random 42`, in a kernel behind `#`; without it, it is `baton check`. The file is named
last, and the command runs in the file's folder, so that no path of a machine gets into the text.
Standard input is NAME.in, if there is one.
--accept writes what is said now into the .out files and removes those without a program.
"""
import argparse
import difflib
import os
import pathlib
import shlex
import subprocess
import sys

import limits

MARKS = ("// baton ", "# baton ")
SUFFIXES = (".rly", ".baton", ".bvt", ".nest")


def command_of(case):
    """The words after `baton` that the first line of a program asks for."""
    lines = case.read_text().splitlines()
    for mark in MARKS:
        if lines and lines[0].startswith(mark):
            return shlex.split(lines[0][len(mark) :])
    return ["check"]


def readable(output):
    """Bytes as text that ends with its last line, whatever they are."""
    text = output.decode(errors="backslashreplace")
    return text if not text or text.endswith("\n") else text + "\n"


def said(baton, case):
    """The text for the .out file of a case."""
    given = case.with_suffix(".in")
    result = subprocess.run(
        [baton, *command_of(case), case.name],
        cwd=case.parent,
        input=given.read_bytes() if given.exists() else b"",
        capture_output=True,
        preexec_fn=limits.processor_time,
    )
    return f"{readable(result.stdout)}{readable(result.stderr)}exit {result.returncode}\n"


def problem_of(baton, case):
    """How a case differs from its .out file, as a diff or a sentence; empty when it does not."""
    found = said(baton, case)
    expected_file = case.with_suffix(".out")
    if not expected_file.exists():
        return f"{case}: there is no {expected_file.name}; it would be\n{found}"
    expected = expected_file.read_text()
    return "".join(
        difflib.unified_diff(
            expected.splitlines(keepends=True),
            found.splitlines(keepends=True),
            f"{expected_file} (expected)",
            f"{case} (found)",
        )
    )


def compare(baton, cases, stale):
    problems = [problem for case in cases if (problem := problem_of(baton, case))]
    problems += [f"{path}: there is no program for it" for path in stale]
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(cases)} cases, {len(problems)} differ" + ("; see --accept" if problems else ""))
    return 1 if problems else 0


def accept(baton, cases, stale):
    for case in cases:
        text, expected_file = said(baton, case), case.with_suffix(".out")
        if not expected_file.exists() or expected_file.read_text() != text:
            expected_file.write_text(text)
            print(f"wrote {expected_file}")
    for path in stale:
        path.unlink()
        print(f"removed {path}")
    return 0


def main():
    parser = argparse.ArgumentParser(description="Compares what Baton says with what it should.")
    parser.add_argument("baton")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--accept", action="store_true", help="rewrite the expected texts")
    options = parser.parse_args()
    cases = sorted(path for suffix in SUFFIXES for path in options.folder.rglob("*" + suffix))
    if not cases:
        print(f"{options.folder}: there are no cases")
        return 1
    stale = [
        path
        for path in sorted(options.folder.rglob("*.out"))
        if not any(path.with_suffix(suffix).exists() for suffix in SUFFIXES)
    ]
    return (accept if options.accept else compare)(os.path.abspath(options.baton), cases, stale)


if __name__ == "__main__":
    sys.exit(main())
