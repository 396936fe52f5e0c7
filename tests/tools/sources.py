"""Reading C++ sources just well enough for the tests of layers and sizes.

The scanner knows comments, string and character literals, and raw strings; it knows nothing of the
preprocessor, so both sides of an #if count.
"""
import pathlib
import re

FOLDERS = ["runtime", "profile", "tensor", "lower", "checks", "vm", "executable", "rt", "whole", "formats", "lang", "parser",
           "typecheck", "transform", "interp", "bytecode", "stdlib", "harness", "driver"]
SUFFIXES = {".h", ".cpp", ".def", ".re", ".yy"}

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
    """All sources below the folders, as paths relative to the root."""
    root = pathlib.Path(root)
    return sorted(
        path.relative_to(root)
        for folder in folders
        for path in (root / folder).rglob("*")
        if path.suffix in SUFFIXES
    )


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
