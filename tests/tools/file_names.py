#!/usr/bin/env python3
"""Names of files in comments and documents, held against the files that there are.

usage: file_names.py ROOT

A name of a source or a document is found from the root, from a root folder's own rooms, or beside
the file that mentions it; `*` stands for any characters. Names in texts that a program would read
are no comments.
"""
import pathlib
import re
import sys

import sources

NAME = re.compile(r"(?<![\w./*<-])((?:[\w*-]+/)*[\w*]+\.(?:h|cpp|def|re|yy|py|cmake|md))(?![\w(*-])")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
# What a reader is to put a name in.
FOREIGN = {"docs/messages/CODE.md"}


def mentions(path, text):
    """Pairs (line, name)."""
    parts = [(0, text)]
    if path.suffix in sources.SUFFIXES:
        parts = [
            (found.start(), found[0])
            for found in sources.TOKEN.finditer(text)
            if found["comment"]
        ]
    for start, part in parts:
        for name in NAME.finditer(part):
            if name[1] not in FOREIGN and part[: name.start()].rsplit(None, 1)[-1:] != ["#include"]:
                yield text.count("\n", 0, start + name.start()) + 1, name[1]


def is_there(root, path, name):
    return any(next(folder.glob(name), None) for folder in (root, (root / path).parent))


def main():
    root = pathlib.Path(sys.argv[1])
    documents = [root.joinpath("docs").rglob("*.md"), root.glob("*.md")]
    paths = sources.all_files(root) + [p.relative_to(root) for some in documents for p in some]
    found, problems = 0, []
    for path in paths:
        for line, name in mentions(path, (root / path).read_text()):
            found += 1
            if not is_there(root, path, name):
                problems.append(f"{path}:{line} names {name}, which is not there")
    for problem in problems:
        print(problem)
    print(f"{found} names of files, {len(problems)} problems")
    return 1 if problems or not found else 0


if __name__ == "__main__":
    sys.exit(main())
