"""Reading rooms.txt and C++ sources just well enough for the tests of layers and sizes.

The scanner knows comments, string and character literals, and raw strings; it knows nothing of the
preprocessor, so both sides of an #if count.
"""
import pathlib
import re
from typing import NamedTuple

# Folders at the root that hold sources and are no rooms.
OUTSIDE = {"tests", "bench", "python", "examples"}
SUFFIXES = {".h", ".cpp", ".def", ".re", ".yy"}


class Room(NamedTuple):
    uses: list
    doc: str


def rooms(root):
    """The table of rooms.txt, by name, in its order."""
    table = {}
    for line in (pathlib.Path(root) / "rooms.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            name, rest = line.split(":", 1)
            uses, doc = rest.split("|", 1)
            table[name.strip()] = Room(uses.split(), doc.strip())
    return table


def room_of(table, path):
    """The innermost room around a path, or None."""
    around = (folder.as_posix() for folder in path.parents)
    return next((folder for folder in around if folder in table), None)


TOKEN = re.compile(
    r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | (?P<raw>R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)")
  | (?P<string>"(?:[^"\\\n]|\\.)*")
  | (?P<char>(?<![0-9A-Za-z_])'(?:[^'\\\n]|\\.)+')
    """,
    re.X | re.S,
)


def files(root, folders):
    """All sources below the folders, each once, as paths relative to the root."""
    root = pathlib.Path(root)
    return sorted(
        {
            path.relative_to(root)
            for folder in folders
            for path in (root / folder).rglob("*")
            if path.suffix in SUFFIXES
        }
    )


def all_files(root):
    """All sources below the root but those that a build made."""
    folders = [path.name for path in pathlib.Path(root).iterdir() if path.is_dir()]
    return files(root, [name for name in folders if not name.startswith((".", "build"))])


def blank_out(text):
    """The text with comments replaced by blanks and literals by empty ones; lines stay in place."""

    def replacement(match):
        lines = "\n" * match[0].count("\n")
        return (" " if match["comment"] else '""') + lines

    return TOKEN.sub(replacement, text)


def code_lines(text):
    """The number of lines that are neither blank nor comment."""

    def without_comment(match):
        return "\n" * match[0].count("\n") if match["comment"] else match[0]

    return sum(1 for line in TOKEN.sub(without_comment, text).splitlines() if line.strip())
