#!/usr/bin/env python3
"""What `baton fmt` makes of programs.

usage: fmt_test.py BATON ROOT [--corpus FOLDER] [--accept]

* Each file of ROOT/tests/layouts is laid out as NAME.out beside it says; --accept writes these.
* The library and the examples are laid out.
* All programs of ROOT, of its pages and of the corpus that read are the same programs afterwards, by
  their bytes without blanks and commas behind last elements, with the same comments; laying them out
  again changes nothing, and no line is long that could be broken.
* What is wrong stays as it is, and files keep what belongs to them.
"""
import argparse
import collections
import json
import lzma
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

import limits

TOKEN = re.compile(rb'"(?:\\.|[^"\\])*"?|`[^`\n]*`|//[^\n]*|/\*|\s+|.', re.S)


def run(baton, *words, given=b"", cwd=None):
    done = subprocess.run([baton, *map(str, words)], input=given, capture_output=True, cwd=cwd,
                          preexec_fn=limits.processor_time)
    return done.returncode, done.stdout, done.stderr.decode(errors="backslashreplace")


def end_of_comment(text, at):
    """Where the comment that begins there ends; they nest."""
    depth, at = 1, at + 2
    while depth > 0 and at < len(text):
        mark = text[at : at + 2]
        depth += {b"/*": 1, b"*/": -1}.get(mark, 0)
        at += 2 if mark in (b"/*", b"*/") else 1
    return at


def parts(text):
    """A text without blanks and commas that end lists, and its comments."""
    text, _, metadata = text.partition(b"#[metadata]")
    code, comments, at = bytearray(), collections.Counter(), 0
    while at < len(text):
        piece = TOKEN.match(text, at)[0]
        if piece == b"/*":
            piece = text[at : end_of_comment(text, at)]
        at += len(piece)
        if piece.startswith((b"//", b"/*")):
            comments[re.sub(rb"\s+", b" ", piece).strip()] += 1
        elif piece.startswith((b'"', b"`")):
            code += piece
        elif not piece.isspace():
            code += piece
    return re.sub(rb",(?=[)\]}])", b"", bytes(code)), comments, metadata


class Checks:
    def __init__(self):
        self.count = 0
        self.problems = []

    def that(self, holds, *what):
        self.count += 1
        if not holds:
            self.problems.append(" ".join(map(str, what)))


def laid_out(baton, path):
    notation = "relay" if path.suffix == ".rly" else "baton"
    return run(baton, "fmt", "--notation", notation, "-", given=path.read_bytes())


def check_layouts(baton, root, accept, checks):
    for path in sorted((root / "tests/layouts").glob("*")):
        if path.suffix == ".out":
            continue
        code, found, errors = laid_out(baton, path)
        expected = path.with_name(path.name + ".out")
        if accept:
            expected.write_bytes(found)
        checks.that(code == 0, path.name, "is refused:", errors)
        checks.that(expected.exists() and expected.read_bytes() == found, path.name,
                    "is laid out otherwise; see --accept\n" + found.decode())


def check_repository(baton, root, checks):
    files = [*(root / "stdlib/library").glob("*.baton"), *(root / "examples").rglob("*.baton")]
    code, output, errors = run(baton, "fmt", "--check", *sorted(files))
    checks.that(code == 0 and len(files) > 20, output.decode(), errors)
    page = (root / "docs/formatting.md").read_text()
    for found in re.findall(r"^```baton\n(.*?)^```", page, re.S | re.M):
        code, _, errors = run(baton, "fmt", "--check", "-", given=found.encode())
        checks.that(code == 0, "a program of docs/formatting.md is laid out otherwise", errors)


def page_programs(root):
    """The programs on pages, with the suffix of their notation."""
    for path in sorted((root / "docs").rglob("*.md")):
        for found in re.finditer(r"^```(rly|baton)\n(.*?)^```", path.read_text(), re.S | re.M):
            yield f"{path.stem}-{found.start()}.{found[1]}", found[2].encode()


def programs(root, corpus):
    for folder in ("stdlib", "examples", "tests", "bench"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".baton", ".rly"):
                yield path.name, path.read_bytes()
    yield from page_programs(root)
    if not corpus:
        return
    for path in sorted((corpus / "relay-text").glob("*.rly")):
        yield path.name, path.read_bytes()
    with lzma.open(corpus / "tvm-tests.jsonl.xz", "rt") as lines:
        for line in lines:
            test = json.loads(line)
            yield re.sub(r"\W", "-", test["id"]) + ".rly", test["program"].encode()


def check_programs(baton, root, corpus, checks):
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for number, (name, text) in enumerate(programs(root, corpus)):
            path = pathlib.Path(folder, f"{number}-{name}")
            path.write_bytes(text)
            files.append((path, text))
        for at in range(0, len(files), 200):
            paths = [path for path, _ in files[at : at + 200]]
            code, _, errors = run(baton, "fmt", *paths)
            checks.that(code in (0, 1, 2), errors[-2000:])
            code, output, _ = run(baton, "fmt", "--check", *paths)
            checks.that(output == b"", "laid out twice:", output.decode())
        changed = 0
        for path, text in files:
            after = path.read_bytes()
            changed += text != after
            checks.that(parts(text) == parts(after), path.name, "is another program")
        checks.that(changed > 300, "only", changed, "programs were changed")
        check_meaning(baton, files[::9], checks)


def check_meaning(baton, files, checks):
    """What Baton says of programs that are laid out is what it says of them as they were."""
    for path, text in files:
        other = path.with_name("as-written" + path.suffix)
        other.write_bytes(text)
        code, before, _ = run(baton, "print", other)
        after_code, after, errors = run(baton, "print", path)
        checks.that((code, before) == (after_code, after), path.name, "means something else:", errors)


