"""The workloads that are compared, by the rows of the table of goals."""
from net import Net
from recursive import lstm, lstm_gradients, perceptron_gradients, tree_lstm


def product(size):
    net = Net()
    net.product(net.input("a", size, size), net.input("b", size, size))
    return net


def chain(size):
    net = Net()
    a, b = net.input("a", size), net.input("b", size)
    sum_ = net.add("add", net.add("multiply", a, b), a)
    net.add("add", net.add("multiply", net.add("tanh", sum_), net.add("sigmoid", b)), a)
    return net


def softmax():
    net = Net()
    net.add("softmax", net.input("x", 4096, 1024))
    return net


def layer_norm():
    net = Net()
    net.layer_norm(net.input("x", 4096, 1024))
    return net


def transpose():
    net = Net()
    net.transpose(net.input("x", 4096, 1024), 1, 0)
    return net


def perceptron():
    net = Net()
    x = net.input("x", 64, 784)
    for units in 512, 512:
        x = net.add("relu", net.dense(x, units))
    net.dense(x, 10)
    return net


def mobile_net():
    net = Net()
    x = net.convolution(net.input("x", 1, 3, 224, 224), 32, 3, 2)
    for channels, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *[(512, 1)] * 5, (1024, 2), (1024, 1)]:
        before = net.shapes[x][1]
        x = net.convolution(x, before, 3, stride, groups=before)
        x = net.convolution(x, channels, 1)
    net.dense(net.add("global_pool", x, shape=net.shapes[x][:2]), 1000)
    return net


def residual_net():
    net = Net()
    x = net.convolution(net.input("x", 1, 3, 224, 224), 64, 7, 2)
    n, channels, height, width = net.shapes[x]
    x = net.add("max_pool", x, shape=(n, channels, height // 2, width // 2))
    for blocks, inner, first in [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)]:
        for block in range(blocks):
            stride = first if block == 0 else 1
            way = net.convolution(net.convolution(x, inner, 1), inner, 3, stride)
            way = net.convolution(way, 4 * inner, 1, act=False)
            past = x if block else net.convolution(x, 4 * inner, 1, stride, act=False)
            x = net.add("relu", net.add("add", way, past))
    net.dense(net.add("global_pool", x, shape=net.shapes[x][:2]), 1000)
    return net


def heads(net, x, length, count, size):
    return net.transpose(net.reshape(x, length, count, size), 1, 0, 2)


def attended(net, query, key, value):
    count, length, size = net.shapes[query]
    scores = net.add("product", query, net.transpose(key, 0, 2, 1), shape=(count, length, length), rank=3)
    weights = net.add("softmax", net.add("scale", scores, by=size**-0.5))
    return net.add("product", weights, value, shape=(count, length, size), rank=3)


def attention(length=384, count=12, size=64):
    net = Net()
    attended(net, *(net.input(name, count, length, size) for name in "qkv"))
    return net


def transformer_layer(length=128, width=768, count=12):
    net = Net()
    x = net.input("x", length, width)
    parts = [heads(net, net.dense(x, width), length, count, width // count) for _ in range(3)]
    mixed = net.reshape(net.transpose(attended(net, *parts), 1, 0, 2), length, width)
    x = net.layer_norm(net.add("add", net.dense(mixed, width), x))
    inner = net.dense(net.add("gelu", net.dense(x, 4 * width)), width)
    net.layer_norm(net.add("add", inner, x))
    return net


# By name: the row, the goal for the best peer's time over ours, and what makes the network.
WORKLOADS = {
    **{f"product {size}": (1, 2.2, lambda size=size: product(size)) for size in (256, 512, 1024, 2048)},
    "ResNet-50": (4, 2.1, residual_net),
    "MobileNet v1": (5, 2.0, mobile_net),
    "transformer layer, 128": (6, 2.2, transformer_layer),
    "transformer layer, 1": (8, 1.25, lambda: transformer_layer(1)),
    "LSTM 256-256, 40 steps": (9, 2.4, lambda: lstm(256, 256)),
    "LSTM 300-512, 40 steps": (9, 1.8, lambda: lstm(300, 512)),
    "tree LSTM 300-150": (10, 7.0, tree_lstm),
    **{f"chain, {size}": (11, 5.5, lambda size=size: chain(size)) for size in (1 << 12, 1 << 18, 1 << 22)},
    "softmax 4096x1024": (12, 2.3, softmax),
    "layer norm 4096x1024": (12, 1.7, layer_norm),
    "transpose 4096x1024": (12, 4.5, transpose),
    "attention, 384": (13, 2.4, attention),
    "perceptron, 64 rows": (14, 3.0, perceptron),
    "its loss and gradients": (14, 3.0, perceptron_gradients),
    "gradients of LSTM 256-256": (15, 4.5, lstm_gradients),
}
