#!/usr/bin/env python3
"""How many kernels programs become, and that they give what the interpreter gives.

usage: fusion_test.py BATON [CASE...]

Kernels are counted in `baton disasm`, outside of code that is only called in a loop. Each program is run on
the machine, where operators are computed together, and by the interpreter, which computes one after the
other, for tensors that are drawn; results are compared element by element.
"""
import pathlib
import subprocess
import sys
import tempfile

import tensor_files

HEADER = '#[version = "0.0.5"]\n'
CHAIN = """
def @chain(%a: Tensor[(64, 48), float32], %b: Tensor[(64, 48), float32]) -> Tensor[(64, 48), float32] {
  tanh(%a * %b + %a) * sigmoid(%b) + %a
}
"""

SOFTMAX = """
def @softmax(%x: Tensor[(40, 30), float32]) -> Tensor[(40, 30), float32] { nn.softmax(%x) }
"""
LAYER_NORM = """
def @norm(%x: Tensor[(40, 30), float32], %g: Tensor[(30), float32], %b: Tensor[(30), float32])
    -> Tensor[(40, 30), float32] {
  nn.layer_norm(%x, %g, %b)
}
"""


def parameters(**shapes):
    return ", ".join(f"%{name}: Tensor[({', '.join(map(str, shape))}), float32]" for name, shape in shapes.items())


def encoder_layer(batch=2, length=16, heads=4, size=8, hidden=64):
    """Self-attention and a feed-forward net, as BERT has them."""
    width, rows, shape = heads * size, batch * length, f"[{batch}, {length}, {heads * size}]"
    shapes = {"x": (batch, length, width)}
    lines = [f"let %rows = reshape(%x, newshape=[{rows}, {width}]);"]
    for name in "qkv":
        shapes |= {f"w{name}": (width, width), f"b{name}": (width,)}
        lines.append(f"""let %{name} = reshape(transpose(reshape(
    nn.bias_add(nn.dense(%rows, %w{name}, units={width}), %b{name}),
    newshape=[{batch}, {length}, {heads}, {size}]), axes=[0, 2, 1, 3]), newshape=[{batch * heads}, {length}, {size}]);""")
    shapes |= {"wo": (width, width), "bo": (width,), "g1": (width,), "b1": (width,), "wi": (hidden, width),
               "bi": (hidden,), "wf": (width, hidden), "bf": (width,), "g2": (width,), "b2": (width,)}
    lines.append(f"""let %p = nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True) * {size ** -0.5}f);
  let %mixed = reshape(transpose(reshape(nn.batch_matmul(%p, %v), newshape=[{batch}, {heads}, {length}, {size}]),
    axes=[0, 2, 1, 3]), newshape=[{rows}, {width}]);
  let %a = reshape(nn.bias_add(nn.dense(%mixed, %wo, units={width}), %bo), newshape={shape});
  let %n = nn.layer_norm(%x + %a, %g1, %b1);
  let %i = nn.bias_add(nn.dense(reshape(%n, newshape=[{rows}, {width}]), %wi, units={hidden}), %bi);
  let %h = %i * (0.5f + 0.5f * erf(%i * 0.70710678f));
  let %f = reshape(nn.bias_add(nn.dense(%h, %wf, units={width}), %bf), newshape={shape});
  nn.layer_norm(%n + %f, %g2, %b2)""")
    return f"def @main({parameters(**shapes)}) {{\n  " + "\n  ".join(lines) + "\n}"


def residual_net(blocks=(3, 4, 6, 3), width=2, size=16):
    """The shape of resnet_50, of a few channels."""
    shapes, lines = {"x": (1, 3, size, size)}, []

    def convolution(value, taken, given, kernel=1, stride=1, active=True):
        number = len(lines)
        shapes.update({f"w{number}": (given, taken, kernel, kernel)} |
                      {f"{vector}{number}": (given,) for vector in ("g", "b", "m", "v")})
        text = (f"nn.batch_norm(nn.conv2d({value}, %w{number}, strides=[{stride}, {stride}], "
                f"padding=[{kernel // 2}, {kernel // 2}], channels={given}, kernel_size=[{kernel}, {kernel}]), "
                f"%g{number}, %b{number}, %m{number}, abs(%v{number})).0")
        lines.append(f"let %y{number} = {f'nn.relu({text})' if active else text};")
        return f"%y{number}"

    value = convolution("%x", 3, width, 7, 2)
    lines.append(f"let %pooled = nn.max_pool2d({value}, pool_size=[3, 3], strides=[2, 2], padding=[1, 1]);")
    value, channels = "%pooled", width
    for stage, count in enumerate(blocks):
        inner = width << stage
        for block in range(count):
            stride = 2 if stage > 0 and block == 0 else 1
            short = convolution(value, channels, inner * 4, 1, stride, False) if block == 0 else value
            long = convolution(convolution(value, channels, inner), inner, inner, 3, stride)
            long = convolution(long, inner, inner * 4, active=False)
            value, channels = f"%y{len(lines)}", inner * 4
            lines.append(f"let {value} = nn.relu({long} + {short});")
    shapes |= {"wd": (10, channels), "bd": (10,)}
    lines.append(f"nn.softmax(nn.bias_add(nn.dense(nn.batch_flatten(nn.global_avg_pool2d({value})), %wd, units=10), %bd))")
    return f"def @main({parameters(**shapes)}) {{\n  " + "\n  ".join(lines) + "\n}"


