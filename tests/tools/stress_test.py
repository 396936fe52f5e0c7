#!/usr/bin/env python3
"""Input that is bad or enormous: always a diagnostic or a result, in bounded time and memory.

usage: stress_test.py --list | BATON CASE
"""
import base64
import dataclasses
import json
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile

import limits

HEADER = '#[version = "0.0.5"]\n'
MILLION = 1_000_000


@dataclasses.dataclass
class Case:
    """Files to write, the command, and what must come of it."""

    command: list
    files: dict
    status: int
    # Parts that standard output or standard error must hold.
    says: list = dataclasses.field(default_factory=list)
    # Of processor time: some four times what it takes where processors are fast. Growth with the
    # square of a length, which is looked for, is above that by far.
    seconds: int = 20
    mebibytes: int = 1024


def program(command, text, status, says=(), **limits):
    data = text if isinstance(text, bytes) else text.encode()
    return Case([*command.split(), "program.rly"], {"program.rly": data}, status, list(says), **limits)


def notation(text, status, says=(), **limits):
    """A program in Baton's own notation."""
    name = "program.baton"
    return Case(["check", name], {name: text.encode()}, status, list(says), **limits)


def function(body, header="", result=""):
    return f"{HEADER}{header}def @main(%x: int32){result} {{\n{body}\n}}\n"


def nullary(body):
    """A program without parameters, for definitions to follow."""
    return f"{HEADER}def @main() {{\n{body}\n}}\n"


def lets():
    rows = "".join(f"let %v{i} = add(%{'x' if i == 0 else f'v{i - 1}'}, 1);\n" for i in range(MILLION))
    return function(rows + f"%v{MILLION - 1}")


def graph_bindings():
    rows = "".join(f"%{i} = add(%{'x' if i == 0 else i - 1}, 1);\n" for i in range(MILLION))
    return function(rows + f"%{MILLION - 1}")


def live_values(count, made, used):
    """So many values that live while each of them is used in a branch of its own, and afterwards."""
    rows = "".join(f"let %a{i} = {made.format(i=i)};\n" for i in range(count))
    rows += "".join(f"let %b{i} = {used.format(i=i)};\n" for i in range(count))
    rows += "let %s0 = %x;\n"
    rows += "".join(f"let %s{i + 1} = %s{i} + %b{i};\n" for i in range(count))
    # In the order of their making, so that all live to the end.
    rows += "".join(f"let %c{i} = {used.format(i=i)};\n" for i in range(count))
    return function(rows + f"%s{count} + %c{count - 1}")


def nested_branches(depth):
    """Each branch in the one before, with a value that the innermost still uses."""
    rows = "".join(f"let %a{i} = %x + {i};\n" for i in range(depth))
    rows += "".join(f"if (%a{i} > {2 * i + 2}) {{ %a{i} }} else {{\n" for i in range(depth))
    return function(rows + " + ".join(f"%a{i}" for i in range(depth)) + "\n" + "}" * depth)


def bindings_in_nest(depth, count):
    """Branches in each other, with so many values before each, of which the next one uses the last."""
    rows, last = "", "%x"
    for i in range(depth):
        for k in range(count):
            rows += f"let %v{i}_{k} = {last} + {k + 1};\n"
            last = f"%v{i}_{k}"
        rows += f"if ({last} < {i}) {{\n"
    return function(rows + last + "\n" + "} else { %x }\n" * depth)


def chain_of_types(types, calls):
    """A value of a type whose fields lead to so many others, made by so many constructors."""
    rows = "".join(f"type T{i} {{ A{i}(T{i + 1}), B{i} }}\n" for i in range(types))
    value = "".join(f"A{i}(" for i in range(calls)) + f"B{calls}" + ")" * calls
    return f"{HEADER}{rows}type T{types} {{ E }}\ndef @main() {{ {value} }}\n"


