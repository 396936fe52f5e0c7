#!/usr/bin/env python3
"""What golden texts cannot show of commands: pipes, interrupts, files that cannot be written.

usage: command_line_test.py BATON
"""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import threading

PROGRAM = """\
def @main() { 42 }
"""


def baton(folder, *words, **how):
    return subprocess.run(
        [sys.argv[1], *words], cwd=folder, capture_output=True, text=True, timeout=60,
        **{"stdin": subprocess.DEVNULL, **how},
    )


def expect(what, found, code, *said):
    """What is wrong with how a command ended."""
    missing = [part for part in said if part not in found.stdout + found.stderr]
    if found.returncode != code or missing:
        yield f"{what} ends with {found.returncode} and does not say {missing}: {found}"


def from_pipe(folder, words, content):
    """A command whose program comes from a named pipe."""
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=[content], daemon=True)
    writer.start()
    try:
        return baton(folder, *words, "pipe")
    finally:
        pipe.unlink()


def check_pipes(folder):
    text = PROGRAM.encode()
    yield from expect("a program from a pipe", from_pipe(folder, ["run"], text), 0, "42")
    yield from expect("code from a pipe", from_pipe(folder, ["disasm"], text), 0, "@main")
    compiled = from_pipe(folder, ["compile", "-o", "x.bvm"], text)
    yield from expect("an executable from a pipe", compiled, 0)
    full = baton(folder, "disasm", "--full", "x.bvm").stdout.encode()
    for content in (folder / "x.bvm").read_bytes(), full:
        found = from_pipe(folder, ["run"], content)
        yield from expect("an executable in a pipe", found, 2, "is an executable", "regular file")


def check_unmapped(folder):
    """A file of ours that there is no memory for, which is all hole."""
    baton(folder, "compile", "program.rly", "-o", "x.bvm")
    os.truncate(folder / "x.bvm", 8 << 30)
    memory = (2 << 30, 2 << 30)
    found = baton(
        folder, "run", "x.bvm", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, memory)
    )
    yield from expect("an executable beyond memory", found, 2, "cannot read `x.bvm`: ", "memory")


def main():
    checks = [check for name, check in globals().items() if name.startswith("check_")]
    problems = []
    for check in checks:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "program.rly").write_text(PROGRAM)
            problems += check(pathlib.Path(folder))
    print(*problems, f"{len(problems)} problems", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
