#!/usr/bin/env python3
"""The threads of libbaton_rt: how many there are, that what comes out does not depend on them, and
what becomes of them when the library is unloaded, when the process forks, and when it ends.

usage: threads_test.py BATON LIBRARY
"""
import _ctypes
import array
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

from library import Library, Model, baton

PROGRAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(n, n), float32]) {
  let %y = nn.dense(sin(%x), %x, units=None);
  (sum(%y, axis=[0]), tanh(%y) * %x)
}
"""
SIZE = 192
GIVEN = "float32", [SIZE, SIZE], array.array("f", [i % 17 / 8 for i in range(SIZE * SIZE)])

# What a process does that ends while a thread of it computes.
ENDS = """import sys, threading, time
sys.path[:0] = sys.argv[3:]
import threads_test
library, model = threads_test.opened(*sys.argv[1:3])
library.limit(3)
def work():
    while True:
        model(threads_test.GIVEN)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
print("ends")
"""


def opened(path, model):
    library = Library(path)
    return library, Model(library, model)


def thread_count():
    return len(os.listdir("/proc/self/task"))


def expect(name, given, wanted):
    if given != wanted:
        yield f"{name}: {given} and not {wanted}"


def counts(library, model):
    """With one thread there is no other one; more are made once, and stay."""
    before = thread_count()
    library.limit(1)
    alone = model(GIVEN)
    yield from expect("threads beside one", thread_count() - before, 0)
    library.limit(3)
    for _ in range(3):
        yield from expect("with three threads", model(GIVEN) == alone, True)
        yield from expect("threads beside one of three", thread_count() - before, 2)


def refusals(library):
    for most in 0, -1, 257, 100_000:
        try:
            library.limit(most)
        except baton.library.ArgumentError as error:
            yield from expect(most, str(error), "the number of threads is not from 1 to 256")
        else:
            yield f"{most} threads are not refused"


def callers(path, made, wanted):
    """Several contexts at once, which share the threads."""
    library = Library(path)
    found = []

    def work():
        model = Model(library, made)
        found.extend(model(GIVEN) == wanted for _ in range(10))
        model.close()

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    yield from expect("several callers", found, [True] * 40)


def forked(model, wanted):
    """The child has no thread but its own, and makes others."""
    child = os.fork()
    if child == 0:
        alone = thread_count()
        good = model(GIVEN) == wanted and model(GIVEN) == wanted
        os._exit(0 if good and (alone, thread_count()) == (1, 3) else 1)
    yield from expect("the child of a fork", os.waitpid(child, 0)[1], 0)
    yield from expect("the parent afterwards", model(GIVEN) == wanted, True)


def unloaded(path, made, folder, wanted):
    """A copy of the library, of which nobody else has a handle, comes and goes. The system keeps it
    while its threads have memory to give back at their end, so they may stay, but are not more."""
    copy = folder / "copied.so"
    copy.write_bytes(pathlib.Path(path).read_bytes())
    before = thread_count()
    for _ in range(5):
        library, model = opened(str(copy), made)
        library.limit(3)
        yield from expect("a library that is loaded again", model(GIVEN) == wanted, True)
        model.close()
        handle = ctypes.CDLL(str(copy))._handle
        for _ in range(3):
            _ctypes.dlclose(handle)
        stays = str(copy) in pathlib.Path("/proc/self/maps").read_text()
        yield from expect("threads of an unloaded library", thread_count() - before, 2 if stays else 0)


def ended(path, made):
    """The process ends at once and well, though a thread computes."""
    here = pathlib.Path(__file__).resolve().parent
    done = subprocess.run([sys.executable, "-B", "-c", ENDS, path, made, here, here.parents[1] / "python"],
                          capture_output=True, text=True, timeout=60, check=False)
    yield from expect("the end of a process", (done.returncode, done.stdout, done.stderr),
                      (0, "ends\n", ""))


def problems(program, path, folder):
    source, made = folder / "model.rly", str(folder / "model.bvm")
    source.write_text(PROGRAM)
    subprocess.run([program, "compile", source, "-o", made], check=True)
    library, model = opened(path, made)
    yield from counts(library, model)
    yield from refusals(library)
    wanted = model(GIVEN)
    yield from callers(path, made, wanted)
    yield from forked(model, wanted)
    yield from unloaded(path, made, folder, wanted)
    yield from ended(path, made)


def main():
    with tempfile.TemporaryDirectory() as folder:
        found = list(problems(sys.argv[1], sys.argv[2], pathlib.Path(folder)))
    print(*found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