def many_arguments(count):
    """A function of so many parameters, which calls itself with most of them in other places."""
    parameters = ", ".join(f"%a{i}: int32" for i in range(count))
    passed = ", ".join(f"%a{i ^ 1}" for i in range(count))
    given = ", ".join(str(i) for i in range(count))
    body = f"if (%n > 5) {{ %a1 }} else {{ @f(%n + 1, {passed}) }}"
    return f"{HEADER}def @f(%n: int32, {parameters}) -> int32 {{ {body} }}\ndef @main() {{ @f(0, {given}) }}\n"


def second_order(count):
    """A derivative of second order through so many functions."""
    rows = "".join(f"def @f{i}(%x: float32) -> float32 {{ sin(@f{i - 1}(%x) * %x) }}\n" for i in range(1, count))
    return f"{HEADER}def @f0(%x: float32) -> float32 {{ %x }}\n{rows}def @main(%x: float32) {{ hvp(@f{count - 1})(%x, 1f) }}\n"


COUNT_UP = """
def @up(%n: int32, %tail: List[int32]) -> List[int32] {
  if (%n == 0) { %tail } else { @up(%n - 1, Cons(%n, %tail)) }
}
def @grow(%n: int32) -> List[int32] {
  if (%n == 0) { Nil } else { Cons(%n, @grow(%n - 1)) }
}
def @main() -> (int32, int32, int32) {
  let %list = @up(1000000, Nil);
  (@foldl(fn (%a: int32, %b: int32) -> int32 { %b - %a }, 0, %list),
   @foldr(fn (%a: int32, %b: int32) -> int32 { %a - %b }, 0, %list),
   @length(@map(fn (%a: int32) -> int32 { %a + 1 }, @grow(1000000))))
}
"""


def metadata(shape, payload, claimed=None, rank=None, magic=0xDD5E40F096B4A13F):
    """A program with one constant whose blob may lie."""
    claimed = len(payload) if claimed is None else claimed
    rank = len(shape) if rank is None else rank
    blob = struct.pack("<QQiiiBBH", magic, 0, 1, 0, rank, 2, 32, 1)
    blob += b"".join(struct.pack("<q", size) for size in shape)
    blob += struct.pack("<q", claimed) + payload
    constant = {"_checked_type_": "0", "data": "0", "span": "0", "virtual_device_": "0"}
    section = {
        "root": 1,
        "nodes": [
            {"type_key": ""},
            {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
            {"type_key": "Array", "data": [3]},
            {"type_key": "relay.Constant", "attrs": constant},
        ],
        "b64ndarrays": [base64.b64encode(blob).decode()],
    }
    return f"{HEADER}def @main() {{ meta[relay.Constant][0] }}\n#[metadata]\n{json.dumps(section)}\n"


def npy(header, data=b"\0" * 24, length=None):
    header = header.encode()
    length = len(header) if length is None else length
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", length) + header + data


def npy_header(shape, order="False", kind="<f4"):
    return f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}\n"


def safetensors(header, data=b"\0" * 24, length=None):
    header = (header if isinstance(header, str) else json.dumps(header)).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def entry(shape, begin, end, dtype="F32"):
    return {"x": {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}}


def with_input(name, data, **limits):
    """A run whose one input is a bad file."""
    text = f"{HEADER}def @main(%x: Tensor[(2, 3), float32]) {{ %x }}\n".encode()
    command = ["run", "program.rly", "--input", f"x={name}" + (":x" if name != "x.npy" else "")]
    return Case(command, {"program.rly": text, name: data}, 2, ["error"], **limits)


def nested(before, after, count=100_000, inner="1"):
    return function(before * count + inner + after * count)


def nest_of_lets(value, count=20_000, start="%x"):
    rows = "".join(f"let %v{i + 1} = {value.format(f'%v{i}')};\n" for i in range(count))
    return function(f"let %v0 = {start};\n{rows}1")


def chain(count, generics, kind, body):
    """Functions of which each calls the next one, callers first."""
    lines = [f"def @f{i}{generics}(%x: {kind}) -> {kind} {{ {body.format(f'@f{i + 1}(%x)')} }}\n" for i in range(count)]
    return f"{HEADER}{''.join(lines)}def @f{count}{generics}(%x: {kind}) -> {kind} {{ %x }}\ndef @main() {{ @f0(1) }}\n"


