"""Counting the members of C++ classes, well enough for the test of sizes.

Counted are the member functions that the body of a class declares, but no constructors, no
destructor and nothing defaulted or deleted, and its data members, but no static ones. Nested types
count on their own.
"""
import re
from typing import NamedTuple

import sources

HEAD = re.compile(
    r"\b(?P<kind>class|struct)\s+(?:\[\[\w+\]\]\s*)?(?P<name>\w+(?:::\w+)*)"
    r"\s*(?:final\s*)?(?::(?!:)[^;{}()]*)?$"
)
LABELS = re.compile(r"^\s*(?:(?:public|private|protected)\s*:(?!:)\s*)+")
TEMPLATE = re.compile(r"^template\s*")
OTHER = re.compile(r"(using|typedef|friend|static_assert|enum|class|struct|union)\b")
OPERATOR = re.compile(r"\boperator\s*(\(\)|\[\]|[^\s\w(]+|\w[\w:\s*&]*)")


class Class(NamedTuple):
    kind: str
    name: str
    line: int
    methods: int
    fields: int
    is_data: bool


def without_arguments(text):
    """The text without template arguments, which may hold commas and parentheses."""
    before = None
    while before != text:
        before, text = text, re.sub(r"<[^<>;]*>", "", text)
    return text


def is_function(member):
    """Whether a name before parentheses comes before any initialiser."""
    return bool(re.match(r"[^={]*\w\s*\((?!\*)", OPERATOR.sub("named", without_arguments(member))))


def members(body):
    """The declarations at the level of a class body; what is in their braces is left out."""
    found, depth, text = [], 0, ""
    for position, byte in enumerate(body):
        if byte == "}":
            depth -= 1
        if depth == 0:
            text += byte
        if byte == "{":
            depth += 1
        rest = body[position + 1 :].lstrip()[:1]
        # A body ends its function; behind a braced initialiser the declaration goes on.
        ends = byte == ";" or (byte == "}" and rest not in [*";,{)"] and is_function(text))
        if depth == 0 and ends:
            found.append(LABELS.sub("", text.strip(" \n\t;")))
            text = ""
    return [member for member in found if member]


def fields_of(member):
    """The number of data members that a declaration which is no function declares."""
    if re.match(r"(inline |constexpr )*static\b", member):
        return 0
    return 1 + re.sub(r"\([^()]*\)", "", without_arguments(member)).count(",")


def closing_brace(text, opening):
    depth = 0
    for brace in re.finditer(r"[{}]", text[opening:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return opening + brace.start()
    return len(text)


def count(kind, name, line, body):
    own = re.compile(rf"(?:^|[^\w])~?{name}\s*\(")
    methods, fields, is_data = 0, 0, kind == "struct"
    for member in members(body):
        declared = TEMPLATE.sub("", without_arguments(member))
        if OTHER.match(declared) or re.search(r"=\s*(default|delete)$", member):
            continue
        if not is_function(member):
            fields += fields_of(member)
        elif not own.search(declared.split("(")[0] + "("):
            methods += 1
            is_data &= bool(re.search(r"\)\s*const\b", member) or re.match(r"static\b", declared))
    return Class(kind, name, line, methods, fields, is_data)


def classes(text):
    """All classes with a body."""
    text = "\n".join(
        "" if line.lstrip().startswith("#") else line
        for line in sources.blank_out(text).splitlines()
    )
    found = []
    for brace in re.finditer(r"\{", text):
        opening = brace.start()
        start = max(text.rfind(mark, 0, opening) for mark in ";{}") + 1
        head = HEAD.search(without_arguments(text[start:opening]).rstrip())
        if head and not re.search(r"\benum\b", text[start:opening]):
            body = text[opening + 1 : closing_brace(text, opening)]
            name = head["name"].split("::")[-1]
            found.append(count(head["kind"], name, text.count("\n", 0, opening) + 1, body))
    return found
