"""Networks said once, as a Relay program, an ONNX model and a PyTorch function.

A network is a list of operations on named values; OPERATIONS says each in three notations. Weights are
numpy arrays by name, drawn so that values neither vanish nor overflow on the way.
"""
import dataclasses

import numpy as np


def session_of(model, threads):
    """A model of ONNX, as bytes, ready to run."""
    import onnxruntime

    how = onnxruntime.SessionOptions()
    how.intra_op_num_threads, how.inter_op_num_threads = threads, 1
    how.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(model, how, providers=["CPUExecutionProvider"])


@dataclasses.dataclass
class Step:
    kind: str
    out: str
    ins: list
    attributes: dict


class Net:
    def __init__(self, seed=1):
        self.random = np.random.default_rng(seed)
        self.inputs, self.weights, self.steps, self.shapes = {}, {}, [], {}

    def input(self, name, *shape):
        self.inputs[name] = self.random.uniform(-1, 1, shape).astype(np.float32)
        return self.named(name, shape)

    def weight(self, *shape, around=0.0, scale=None):
        scale = (3 / max(1, int(np.prod(shape[1:])))) ** 0.5 if scale is None else scale
        name = f"w{len(self.weights)}"
        self.weights[name] = (around + self.random.uniform(-scale, scale, shape)).astype(np.float32)
        return self.named(name, shape)

    def named(self, name, shape):
        self.shapes[name] = tuple(shape)
        return name

    def add(self, kind, *ins, shape=None, **attributes):
        out = f"v{len(self.steps)}"
        self.steps.append(Step(kind, out, list(ins), attributes))
        return self.named(out, shape or self.shapes[ins[0]])

    # Layers.

    def convolution(self, x, channels, size, stride=1, groups=1, act=True):
        n, before, height, width = self.shapes[x]
        weight = self.weight(channels, before // groups, size, size)
        pad = size // 2
        shape = (n, channels, (height + 2 * pad - size) // stride + 1, (width + 2 * pad - size) // stride + 1)
        y = self.add("convolution", x, weight, shape=shape, stride=stride, pad=pad, groups=groups, size=size, channels=channels)
        gamma, variance = (self.weight(channels, around=1.0, scale=0.2) for _ in range(2))
        beta, mean = (self.weight(channels, scale=0.1) for _ in range(2))
        y = self.add("batch_norm", y, gamma, beta, mean, variance)
        return self.add("relu", y) if act else y

    def dense(self, x, units):
        rows, columns = self.shapes[x]
        y = self.add("dense", x, self.weight(units, columns), shape=(rows, units))
        return self.add("bias", y, self.weight(units, scale=0.1))

    def layer_norm(self, x):
        width = self.shapes[x][-1]
        return self.add("layer_norm", x, self.weight(width, around=1.0, scale=0.2), self.weight(width, scale=0.1))

    def reshape(self, x, *shape):
        return self.add("reshape", x, shape=shape, shape_=list(shape))

    def transpose(self, x, *axes):
        return self.add("transpose", x, shape=[self.shapes[x][axis] for axis in axes], axes=list(axes))

    def product(self, a, b):
        return self.add("product", a, b, shape=(*self.shapes[a][:-1], self.shapes[b][-1]))

    # As whoever compares wants it.

    @property
    def values(self):
        return {**self.inputs, **self.weights}

    @property
    def fixed(self):
        return "w*" if self.weights else None

    files = {}

    def calls(self, options):
        """By name, peers as functions of nothing that give results as arrays."""
        import torch

        torch.set_num_threads(options.threads)
        session = session_of(self.onnx(), options.threads)
        tensors = [torch.from_numpy(value) for value in self.inputs.values()]
        function = self.torch()
        made = {"ONNX Runtime": lambda: session.run(None, self.inputs), "PyTorch": lambda: [function(*tensors)]}
        if options.compile:
            compiled = torch.compile(function)
            made["PyTorch compiled"] = lambda: [compiled(*tensors)]
        if [step.kind for step in self.steps] == ["product"]:
            a, b = self.inputs.values()
            made["numpy"] = lambda: [a @ b]
        return made

    # Notations.

    def relay(self):
        typed = [
            f"%{name}: Tensor[({', '.join(map(str, self.shapes[name]))}), float32]"
            for name in [*self.inputs, *self.weights]
        ]
        lines = [f"  let %{step.out} = {relay_text(step)};" for step in self.steps]
        return "\n".join([f"def @main({', '.join(typed)}) {{", *lines, f"  %{self.steps[-1].out}", "}", ""])

    def onnx(self):
        import onnx
        from onnx import helper, numpy_helper

        nodes, constants = [], [numpy_helper.from_array(value, name) for name, value in self.weights.items()]
        for step in self.steps:
            kind, ins, attributes, extra = ONNX[step.kind](step)
            constants += [numpy_helper.from_array(value, name) for name, value in extra.items()]
            nodes.append(helper.make_node(kind, ins, [step.out], **attributes))
        info = [helper.make_tensor_value_info(name, 1, list(self.shapes[name])) for name in self.inputs]
        last = self.steps[-1].out
        result = [helper.make_tensor_value_info(last, 1, list(self.shapes[last]))]
        graph = helper.make_graph(nodes, "net", info, result, constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        onnx.checker.check_model(model)
        return model.SerializeToString()

    def torch(self):
        """A function of the inputs, as tensors, in order."""
        import torch

        weights = {name: torch.from_numpy(value) for name, value in self.weights.items()}

        def run(*inputs):
            values = {**weights, **dict(zip(self.inputs, inputs))}
            for step in self.steps:
                values[step.out] = torch_value(torch, step, [values[name] for name in step.ins])
            return values[self.steps[-1].out]

        return run


def relay_text(step):
    ins = ", ".join("%" + name for name in step.ins)
    a = step.attributes
    texts = {
        "convolution": lambda: f"nn.conv2d({ins}, strides=[{a['stride']}, {a['stride']}], padding=[{', '.join([str(a['pad'])] * 4)}], "
        f"groups={a['groups']}, channels={a['channels']}, kernel_size=[{a['size']}, {a['size']}])",
        "batch_norm": lambda: f"nn.batch_norm({ins}).0",
        "relu": lambda: f"nn.relu({ins})",
        "add": lambda: f"add({ins})",
        "multiply": lambda: f"multiply({ins})",
        "tanh": lambda: f"tanh({ins})",
        "sigmoid": lambda: f"sigmoid({ins})",
        "max_pool": lambda: f"nn.max_pool2d({ins}, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])",
        "global_pool": lambda: f"nn.batch_flatten(nn.global_avg_pool2d({ins}))",
        "dense": lambda: f"nn.dense({ins}, units=None)",
        "bias": lambda: f"nn.bias_add({ins}, axis=-1)",
        "softmax": lambda: f"nn.softmax({ins}, axis=-1)",
        "layer_norm": lambda: f"nn.layer_norm({ins}, axis=-1)",
        "gelu": lambda: f"%{step.ins[0]} * (0.5f + 0.5f * erf(%{step.ins[0]} * 0.70710678f))",
        "scale": lambda: f"%{step.ins[0]} * {a['by']}f",
        "reshape": lambda: f"reshape({ins}, newshape={a.get('shape_')})",
        "transpose": lambda: f"transpose({ins}, axes={a.get('axes')})",
        "product": lambda: f"nn.{'matmul' if a.get('rank', 2) == 2 else 'batch_matmul'}({ins}"
        + (", units=None)" if a.get("rank", 2) == 2 else ", transpose_b=False)"),
    }
    return texts[step.kind]()


def plain(kind):
    return lambda step: (kind, step.ins, {}, {})


def with_constant(kind, make):
    """An operator whose last input is a constant that hangs on the step."""
    return lambda step: (kind, [*step.ins, step.out + "_c"], {}, {step.out + "_c": make(step.attributes)})


ONNX = {
    "convolution": lambda s: (
        "Conv",
        s.ins,
        {"strides": [s.attributes["stride"]] * 2, "pads": [s.attributes["pad"]] * 4, "group": s.attributes["groups"]},
        {},
    ),
    "batch_norm": lambda s: ("BatchNormalization", s.ins, {"epsilon": 1e-5}, {}),
    "relu": plain("Relu"),
    "add": plain("Add"),
    "multiply": plain("Mul"),
    "tanh": plain("Tanh"),
    "sigmoid": plain("Sigmoid"),
    "max_pool": lambda s: ("MaxPool", s.ins, {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}, {}),
    "global_pool": lambda s: ("ReduceMean", [*s.ins, s.out + "_c"], {"keepdims": 0}, {s.out + "_c": np.array([2, 3])}),
    "dense": lambda s: ("Gemm", s.ins, {"transB": 1}, {}),
    "bias": plain("Add"),
    "softmax": lambda s: ("Softmax", s.ins, {"axis": -1}, {}),
    "layer_norm": lambda s: ("LayerNormalization", s.ins, {"axis": -1, "epsilon": 1e-5}, {}),
    "gelu": plain("Gelu"),
    "scale": with_constant("Mul", lambda a: np.array(a["by"], np.float32)),
    "reshape": with_constant("Reshape", lambda a: np.array(a["shape_"], np.int64)),
    "transpose": lambda s: ("Transpose", s.ins, {"perm": s.attributes["axes"]}, {}),
    "product": plain("MatMul"),
}


def torch_value(torch, step, ins):
    f, a = torch.nn.functional, step.attributes
    values = {
        "convolution": lambda: f.conv2d(*ins, stride=a["stride"], padding=a["pad"], groups=a["groups"]),
        "batch_norm": lambda: f.batch_norm(ins[0], ins[3], ins[4], ins[1], ins[2]),
        "relu": lambda: torch.relu(*ins),
        "add": lambda: torch.add(*ins),
        "multiply": lambda: torch.mul(*ins),
        "tanh": lambda: torch.tanh(*ins),
        "sigmoid": lambda: torch.sigmoid(*ins),
        "max_pool": lambda: f.max_pool2d(*ins, 3, 2, 1),
        "global_pool": lambda: ins[0].mean((2, 3)),
        "dense": lambda: f.linear(*ins),
        "bias": lambda: torch.add(*ins),
        "softmax": lambda: torch.softmax(ins[0], -1),
        "layer_norm": lambda: f.layer_norm(ins[0], ins[0].shape[-1:], ins[1], ins[2]),
        "gelu": lambda: f.gelu(*ins),
        "scale": lambda: ins[0] * a["by"],
        "reshape": lambda: ins[0].reshape(a["shape_"]),
        "transpose": lambda: ins[0].permute(a["axes"]).contiguous(),
        "product": lambda: torch.matmul(*ins),
    }
    return values[step.kind]()
