#!/usr/bin/env python3
"""The layers of the house: rooms.txt, held against the #include lines.

usage: layers.py ROOT

A room may use those that rooms.txt names for it and all that these may use. Folders inside of a
room count too when cycles are looked for.
"""
import pathlib
import re
import sys

import sources

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)
MOST_ROOTS = 15


def reach(rooms, room):
    """What a room may use, itself among it."""
    found, left = set(), [room]
    while left:
        next_room = left.pop()
        if next_room not in found:
            found.add(next_room)
            left += rooms[next_room].uses
    return found


def check_table(root, rooms):
    """Rooms are folders with sources that use rooms above them in the table; all sources lie in one."""
    seen = set()
    for name, room in rooms.items():
        if not sources.files(root, [name]):
            yield f"{name}/ stands in rooms.txt and holds no source"
        for used in room.uses:
            if used not in seen:
                yield f"{name} uses {used}, which does not stand above it in rooms.txt"
        seen.add(name)
    for path in sources.all_files(root):
        if not sources.room_of(rooms, path) and path.parts[0] not in sources.OUTSIDE:
            yield f"{path} lies in no room of rooms.txt"
    roots = {name.split("/")[0] for name in rooms} | sources.OUTSIDE
    if len(roots) > MOST_ROOTS:
        yield f"{len(roots)} folders at the root hold sources, {MOST_ROOTS} may"


def check_include(rooms, reached, path, quote, target):
    if target.startswith(("llvm/", "llvm-c/", "clang/")):
        yield f"{path} includes <{target}>"
    if quote == "<":
        return
    here, there = sources.room_of(rooms, path), sources.room_of(rooms, pathlib.PurePosixPath(target))
    if "/" not in target:
        yield f'{path} includes "{target}" without its folder'
    elif target.split("/")[0] in sources.OUTSIDE and not there:
        yield f'{path} includes "{target}", which is in no room'
    elif there and there not in reached[here]:
        yield f'{path} includes "{target}", which {here} may not use'


def find_cycle(edges):
    """A list of folders that include each other in a circle, or None."""
    state = {}

    def visit(folder, trail):
        state[folder] = "open"
        for target in sorted(edges.get(folder, ())):
            if state.get(target) == "open":
                return trail[trail.index(target) :] + [target]
            if target not in state:
                cycle = visit(target, trail + [target])
                if cycle:
                    return cycle
        state[folder] = "done"
        return None

    for folder in sorted(edges):
        if folder not in state:
            cycle = visit(folder, [folder])
            if cycle:
                return cycle
    return None


def check_includes(root, rooms, paths):
    reached = {room: reach(rooms, room) for room in rooms}
    folders, roots = {}, {}
    for path in paths:
        for quote, target in INCLUDE.findall((root / path).read_text()):
            yield from check_include(rooms, reached, path, quote, target)
            there = pathlib.PurePosixPath(target).parent
            if quote == "<" or not sources.room_of(rooms, pathlib.PurePosixPath(target)):
                continue
            for edges, a, b in [(folders, path.parent.as_posix(), there.as_posix()),
                                (roots, path.parts[0], there.parts[0])]:
                if a != b:
                    edges.setdefault(a, set()).add(b)
    for edges in (folders, roots):
        if cycle := find_cycle(edges):
            yield "folders include each other: " + " -> ".join(cycle)


def main():
    root = pathlib.Path(sys.argv[1])
    rooms = sources.rooms(root)
    paths = sources.files(root, rooms)
    problems = [*check_table(root, rooms), *check_includes(root, rooms, paths)]
    for problem in problems:
        print(problem)
    print(f"{len(rooms)} rooms, {len(paths)} files, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