def constructors(count, arms):
    """A match over a type of that many constructors."""
    names = ", ".join(f"C{i}" for i in range(count))
    return f"{HEADER}type T {{ {names} }}\ndef @main(%t: T) {{ match (%t) {{ {arms} }} }}\n"


def switches(count, arms):
    """A match over that many values of two cases; each arm is a dictionary of what it asks for."""
    rows = ""
    for arm in arms:
        rows += f"({', '.join(arm.get(i, '_') for i in range(count))}) => 1,\n"
    names = [f"%s{i}" for i in range(count)]
    parameters = ", ".join(f"{name}: S" for name in names)
    return f"{HEADER}type S {{ A, B }}\ndef @main({parameters}) {{ match (({', '.join(names)})) {{\n{rows}}} }}\n"


def rank(count):
    ones = ", ".join(["1"] * count)
    return f"{HEADER}def @main(%x: Tensor[({ones}), float32]) {{ negative(%x) }}\n"


def functions_of_functions(count):
    """Local functions each of which calls all before it, and a generic one as a value."""
    lines = ["let %g = @length;", "let %f0 = fn (%x: int32) -> int32 { %x };"]
    for i in range(1, count):
        calls = " + ".join(f"%f{j}(%y)" for j in range(i))
        lines.append(f"let %f{i} = fn (%y: int32) -> int32 {{ if (%y > 0) {{ %y }} else {{ {calls} }} }};")
    return nullary(
        " ".join(lines) + f"@apply(%f{count - 1}, %g(Cons(1, Nil))) + %g(Cons(1f, Nil)) - 1"
    ) + "def @apply(%f: fn (int32) -> int32, %x: int32) -> int32 { %f(%x) }"


def functions_of_pairs(count):
    """Functions that give pairs and end with calls of each other, in a chain and in a circle, and some
    that count down, each by the next one."""
    down = "".join(
        f"def @r{i}(%n: int32) -> int32 {{ if (%n == {i}) {{ 0 }} else {{ @r{(i + 1) % (3 * count)}(%n - 1) + 1 }} }}\n"
        for i in range(3 * count)
    )
    circle = "".join(
        f"def @p{i}(%n: int32, %t: Box) -> (int32, int32) {{ if (%n == {i}) {{ match (%t) {{ Box(%u) => %u }} }} "
        f"else {{ if (%n == 100) {{ @g(%n) }} else {{ @p{(i + 1) % count}(%n - 1, %t) }} }} }}\n"
        for i in range(count)
    )
    chain = "".join(
        f"def @c{i}(%n: int32, %t: Box) -> (int32, int32) "
        f"{{ if (%n == {i}) {{ (%n, %n) }} else {{ @c{i + 1}(%n - 1, %t) }} }}\n"
        for i in range(2 * count)
    )
    return (
        nullary("let %b = Box((0, 3)); let %a = @c0(0, %b); let %c = @p0(0, %b); %a.0 + %c.1")
        + "type Box { Box((int32, int32)) }\n"
        + "def @g(%n: int32) -> (int32, int32) { if (%n == 7) { (%n, %n) } else { (@r0(%n), %n) } }\n"
        + f"def @c{2 * count}(%n: int32, %t: Box) -> (int32, int32) {{ match (%t) {{ Box(%u) => %u }} }}\n"
        + down + circle + chain
    )


SKIPPING = nullary("@skip(@map(fn (%x: int32) { %x + 1 }, @upto(0, 500000)))") + """
def @upto(%i: int32, %n: int32) -> List[int32] { if (%i >= %n) { Nil } else { Cons(%i, @upto(%i + 1, %n)) } }
def @skip(%xs: List[int32]) -> int32 { match (%xs) { Cons(%x, Nil) => %x, Nil => 0, %w => @step(%w) } }
def @step(%xs: List[int32]) -> int32 { match (%xs) { Cons(_, %r) => @skip(%r), Nil => 0 } }
"""


