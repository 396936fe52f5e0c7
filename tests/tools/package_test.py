#!/usr/bin/env python3
"""The Python package: values both ways, errors, limits, threads; with numpy where it is there.

usage: package_test.py BATON ROOT LIBRARY...
"""
import gc
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import threading

PROGRAM = """#[version = "0.0.5"]
type Layer { Layer(Tensor[(2, 3), float32], Tensor[(2), float32]) }
type Net { Net(Layer, int32) }
type Tree { Leaf(Tensor[(?), float32]), Fork(Tree, Tree) }
type Chain { Link(Chain, int32), End }

def @step(%net: Net, %x: Tensor[(n, 3), float32]) -> (Net, float32) {
  match (%net) {
    Net(Layer(%w, %b), %steps) => {
      let %y = nn.bias_add(nn.dense(%x, %w, units=None), %b);
      (Net(Layer(%w * 0.5f, %b + sum(%y, axis=[0])), %steps + 1), sum(%y * %y))
    }
  }
}
def @same(%x: (Tensor[(?, ?), float64], bool, (int8,), float16, bfloat16, uint64)) { %x }
def @flip(%tree: Tree) -> Tree {
  match (%tree) { Fork(%l, %r) => { Fork(@flip(%r), @flip(%l)) }, _ => { %tree } }
}
def @reversed(%xs: List[(int32, List[float32])]) { @rev(%xs) }
def @spin(%n: int64) -> int64 { if (%n == 0i64) { 0i64 } else { @spin(%n - 1i64) } }
def @lists(%n: int32, %rest: List[int32]) -> List[int32] {
  if (%n == 0) { %rest } else { @lists(%n - 1, Cons(%n, %rest)) }
}
def @total(%xs: List[int32], %sum: int32) -> int32 {
  match (%xs) { Cons(%x, %rest) => { @total(%rest, %sum + %x) }, Nil => { %sum } }
}
def @chain(%n: int32, %rest: Chain) -> Chain {
  if (%n == 0) { %rest } else { @chain(%n - 1, Link(%rest, %n)) }
}
def @depth(%c: Chain, %n: int32) -> int32 {
  match (%c) { Link(%rest, _) => { @depth(%rest, %n + 1) }, End => { %n } }
}
def @fail(%xs: List[int32]) -> int32 { @hd(%xs) }
def @function() { fn (%x: int32) { %x } }
"""
ENTRIES = ["step", "same", "flip", "reversed", "spin", "lists", "total", "chain", "depth", "fail",
           "function"]


def check(name, given, wanted):
    if given != wanted:
        yield f"{name}: {given!r} and not {wanted!r}"


def raises(kind, part, call, *words):
    try:
        given = call(*words)
    except kind as error:
        if part not in str(error):
            yield f"the error says {error}, and not {part}"
        return
    yield f"no {kind.__name__}, but {given!r}"


def values(baton, model):
    """What needs no numpy."""
    given = model.reversed([(1, [0.5, 2]), (2, []), (3, [1])])
    yield from check("lists", [(int(n), [float(x) for x in xs]) for n, xs in given],
                     [(3, [1.0]), (2, []), (1, [0.5, 2.0])])
    yield from check("lists again", [int(n) for n, _ in model.reversed(given)], [1, 2, 3])
    end = baton.Data("End")
    yield from check("depth", int(model.depth(baton.Data("Link", baton.Data("Link", end, 1), 2), 0)), 2)
    deep = model.chain(100_000, end)
    yield from check("deep", int(model.depth(deep, 0)), 100_000)
    yield from check("text", repr(model.chain(2, end)),
                     "Link(Link(End, Tensor(2, int32)), Tensor(1, int32))")
    for _ in range(100_000):
        end = baton.Data("Link", end, 1)
    yield from check("deep from Python", int(model.depth(end, 0)), 100_000)
    items = model.lists(200_000, [])
    yield from check("long", (len(items), int(items[7])), (200_000, 8))
    yield from check("long again", int(model.total(items[:1000], 0)), 500_500)
    yield from check("names", int(model.total(sum=1, xs=[1, 2])), 4)
    end, count = model.chain(1, baton.Data("End"))
    yield from check("parts", (end.constructor, end.fields, int(count)), ("End", (), 1))
    yield from check("functions", list(model.functions), ENTRIES)
    yield from check("types", (model.step.parameters[1], model.flip.result),
                     (("x", "Tensor[(n, 3), float32]"), "Tree[]"))
    yield from check("closure", repr(model.function()), "<fn (int32) -> int32>")


