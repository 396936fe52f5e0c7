#!/usr/bin/env python3
"""Pages as a reader follows them: each program is written to its file, each command run.

usage: tour_test.py BATON PAGE...

A program is a block in ```baton; its file is the last name in backquotes in front of it. One without
such a name is a good program by itself. A block in
```console has commands behind `$ `, each with what it says below: standard output and standard error,
standard error first, since what a program shows comes before what it gives. `...` stands for any
characters, and as a whole line for any lines.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"^```(baton|console)\n((?:(?!```).*\n)+?)```$", re.M)
NAME = re.compile(r"`([\w.]+\.baton)`")


def commands_of(block):
    """Pairs of a command and what it is to say."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return [(command, "\n".join(lines)) for command, lines in found]


def fits(expected, said):
    pattern = "\n".join("(?:.*\n)*?.*" if line == "..." else ".*".join(map(re.escape, line.split("...")))
                        for line in expected.split("\n"))
    return re.fullmatch(pattern, said) is not None


def run(baton, folder, command):
    words = shlex.split(command)
    if words[0] != "baton":
        return f"`{command}` is no call of baton"
    done = subprocess.run([baton, *words[1:]], cwd=folder, capture_output=True, text=True)
    return (done.stderr + done.stdout).rstrip("\n")


def problems_of(baton, page, counts):
    with tempfile.TemporaryDirectory() as folder:
        for block in BLOCK.finditer(page):
            counts[block[1]] += 1
            if block[1] == "baton":
                names = NAME.findall(page[: block.start()])
                pathlib.Path(folder, names[-1] if names else "program.baton").write_text(block[2])
            commands = commands_of(block[2]) if block[1] == "console" else []
            if block[1] == "baton" and not names:
                commands = [("baton check program.baton", "program.baton: ok, ...")]
            for command, expected in commands:
                said = run(baton, folder, command)
                if not fits(expected, said):
                    yield f"$ {command}\nsays\n{said}\nand not\n{expected}\n"


def main():
    baton = pathlib.Path(sys.argv[1]).resolve()
    counts = {"baton": 0, "console": 0}
    problems = [each for page in sys.argv[2:]
                for each in problems_of(baton, pathlib.Path(page).read_text(), counts)]
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{counts['baton']} programs, {counts['console']} calls, {len(problems)} problems")
    return 1 if problems or not all(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