CASES = {
    "nest_of_constructors": lambda: program(
        "check", nest_of_lets("Some({})"), 1, ["type-too-large", "1 error"], seconds=3
    ),
    "nest_of_open_constructors": lambda: program(
        "check", nest_of_lets("Some({})", start="None"), 1, ["type-too-large", "1 error"], seconds=3
    ),
    "nest_of_references": lambda: program(
        "check", nest_of_lets("ref({})"), 1, ["type-too-large", "1 error"], seconds=3
    ),
    "nest_of_tuples": lambda: program(
        "check", nest_of_lets("({},)"), 1, ["type-too-large", "1 error"], seconds=3
    ),
    "nest_of_functions": lambda: program(
        "check", nest_of_lets("fn () {{ {} }}"), 1, ["type-too-large", "1 error"], seconds=3
    ),
    "nest_of_pairs": lambda: program(
        "check", nest_of_lets("Cons({0}, Cons({0}, Nil))"), 1, ["type-too-large", "1 error"], seconds=3
    ),
    "nest_of_unknowns": lambda: program(
        "check", nest_of_lets("({0}, {0})").replace("%x: int32", "%x"),
        1, ["type-too-large", "1 error"], seconds=3,
    ),
    "nest_within_bounds": lambda: program("check", nest_of_lets("Some({})", 4_000), 0, seconds=3),
    "deep_function": lambda: program("check", nested("fn () {", "}", 1_900), 0, seconds=1),
    "flat_match": lambda: program(
        "check", constructors(10_000, ", ".join(f"C{i} => {i}" for i in range(10_000))), 0, seconds=3
    ),
    "flat_match_missing": lambda: program(
        "check", constructors(10_000, ", ".join(f"C{i} => {i}" for i in range(9_999))),
        1, ["`C9999` is missing"], seconds=3,
    ),
    "match_of_columns": lambda: program(
        "check", switches(19, [{i: "A", (i + 1) % 19: "B"} for i in range(19)] + [{}]), 0, seconds=3
    ),
    "match_of_equal_pairs": lambda: program(
        "check", switches(40, [{i: "A", (i + 20) % 40: "B"} for i in range(40)]),
        1, ["missing-case"], seconds=3,
    ),
    "match_of_columns_missing": lambda: program(
        "check", switches(40, [{i: "A"} for i in range(40)]), 1, ["missing-case"], seconds=3
    ),
    "rank_at_bound": lambda: program("run --random 42", rank(1024), 0, seconds=3),
    "rank_of_type": lambda: program("check", rank(100_000), 1, ["rank-too-large"], seconds=3),
    "rank_of_literal": lambda: program(
        "check", function("[" * 2_000 + "1" + "]" * 2_000), 1, ["rank-too-large"], seconds=3
    ),
    "rank_of_reshape": lambda: program(
        "check", function(f"reshape(%x, newshape=[{', '.join(['1'] * 100_000)}])"),
        1, ["rank 100000"], seconds=3,
    ),
    "rank_of_zeros": lambda: program(
        "check", function(f"zeros(shape=[{', '.join(['1'] * 100_000)}], dtype=\"int8\")"),
        1, ["rank 100000"], seconds=3,
    ),
    "rank_of_axes": lambda: program(
        "check", function("expand_dims(%x, axis=0, num_newaxis=100000)"), 1, ["1024"], seconds=3
    ),
    "rank_of_blob": lambda: program("check", metadata([1] * 2_000, b"\0" * 4), 1, ["error"], seconds=3),
    "empty": lambda: program("check", "", 1, ["error"]),
    "zeros": lambda: program("check", bytes(100_000), 1, ["error"]),
    "bytes": lambda: program("check", bytes(range(256)) * 400, 1, ["error"]),
    "binary_with_header": lambda: program("check", HEADER.encode() + bytes(range(255, -1, -1)) * 400, 1),
    "parentheses": lambda: program("check", nested("(", ")"), 1, ["error"]),
    "open_parentheses": lambda: program("check", HEADER + "(" * 100_000, 1, ["error"]),
    "braces": lambda: program("check", nested("{", "}"), 1, ["error"]),
    "brackets_in_attribute": lambda: program(
        "check", nested("", "", inner=f"mean(%x, axis={'[' * 100_000}{']' * 100_000})"), 1, ["error"]
    ),
    "nested_calls": lambda: program("check", nested("add(1, ", ")"), 1, ["error"]),
    "nested_functions": lambda: program("check", nested("fn () {", "}"), 1, ["error"]),
    "nested_ifs": lambda: program("check", nested("if (True) {", "} else { 1 }"), 1, ["error"]),
    "nested_types": lambda: program(
        "check", function("1", f"type T {{ A({'(' * 100_000}{')' * 100_000}) }}\n"), 1, ["error"]
    ),
    "nested_patterns": lambda: program(
        "check", function(f"match (%x) {{ {'(' * 100_000}%y{')' * 100_000} => 1 }}"), 1, ["error"]
    ),
    "nested_comments": lambda: program("check", function("/*" * 100_000 + "*/" * 100_000 + "1"), 0),
    "long_sum": lambda: program("check", function("%x" + " + %x" * 100_000), 0, mebibytes=2048),
    "let_chain_check": lambda: program("check", lets(), 0, seconds=20, mebibytes=4096),
    "let_chain_print": lambda: program("print --types", lets(), 0, seconds=40, mebibytes=4096),
    "let_chain_run": lambda: program(
        "run --random 42", lets(), 0, ["1000006"], seconds=75, mebibytes=4096
    ),
    # The machine's compiler and verifier: live values times branches.
    "live_numbers_run": lambda: program(
        "run --random 42",
        live_values(10000, "%x + {i}", "if (%a{i} > 5) {{ %a{i} }} else {{ %a{i} * 2 }}"),
        0,
        seconds=10,
        mebibytes=512,
    ),
    "live_lists_run": lambda: program(
        "run --random 42",
        live_values(
            5000,
            "Cons(%x + {i}, Nil)",
            "match (%a{i}) {{ Nil => 0, Cons(%h, %t) => %h + @length(%t) }}",
        ),
        0,
        seconds=10,
        mebibytes=512,
    ),
    "live_values_in_nest_run": lambda: program(
        "run --random 42", nested_branches(1500), 0, seconds=6, mebibytes=512
    ),
    "bindings_in_nest_run": lambda: program(
        "run --random 42", bindings_in_nest(1900, 100), 0, seconds=15, mebibytes=1024
    ),
    "function_chain": lambda: program("run", chain(12_000, "", "int32", "1 + {}"), 0, ["12001"], seconds=4),
    "generic_chain": lambda: program("run", chain(12_000, "[A]", "A", "{}"), 0, ["1"], seconds=4),
    "chain_of_types_run": lambda: program("run", chain_of_types(1000, 500), 0, ["A0(A1("], seconds=2),
    "many_arguments_run": lambda: program("run", many_arguments(40_000), 0, ["1"], seconds=4),
    "captures_of_captures": lambda: program(
        "opt --passes=specialise", functions_of_functions(80), 0, ["def @apply"], seconds=4
    ),
    "functions_of_pairs_run": lambda: program("run", functions_of_pairs(800), 0, ["3"], seconds=6),
    "chain_named_and_opened": lambda: program("run", SKIPPING, 0, ["500000"], seconds=2),
    "collect_near_limit": lambda: program(
        "run --max-memory 300M",
        nullary("let %r = ref(Nil); @grow(%r)")
        + "def @grow(%r: ref(List[int32])) -> int32 { "
        "let %u = ref_write(%r, Cons(1, ref_read(%r))); @grow(%r) }",
        2, ["out of memory"], seconds=14),
    "passes_short_of_memory": lambda: program(
        "run --max-memory 1M --input x=1", second_order(4_000), 2,
        ["takes more than 16000000 bytes of memory in the pass `"]),
    "passes_at_their_limit": lambda: program(
        "opt --for=derivatives --max-memory 20M", second_order(4_000), 2,
        ["takes more than 20000000 bytes of memory in the pass `"], mebibytes=64),
    "passes_short_of_time": lambda: program(
        "compile --timeout 0.2 -o p.bvm", second_order(20_000), 1, ["takes longer than 0.2 s"], seconds=5),
    "graph_chain_check": lambda: program("check", graph_bindings(), 0, seconds=20, mebibytes=4096),
    "graph_chain_print": lambda: program("print --types", graph_bindings(), 0, seconds=30, mebibytes=4096),
    "graph_chain_run": lambda: program(
        "run --random 42", graph_bindings(), 0, ["1000006"], seconds=75, mebibytes=4096
    ),
    "million_elements": lambda: program(
        "run", HEADER + COUNT_UP, 0, ["500000", "-500000", "1000000"], seconds=30, mebibytes=4096
    ),
    "endless_recursion": lambda: program(
        "run",
        f"{HEADER}def @f(%n: int32) -> int32 {{ %n + @f(%n) }}\ndef @main() -> int32 {{ @f(1) }}\n",
        1, ["nested deeper"], mebibytes=2048,
    ),
    "large_literal": lambda: program("check", function("99999999999999999999"), 1, ["error"]),
    "small_width": lambda: program("check", function("32768i16"), 1, ["error"]),
    "large_float": lambda: program("check", function("1e39f"), 1, ["error"]),
    "long_literal": lambda: program("check", function("1" * 100_000), 1, ["error"]),
    "large_dimension": lambda: program(
        "check", HEADER + "def @main(%x: Tensor[(99999999999999999999), int8]) { %x }\n", 1, ["error"]
    ),
    "large_tensor": lambda: program(
        "run --random 42",
        HEADER + "def @main(%x: Tensor[(3037000500, 3037000500, 8), float32]) { %x }\n", 2, ["error"],
    ),
    "large_result": lambda: program(
        "run --random 42",
        HEADER + "def @main(%x: float32) { broadcast_to(%x, shape=[100000, 100000, 1000]) }\n",
        2, ["memory"],
    ),
    "overflowing_product": lambda: program(
        "run --random 42",
        HEADER + "def @main(%x: Tensor[(4294967296, 4294967296, 4294967296), int8]) "
        "{ reshape(%x, newshape=[-1]) }\n", 2, ["error"],
    ),
    "large_graph_number": lambda: program(
        "check", function("%99999999999999999999 = 1; %99999999999999999999"), 1, ["error"]
    ),
    "blob_short": lambda: program("check", metadata([2, 3], b"\0" * 20), 1, ["error"]),
    "blob_long": lambda: program("check", metadata([2, 3], b"\0" * 28), 1, ["error"]),
    "blob_claim": lambda: program("check", metadata([2, 3], b"\0" * 24, claimed=1 << 62), 1, ["error"]),
    "blob_shape": lambda: program("check", metadata([1 << 40, 1 << 40], b"\0" * 24), 1, ["error"]),
    "blob_negative": lambda: program("check", metadata([-2, -3], b"\0" * 24), 1, ["error"]),
    "blob_rank": lambda: program("check", metadata([2, 3], b"\0" * 24, rank=2**31 - 1), 1, ["error"]),
    "blob_magic": lambda: program("check", metadata([2, 3], b"\0" * 24, magic=1), 1, ["error"]),
    "npy_short": lambda: with_input("x.npy", npy(npy_header("(2, 3)"), b"\0" * 23)),
    "npy_large": lambda: with_input("x.npy", npy(npy_header("(1000000, 1000000, 1000000)"))),
    "npy_overflow": lambda: with_input("x.npy", npy(npy_header("(4294967296, 4294967296)"))),
    "npy_negative": lambda: with_input("x.npy", npy(npy_header("(-2, -3)"))),
    "npy_length": lambda: with_input("x.npy", npy(npy_header("(2, 3)"), length=65535)),
    "npy_header": lambda: with_input("x.npy", npy("{'descr': " * 3000)),
    "npy_empty": lambda: with_input("x.npy", b""),
    "npz_cut": lambda: with_input("x.npz", b"PK\x03\x04" + b"\xff" * 60),
    "safetensors_length": lambda: with_input("x.safetensors", safetensors("{}", length=1 << 63)),
    "safetensors_short": lambda: with_input("x.safetensors", safetensors(entry([2, 3], 0, 24), b"\0" * 23)),
    "safetensors_offsets": lambda: with_input("x.safetensors", safetensors(entry([2, 3], 24, 0))),
    "safetensors_size": lambda: with_input("x.safetensors", safetensors(entry([1 << 40, 1 << 40], 0, 24))),
    "safetensors_huge": lambda: with_input(
        "x.safetensors", safetensors(entry([2, 3], 2**64 - 24, 2**64))
    ),
    "safetensors_nested": lambda: with_input("x.safetensors", safetensors("[" * 100_000)),
    "bare_parentheses": lambda: notation(f"def f(x) = {'(' * 100_000}x{')' * 100_000}", 1, ["error"]),
    "bare_lists": lambda: notation(f"def f(x) = {'[' * 100_000}", 1, ["error"]),
    "bare_signs": lambda: notation(f"def f(x: f32) = {'-' * 100_000}x", 1, ["nested deeper"]),
    "bare_functions": lambda: notation(f"def f(x) = {'fn (a) = ' * 100_000}x", 1, ["nested deeper"]),
    "bare_powers": lambda: notation(f"def f(x: f32) = {'x ** ' * 100_000}x", 1, ["nested deeper"]),
    "bare_ifs": lambda: notation(f"def f(x) = {'if x { ' * 100_000}", 1, ["error"]),
    "bare_lets": lambda: notation(f"def f(x: f32) {{ {'let x = x + 1;' * 200_000} x }}", 0),
    "bare_patterns": lambda: notation(
        f"def f(x: (f32, f32)) {{ {'let (a, b) = x;' * 50_000} a }}", 0
    ),
    "bare_sums": lambda: notation(f"def f() = 1{' + 1' * 100_000}", 0),
    "bare_logic": lambda: notation(f"def f(x: bool) = x{' && x' * 100_000}", 0),
    "bare_pipes": lambda: notation(f"def f(x: f32) = x{' |> add(_, 1)' * 50_000}", 0),
    "bare_fields": lambda: notation(
        f"type P {{ p: f32 }}\ndef f(x: P) = x{'.p' * 100_000}", 1, ["unknown-field"]
    ),
    "bare_long_name": lambda: notation(f"def f() = a{'.b' * 100_000}(1)", 1, ["unknown-bare-name"]),
    "bare_constants_doubled": lambda: notation(
        "".join(f"let c{i} = c{i + 1} + c{i + 1};\n" for i in range(1_000))
        + "let c1000 = 1;\ndef f() = c0\n", 0
    ),
    "bare_constants_deep": lambda: notation(
        "".join(f"let c{i} = c{i + 1} + 1;\n" for i in range(20_000))
        + "let c20000 = 1;\ndef f() = c0\n", 1, ["nested deeper"]
    ),
    "bare_defaults": lambda: notation(
        "".join(f"def f{i}(x = f{i + 1}()) = x\n" for i in range(1_000))
        + "def f1000(x = 1) = x\n", 0
    ),
    "bare_blocks": lambda: notation(f"def f(x) = {'{ ' * 100_000}x{' }' * 100_000}", 1, ["nested deeper"]),
    "bare_else_ifs": lambda: notation(
        f"def f(x: i32) = {'if x == 1 { 1 } else ' * 100_000} {{ 2 }}", 1, ["nested deeper"]
    ),
    "bare_calls": lambda: notation(f"def f(x: f32) = {'exp(' * 100_000}x{')' * 100_000}", 1, ["nested deeper"]),
    "bare_matches": lambda: notation(f"def f(x) = {'match x { _ => ' * 100_000}", 1, ["error"]),
    "bare_arms": lambda: notation(
        f"def f(x: i32) = match x {{ {''.join(f'{i} => {i}, ' for i in range(3_000))} _ => 0 }}", 1, ["match-too-complex"]
    ),
    "bare_alternatives": lambda: notation(
        f"def f(x: i32) = match x {{ {' | '.join(map(str, range(3_000)))} => 1, _ => 0 }}", 1, ["match-too-complex"]
    ),
    "bare_nested_patterns": lambda: notation(
        f"def f(x: List[i32]) = match x {{ {'Cons(_, ' * 100_000}", 1, ["error"]
    ),
    "bare_tuple_patterns": lambda: notation(
        f"def f(x) {{ let {'(' * 100_000}a{')' * 100_000} = x; a }}", 1, ["deeper than"]
    ),
    "bare_types": lambda: notation(f"def f(x: {'List[' * 100_000}", 1, ["error"]),
    "bare_tuple_types": lambda: notation(f"def f(x: {'(' * 100_000}", 1, ["error"]),
    "bare_function_types": lambda: notation(f"def f(x: {'fn() -> ' * 100_000} f32) = x", 1, ["nested deeper"]),
    "bare_sizes": lambda: notation(f"def f(x: f32[{'(' * 100_000}n", 1, ["error"]),
    "bare_size_sums": lambda: notation(f"def f(x: f32[n{' + n' * 100_000}]) = x", 0),
    "bare_indexes": lambda: notation(f"def f(x: f32[3]) = x{'[:]' * 100_000}", 0),
    "bare_indexes_nested": lambda: notation(f"def f(x) = {'x[' * 100_000}", 1, ["error"]),
    "bare_withs": lambda: notation(
        f"type P {{ p: f32 }}\ndef f(x: P) = x{' with (p = 1)' * 20_000}", 0
    ),
    "bare_long_lines": lambda: notation(
        f"def f(x: f32) = print(\"{'a' * 10_000_000}\", x) // {'b' * 10_000_000}\n", 0
    ),
    "bare_long_marks": lambda: notation(f"def f(x) = x {'+-' * 1_000_000}", 1, ["error"]),
    "bare_foreign_marks": lambda: notation(f"def f(x) = x {'× x ' * 100_000}", 1, ["foreign-form"]),
    "bare_foreign_words": lambda: notation("def f(x):\n  return x\n" * 20_000, 1, ["foreign-form"]),
    "bare_quotes": lambda: notation(f"def f(x) = print({chr(39) * 100_001}", 1, ["error"]),
    "bare_lone_docs": lambda: notation('"""' * 100_001, 1, ["error"]),
    "bare_comments": lambda: notation("def f(x: f32) {\n" + "  x; // n\n  x // x\n + 1;\n" * 20_000 + "  x\n}\n", 0),
    "bare_records": lambda: notation(
        "type P { " + ", ".join(f"a{i}: f32" for i in range(20_000)) + " }\ndef f(p: P) = p.a19999", 0
    ),
    "bare_imports": lambda: notation("import optim as a\n" * 20_000, 1, ["error"]),
    "missing_file": lambda: Case(["check", "nowhere.rly"], {}, 2, ["nowhere.rly"]),
    "directory": lambda: Case(["check", "."], {}, 2, ["error"]),
}


