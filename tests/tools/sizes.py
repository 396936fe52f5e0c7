#!/usr/bin/env python3
"""The budgets for the sizes of files, functions and classes. Prints the figures, fails above a limit.

usage: sizes.py ROOT

A file counts its code lines (neither blank nor comment), a function all lines from its name to its
closing brace, lambdas inside included. Functions are found by counting braces.

A class counts its member functions and its data members (class_members.py says which). A `struct`
that is plain data, with no member function that could change it, may have any number of fields.
Classes that were above when they began to be counted are in large_classes.txt with their figures;
those may only become fewer.
"""
import pathlib
import re
import sys

import class_members
import sources

FILE_LIMIT = 600
TABLE_LIMIT = 800
FUNCTION_LIMIT = 80
METHOD_LIMIT = 40
FIELD_LIMIT = 12
TABLES = {".def", ".re", ".yy"}
TYPE_HEAD = re.compile(r"\b(struct|class|union|enum)\b[^()=]*$")
SCOPE_HEAD = re.compile(r'\bnamespace\b|\bextern\s*""')
NAME = re.compile(r"([~\w:]+|operator[^\w(]+)\s*\(")


def kind_of(head):
    """What a brace after this text opens: a scope, a function, or something else."""
    if SCOPE_HEAD.search(head) or TYPE_HEAD.search(head):
        return "scope"
    return "function" if NAME.search(head) and "=" not in head.split("(")[0] else "other"


def functions(text):
    """Triples (name, first line, last line) of the functions at namespace and class level."""
    text = "\n".join(
        "" if line.lstrip().startswith("#") else line
        for line in sources.blank_out(text).splitlines()
    )
    found, stack, head_start, line, first = [], [], 0, 1, None
    for position, byte in enumerate(text):
        if byte == "\n":
            line += 1
        elif byte == "{":
            if all(kind == "scope" for kind in stack):
                head = text[head_start:position]
                first = line - head.lstrip().count("\n")
                stack.append(kind_of(head))
                name = NAME.search(head)
                name = name[1] if name else ""
            else:
                stack.append("inner")
            if stack[-1] == "scope":
                head_start = position + 1
        elif byte == "}" and stack:
            if stack.pop() == "function":
                found.append((name, first, line))
                # A braced initialiser before the body closes here too; the body goes on with it.
                if re.match(r"\s*[,{]", text[position + 1 : position + 200]):
                    found.pop()
                    continue
            if all(kind == "scope" for kind in stack):
                head_start = position + 1
        elif byte == ";" and all(kind == "scope" for kind in stack):
            head_start = position + 1
    return found


def at(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))] if values else 0


def report(label, values, limit):
    print(
        f"{label}: {len(values)}, median {at(values, 0.5)}, p95 {at(values, 0.95)}, "
        f"largest {max(values, default=0)}, limit {limit}"
    )


def large_classes():
    """Of each class that may be above the limits, its most methods and fields, by file and name."""
    lines = (pathlib.Path(__file__).parent / "large_classes.txt").read_text().splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    return {(path, name): (int(methods), int(fields)) for path, name, methods, fields in words}


def class_problems(found, known):
    """What is wrong with the sizes of classes, given as (path, class); takes what it meets out of
    `known`."""
    for path, each in found:
        figures = (each.methods, 0 if each.is_data else each.fields)
        limits = known.pop((path.as_posix(), each.name), None)
        is_above = figures[0] > METHOD_LIMIT or figures[1] > FIELD_LIMIT
        if limits and limits != figures:
            yield (
                f"{path}:{each.line} {each.name} has {figures[0]} methods and {figures[1]} fields, "
                f"large_classes.txt says {limits[0]} and {limits[1]}"
            )
        elif limits and not is_above:
            yield f"{path}:{each.line} {each.name} is within the limits, but in large_classes.txt"
        elif is_above and not limits:
            yield (
                f"{path}:{each.line} {each.name} has {figures[0]} methods and {figures[1]} fields, "
                f"more than {METHOD_LIMIT} or {FIELD_LIMIT}"
            )
    for path, name in known:
        yield f"{path} has no class {name}, but large_classes.txt"


def main():
    root = pathlib.Path(sys.argv[1])
    problems, file_sizes, function_sizes, classes = [], [], [], []
    for path in sources.all_files(root):
        text = (root / path).read_text()
        size = sources.code_lines(text)
        limit = TABLE_LIMIT if path.suffix in TABLES else FILE_LIMIT
        file_sizes.append(size)
        if size > limit:
            problems.append(f"{path} has {size} code lines, more than {limit}")
        if path.suffix in TABLES:
            continue
        classes += [(path, each) for each in class_members.classes(text)]
        for name, first, last in functions(text):
            length = last - first + 1
            function_sizes.append(length)
            if length > FUNCTION_LIMIT:
                problems.append(f"{path}:{first} {name} has {length} lines, more than {FUNCTION_LIMIT}")
    report("files, code lines", file_sizes, FILE_LIMIT)
    report("functions, lines", function_sizes, FUNCTION_LIMIT)
    report("classes, methods", [each.methods for _, each in classes], METHOD_LIMIT)
    fields = [each.fields for _, each in classes if not each.is_data]
    report("classes, fields", fields, FIELD_LIMIT)
    problems += class_problems(classes, large_classes())
    for problem in problems:
        print(problem)
    return 1 if problems or not function_sizes or not fields else 0


if __name__ == "__main__":
    sys.exit(main())