def errors(baton, model, path, library):
    yield from raises(baton.ArgumentError, "`Nowhere` is no constructor", model.depth,
                      baton.Data("Nowhere"), 0)
    yield from raises(baton.ArgumentError, "@depth", model.depth, baton.Data("Link", 1), 0)
    yield from raises(baton.ArgumentError, "does not fit int32", model.total, [], 1 << 40)
    yield from raises(baton.ArgumentError, "0.5 is no int32", model.total, [], 0.5)
    yield from raises(baton.ArgumentError, "a str is no value", model.total, "x", 0)
    yield from raises(baton.ArgumentError, "", model.total, [])
    yield from raises(TypeError, "total(%xs", lambda: model.total([], other=1))
    yield from raises(AttributeError, "no function `nowhere`", lambda: model.nowhere)
    yield from raises(baton.FileError, "none.bvm",
                      lambda: baton.load("none.bvm", library_path=library))
    yield from raises(baton.FileError, "none.so",
                      lambda: baton.load(path, library_path="./none.so"))
    yield from raises(baton.ProgramError, "", model.fail, [])
    try:
        model.fail([])
    except baton.ProgramError as error:
        yield from check("places", bool(error.places), True)
    few = baton.load(path, max_steps=1000, library_path=library)
    yield from check("few steps", int(few.spin(10)), 0)
    yield from raises(baton.LimitError, "", few.spin, 10_000)
    yield from raises(baton.LimitError, "", baton.load(path, timeout=0.05,
                                                       library_path=library).spin, 1 << 60)
    yield from raises(baton.OutOfMemory, "", baton.load(path, max_memory=100_000,
                                                        library_path=library).lists, 100_000, [])


def threads(baton, model):
    """Several threads with one model, and with parts of one value."""
    shared = model.chain(1000, baton.Data("End"))
    found = []

    def work(number):
        for _ in range(50):
            found.append(int(model.depth(shared, number)) - number)
            found.append(int(model.depth(shared.fields[0], 1)))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    yield from check("threads", set(found) | {len(found)}, {1000, 400})


def numpy_arrays(baton, model):
    import numpy as np

    w = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = np.ones((4, 3), np.float32)
    net = baton.Data("Net", baton.Data("Layer", w, np.zeros(2, np.float32)), 0)
    weights = w
    for count in range(1, 4):
        y = x @ weights.T + (np.asarray(net[0][1]) if count > 1 else 0)
        net, loss = model.step(net, x)
        weights = weights * np.float32(0.5)
        yield from check("loss", np.allclose(loss, (y * y).sum()), True)
        yield from check("weights", np.array_equal(net[0][0].numpy(), weights), True)
        yield from check("steps", int(net[1]), count)
    given = model.same((np.array([[1.5, 2], [3, 4]])[:, ::-1], True, (-8,), 0.5, 1.5, 1 << 63))
    yield from check("same", [np.asarray(given[0]).tolist(), bool(given[1]), int(given[2][0]),
                              float(given[3]), float(given[4]), int(given[5])],
                     [[[2, 1.5], [4, 3]], True, -8, 0.5, 1.5, 1 << 63])
    yield from check("types", [np.asarray(part).dtype.name for part in (given[0], given[1], given[3])],
                     ["float64", "bool", "float16"])
    yield from check("lists as arrays", model.same(([[1, 2]], True, (1,), 1, 1, 1))[0].tolist(),
                     [[1.0, 2.0]])
    # Neither way copies: what comes back unchanged lies where it was.
    big = np.zeros((1000, 1000))
    again = model.same((big, True, (1,), 1.0, 1.0, 1))[0]
    yield from check("in place", again.__array_interface__["data"][0],
                     big.__array_interface__["data"][0])
    view = again.numpy()
    yield from check("in place too", view.__array_interface__["data"], (big.ctypes.data, True))
    yield from check("in again", np.shares_memory(model.same((again, True, (1,), 1., 1., 1))[0], big),
                     True)
    yield from check("read only", np.shares_memory(model.same((view, True, (1,), 1., 1., 1))[0], big),
                     True)
    yield from check("dlpack", np.shares_memory(np.from_dlpack(again), big), True)
    kept = sys.getrefcount(big)
    del again, view
    gc.collect()
    yield from check("given back", sys.getrefcount(big) < kept, True)
    yield from raises(baton.ArgumentError, "declared as `Tensor[(2, 3), float32]`", model.step,
                      baton.Data("Net", baton.Data("Layer", x, np.zeros(2, np.float32)), 0), x)
    yield from raises(baton.ArgumentError, "float32", model.step, net, x.astype(np.float64))
    yield from raises(baton.ArgumentError, "no tensors of", model.step, net, np.array(["a"]))
    tree = baton.Data("Fork", baton.Data("Leaf", np.float32([1])), baton.Data("Leaf", np.float32([2, 3])))
    yield from check("tree", [leaf[0].tolist() for leaf in model.flip(tree)], [[2.0, 3.0], [1.0]])


def main():
    command, root, *libraries = sys.argv[1:]
    sys.path.insert(0, str(pathlib.Path(root) / "python"))
    import baton

    problems = []
    has_numpy = importlib.util.find_spec("numpy")
    with tempfile.TemporaryDirectory() as folder:
        source, made = pathlib.Path(folder, "p.rly"), pathlib.Path(folder, "p.bvm")
        source.write_text(PROGRAM)
        subprocess.run([command, "compile", source, "-o", made,
                        *[word for entry in ENTRIES for word in ("--entry", entry)]], check=True)
        for library in libraries:
            model = baton.load(made, library_path=library)
            for test in [values(baton, model), errors(baton, model, made, library),
                         threads(baton, model), *([numpy_arrays(baton, model)] if has_numpy else [])]:
                problems += test
    if not has_numpy:
        print("without arrays: there is no numpy")
    print(*problems, sep="\n")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
