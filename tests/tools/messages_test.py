#!/usr/bin/env python3
"""The pages of docs/messages against what Baton says.

usage: messages_test.py BATON ROOT [--accept]

Every code of lang/source/diagnostics.def, and that of runs which fail, has a page CODE.md, and every page a
code. A page is the title `# CODE`, one line that sums it up, paragraphs, and three blocks headed
Wrong, What Baton says and Right. Programs are in Relay's text, ```rly, or in Baton's notation,
```baton, and their file is example.rly or example.baton. The wrong program must give this message first and in the words of the page, in `baton check`
or the command that COMMANDS has for it; the right one must check without a finding, or, where it is
the text of an executable, have code. `baton explain` must show what the pages say. --accept writes
the words of now into the pages.
"""
import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

import limits

ROW = re.compile(r'^DIAGNOSTIC\(\w+,\s*"([\w-]+)",\s*(Error|Warning),', re.M)
PAGE = re.compile(
    r"# (?P<code>\S+)\n\n"
    r"(?P<summary>\S.*)\n\n"
    r"(?P<text>(?:(?!#|```).+\n|\n)+?)\n"
    r"## Wrong\n\n```(?P<notation>rly|baton)\n(?P<wrong>(?:(?!```).*\n)+?)```\n\n"
    r"## What Baton says\n\n```\n(?P<said>(?:(?!```).*\n)*?)```\n\n"
    r"## Right\n\n```(?P=notation)\n(?P<right>(?:(?!```).*\n)+?)```\n"
)
SUMMARY_LIMIT, LINE_LIMIT = 80, 100


def nested_calls(count):
    return "def @main(%x: float32) {\n  " + "negative(" * count + "%x" + ")" * count + "\n}\n"


def nested_branches(count):
    head = "def @main(%n: int32) {\n"
    branch = "if (%n == 0) { 0 } else {\n" + "let %m = %n - 1;\n"
    return head + branch * count + "0\n" + "}" * count + "\n}\n"


def letters_in_boxes(letters):
    """A match on a switch for each letter and box, of which there are too few: each arm is a letter
    in no box, or two letters in one."""
    boxes = letters - 1
    wrong = [{letter * boxes + box: "Off" for box in range(boxes)} for letter in range(letters)]
    wrong += [
        {one * boxes + box: "On", other * boxes + box: "On"}
        for box in range(boxes) for one in range(letters) for other in range(one)
    ]
    count = letters * boxes
    names = [f"%s{i}" for i in range(count)]
    arms = ""
    for number, asked in enumerate(wrong):
        patterns = ", ".join(asked.get(i, "_") for i in range(count))
        arms += f"    ({patterns}) => {number},\n"
    parameters = ", ".join(f"{name}: Switch" for name in names)
    return (
        f"type Switch {{ On, Off }}\n\ndef @main({parameters}) {{\n"
        f"  match (({', '.join(names)})) {{\n{arms}  }}\n}}\n"
    )


def ones(count):
    return f"def @main(%x: Tensor[({', '.join(['1'] * count)}), float32]) {{\n  %x\n}}\n"


# Programs too long for a page, which shows a sketch of them.
GENERATED = {
    "rank-too-large": ones(2000),
    "nesting-too-deep": nested_calls(5000),
    "text-too-deep": nested_branches(2500),
    "match-too-complex": letters_in_boxes(12),
}


# Messages of other commands than `check`.
COMMANDS = {
    "endless-instances": ["run", "--random", "1"],
    "float64-result": ["run", "--precision", "30"],
    "generic-derivative": ["run", "--random", "1"],
    "leaf-function": ["run", "--random", "1"],
    "not-linear": ["run", "--random", "1"],
    "no-gradient": ["opt", "--passes=derivatives"],
    "unknown-function": ["opt", "--passes=derivatives"],
    "refused-code": ["disasm"],
    "run-time": ["run"],
    "unknown-place": ["disasm"],
}


def check(baton, text, notation, command=("check",)):
    """The exit code of `baton check`, or of another command, on a text, and what it says."""
    name = f"example.{notation}"
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / name).write_text(text)
        result = subprocess.run(
            [baton, *command, name],
            cwd=folder,
            capture_output=True,
            text=True,
            preexec_fn=limits.processor_time,
        )
    return result.returncode, result.stderr or result.stdout


def explained(baton, *code):
    return subprocess.run(
        [baton, "explain", *code], capture_output=True, text=True, preexec_fn=limits.processor_time
    )


