#!/usr/bin/env python3
"""Values of every type through files of every kind, and what Python makes of those files.

usage: values_test.py BATON
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import tensor_files

TYPES = """#[version = "0.0.5"]
type Layer { Layer(Tensor[(2, 3), float32], Tensor[(2), float32]) }
type Net { Net(Layer, Layer, float64) }
type Tree[A] { Leaf(A), Fork(Tree[A], Tree[A]), Bare }
type Word { Word(Tensor[(k), int32], Tensor[(k), bool]) }
type Rose { Rose(int8, List[Rose]) }
"""
# A type, and a value of it.
VALUES = [
    *[(dtype, text) for dtype, text in [
        ("bool", "True"), ("int8", "-128"), ("int16", "-32768"), ("int32", "-2147483648"),
        ("int64", "-9223372036854775807"), ("uint8", "255"), ("uint16", "65535"),
        ("uint32", "4294967295"), ("uint64", "18446744073709551615"), ("float16", "0.1"),
        ("float32", "1e-45"), ("float64", "0.1"), ("bfloat16", "0.3"), ("float32", "-inf"),
        ("float64", "nan")]],
    ("Tensor[(2, 2), float16]", "[[1, 2.5], [65504, nan]]"),
    ("Tensor[(2, 0, 3), int64]", 'zeros(shape=[2, 0, 3], dtype="int64")'),
    ("Tensor[(2), uint64]", "[18446744073709551615, 0]"),
    ("(int32, (bool, ()), (float32,))", "(1, (True, ()), (2.5,))"),
    ("()", "()"),
    ("Net", "Net(Layer([[1, 2, 3], [4, 5, 6]], [7, 8]), Layer([[9, 8, 7], [6, 5, 4]], [3, 2]), 0.1)"),
    ("List[int32]", "Nil"),
    ("List[int32]", "Cons(1, Cons(2, Cons(3, Nil)))"),
    ("List[Tensor[(?), float32]]", "Cons([1], Cons([1, 2], Cons([3, 4], Nil)))"),
    ("List[(int32, List[bool])]", "Cons((1, Cons(True, Nil)), Cons((2, Nil), Nil))"),
    ("Option[Tensor[(2), uint8]]", "Some([1, 2])"),
    ("Option[Option[int32]]", "Some(None)"),
    ("Tree[(float32, int16)]", "Fork(Leaf((1, 2)), Fork(Bare, Leaf((3, 4))))"),
    ("(Tree[Net], int32)", "(Leaf(Net(Layer([[1, 2, 3], [4, 5, 6]], [7, 8]), "
                           "Layer([[9, 8, 7], [6, 5, 4]], [3, 2]), 0.1)), 7)"),
    ("List[Word]", "Cons(Word([1, 2], [True, False]), Cons(Word([3], [True]), Nil))"),
    ("Rose", "Rose(1, Cons(Rose(2, Nil), Cons(Rose(3, Cons(Rose(4, Nil), Nil)), Nil)))"),
]
SUFFIXES = [".npz", ".safetensors", ".json", ".txt"]
LONG = 1_000_000

class Baton:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def program(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def __call__(self, *words):
        done = subprocess.run([self.path, "run", *map(str, words)], capture_output=True, text=True,
                              check=False)
        return done.stdout if done.returncode == 0 else f"exit {done.returncode}: {done.stderr}"


def round_trips(baton):
    """Each value by each kind of file, on the machine, the interpreter and from an executable."""
    for number, (kind, text) in enumerate(VALUES):
        program = baton.program(f"v{number}.rly", TYPES + f"def @main(%v: {kind}) -> {kind} {{ %v }}\n")
        made = baton.folder / "v.bvm"
        subprocess.run([baton.path, "compile", program, "-o", made], check=True, capture_output=True)
        shown = baton(program, "--input", f"v={text}")
        if shown.startswith("exit"):
            yield f"{kind}: {text}: {shown}"
            continue
        for suffix in SUFFIXES:
            if suffix == ".npz" and kind == "bfloat16":
                continue
            for way in [(program,), (program, "--engine", "interp"), (made,)]:
                path, second = baton.folder / f"one{suffix}", baton.folder / f"two{suffix}"
                first = baton(*way, "--input", f"v={text}", "--output", path)
                again = baton(*way, "--input", f"v={path}", "--output", second)
                if not first == again == shown:
                    yield f"{kind} by {suffix} of {way[-1]}: {shown} is read back as {again}"
                elif path.read_bytes() != second.read_bytes():
                    yield f"{kind} by {suffix}: written again the file is another one"
        # What is shown reads back as well, unless it is abbreviated.
        if baton(program, "--input", f"v={shown.strip()}") != shown:
            yield f"{kind}: {shown} is not read back from the command line"


def long_lists(baton):
    """A million items, and a tree as deep; nothing recurses or takes the square of the time."""
    program = baton.program("long.rly", """#[version = "0.0.5"]
