#!/usr/bin/env python3
"""The layers of the house, checked on the #include lines.

usage: layers.py ROOT

A folder may include itself and what ALLOWED names. Sub-folders count as rooms of their own when
cycles are looked for.
"""
import pathlib
import re
import sys

import sources

ALLOWED = {
    "runtime": set(),
    "profile": set(),
    "tensor": {"runtime"},
    "lower": {"runtime", "tensor"},
    "checks": {"runtime"},
    "vm": {"runtime", "tensor", "lower", "checks"},
    "executable": {"runtime", "tensor", "checks", "vm"},
    "rt": {"runtime", "vm", "executable"},
    "formats": {"runtime"},
    "lang": {"runtime", "tensor", "checks"},
    "parser": {"runtime", "tensor", "lang"},
    "typecheck": {"runtime", "tensor", "lang"},
    "interp": {"runtime", "tensor", "checks", "lang"},
    "bytecode": {"runtime", "tensor", "checks", "profile", "vm", "executable", "lang"},
    "assembly": {"runtime", "tensor", "checks", "vm", "executable", "lang"},
    "transform": {"runtime", "tensor", "lang"},
    "stdlib": {"runtime", "tensor", "lang", "parser"},
    "harness": {"runtime", "tensor", "checks", "vm", "executable", "lang", "parser", "typecheck", "transform", "interp", "lower", "bytecode",
                "assembly", "stdlib"},
    "whole": {"runtime", "vm", "executable", "rt", "lower", "lang", "bytecode", "stdlib", "driver"},
    "driver": {"runtime", "tensor", "checks", "executable", "formats", "vm", "lang", "parser", "typecheck", "transform",
               "interp", "lower", "bytecode", "assembly", "stdlib", "profile"},
}
OUTSIDE = {"tests", "bench", "examples", "docs", "scripts", "cmake", "build"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


def check_folders(root):
    """Every folder with sources stands in the table."""
    for path in sorted(root.iterdir()):
        known = path.name in ALLOWED or path.name in OUTSIDE or path.name.startswith((".", "build"))
        if path.is_dir() and not known and sources.files(root, [path.name]):
            yield f"{path.name}/ is not in the table of layers"


def check_include(path, quote, target):
    folder = path.parts[0]
    if target.startswith(("llvm/", "llvm-c/", "clang/")):
        yield f"{path} includes <{target}>"
    if quote == "<":
        return
    room = target.split("/")[0]
    if "/" not in target:
        yield f'{path} includes "{target}" without its folder'
    elif room in OUTSIDE or (room in ALLOWED and room != folder and room not in ALLOWED[folder]):
        yield f'{path} includes "{target}", but {folder}/ stands below or beside {room}/'


def find_cycle(edges):
    """A list of rooms that include each other in a circle, or None."""
    state = {}

    def visit(room, trail):
        state[room] = "open"
        for target in sorted(edges.get(room, ())):
            if state.get(target) == "open":
                return trail[trail.index(target) :] + [target] if target in trail else [target]
            if target not in state:
                cycle = visit(target, trail + [target])
                if cycle:
                    return cycle
        state[room] = "done"
        return None

    for room in sorted(edges):
        if room not in state:
            cycle = visit(room, [room])
            if cycle:
                return cycle
    return None


def check_includes(root, paths):
    edges = {}
    for path in paths:
        for quote, target in INCLUDE.findall((root / path).read_text()):
            yield from check_include(path, quote, target)
            here, there = path.parent.as_posix(), pathlib.PurePosixPath(target).parent.as_posix()
            if quote == '"' and there != here and there.split("/")[0] in ALLOWED:
                edges.setdefault(here, set()).add(there)
    cycle = find_cycle(edges)
    if cycle:
        yield "folders include each other: " + " -> ".join(cycle)


def main():
    root = pathlib.Path(sys.argv[1])
    paths = sources.files(root, ALLOWED)
    problems = [*check_folders(root), *check_includes(root, paths)]
    for problem in problems:
        print(problem)
    print(f"{len(paths)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