# Name: the program, the most kernels, sizes of names.
CASES = {
    "chain": (CHAIN + "def @main(%a: Tensor[(64, 48), float32], %b: Tensor[(64, 48), float32]) { @chain(%a, %b) }",
              1, []),
    "chain and gradient": (CHAIN + """
def @main(%a: Tensor[(64, 48), float32], %b: Tensor[(64, 48), float32], %d: Tensor[(64, 48), float32]) {
  let %both = vjp(@chain)(%a, %b);
  (%both.0, %both.1(%d))
}""", 2, []),
    "dense, bias, gelu": ("""
def @main(%x: Tensor[(n, 64), float32], %w: Tensor[(32, 64), float32], %b: Tensor[(32), float32]) {
  let %y = nn.bias_add(nn.dense(%x, %w, units=32), %b);
  %y * (0.5f + 0.5f * erf(%y * 0.70710678f))
}""", 1, ["n=7"]),
    "convolution, batch norm, relu": ("""
def @main(%x: Tensor[(1, 8, 12, 12), float32], %w: Tensor[(16, 8, 3, 3), float32], %g: Tensor[(16), float32],
          %b: Tensor[(16), float32], %m: Tensor[(16), float32], %v: Tensor[(16), float32]) {
  let %y = nn.conv2d(%x, %w, padding=[1, 1], channels=16, kernel_size=[3, 3]);
  nn.relu(nn.batch_norm(%y, %g, %b, %m, %v).0)
}""", 1, []),
    "batch norm of constants": ("""
def @main(%x: Tensor[(2, 2, 9, 9), float32]) {
  let %w = [[[[0.3f, -1.7f], [0.1f, 2.9f]], [[1.1f, 0.7f], [-0.9f, 0.3f]]],
            [[[-0.7f, 1.3f], [0.6f, -0.2f]], [[0.8f, 1.9f], [0.4f, -1.1f]]]];
  let %y = nn.conv2d(%x, %w, padding=[1, 1], channels=2, kernel_size=[2, 2]);
  nn.relu(nn.batch_norm(%y, [1.7f, 0.3f], [0.1f, -0.4f], [0.7f, 0.9f], [0.6f, 2.3f]).0)
}""", 1, []),
    "pictures of bytes": ("""
def @main(%x: Tensor[(2, 2, 9, 9), float32]) {
  let %w = [[[[0.3f, -1.7f], [0.1f, 2.9f]], [[1.1f, 0.7f], [-0.9f, 0.3f]]]];
  nn.conv2d(%x / 255f, %w, padding=[1, 1], channels=1, kernel_size=[2, 2])
}""", 1, []),
    "LSTM step": ("""
def @main(%x: Tensor[(2, 64), float32], %h: Tensor[(2, 64), float32], %c: Tensor[(2, 64), float32],
          %wi: Tensor[(256, 64), float32], %wh: Tensor[(256, 64), float32], %b: Tensor[(256), float32]) {
  let %g = nn.dense(%x, %wi, units=256) + nn.dense(%h, %wh, units=256) + %b;
  let %s = split(%g, indices_or_sections=4, axis=1);
  let %c1 = sigmoid(%s.1) * %c + sigmoid(%s.0) * tanh(%s.2);
  (sigmoid(%s.3) * tanh(%c1), %c1)
}""", 1, []),
    "softmax": ("def @main(%x: Tensor[(40, 3000), float32]) { nn.softmax(%x * 2f) }", 1, []),
    "gradient of softmax": (SOFTMAX + """
def @main(%x: Tensor[(40, 30), float32], %d: Tensor[(40, 30), float32]) { let %both = vjp(@softmax)(%x); %both.1(%d) }
""", 1, []),
    "gradient of layer norm": (LAYER_NORM + """
def @main(%x: Tensor[(40, 30), float32], %g: Tensor[(30), float32], %b: Tensor[(30), float32],
          %d: Tensor[(40, 30), float32]) {
  let %both = vjp(@norm)(%x, %g, %b);
  %both.1(%d)
}""", 1, []),
    "layer of an encoder": (encoder_layer(), 8, []),
    "residual net of 53 convolutions": (residual_net(), 60, []),
    "product, sum, norm": ("""
def @main(%x: Tensor[(n, 16), float32], %w: Tensor[(24, 16), float32], %y: Tensor[(n, 24), float32],
          %g: Tensor[(24), float32], %b: Tensor[(24), float32]) {
  nn.layer_norm(nn.dense(%x, %w, units=24) + %y, %g, %b)
}""", 1, ["n=7"]),
    "large rows": ("""
def @main(%x: Tensor[(1000, 5000), float32]) { nn.log_softmax(exp(%x) + %x) }
""", 2, []),
    "layer norm of many rows": ("""
def @main(%x: Tensor[(900, 300), float32], %g: Tensor[(300), float32], %b: Tensor[(300), float32]) {
  nn.layer_norm(%x, %g, %b)
}""", 1, []),
    "sums of rows": ("""
def @main(%x: Tensor[(n, m), float32], %y: Tensor[(n, m), float32]) { sum(abs(%x - %y), axis=[1]) / 2f }
""", 1, ["n=5", "m=9"]),
    "forms of sizes": ("""
def @main(%x: Tensor[(n, 3), float32], %y: Tensor[(m, 3), float32]) {
  tanh(concatenate((%x * 2f, %y + 1f), axis=0)) * 3f
}""", 1, ["n=4", "m=5"]),
    "broadcast of what is dear": ("""
def @main(%x: Tensor[(1, 50), float32], %y: Tensor[(40, 50), float32]) { exp(%x) * %y + exp(%x) }
""", 1, []),
    "groups that a text has": ("""
def @main(%x: Tensor[(16, 9), float32], %y: Tensor[(16, 9), float32]) {
  %0 = fn (%p: Tensor[(16, 9), float32], %q: Tensor[(16, 9), float32], Primitive=1) { exp(%p + %q) * %q };
  %0(%x, %y)
}""", 1, []),
    "in a loop": ("""
def @loop(%i: int32, %x: Tensor[(32), float32]) -> Tensor[(32), float32] {
  if (%i == 0) { %x } else { @loop(%i - 1, tanh(%x * 0.5f + 0.25f)) }
}
def @main(%x: Tensor[(32), float32]) { @loop(10, %x) }
""", 1, []),
    "positions out of data": ("""
def @main(%x: Tensor[(8, 4), float32], %i: Tensor[(5), int32]) { tanh(take(%x * 2f, %i, axis=0, mode="clip")) + 1f }
""", 3, []),
    "results in the order of the text": ("""
def @main(%x: Tensor[(6, 7), float32]) {
  let %a = exp(%x);
  let %b = %a + 1f;
  let %c = log(%b);
  (%c, %a, %b, transpose(%a, axes=[1, 0]) * 2f)
}""", 2, []),
    "tuples in tuples": ("""
def @main(%x: Tensor[(2, 3), float32]) {
  let %t = ((((exp(%x) + %x),),),).0;
  (%t, %t.0.0 * 2f)
}""", 3, []),
    "the same twice": ("""
def @main(%x: Tensor[(6, 7), float32], %y: Tensor[(6, 7), float32]) {
  let %s = %x + %y;
  (sum(%s * %s, axis=[0]), max(%s * 3f, axis=[1]))
}""", 2, []),
}

