#!/usr/bin/env python3
"""Relay's texts in Baton's notation, read back: the same programs.

usage: notation_test.py BATON CORPUS [--part K/N] [--only TEXT] [--keep FOLDER]

Each program of the corpus is printed in Relay's text, and in Baton's notation, which is read and
printed in Relay's text again. Both must be the same, up to the names of locals where the program is
in RENAMED. `--keep` writes the texts that differ to a folder. Exit status 77 when there is no
corpus.
"""
import argparse
import json
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

# Name of a program: why names of its locals change.
RENAMED = {}
# Name of a program: why it is another one.
EXCEPTIONS = {}


def programs(corpus):
    for path in sorted((corpus / "relay-text").glob("*.rly")):
        yield path.stem, path.read_text()
    with lzma.open(corpus / "tvm-tests.jsonl.xz", "rt") as lines:
        for line in lines:
            test = json.loads(line)
            yield test["id"], test["program"]


def run(baton, *arguments):
    done = subprocess.run([baton, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def without_names(text):
    """The text with locals by their order in it, and without numbers of graph lines."""
    names = {}
    return re.sub(r"%[A-Za-z_][\w.]*", lambda name: names.setdefault(name[0], f"%v{len(names)}"),
                  text)


def check(baton, folder, keep, name, text):
    """What is wrong with a program; nothing for one that its own reader refuses."""
    relay, own = folder / f"{name}.rly", folder / f"{name}.baton"
    relay.write_text(text)
    code, before, _ = run(baton, "print", relay)
    if code != 0:
        return None
    code, printed, errors = run(baton, "print", "--notation=baton", relay)
    if code != 0:
        return f"{name}: is not printed: {errors[:300]}"
    own.write_text(printed)
    code, after, errors = run(baton, "print", own)
    isSame = after == before or (name in RENAMED and without_names(after) == without_names(before))
    if (code == 0 and isSame) != (name in EXCEPTIONS):
        return None
    if keep:
        (keep / f"{name}.baton").write_text(printed)
        (keep / f"{name}.before.rly").write_text(before)
        (keep / f"{name}.after.rly").write_text(after)
    if name in EXCEPTIONS:
        return f"{name}: agrees; take it off EXCEPTIONS"
    if code != 0:
        return f"{name}: is not read back: {errors[:400]}"
    same = without_names(after) == without_names(before)
    return f"{name}: is {'the same but for names' if same else 'another program'}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton")
    parser.add_argument("corpus", type=pathlib.Path)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    if not options.corpus.exists():
        sys.exit(77)
    part, parts = map(int, options.part.split("/"))
    chosen = [(name, text) for i, (name, text) in enumerate(programs(options.corpus))
              if i % parts == part - 1 and options.only in name]
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
        found = [check(options.baton, pathlib.Path(folder), options.keep, *each) for each in chosen]
    failures = [each for each in found if each]
    print("\n".join(failures + [f"{len(chosen)} programs, {len(failures)} failures"]))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
