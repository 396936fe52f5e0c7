#!/usr/bin/env python3
"""What golden texts cannot show of commands: pipes, interrupts, files that cannot be written.

usage: command_line_test.py BATON
"""
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

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


def expect_equal(what, found, wanted):
    if found != wanted:
        yield f"{what} is {found!r} and not {wanted!r}"


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
    made = (folder / "x.bvm").read_bytes()
    for content in made, full:
        yield from expect("an executable in a pipe", from_pipe(folder, ["run"], content), 0, "42")
        (folder / "given").write_bytes(content)
        with open(folder / "given") as given:
            found = baton(folder, "compile", "-", "-o", "y.bvm", stdin=given)
        yield from expect("an executable on standard input", found, 0)
        yield from expect_equal("the same executable", (folder / "y.bvm").read_bytes(), made)
        found = from_pipe(folder, ["check"], content)
        yield from expect("a check of an executable", found, 2, "`baton compile` and", "take it")
    damaged = from_pipe(folder, ["run"], made[:-1])
    yield from expect("a damaged executable in a pipe", damaged, 2, "cannot read `pipe`: ")


def check_standard_input(folder):
    (folder / "wrong.rly").write_text("def @main() { %x }\n")
    with open(folder / "wrong.rly") as text:
        found = baton(folder, "check", "-", stdin=text)
    yield from expect("a mistake", found, 1, "--> <stdin>:1:15", "1 error in <stdin>\n")


def check_unmapped(folder):
    """A file of ours that there is no memory for, which is all hole."""
    baton(folder, "compile", "program.rly", "-o", "x.bvm")
    os.truncate(folder / "x.bvm", 8 << 30)
    memory = (2 << 30, 2 << 30)
    found = baton(
        folder, "run", "x.bvm", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, memory)
    )
    yield from expect("an executable beyond memory", found, 2, "cannot read `x.bvm`: ", "memory")


LARGE = """\
def @main() { zeros(shape=[64000000], dtype="float32") }
"""


def check_signals_while_writing(folder):
    (folder / "large.rly").write_text(LARGE)
    for sent, codes in (signal.SIGINT, [130]), (signal.SIGTERM, [-signal.SIGTERM]):
        process = subprocess.Popen(
            [sys.argv[1], "run", "large.rly", "--output", "large.npz"], cwd=folder,
            stdout=subprocess.DEVNULL,
        )
        while process.poll() is None and not list(folder.glob("*.partial")):
            time.sleep(0.001)
        process.send_signal(sent)
        code = process.wait()
        left = [path.name for path in folder.glob("large.npz*")]
        # The signal may come when all is written.
        if (code not in codes or left) and left != ["large.npz"]:
            yield f"{sent.name} while a file is written ends with {code} and leaves {left}"
        (folder / "large.npz").unlink(missing_ok=True)


def check_size_limit(folder):
    (folder / "large.rly").write_text(LARGE)
    size = (1 << 20, 1 << 20)
    found = baton(
        folder, "run", "large.rly", "--output", "large.npz",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, size),
    )
    yield from expect("a file beyond a limit", found, 2, "cannot write `large.npz`: File too large")
    if left := list(folder.glob("large.npz*")):
        yield f"a file beyond a limit leaves {left}"


def check_full_output(folder):
    for words, typed in (["run"], ""), (["debug"], "run\n"):
        with open("/dev/full", "w") as full:
            found = subprocess.run(
                [sys.argv[1], *words, "program.rly"], cwd=folder, input=typed, text=True,
                stdout=full, stderr=subprocess.PIPE,
            )
        if (found.returncode, found.stderr) != (2, "error: standard output cannot be written\n"):
            yield f"output to a full disk: {found}"


def check_entries(folder):
    (folder / "two.rly").write_text("def @one() { 1 }\ndef @two() { 2 }\n")
    both = ["--entry", "one", "--entry", "two"]
    yield from expect("two entries", baton(folder, "compile", "two.rly", *both, "-o", "x.bvm"), 0)
    again = baton(folder, "compile", "x.bvm", *both, "-o", "y.bvm")
    yield from expect("the same entries", again, 0)
    fewer = baton(folder, "compile", "x.bvm", "--entry", "@two", "-o", "z.bvm")
    yield from expect("fewer entries", fewer, 2, "`x.bvm` has `@one` too")
    listed = baton(folder, "disasm", "x.bvm", "--entry", "@two")
    yield from expect("code of fewer entries", listed, 2, "`x.bvm` has `@one` too")
    for words in ["run"], ["disasm"], ["compile", "-o", "z.bvm"]:
        found = baton(folder, *words, "two.rly", "--entry", "three")
        yield from expect("an entry that there is not", found, 2, "there is no function `@three`")


