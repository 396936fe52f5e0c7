#!/usr/bin/env python3
"""Executables give what their programs give.

usage: executable_test.py BATON PATH...

Every good program at the paths is run from its text and from an executable, if it has an `@main`
once for that alone, and once for each of its first definitions from an executable of them all:
output, errors and exit code must be the same, and the code of both. Inputs are filled by a seed.
Limits are counted, as time ends two runs at different places.
The executable as a text must compile to the same bytes.
What a note says of memory held is left out, since an executable holds no module.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

MOST_ENTRIES = 4
LIMITS = ["--max-steps", "5000000", "--max-memory", "500M"]
HELD = re.compile(r"^.* MB are held, .*$", re.M)


def run(baton, *words):
    done = subprocess.run([baton, *words], capture_output=True, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout, HELD.sub("", done.stderr)


def without_warnings(errors):
    """The errors of a run without the findings about the text, which come first."""
    blocks = re.sub(r"^\d+ warnings? in .*\n", "", errors, flags=re.M).split("\n\n")
    return [block for block in blocks if block.strip() and not re.match(r"warning\b", block)]


def entry_words(entries):
    return [word for entry in entries for word in ("--entry", entry)]


def check(baton, path, entries, folder):
    """None where there is nothing to compile, else what differs, or nothing."""
    executable = folder / "program.bvm"
    code, _, _ = run(baton, "compile", str(path), *entry_words(entries), "-o", str(executable))
    if code != 0:
        return None
    for entry in entries:
        words = ["--entry", entry, "--random", "7", *LIMITS]
        text = run(baton, "run", str(path), *words)
        file = run(baton, "run", str(executable), *words)
        if text[:2] != file[:2]:
            return f"gives {file[:2]} from an executable at {entry}, not {text[:2]}"
        if without_warnings(text[2]) != without_warnings(file[2]):
            return f"says\n{file[2]}\nfrom an executable at {entry}, not\n{text[2]}"
    listings = [run(baton, "disasm", str(path), *entry_words(entries)),
                run(baton, "disasm", str(executable))]
    if listings[0][1] != listings[1][1]:
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


def check_entries(baton, folder):
    """An executable tells which entries it has where another one is asked for."""
    program, executable = folder / "entries.rly", folder / "entries.bvm"
    program.write_text("def @one() { 1 }\ndef @two(%x: int32) { %x }\ndef @three() { 3 }\n")
    run(baton, "compile", str(program), "--entry", "two", "--entry", "@one", "--entry", "two",
        "-o", str(executable))
    runs = [(["--entry", "two", "--input", "x=4"], 0, "4\n"), (["--entry", "@one"], 0, "1\n"),
            ([], 2, "compiled for `@two`, `@one`; choose one, such as `--entry two`"),
            (["--entry", "main"], 2, "compiled for `@two`, `@one`; another"),
            (["--entry", "three"], 2, "compiled for `@two`, `@one`"),
            (["--entry", ""], 2, "compiled for `@two`, `@one`")]
    for words, wanted, said in runs:
        code, output, errors = run(baton, "run", str(executable), *words)
        if code != wanted or said not in output + errors:
            yield f"{words} of two entries ends with {code} and gives {output}{errors}"
    for words in ["disasm"], ["compile", "-o", str(folder / "again.bvm")]:
        code, _, errors = run(baton, *words, str(executable), "--entry", "one", "--entry", "three")
        if code != 2 or "compiled for `@two`, `@one`; another" not in errors:
            yield f"{words} of an entry that there is not ends with {code} and says {errors}"
    run(baton, "compile", str(program), "--entry", "three", "-o", str(executable))
    if run(baton, "run", str(executable))[1] != "3\n":
        yield "the only entry is not called where none is said"
    if run(baton, "run", str(executable), "--entry", "main")[0] != 2:
        yield "an entry `main` is called that there is not"


def check_text_commands(baton, folder):
    """An executable in the place of a program is said to be one."""
    for words in [["check"], ["print"], ["opt", "--passes=inlining"], ["debug"]]:
        for name in "program.bvm", "program.bvt":
            code, _, errors = run(baton, words[0], str(folder / name), *words[1:])
            if code != 2 or "is an executable and no program" not in errors:
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
            text = path.read_text(encoding="utf-8", errors="replace")
            definitions = re.findall(r"^def @(\w+)\(", text, re.M)[:MOST_ENTRIES]
            for entries in [["main"], definitions]:
                if entries == definitions and definitions in ([], ["main"]):
                    continue
                problem = check(baton, path, entries, pathlib.Path(folder))
                compared += problem is not None
                if problem:
                    problems.append(f"{path} {problem}")
        problems += check_text_commands(baton, pathlib.Path(folder))
        problems += check_entries(baton, pathlib.Path(folder))
    print(*problems, f"{compared} executables, {len(problems)} problems", sep="\n")
    return 1 if problems or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
