#!/usr/bin/env python3
"""The corpus of Relay programs, through the command line of Baton.

usage: corpus_test.py BATON CORPUS text
       corpus_test.py BATON CORPUS lower
       corpus_test.py BATON CORPUS run FOLDER PATTERN...

`text` checks and prints all programs; `lower` makes loop nests of all their kernels, which must read
back; `run` runs those with an expectation in FOLDER whose name
matches and compares the numbers. Exit status 77 when there is no corpus.
"""
import array
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import relay_tokens
import tensor_files

TOLERANCE = 1e-4
MASK = (1 << 64) - 1


class Failure(Exception):
    pass


def call(baton, *arguments):
    """Standard output of a command that must succeed."""
    done = subprocess.run([baton, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        command = " ".join(map(str, arguments))
        raise Failure(f"`baton {command}` ended with {done.returncode}:\n{done.stderr[:2000]}")
    return done.stdout


def demand_same_text(what, ours, theirs):
    if ours == theirs:
        return
    difference = relay_tokens.first_difference(ours, theirs)
    raise Failure(f"{what}: {difference or 'they differ in white space or digits only'}")


# ---- text


def check_stable(baton, folder, path, *options):
    """Printing, reading and printing again changes nothing. Returns the text."""
    first = call(baton, "print", path, *options)
    copy = folder / "printed.rly"
    copy.write_text(first)
    demand_same_text("printed again", call(baton, "print", copy, *options), first)
    return first


def check_text(baton, folder, path):
    call(baton, "check", path)
    check_stable(baton, folder, path)
    typed = check_stable(baton, folder, path, "--types")
    reference = path.with_suffix(".typed.rly")
    difference = relay_tokens.first_difference(typed, reference.read_text())
    if difference:
        raise Failure(f"`print --types` and {reference.name}: {difference}")
    call(baton, "check", reference)
    check_stable(baton, folder, reference)
    again = check_stable(baton, folder, reference, "--types")
    demand_same_text(f"{path.name} and {reference.name} as Baton prints them", typed, again)


def text_suite(baton, corpus):
    for path in sorted(corpus.glob("relay-text/*.rly")):
        if not path.name.endswith(".typed.rly"):
            yield path.stem, lambda folder, path=path: check_text(baton, folder, path)


# ---- lower


def check_lower(baton, folder, path):
    kernels = call(baton, "lower", path).split("\n\n")
    for kernel in kernels if kernels != [""] else []:
        if re.search(r"^# .* has no loop nest", kernel, re.MULTILINE):
            raise Failure(kernel)
        copy = folder / "kernel.nest"
        copy.write_text(kernel)
        text = "".join(line for line in kernel.splitlines(True) if not line.startswith("#"))
        demand_same_text("read back", call(baton, "lower", copy).rstrip("\n"), text.rstrip("\n"))


def lower_suite(baton, corpus):
    for path in sorted(corpus.glob("relay-text/*.rly")):
        if not path.name.endswith(".typed.rly"):
            yield path.stem, lambda folder, path=path: check_lower(baton, folder, path)


# ---- run


def uniform(parameter, index, seed):
    """The number from 0 to 1 that the rule in the corpus' README gives to an element."""
    z = (seed + parameter * 0x9E3779B97F4A7C15 + index) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return ((z ^ (z >> 31)) >> 40) / 16777216.0


def parameters(text):
    """Triples (name, shape, dtype) of the parameters of `@main`."""
    header = re.search(r"def @main\s*\(([^{]*)\{", text)[1]
    found = []
    for name, tensor, scalar in re.findall(r"%([\w/]+):\s*(?:Tensor\[(.*?)\]|(\w+))", header):
        if scalar:
            found.append((name, [], scalar))
        else:
            sizes, dtype = re.fullmatch(r"\((.*)\),\s*(\w+)", tensor).groups()
            found.append((name, [int(size) for size in sizes.split(",") if size.strip()], dtype))
    return found


def gained(parameter, shape, gain, seed):
    """A picture in which sixteen neighbours share a value."""
    count = math.prod(shape)
    blocks = [(2.0 * uniform(parameter, i, seed) - 1.0) * gain for i in range((count + 15) // 16)]
    return array.array("f", (blocks[i >> 4] for i in range(count)))


def special_inputs(text, expected):
    rows = parameters(text)
    inputs = {}
    for key, gain in expected["gain"].items():
        name, shape, dtype = rows[int(key)]
        inputs[name] = (dtype, shape, gained(int(key), shape, gain, expected["seed"]))
    for key, value in expected["set"].items():
        name, shape, dtype = rows[int(key)]
        code = tensor_files.KINDS[dtype][0]
        inputs[name] = (dtype, shape, array.array(code, [value] * math.prod(shape)))
    return inputs


def demand_near(what, ours, theirs, tolerance):
    if not abs(ours - theirs) <= tolerance:
        raise Failure(f"{what} is {ours!r}, expected {theirs!r} within {tolerance:.3g}")


def compare_output(name, tensor, expected):
    dtype, shape, values = tensor
    if (dtype, list(shape)) != (expected["dtype"], expected["shape"]):
        raise Failure(f"{name} is {dtype} {shape}, expected {expected['dtype']} {expected['shape']}")
    is_real = dtype.startswith("float")
    add = math.fsum if is_real else sum
    near = TOLERANCE * expected["max_abs"] if is_real else 0
    near_sum = TOLERANCE * expected["sum_abs"] if is_real else 0
    demand_near(f"sum of {name}", add(values), expected["sum"], near_sum)
    demand_near(f"sum_abs of {name}", add(map(abs, values)), expected["sum_abs"], near_sum)
    demand_near(f"max_abs of {name}", max(map(abs, values)), expected["max_abs"], near)
    count = len(values)
    kept = min(64, count)
    if len(expected["first"]) != kept or len(expected["strided"]) != kept:
        raise Failure(f"the expectation of {name} has another number of elements")
    for i in range(kept):
        at = i * count // kept
        demand_near(f"{name}[{i}]", values[i], expected["first"][i], near)
        demand_near(f"{name}[{at}]", values[at], expected["strided"][i], near)


def check_run(baton, folder, program, expected, suffix, engine):
    given = folder / "inputs.npz"
    inputs = special_inputs(program.read_text(), expected)
    tensor_files.write_npz(given, inputs)
    options = [f"--input={name}={given}:{name}" for name in inputs] + ["--engine", engine]
    result = folder / ("result" + suffix)
    call(baton, "run", program, "--random", expected["seed"], "--output", result, *options)
    outputs = tensor_files.READERS[suffix](result)
    if sorted(outputs) != sorted(expected["outputs"]):
        raise Failure(f"outputs {sorted(outputs)}, expected {sorted(expected['outputs'])}")
    for name, tensor in outputs.items():
        compare_output(name, tensor, expected["outputs"][name])


def run_suite(baton, corpus, directory, *patterns):
    for pattern in patterns:
        for path in sorted((corpus / directory).glob(pattern + ".json")):
            program = corpus / "relay-text" / (path.stem + ".rly")
            expected = json.loads(path.read_text())
            # Small programs run by the reference too, and their results are read in every format.
            ways = [(".npz", "vm"), (".npz", "native")]
            if not path.stem.startswith("model_"):
                ways = [(suffix, "vm") for suffix in tensor_files.READERS] + [
                    (".npz", "interp"),
                    (".npz", "native"),
                ]
            for suffix, engine in ways:
                yield f"{path.stem} {suffix} {engine}", (
                    lambda folder, program=program, expected=expected, way=(suffix, engine): (
                        check_run(baton, folder, program, expected, *way)
                    )
                )


def main():
    baton, corpus, suite, *arguments = sys.argv[1:]
    corpus = pathlib.Path(corpus)
    if not (corpus / "relay-text").is_dir():
        print(f"skipped: no corpus at {corpus}; set BATON_CORPUS")
        return 77
    suites = {"text": text_suite, "lower": lower_suite, "run": run_suite}
    count, failures = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, check in suites[suite](baton, corpus, *arguments):
            count += 1
            try:
                check(pathlib.Path(folder))
            except Failure as failure:
                failures += 1
                print(f"{name}: {failure}")
    print(f"{count} checks, {failures} failures")
    return 1 if failures or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