def check_refused_options(folder):
    (folder / "scale.rly").write_text("def @main(%x: float32) { %x * 2f }\n")
    for words, said in [
        (["run", "program.rly", "--engine", ""], "there is no engine"),
        (["bench", "program.rly", "--engine", "loops"], "only the machine is timed"),
        (["bench", "program.rly", "--rounds", "0"], "is no number from 1"),
        (["lower", "program.rly", "--emit", "fortran"], "--emit"),
        (["run", "program.rly", "--outptu", "x.npz"], "has no option `--outptu`; did you mean `--output`?"),
        (["run", "--outptu=x.npz"], "`baton run` has no option `--outptu`; did you mean"),
        (["check", "--quite-other"], "has no option `--quite-other`; see `baton check --help`"),
        (["grad", "program.rly", "--of", "nosuch"], "no function `@nosuch`; choose another with"),
        (["grad", "scale.rly", "--wrt", "q"], "`@main` has no parameter `q`"),
        (
            ["opt", "program.rly", "--passes=simplify", "--print-after", "dead-code"],
            "`--print-after` names `dead-code`, which does not run here; the passes are simplify",
        ),
        (["run"], "FILE is required\nsee `baton --help`"),
        (["run", "program.rly", "other.rly"], "not expected: other.rly"),
    ]:
        yield from expect(f"{words}", baton(folder, *words), 2, said)


FIXABLE = """def @main(%x: Tensor[(2, 2), float32], %w1: Tensor[(2, 2), float32], %w2: Tensor[(2), float32]) {
  nn.dense(%x, %w1 * 2f, units=2) + %w2
}
def @open(%x: Tensor[(n), float32], %k: int64) { (%x, %k) }
def @calling(%n: float32) { if (%n < 0f) { %n } else { @calling(%n - 1f) } }
"""


def check_fixed_inputs(folder):
    """Inputs that are fixed are constants of the program, and what it gives is the same."""
    (folder / "net.rly").write_text(FIXABLE)
    given = ["--random", "7", "--input", "w2=[1, 2]"]
    plain = baton(folder, "run", "net.rly", *given)
    yield from expect("nothing fixed", plain, 0)
    for names in "w*", "%w1,w2", "x", "*":
        fixed = baton(folder, "run", "net.rly", *given, "--fix", names)
        yield from expect(f"fixed {names}", fixed, 0)
        yield from expect_equal(f"the result with {names} fixed", fixed.stdout, plain.stdout)
    shown = baton(folder, "run", "net.rly", *given, "--fix", "w*", "--print-after", "constant-folding")
    yield from expect("what follows from fixed inputs", shown, 0, "def @main(%x: Tensor[(2, 2), float32])")
    yield from expect_equal("a product of constants", "multiply" in shown.stderr or " * " in shown.stderr, False)
    gradients = baton(folder, "run", "net.rly", *given, "--fix", "w*", "--grad")
    yield from expect("gradients of the other inputs", gradients, 0)
    yield from expect_equal("what has one", re.findall(r"grad\.\w+", gradients.stdout), ["grad.x"])
    yield from expect("bench", baton(folder, "bench", "net.rly", *given, "--fix", "w*", "--rounds", "1"), 0)
    yield from expect("compile", baton(folder, "compile", "net.rly", *given, "--fix", "w*", "-o", "net.bvm"), 0)
    compiled = baton(folder, "run", "net.bvm", "--random", "7")
    yield from expect("the executable", compiled, 0)
    yield from expect_equal("its result", compiled.stdout, plain.stdout)


def check_refused_fixing(folder):
    (folder / "net.rly").write_text(FIXABLE)
    for words, said in [
        (["run", "net.rly", "--random", "1", "--fix", "v*"], "`--fix` names `v*`, and `@main` has no such parameter"),
        (["run", "net.rly", "--fix", "w*"], "`@main` needs inputs that are not given:\n  `%w1"),
        (["run", "net.rly", "--entry", "calling", "--input", "n=1", "--fix", "n"], "`@calling` is called in the program"),
        (["compile", "net.rly", "--input", "w2=[1, 2]", "-o", "net.bvm"], "where `--fix` names their parameters"),
        (["compile", "net.rly", "--random", "1", "--fix", "w*", "--entry", "main", "--entry", "open", "-o", "net.bvm"], "one entry"),
    ]:
        yield from expect(f"{words}", baton(folder, *words), 2, said)
    baton(folder, "compile", "net.rly", "-o", "net.bvm")
    late = baton(folder, "run", "net.bvm", "--random", "1", "--fix", "w*")
    yield from expect("fixing inputs of an executable", late, 2, "fixed when it is compiled")