class Page:
    """The parts of a page, and the problems found with it."""

    def __init__(self, path):
        self.path = path
        self.source = path.read_text()
        self.parts = PAGE.fullmatch(self.source)
        self.problems = []

    def complain(self, problem):
        self.problems.append(f"{self.path.name}: {problem}")

    def check_form(self, severity):
        if not self.parts:
            self.complain("the page has not the form that this script asks for")
            return False
        if self.parts["code"] != self.path.stem:
            self.complain(f"the title is `{self.parts['code']}`")
        if len(self.parts["summary"]) > SUMMARY_LIMIT:
            self.complain(f"the line under the title is longer than {SUMMARY_LIMIT} letters")
        if severity == "Warning" and f"`--allow {self.path.stem}`" not in self.parts["text"]:
            self.complain("the page does not say how to turn the warning off")
        written = self.source.replace(self.parts["said"], "")
        for line in written.splitlines():
            if len(line) > LINE_LIMIT:
                self.complain(f"longer than {LINE_LIMIT} letters: {line}")
        return True

    def check_wrong(self, baton, severity, accept):
        code = self.path.stem
        wrong = GENERATED.get(code, self.parts["wrong"])
        command = COMMANDS.get(code, ("check",))
        status, said = check(baton, wrong, self.parts["notation"], command)
        wanted = 1 if severity == "Error" else 0
        if status != wanted:
            self.complain(f"exit code {status} of the wrong program, not {wanted}")
        if not said.startswith(f"{severity.lower()}[{code}]: "):
            self.complain(f"the wrong program gives another message first:\n{said}")
        elif accept and said != self.parts["said"]:
            first, last = self.parts.span("said")
            self.path.write_text(self.source[:first] + said + self.source[last:])
            print(f"wrote {self.path}")
        elif said != self.parts["said"]:
            before = self.parts["said"].splitlines(keepends=True)
            difference = difflib.unified_diff(
                before, said.splitlines(keepends=True), "on the page", "said now"
            )
            self.complain("the words differ; see --accept\n" + "".join(difference))

    def check_right(self, baton):
        is_code = COMMANDS.get(self.path.stem) == ["disasm"]
        command = ["disasm"] if is_code else ["check"]
        status, said = check(baton, self.parts["right"], self.parts["notation"], command)
        wanted = r"f0 (.*\n)+" if is_code else r"example\.(rly|baton): ok, .*\n"
        if status != 0 or not re.fullmatch(wanted, said):
            self.complain(f"the right program is not right:\n{said}")

    def check_explain(self, baton):
        answer = explained(baton, self.path.stem)
        if answer.returncode != 0 or answer.stdout != self.path.read_text() or answer.stderr:
            self.complain("`baton explain` shows something else; is the program up to date?")


def check_list(baton, codes, pages):
    """`baton explain` alone, and with a code that is none."""
    listed = explained(baton).stdout
    for page in pages:
        if page.parts and not re.search(
            rf"^  {re.escape(page.path.stem)} +{re.escape(page.parts['summary'])}$", listed, re.M
        ):
            yield f"`baton explain` does not list {page.path.stem} with its summary"
    order = [re.match(r" *([\w-]+)", line)[1] for line in listed.splitlines() if line]
    errors = sorted(code for code, severity in codes.items() if severity == "Error")
    warnings = sorted(code for code, severity in codes.items() if severity == "Warning")
    if order != ["Errors", *errors, "Warnings", *warnings]:
        yield "`baton explain` does not list the codes grouped and in order"
    answer = explained(baton, "mising-case")
    if answer.returncode != 2 or "did you mean `missing-case`?" not in answer.stderr:
        yield f"`baton explain mising-case` says: {answer.stderr}"


def main():
    parser = argparse.ArgumentParser(description="Compares the pages of messages with Baton.")
    parser.add_argument("baton", type=lambda word: str(pathlib.Path(word).resolve()))
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("--accept", action="store_true", help="rewrite what Baton says")
    options = parser.parse_args()
    codes = dict(ROW.findall((options.root / "lang/source/diagnostics.def").read_text()))
    codes["run-time"] = "Error"
    folder = options.root / "docs/messages"
    pages = [Page(path) for path in sorted(folder.glob("*.md"))]
    names = {page.path.stem for page in pages}
    problems = [f"{code}: there is no page {code}.md" for code in codes if code not in names]
    for page in pages:
        if page.path.stem not in codes:
            page.complain("there is no message of this code")
        elif page.check_form(codes[page.path.stem]):
            page.check_wrong(options.baton, codes[page.path.stem], options.accept)
            page.check_right(options.baton)
            if not options.accept:
                page.check_explain(options.baton)
        problems += page.problems
    if not options.accept:
        problems += check_list(options.baton, codes, pages)
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(codes)} messages, {len(pages)} pages, {len(problems)} problems")
    return 1 if problems or not codes else 0


if __name__ == "__main__":
    sys.exit(main())
