#!/usr/bin/env python3
"""Products and convolutions of bytes beside ONNX Runtime's MatMulInteger and ConvInteger, in turns, on one thread.

usage: whole.py BATON [--rounds 5]

Shown are medians of the processor's time of a call, and the median of the rounds' ratios of the peer's to ours. The peer
has its weights as constants, which it packs beforehand; Baton has them as inputs. Results are compared first. Needs numpy,
onnx and onnxruntime.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

# By name: the type of the left operand or picture, then rows, columns and products, or channels, side, filters and window.
PRODUCTS = {
    "int8 product 512": ("int8", 512, 512, 512),
    "uint8 product 512": ("uint8", 512, 512, 512),
    "uint8 product 128x768x768": ("uint8", 128, 768, 768),
}
CONVOLUTIONS = {
    "uint8 3x3, 64 channels of 56x56": ("uint8", 64, 56, 64, 3),
    "uint8 1x1, 64 to 256 channels of 56x56": ("uint8", 64, 56, 256, 1),
}


def numbers(random, dtype, *shape):
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max + 1, shape).astype(dtype)


def session(node, x, w):
    kind = onnx.TensorProto.INT8 if x.dtype == np.int8 else onnx.TensorProto.UINT8
    graph = helper.make_graph([node], "net", [helper.make_tensor_value_info("x", kind, x.shape)],
                              [helper.make_tensor_value_info("y", onnx.TensorProto.INT32, None)], [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    how = onnxruntime.SessionOptions()
    how.intra_op_num_threads = how.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), how, providers=["CPUExecutionProvider"])


def product(random, dtype, rows, columns, products):
    x, w = numbers(random, dtype, rows, products), numbers(random, "int8", columns, products)
    call = f'nn.dense(%x, %w, units={columns}, out_dtype="int32")'
    return x, w, call, session(helper.make_node("MatMulInteger", ["x", "w"], ["y"]), x, w.T.copy())


def convolution(random, dtype, channels, side, filters, window):
    x, w = numbers(random, dtype, 1, channels, side, side), numbers(random, "int8", filters, channels, window, window)
    pads = [window // 2] * 4
    call = f'nn.conv2d(%x, %w, padding={pads}, channels={filters}, kernel_size=[{window}, {window}], out_dtype="int32")'
    return x, w, call, session(helper.make_node("ConvInteger", ["x", "w"], ["y"], pads=pads), x, w)


class Ours:
    def __init__(self, baton, folder, x, w, call):
        types = [f"%{name}: Tensor[({', '.join(map(str, value.shape))}), {value.dtype}]" for name, value in (("x", x), ("w", w))]
        (folder / "net.rly").write_text(f'#[version = "0.0.5"]\ndef @main({", ".join(types)}) {{ {call} }}\n')
        np.savez(folder / "values.npz", x=x, w=w)
        self.baton, self.folder = str(baton.resolve()), folder

    def call(self, command, *more):
        words = [self.baton, command, "net.rly", "--input", "values.npz", "--threads", "1", "--engine", "native", *more]
        return subprocess.run(words, cwd=self.folder, check=True, capture_output=True, text=True).stdout

    def result(self):
        self.call("run", "--output", "result.npz")
        with np.load(self.folder / "result.npz") as file:
            return file[file.files[0]]

    def seconds(self):
        return json.loads(self.call("bench", "--json", "--rounds", "5"))["processor_s"]


def seconds_of(call, least=0.25):
    times, start = [], time.thread_time()
    while len(times) < 5 or time.thread_time() - start < least:
        before = time.thread_time()
        call()
        times.append(time.thread_time() - before)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("baton", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print("| workload | Baton ms | ONNX Runtime ms | ONNX Runtime / Baton |\n|---|--:|--:|--:|")
    for cases, make in ((PRODUCTS, product), (CONVOLUTIONS, convolution)):
        for name, shape in cases.items():
            x, w, call, peer = make(np.random.default_rng(1), *shape)
            with tempfile.TemporaryDirectory() as folder:
                ours = Ours(options.baton, pathlib.Path(folder), x, w, call)
                assert np.array_equal(ours.result(), peer.run(None, {"x": x})[0]), name
                rounds = [(ours.seconds(), seconds_of(lambda: peer.run(None, {"x": x}))) for _ in range(options.rounds)]
            own, other = (statistics.median(each) * 1e3 for each in zip(*rounds))
            ratio = statistics.median(theirs / mine for mine, theirs in rounds)
            print(f"| {name} | {own:.3f} | {other:.3f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
