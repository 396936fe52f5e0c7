"""Relay text as tokens, to compare two texts of one program.

Comments are not skipped: the types in them are what is compared. Two tokens are the same when
their spelling is, or when they are floats that agree to the six digits that TVM prints.
"""
import json
import re
import struct

TOKEN = re.compile(
    r"""\s+
  | (?P<token>
      "[^"]*"
    | meta\[[^\]]*\]\[\d+\]
    | -?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?:[fi]\d*)?
    | [%@]?[A-Za-z_][A-Za-z0-9_/]*
    | %\d+
    | /\* | \*/ | -> | => | .)
    """,
    re.X | re.S,
)
FLOAT = re.compile(r"(-?[0-9.]+(?:[eE][-+]?\d+)?)f(\d*)")


def split_metadata(text):
    """The program and the JSON after `#[metadata]`, if any."""
    program, _, section = text.partition("#[metadata]")
    return program, json.loads(section) if section else None


def boxed_integers(metadata):
    """The values that `meta[runtime.BoxInt][k]` stand for."""
    if metadata is None:
        return []
    nodes = metadata["nodes"]
    root = nodes[metadata["root"]]
    arrays = dict(zip(root["keys"], root["data"]))
    if "runtime.BoxInt" not in arrays:
        return []
    return [nodes[i]["repr_str"] for i in nodes[arrays["runtime.BoxInt"]]["data"]]


def tokens(text):
    """Pairs (line number, token); boxed integers are replaced by their values."""
    program, metadata = split_metadata(text)
    boxes = boxed_integers(metadata)
    found, line = [], 1
    for match in TOKEN.finditer(program):
        token = match["token"]
        if token:
            box = re.fullmatch(r"meta\[runtime\.BoxInt\]\[(\d+)\]", token)
            found.append((line, boxes[int(box[1])] if box else token))
        line += match[0].count("\n")
    return found


def float_value(token):
    match = FLOAT.fullmatch(token)
    if not match:
        return None
    value = float(match[1])
    if match[2] in ("", "32"):
        value = struct.unpack("f", struct.pack("f", value))[0]
    return f"{value:.6g}", match[2]


def are_same(ours, theirs):
    return ours == theirs or (float_value(ours) is not None and float_value(ours) == float_value(theirs))


def first_difference(ours, theirs):
    """None, or a sentence that names the first place where two texts differ."""
    left, right = tokens(ours), tokens(theirs)
    for (line, token), (other_line, other) in zip(left, right):
        if not are_same(token, other):
            return f"line {line} has `{token}` where line {other_line} of the other has `{other}`"
    if len(left) != len(right):
        return f"{len(left)} tokens, the other has {len(right)}"
    return None
