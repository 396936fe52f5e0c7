#!/usr/bin/env python3
"""Executables give what their programs give.

usage: executable_test.py BATON PATH...

Every good program at the paths that has an `@main` is run from its text and from an executable:
output, errors and exit code must be the same, and the code of both. Inputs are filled by a seed.
The executable as a text must compile to the same bytes.
What a note says of memory held is left out, since an executable holds no module.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

HELD = re.compile(r"^.* are held in \d+ values?.*$", re.M)


def run(baton, *words):
    done = subprocess.run([baton, *words], capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout, HELD.sub("", done.stderr)


def without_warnings(errors):
    """The errors of a run without the findings about the text, which come first."""
    blocks = errors.split("\n\n")
    return [block for block in blocks
            if block.strip() and not re.match(r"warning\b|\d+ warnings? in ", block)]


def check(baton, path, folder):
    """None for no program to compile, else what differs, or nothing."""
    executable = folder / "program.bvm"
    code, _, _ = run(baton, "compile", str(path), "-o", str(executable))
    if code != 0:
        return None
    words = ["--random", "7", "--timeout", "3"]
    text, file = run(baton, "run", str(path), *words), run(baton, "run", str(executable), *words)
    if text[:2] != file[:2]:
        return f"gives {file[:2]} from an executable, not {text[:2]}"
    if without_warnings(text[2]) != without_warnings(file[2]):
        return f"says\n{file[2]}\nfrom an executable, not\n{text[2]}"
    if run(baton, "disasm", str(path))[1] != run(baton, "disasm", str(executable))[1]:
        return "has other code from an executable"
    return check_text(baton, executable, folder)


def check_text(baton, executable, folder):
    """What is wrong with an executable that was written as text and compiled again, or nothing."""
    listing, again = folder / "program.bvt", folder / "again.bvm"
    listing.write_bytes(subprocess.run([baton, "disasm", "--full", str(executable)],
                                       capture_output=True, check=False).stdout)
    code, _, errors = run(baton, "compile", str(listing), "-o", str(again))
    if code != 0:
        return f"has a text that does not compile:\n{errors}"
    if again.read_bytes() != executable.read_bytes():
        return "is another executable after it was a text"
    return ""


def check_text_commands(baton, folder):
    """An executable in the place of a program is said to be one."""
    for words in [["check"], ["print"], ["opt", "--passes=inlining"], ["debug"]]:
        for name, said in [("program.bvm", "is an executable and no text"),
                           ("program.bvt", "is an executable as text")]:
            code, _, errors = run(baton, words[0], str(folder / name), *words[1:])
            if code != 2 or said not in errors:
                yield f"`{words[0]}` of {name} ends with {code} and says\n{errors[:300]}"


def main():
    baton, *paths = sys.argv[1:]
    programs = []
    for path in map(pathlib.Path, paths):
        found = sorted(path.rglob("*.rly")) if path.is_dir() else [path]
        programs += [each for each in found if not each.name.endswith(".typed.rly")]
    compared, problems = 0, []
    with tempfile.TemporaryDirectory() as folder:
        for path in programs:
            problem = check(baton, path, pathlib.Path(folder))
            if problem is not None:
                compared += 1
            if problem:
                problems.append(f"{path} {problem}")
        problems += check_text_commands(baton, pathlib.Path(folder))
    print(*problems, f"{compared} executables, {len(problems)} problems", sep="\n")
    return 1 if problems or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