type Chain { Link(Chain, int32), End }
def @count(%n: int32, %rest: List[int32]) -> List[int32] {
  if (%n == 0) { %rest } else { @count(%n - 1, Cons(%n, %rest)) }
}
def @chain(%n: int32, %rest: Chain) -> Chain {
  if (%n == 0) { %rest } else { @chain(%n - 1, Link(%rest, %n)) }
}
def @total(%xs: List[int32], %sum: int64) -> int64 {
  match (%xs) { Cons(%x, %rest) => { @total(%rest, %sum + cast(%x, dtype="int64")) }, Nil => { %sum } }
}
def @weight(%c: Chain, %sum: int64) -> int64 {
  match (%c) { Link(%rest, %x) => { @weight(%rest, %sum + cast(%x, dtype="int64")) }, End => { %sum } }
}
""")
    wanted = f"{LONG * (LONG + 1) // 2}i64\n"
    for make, given, ask, name in [("count", "rest=Nil", "total", "xs"),
                                   ("chain", "rest=End", "weight", "c")]:
        for suffix in SUFFIXES:
            path = baton.folder / f"long{suffix}"
            said = baton(program, "--entry", make, "--input", f"n={LONG}", "--input", given,
                         "--output", path)
            if said.startswith("exit"):
                yield f"{make} to {suffix}: {said}"
                continue
            again = baton(program, "--entry", ask, "--input", f"{name}={path}", "--input", "sum=0")
            if again != wanted:
                yield f"{make} by {suffix}: {again}"


def foreign_files(baton):
    """What other programs write, and what they find in files of ours."""
    net = baton.program("net.rly", TYPES + """
def @main(%net: Net) -> Net { %net }
def @rows(%xs: List[Tensor[(2), float32]]) { %xs }
def @layers(%xs: List[Layer]) { %xs }
def @tree(%t: Tree[int32]) { %t }
""")
    floats = lambda shape, *numbers: ("float32", shape, tensor_files.array.array("f", numbers))
    weights = {"0.0": floats([2, 3], 1, 2, 3, 4, 5, 6), "0.1": floats([2], 7, 8),
               "1.0": floats([2, 3], 9, 8, 7, 6, 5, 4), "1.1": floats([2], 3, 2),
               "2": ("float32", [], tensor_files.array.array("f", [0.5]))}
    wanted = baton(net, "--input", "net=Net(Layer([[1, 2, 3], [4, 5, 6]], [7, 8]), "
                   "Layer([[9, 8, 7], [6, 5, 4]], [3, 2]), 0.5)")
    path = baton.folder / "weights.npz"
    for prefix, words in [("", [f"net={path}"]), ("net.", [f"net={path}"]), ("net.", [path]),
                          ("model.", [f"net={path}:model"])]:
        tensor_files.write_npz(path, {prefix + name: tensor for name, tensor in weights.items()})
        given = baton(net, *[part for word in words for part in ("--input", word)])
        if given != wanted:
            yield f"weights called `{prefix}N`: {given}"
    tensor_files.write_npz(path, {"xs": floats([2, 2], 1, 2, 3, 4)})
    pairs = baton(net, "--entry", "rows", "--input", "xs=Cons([1, 2], Cons([3, 4], Nil))")
    if baton(net, "--entry", "rows", "--input", f"xs={path}") != pairs:
        yield "an array is no list of its rows"
    tensor_files.write_npz(path, {"xs.0": floats([2], 1, 2), "xs.1": floats([2], 3, 4)})
    if baton(net, "--entry", "rows", "--input", f"xs={path}") != pairs:
        yield "arrays with numbers are no list"
    tensor_files.write_npz(path, {
        "t.structure": ("uint8", [23], tensor_files.array.array("B", b"Fork(Leaf(0), Leaf(0)) ")),
        "t.0": ("int32", [2], tensor_files.array.array("i", [5, 6]))})
    if baton(net, "--entry", "tree", "--input", f"t={path}") != "Fork(Leaf(5), Leaf(6))\n":
        yield "a structure of another program is not read"
    out = baton.folder / "out.npz"
    baton(net, "--entry", "layers", "--output", out, "--input",
          "xs=Cons(Layer([[1, 2, 3], [4, 5, 6]], [7, 8]), Cons(Layer([[9, 8, 7], [6, 5, 4]], [3, 2]), Nil))")
    shapes = {name: shape for name, (_, shape, _) in tensor_files.read_npz(out).items()}
    if shapes != {"out.0.0": [2, 3], "out.0.1": [2], "out.1.0": [2, 3], "out.1.1": [2]}:
        yield f"a list of layers is written as {shapes}"


def json_by_hand(baton):
    """JSON that says no more than is needed, and objects with their members in any order."""
    program = baton.program("hand.rly", TYPES + """