def check_files(baton, folder, checks):
    """What becomes of files."""
    path, link = folder / "a.baton", folder / "link.baton"
    path.write_bytes(b"def f( x )=x\r\n")
    path.chmod(0o640)
    link.symlink_to(path.name)
    code, output, _ = run(baton, "fmt", "--check", link)
    checks.that(code == 1 and output == f"{link}: would be laid out anew\n".encode(), output)
    checks.that(path.read_bytes() == b"def f( x )=x\r\n", "--check changes files")
    code, output, errors = run(baton, "fmt", link)
    checks.that(code == 0 and output == b"" and errors == "", output, errors)
    checks.that(path.read_bytes() == b"def f(x) = x\n" and link.is_symlink(), path.read_bytes())
    checks.that(stat.S_IMODE(path.stat().st_mode) == 0o640, "permissions are lost")
    time = path.stat().st_mtime_ns
    code, output, _ = run(baton, "fmt", path)
    checks.that(code == 0 and path.stat().st_mtime_ns == time, "a good file is written")
    checks.that(run(baton, "fmt", "--check", path)[0] == 0, "a good file is told")
    checks.that(sorted(os.listdir(folder)) == ["a.baton", "link.baton"], os.listdir(folder))


def check_mistakes(baton, folder, checks):
    good, bad, missing = folder / "good.baton", folder / "bad.baton", folder / "missing.baton"
    good.write_text("def f()=1")
    bad.write_text("def f( = 1\n")
    code, _, errors = run(baton, "fmt", bad, good)
    checks.that(code == 1 and "bad.baton:1:8" in errors and "syntax-error" in errors, errors)
    checks.that(bad.read_text() == "def f( = 1\n" and good.read_text() == "def f() = 1\n")
    code, _, errors = run(baton, "fmt", missing)
    checks.that(code == 2 and "missing.baton" in errors, code, errors)
    code, output, errors = run(baton, "fmt", "-", given=b"def f( = 1")
    checks.that(code == 1 and output == b"" and "<stdin>" in errors, output, errors)


# A text on standard input, and its layout.
TEXTS = [
    (b"", b""),
    (b"\n\n  \n", b""),
    (b"// only a comment", b"// only a comment\n"),
    (b"\n\n/* a */ // b\n\n\n\n// c", b"/* a */ // b\n\n// c\n"),
    (b"\xef\xbb\xbfdef f()=1", b"def f() = 1\n"),
    (b"\tdef f() =\r\n\t\t1", b"def f() = 1\n"),
    ("def f() = \"ä\tß\" // ö".encode(), "def f() = \"ä\tß\" // ö\n".encode()),
    (b'#[version = "0.0.5"]\ndef @f( ) { 1 }', b'#[version = "0.0.5"]\ndef @f() { 1 }\n'),
    (b'v0.0.4 def @f( ) { 1 }', b"v0.0.4\ndef @f() { 1 }\n"),
    (b'#[version = "0.0.5"]', b'#[version = "0.0.5"]\n'),
    (b"def f() = 1\n\n\n#[metadata]\n", b"def f() = 1\n\n#[metadata]\n"),
    (b"def f() = 1\n#[metadata]\r\n { }  ", b"def f() = 1\n#[metadata]\r\n { }  "),
]


def check_texts(baton, checks):
    for given, expected in TEXTS:
        code, found, errors = run(baton, "fmt", "-", given=given)
        checks.that(code == 0 and found == expected, given, "is", found, errors)
        checks.that(run(baton, "fmt", "--check", "-", given=given)[0] == (given != expected), given)
    code, found, _ = run(baton, "fmt", "--notation=relay", "-", given=b"%x+1")
    checks.that(found == b"%x + 1\n", found)


def check_size(baton, checks):
    """Deep and long texts take time in proportion."""
    deep = 3900
    for given in (b"def f() = " + b"(" * deep + b"x" + b")" * deep,
                  b"def f() = " + b"g(x, " * deep + b"x" + b")" * deep,
                  b"def f() = " + b" + ".join([b"x"] * 200_000),
                  b"def f() = [" + b"x, " * 200_000 + b"]",
                  b"def f() {" + b"if x { y } else { z };" * 50_000 + b"x }",
                  b"def f() = " + b"if x { 1 } else " * deep + b"{ 2 }",
                  b"def f() = " + b"fn (x) { " * deep + b"1" + b"}" * deep,
                  b"def f() = 1 /* c */" + b" + 1 /* c */ // d\n" * 50_000):
        code, found, errors = run(baton, "fmt", "-", given=given)
        checks.that(code == 0, given[:30], errors[:300])
        checks.that(run(baton, "fmt", "--check", "-", given=found)[0] == 0, given[:30], "changes")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("baton")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--accept", action="store_true")
    options = parser.parse_args()
    baton, checks = os.path.abspath(options.baton), Checks()
    check_layouts(baton, options.root, options.accept, checks)
    check_repository(baton, options.root, checks)
    check_texts(baton, checks)
    check_size(baton, checks)
    for check in (check_files, check_mistakes):
        with tempfile.TemporaryDirectory() as folder:
            check(baton, pathlib.Path(folder), checks)
    check_programs(baton, options.root, options.corpus, checks)
    print("\n".join(checks.problems[:20]), end="\n" if checks.problems else "")
    print(f"{checks.count} checks, {len(checks.problems)} problems")
    return 1 if checks.problems else 0


if __name__ == "__main__":
    sys.exit(main())