def check_bench(folder):
    """A call is timed, with the same options as a run, and faults are those of a run."""
    (folder / "scale.rly").write_text("def @main(%x: Tensor[(n), float32]) { %x * 2f }\n")
    for engine in "vm", "native":
        words = ["bench", "scale.rly", "--random", "1", "--dim", "n=100", "--rounds", "3", "--engine", engine]
        timed = baton(folder, *words, "--json")
        yield from expect(f"bench on {engine}", timed, 0)
        figures = json.loads(timed.stdout)
        isOrdered = 0 < figures["min_s"] <= figures["median_s"] <= figures["p90_s"]
        yield from expect_equal("order of times", isOrdered and figures["runs"] >= 3, True)
        yield from expect_equal("engine", figures["engine"], engine)
        yield from expect_equal("left to strips", figures["left_to_strips"], 0)
        kernel = figures["kernels"][0]
        yield from expect_equal("its kernels", (len(figures["kernels"]), kernel["name"]), (1, "multiply"))
        counted = [kernel[key] for key in ("place", "calls", "flops", "bytes")]
        yield from expect_equal("what it does", counted, ["1:39", 1, 100, 804])
        roof = figures["roof"]
        yield from expect_equal("share", (kernel["share"] is None), roof is None)
        told = baton(folder, *words)
        yield from expect(f"the table on {engine}", told, 0)
        yield from expect_equal("a row", re.search(r"\nmultiply +1:39 +1 +[0-9.]+ us ", told.stdout) is not None, True)
    (folder / "parts.rly").write_text("def @main(%x: Tensor[(2), int32]) { 10 / %x }\n")
    fault = baton(folder, "bench", "parts.rly", "--input", "x=[1,0]", "--engine", "native")
    yield from expect("fault while timed", fault, 1, "integer division by zero", "parts.rly:1:")


def check_outputs(folder):
    """Files that cannot be written, or of which one would be lost."""
    os.symlink("program.rly", folder / "link.svg")
    for words, said in [
        (["--flame-graph", "x", "--chrome-trace", "x"], "cannot both go to one file"),
        (["--flame-graph", "./x", "--chrome-trace", "x"], "cannot both go to one file"),
        (["--output", "r.json", "--chrome-trace", "r.json"], "cannot both go to one file"),
        (["--flame-graph", "program.rly"], "would take the place of `program.rly`"),
        (["--flame-graph", "link.svg"], "would take the place of `program.rly`"),
        (["--flame-graph", "-"], "takes the path of a file, and `-` is none"),
        (["--output", "none/o.npz"], "cannot write `none/o.npz`: No such file or directory"),
        (["--flame-graph", "none/f.svg"], "cannot write `none/f.svg`: No such file or directory"),
        (["--flame-graph", "."], "cannot write `.`: Is a directory"),
    ]:
        found = baton(folder, "run", "program.rly", *words)
        yield from expect(f"{words}", found, 2, said)
        yield from expect_equal(f"the output of {words}", found.stdout, "")
    yield from expect_equal("the program", (folder / "program.rly").read_text(), PROGRAM)
    same = ["--flame-graph", "/dev/null", "--chrome-trace", "/dev/null"]
    yield from expect("a device", baton(folder, "run", "program.rly", *same), 0)
    for path, said in ("program.rly", "would take the place"), ("-", "`-` is none"):
        found = baton(folder, "compile", "program.rly", "-o", path)
        yield from expect(f"an executable at {path}", found, 2, said)


def check_narrow_output(folder):
    """An element type that a file has no place for is refused before the run."""
    text = 'def @main() { debug(1); (cast(1f, dtype="bfloat16"), 2) }\n'
    (folder / "narrow.rly").write_text(text)
    said = "elements of `bfloat16`, which a .npz file cannot hold; a .safetensors file can"
    found = baton(folder, "run", "narrow.rly", "--output", "o.npz")
    yield from expect("numpy and bfloat16", found, 2, said)
    yield from expect_equal("what it shows", found.stdout, "")
    kept = baton(folder, "run", "narrow.rly", "--output", "o.safetensors")
    yield from expect("safetensors and bfloat16", kept, 0)


def check_allow(folder):
    (folder / "warned.rly").write_text("def @main(%x: int32) { %0 = %x + 1; %x }\n")
    words = ["compile", "warned.rly", "-o", "x.bvm"]
    warned = baton(folder, *words)
    code = warned.stderr.partition("warning[")[2].partition("]")[0]
    yield from expect("a warning", warned, 0, "warning[")
    allowed = baton(folder, *words, "--allow", code)
    if allowed.returncode != 0 or allowed.stderr:
        yield f"a warning that is allowed: {allowed}"


def check_too_large(folder):
    (folder / "wide.rly").write_text(f"def @main() {{ ({'1, ' * 5000}) }}\n")
    said = "the machine has no code for an object of more than 4,096 fields"
    compiled = baton(folder, "compile", "wide.rly", "-o", "x.bvm")
    yield from expect("too large a program", compiled, 1, f"`wide.rly`: {said}")
    note = f"note: {said}, so the interpreter runs the program"
    yield from expect("too large a run", baton(folder, "run", "wide.rly"), 0, note)
    yield from expect("too large to time", baton(folder, "bench", "wide.rly"), 2, "nothing to time")


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