def @main(%x: Tensor[(2, 2), float32], %xs: List[(int32, bool)], %t: Tree[int8]) { (%x, %xs, %t) }
""")
    path = baton.folder / "hand.json"
    path.write_text(json.dumps({
        "t": {"fields": [{"fields": [3], "con": "Leaf"}, {"con": "Bare", "fields": []}], "con": "Fork"},
        "xs": [[1, True], {"tuple": [2, False]}], "x": [[1, "nan"], [2.5, 1e3]]}))
    given = baton(program, "--input", path)
    if given != baton(program, "--input", "x=[[1, nan], [2.5, 1000]]", "--input",
                      "xs=Cons((1, True), Cons((2, False), Nil))", "--input",
                      "t=Fork(Leaf(3), Bare)"):
        yield f"JSON by hand: {given}"


def damaged(data, random):
    """Bytes with a few changes."""
    data = bytearray(data)
    for _ in range(random.randint(1, 3)):
        at, count = random.randrange(len(data) + 1), random.randint(1, 8)
        kind = random.randrange(3)
        if kind == 0:
            del data[at:at + count]
        else:
            more = data[at:at + count] if kind == 1 else random.choices(b'()[]{},:"0123456789. ', k=count)
            data[at:at] = bytes(more)
    return bytes(data)


def damaged_files(baton):
    """What is wrong with a file is said, or it is a good one still."""
    program = baton.program("damaged.rly", TYPES + """
def @main(%v: (Layer, List[(Tree[bool], float16)])) { %v }
""")
    files = {suffix: baton.folder / f"whole{suffix}" for suffix in SUFFIXES}
    for path in files.values():
        baton(program, "--random", 1, "--output", path)
    arrays = tensor_files.read_npz(files[".npz"])
    arrays = {name: arrays[name] for name in ("out.0.0", "out.0.1")}
    structure = b"Cons((Fork(Leaf(0), Fork(Bare, Leaf(0))), 1), Cons((Leaf(0), 1), Nil))"
    arrays["out.1.0"] = ("bool", [3], tensor_files.array.array("B", [1, 0, 1]))
    arrays["out.1.1"] = ("float16", [2], tensor_files.array.array("H", [0, 1]))
    arrays["out.1.structure"] = ("uint8", [len(structure)], tensor_files.array.array("B", structure))
    path = baton.folder / "hand.npz"
    tensor_files.write_npz(path, arrays)
    if "Cons((Leaf(True), " not in (said := baton(program, "--input", f"v={path}")):
        yield f"a structure by hand: {said}"
    source = random.Random(1)
    for number in range(40):
        for suffix in [".json", ".txt", ".npz"]:
            path = baton.folder / f"damaged{suffix}"
            if suffix == ".npz":
                text = damaged(structure, source)
                arrays["out.1.structure"] = ("uint8", [len(text)], tensor_files.array.array("B", text))
                tensor_files.write_npz(path, arrays)
            else:
                path.write_bytes(damaged(files[suffix].read_bytes(), source))
            said = baton(program, "--input", f"v={path}")
            if said.startswith("exit") and not said.startswith("exit 2: error: "):
                yield f"damaged {suffix} number {number}: {said}"


def damaged_names(baton):
    """Arrays that are called something else, are missing or are others."""
    program = baton.program("names.baton", """
type Dense { w: f32[m, n], b: f32[m] }
type Tree { Leaf(f32), Fork(left: Tree, right: Tree), Bare }
def main(v: (List[Dense], Option[Tree], List[f32], List[List[i32]])) = v
""")
    path = baton.folder / "names.npz"
    source = random.Random(2)
    for number in range(80):
        if number % 20 == 0:
            whole = baton.folder / "whole.npz"
            baton(program, "--random", number, "--output", whole)
            good = tensor_files.read_npz(whole)
        arrays = dict(good)
        for _ in range(source.randint(1, 3)):
            name = source.choice(sorted(arrays))
            parts, kind = name.split("."), source.randrange(4)
            at = source.randrange(1, len(parts) + 1)
            if kind == 0:
                parts[at:at + source.randrange(2)] = [
                    source.choice(["", "0", "00", "-1", "999999999", "4294967296", "w", "Fork", "left",
                                   "Some", "structure", "Leaf", "99999999999999999999999"])]
            elif kind == 1:
                del parts[at - 1:at]
            tensor = arrays.pop(name)
            if kind == 2:
                tensor = source.choice([*good.values(), ("uint8", [4], tensor_files.array.array("B", b"Bare"))])
            if kind < 3 or not arrays:
                arrays[".".join(parts)] = tensor
        tensor_files.write_npz(path, arrays)
        for word in f"v={path}", f"v={path}:out":
            said = baton(program, "--input", word)
            if said.startswith("exit") and not said.startswith("exit 2: error: "):
                yield f"damaged names number {number}, {sorted(arrays)}: {said}"


def main():
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        baton = Baton(sys.argv[1], pathlib.Path(folder))
        for test in [round_trips, foreign_files, json_by_hand, damaged_files, damaged_names,
                     long_lists]:
            problems += test(baton)
    print(*problems, sep="\n")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