# Faults stay where they are: an operator that can fail is computed by itself.
FAULT = """
def @main(%x: Tensor[(3), int32], %y: Tensor[(3), int32]) {
  let %a = %x + %y;
  let %b = %a /
    (%y - %y);
  %b * 2
}
"""


def run(baton, *words):
    return subprocess.run([baton, *words], capture_output=True, text=True)


def kernels(baton, program):
    done = run(baton, "disasm", program)
    assert done.returncode == 0, done.stderr
    return sum(" kernel " in line for line in done.stdout.splitlines())


def values(baton, program, engine, sizes, folder):
    output = folder / f"{engine}.npz"
    dims = [word for size in sizes for word in ("--dim", size)]
    done = run(baton, "run", program, "--engine", engine, "--random", "3", *dims, "--output", output)
    assert done.returncode == 0, done.stderr
    return tensor_files.read_npz(output)


def problem(baton, name, folder):
    text, most, sizes = CASES[name]
    program = folder / "program.rly"
    program.write_text(HEADER + text)
    count = kernels(baton, program)
    if count > most:
        return f"{count} kernels, more than {most}"
    ours = values(baton, program, "vm", sizes, folder)
    reference = values(baton, program, "interp", sizes, folder)
    if ours.keys() != reference.keys() or not ours:
        return "results have other names"
    for key, (_, shape, elements) in ours.items():
        _, wanted_shape, wanted = reference[key]
        if shape != wanted_shape:
            return f"{key} has shape {shape}, not {wanted_shape}"
        scale = max([1.0, *map(abs, wanted)])
        worst = max((abs(a - b) for a, b in zip(elements, wanted)), default=0.0)
        if not worst <= 2e-6 * scale:
            return f"{key} is off by {worst}"
    return None


def fault_problem(baton, folder):
    program = folder / "fault.rly"
    program.write_text(HEADER + FAULT)
    texts = [run(baton, "run", program, "--engine", engine, "--random", "3").stderr for engine in ("vm", "interp")]
    if texts[0] != texts[1] or "fault.rly:5:" not in texts[0]:
        return "faults differ:\n" + "\n".join(texts)
    return None


def main():
    baton, names = sys.argv[1], sys.argv[2:] or list(CASES)
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        found = {name: problem(baton, name, folder) for name in names}
        found["fault"] = fault_problem(baton, folder)
    for name, text in found.items():
        if text:
            failures += 1
            print(f"{name}: {text}")
    print(f"{len(found)} cases, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
