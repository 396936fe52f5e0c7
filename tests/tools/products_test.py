#!/usr/bin/env python3
"""What `baton compile` makes beyond executables: machine code in them, texts, objects, shared objects.

usage: products_test.py BATON LIBBATON_RT ROOT

Without LLVM there is nothing to test. What is cross-compiled is run where a compiler for aarch64,
qemu-aarch64 and `scripts/rt aarch64-linux-gnu` have been; else the test says that it is not.
"""
import array
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from library import Library, Model

SKIPPED = 77
ARM = "aarch64-linux-gnu"
CALLED = """1 2 3 6
0 0 1 0
3 2
argument `%weight` of `@main` is declared as `Tensor[(m, 3), float32]`, but here it is `Tensor[(3, 4), float32]`
"""
ARRAYS = """[[ 32.  23.  14.   5.]
 [122.  86.  50.  14.]]
[0 0] True
argument `%weight` of `@main` is declared as `Tensor[(m, 3), float32]`, but here it is `Tensor[(4, 2), float32]`
"""
# Known and open sizes, a function that code calls lane by lane, and a fault in the middle.
KERNELS = """\
def @main(%x: Tensor[(6, 40), float32], %w: Tensor[(24, 40), float32], %n: Tensor[(k), int32]) {
  let %y = nn.softmax(nn.dense(%x, %w, units=None));
  (%y, max(transpose(%y, axes=None) * 2f, axis=[0]), tanh(cast(%n, dtype="float32")), 12 / %n)
}
"""
# What hangs on the machine; golden.products has the rest.
MESSAGES = [
    ({"BATON_CXX": "/there/is/none"}, "there is no linker"),
    ({"BATON_CXX": "/bin/false"}, "`/bin/false` cannot link `model.out`"),
    ({"BATON_RT": "/there/is/none"}, "which is not there"),
    ({"BATON_LLVM": "/there/is/none"}, "LLVM 19 is not installed"),
]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True,
                          check=False, **options)


def said(*words, **options):
    done = run(*words, **options)
    return done.stdout if done.returncode == 0 else f"exit code {done.returncode}: {done.stderr}"


def expect(what, given, wanted):
    if given != wanted:
        yield f"{what} gives\n{given}\nand not\n{wanted}"


class Kitchen:
    def __init__(self, baton, library, root, folder):
        self.baton, self.library, self.root, self.folder = baton, library, root, folder
        shutil.copy(root / "examples/embed/model.rly", folder)
        (folder / "kernels.rly").write_text(KERNELS)

    def compile(self, program, output, *words, **environment):
        words = [self.baton, "compile", program, *words, "-o", output]
        return run(*words, cwd=self.folder, env={**os.environ, **environment})

    def made(self, program, output, *words):
        done = self.compile(program, output, *words)
        if done.returncode != 0:
            raise RuntimeError(f"{output} is not made: {done.stderr}")
        return self.folder / output


def floats(*shape):
    count = shape[0] * shape[1]
    return "float32", list(shape), array.array("f", [i * i % 97 / 50 - 1 for i in range(count)])


def machine_code_problems(kitchen):
    """Kernels of an executable give the same by strips and by machine code, for sizes as they come."""
    path = kitchen.made("kernels.rly", "kernels.bvm", "--target=x86-64,x86-64-v2,x86-64-v3,x86-64-v4,aarch64")
    library = Library(kitchen.library)
    plain, trusted = Model(library, path), Model(library, path, trusts=True)
    if trusted.kernels == 0:
        yield "there is no machine code for this processor"
    for size in 0, 1, 5, 37:
        inputs = [floats(6, 40), floats(24, 40),
                  ("int32", [size], array.array("i", range(1, size + 1)))]
        first, second = plain(*inputs), trusted(*inputs)
        for one, other in zip(first["tuple"], second["tuple"]):
            if one["shape"] != other["shape"] or any(
                    abs(a - b) > 1e-5 for a, b in zip(one["data"], other["data"])):
                yield f"for {size} machine code gives {other} and not {one}"
    inputs[2] = "int32", [2], array.array("i", [1, 0])
    faults = []
    for model in plain, trusted:
        try:
            model(*inputs)
        except Exception as error:
            faults.append(str(error))
    if len(faults) != 2 or faults[0] != faults[1]:
        yield f"a division by zero is told as {faults}"
    plain.close()
    trusted.close()
    text = said(kitchen.baton, "disasm", "--full", path)
    if "// Machine code for x86-64-v3 of " not in text:
        yield "the text of an executable says nothing of its machine code"
    (kitchen.folder / "kernels.bvt").write_text(text)
    again = kitchen.made("kernels.bvt", "again.bvm")
    if said(kitchen.baton, "disasm", "--full", again) != re.sub("// Machine code.*\n", "", text):
        yield "the text of an executable with machine code reads back as something else"