def limit_resources(case):
    """In the child: bounds that end a runaway. The added address space is reserved, never filled."""
    size = (case.mebibytes + 1024) << 20
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    limits.processor_time(case.seconds * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def run(baton, case, folder):
    """The problems that a case shows, as sentences."""
    for name, data in case.files.items():
        (folder / name).write_bytes(data)
    with open(folder / "said", "w+b") as said:
        done = subprocess.run(
            [pathlib.Path(baton).resolve(), *case.command], stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=folder,
            preexec_fn=lambda: limit_resources(case),
        )
        said.seek(0)
        text = said.read().decode("utf-8", "replace")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Processor time: the tests share the machine with each other.
    seconds, mebibytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    print(f"status {done.returncode}, {seconds:.1f} s, {mebibytes:.0f} MiB, {len(text)} bytes")
    print(text[:1000])
    if done.returncode != case.status:
        yield f"exit status {done.returncode}, expected {case.status}"
    for part in case.says:
        if part not in text:
            yield f"`{part}` is not said"
    if seconds > case.seconds:
        yield f"took {seconds:.1f} s, more than {case.seconds}"


def main():
    if sys.argv[1:] == ["--list"]:
        print("\n".join(CASES))
        return 0
    baton, name = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        problems = list(run(baton, CASES[name](), pathlib.Path(folder)))
    for problem in problems:
        print(f"{name}: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