def text_problems(kitchen):
    for target, words in ("x86-64-v3", ["ymm", "ret"]), ("aarch64", ["fmla", "ret"]):
        llvm = kitchen.made("kernels.rly", "kernels.ll", "--emit=llvm", f"--target={target}").read_text()
        assembly = kitchen.made("kernels.rly", "kernels.s", "--emit=asm", f"--target={target}").read_text()
        for word in ["define internal i32 @kernel0_part0(", f"; For {target}: kernels 0"]:
            if word not in llvm:
                yield f"the text for {target} has no `{word}`"
        for word in words:
            if word not in assembly:
                yield f"the assembly for {target} has no `{word}`"


def shared_problems(kitchen):
    shared, folder = kitchen.made("model.rly", "model.so", "--emit=so"), kitchen.folder
    left = sorted(path.name for path in folder.iterdir() if ".part" in path.name)
    yield from expect("what is left", left, [])
    exported = sorted(re.findall(r" [A-Z] (\w+)", said("nm", "-D", "--defined-only", shared)))
    if "model_main" not in exported or not all(
            name == "model_main" or name.startswith("baton_error_") for name in exported):
        yield f"the shared object shows {exported}"
    needed = re.findall(r"NEEDED.*\[(.*)\]", said("readelf", "-d", shared))
    if any(re.match(r"libbaton|libfmt|libstdc|libLLVM", name) for name in needed):
        yield f"the shared object needs {needed}"
    print(f"model.so: {shared.stat().st_size} bytes, needs", *needed)
    source = kitchen.root / "examples/embed/linked.c"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", folder]
    done = run("cc", *flags, source, shared, f"-Wl,-rpath,{folder}", "-o", folder / "linked")
    yield from expect("the compiler", done.stderr, "")
    yield from expect("linked.c", said(folder / "linked"), CALLED)
    done = run("c++", "-fsyntax-only", "-Werror", "-x", "c++", "-include", kitchen.root / "vm/rt/baton_rt.h",
               folder / "model.h")
    yield from expect("the header in C++", done.stderr, "")
    if importlib.util.find_spec("numpy"):
        yield from expect("linked.py", said(sys.executable, "-B", kitchen.root / "examples/embed/linked.py", shared),
                          ARRAYS)
    else:
        print("without Python: there is no numpy")
    thing = kitchen.made("model.rly", "model.o", "--emit=obj", "--target=x86-64,x86-64-v3")
    done = run("cc", *flags, "-c", source, "-o", folder / "linked.o")
    yield from expect("the compiler", done.stderr, "")
    done = run("c++", folder / "linked.o", thing, kitchen.baton.parent / "libbaton_rt.a", "-ldl", "-lm",
               "-o", folder / "linked")
    yield from expect("the linker with an object", done.stderr, "")
    yield from expect("linked.c with an object", said(folder / "linked"), CALLED)


def cross_problems(kitchen):
    compiler, emulator = f"{ARM}-g++", shutil.which("qemu-aarch64")
    thing = kitchen.made("model.rly", "model.o", "--emit=obj", f"--target={ARM}")
    if "AArch64" not in said("readelf", "-h", thing):
        yield "the object for aarch64 is none"
    archive = kitchen.baton.parent / ARM / "libbaton_rt.a"
    if not (shutil.which(compiler) and emulator and archive.exists()):
        print(f"SKIPPED: no {compiler}, qemu-aarch64 or {archive} (`scripts/rt {ARM}`), so nothing runs for aarch64")
        return
    shared, folder = kitchen.made("model.rly", "model.so", "--emit=so", f"--target={ARM}"), kitchen.folder
    done = run(f"{ARM}-gcc", "-I", folder, kitchen.root / "examples/embed/linked.c", shared,
               f"-Wl,-rpath,{folder}", "-o", folder / "linked")
    yield from expect("the cross compiler", done.stderr, "")
    yield from expect("linked.c on aarch64", said(emulator, "-L", f"/usr/{ARM}", folder / "linked"), CALLED)


def message_problems(kitchen):
    for environment, wanted in MESSAGES:
        done = kitchen.compile("model.rly", "model.out", "--emit=so", **environment)
        if done.returncode != 2 or wanted not in done.stderr:
            yield f"with {environment}: {done.returncode}, {done.stderr}"
        left = [path.name for path in kitchen.folder.iterdir() if path.name.startswith("model.out")]
        yield from expect(f"what is left with {environment}", left, [])


def main():
    baton, library, root = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder:
        kitchen = Kitchen(baton, library, root, pathlib.Path(folder))
        done = kitchen.compile("model.rly", "model.s", "--emit=asm")
        if "LLVM 19 is not installed" in done.stderr:
            print(done.stderr)
            return SKIPPED
        found = [problem for problems in (machine_code_problems, text_problems, shared_problems,
                                          cross_problems, message_problems)
                 for problem in problems(kitchen)]
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
