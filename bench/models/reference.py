#!/usr/bin/env python3
"""What the ten models compute, by numpy: the numbers in examples/models/tests.baton.

usage: reference.py    (with numpy)

Weights and inputs are sines of 0.7 times their place, after a phase that tells them apart; places
are multiplied in float32, as the programs do, and all else is computed in float64.
"""
import numpy as np


def wave(*shape, at):
    places = np.arange(np.prod(shape), dtype=np.float32)
    return np.sin(places * np.float32(0.7) + np.float32(at)).reshape(shape).astype(np.float64)


def linear(n, m, at):
    return wave(m, n, at=at), wave(m, at=at)


def apply(layer, x):
    return x @ layer[0].T + layer[1]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def cross_entropy(scores, labels):
    return -np.log(softmax(scores)[np.arange(len(labels)), labels]).mean()


def linear_regression():
    x, y = wave(8, 3, at=0), wave(8, at=1)
    w, b = np.zeros(3), 0.0
    for _ in range(50):
        d = 2 * (x @ w + b - y) / 8
        w, b = w - 0.1 * (x.T @ d), b - 0.1 * d.sum()
    return [*w, b]


def perceptron():
    """Scores of one picture, and the loss after one step of Adam, whose first step is the sign."""
    hidden, out = linear(784, 128, 0), linear(128, 10, 1)
    x, y = wave(2, 784, at=2) / 28, np.array([3, 7])
    rate, eps = 1e-3, 1e-8

    def forward(hidden, out):
        h = np.maximum(apply(hidden, x), 0)
        return h, apply(out, h)

    h, scores = forward(hidden, out)
    d = softmax(scores)
    d[[0, 1], y] -= 1
    d /= 2
    dh = (d @ out[0]) * (h > 0)
    step = lambda p, g: p - rate * g / (np.abs(g) + eps)
    hidden = step(hidden[0], dh.T @ x), step(hidden[1], dh.sum(0))
    out = step(out[0], d.T @ h), step(out[1], d.sum(0))
    return [*scores[0, :3], cross_entropy(forward(hidden, out)[1], y)]


def convolve(x, w, b):
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("bchwij,mcij->bmhw", windows, w) + b[:, None, None]


def pooled(x):
    b, c, h, w = x.shape
    return x.reshape(b, c, h // 2, 2, w // 2, 2).max((3, 5))


def convolution():
    x = wave(2, 1, 28, 28, at=0)
    for n, m, at in (1, 8, 1), (8, 16, 2):
        x = pooled(np.maximum(convolve(x, wave(m, n, 3, 3, at=at), wave(m, at=at)), 0))
    return apply(linear(784, 10, 3), x.reshape(2, -1))[0, :3]


def lstm_step(cell, state, x):
    h, c = state
    i, f, u, o = np.split(apply(cell[0], x) + apply(cell[1], h), 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(u)
    return sigmoid(o) * np.tanh(c), c


def lstm():
    cell, out = (linear(3, 16, 0), linear(4, 16, 1)), linear(4, 2, 2)
    state = np.zeros((2, 4)), np.zeros((2, 4))
    for at in 3, 4, 5:
        state = lstm_step(cell, state, wave(2, 3, at=at))
    return apply(out, state[0]).ravel()


def tree_lstm():
    leaf, left, right = linear(3, 12, 0), linear(4, 20, 1), linear(4, 20, 2)

    def encode(t):
        if isinstance(t, np.ndarray):
            i, o, u = np.split(apply(leaf, t), 3)
            c = sigmoid(i) * np.tanh(u)
        else:
            (hl, cl), (hr, cr) = encode(t[0]), encode(t[1])
            i, fl, fr, o, u = np.split(apply(left, hl) + apply(right, hr), 5)
            c = sigmoid(i) * np.tanh(u) + sigmoid(fl) * cl + sigmoid(fr) * cr
        return sigmoid(o) * np.tanh(c), c

    x = [wave(3, at=at) for at in (3, 4, 5)]
    return encode(((x[0], x[1]), x[2]))[0]


def heads(x, count):
    b, t, d = x.shape
    return x.reshape(b, t, count, d // count).transpose(0, 2, 1, 3)


def attend(q, k, v, count):
    q, k, v = (heads(each, count) for each in (q, k, v))
    mixed = softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v
    b, h, t, e = mixed.shape
    return mixed.transpose(0, 2, 1, 3).reshape(b, t, h * e)


def attention():
    qkv, out = linear(8, 24, 0), linear(8, 8, 1)
    q, k, v = np.split(apply(qkv, wave(1, 3, 8, at=2)), 3, axis=-1)
    return apply(out, attend(q, k, v, 2))[0, 0, :4]


def layer_norm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def gelu(x):
    from math import erf
    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def transformer():
    x = wave(1, 3, 8, at=9)
    for at in 0, 1:
        y = layer_norm(x)
        q, k, v = (apply(linear(8, 8, at + i), y) for i in (1, 2, 3))
        x = x + apply(linear(8, 8, at + 4), attend(q, k, v, 2))
        x = x + apply(linear(16, 8, at + 6), gelu(apply(linear(8, 16, at + 5), layer_norm(x))))
    return layer_norm(x)[0, 0, :4]


def nbody():
    x, v, m = wave(3, 3, at=0), wave(3, 3, at=1), wave(3, at=2) ** 2
    for _ in range(10):
        d = x[None, :] - x[:, None]
        r2 = (d**2).sum(-1) + 1e-2
        v = v + 0.01 * (d * (m / r2**1.5)[..., None]).sum(1)
        x = x + 0.01 * v
    return x[0]


def gcn():
    x, edges = wave(4, 3, at=0), np.array([[0, 1, 2, 3], [1, 2, 3, 0]])
    a = np.eye(4)
    a[edges[0], edges[1]] = 1
    d = a.sum(1) ** -0.5
    a = d[:, None] * a * d
    h = np.maximum(apply(linear(3, 5, 1), a @ x), 0)
    return apply(linear(5, 2, 2), a @ h)[0]


def beam_search():
    chances = wave(4, 4, at=0)
    beams = [(0.0, [0])]
    for _ in range(3):
        grown = [(s + c, [*p, t]) for s, p in beams for t, c in enumerate(chances[p[-1]])]
        beams = sorted(grown, key=lambda beam: -beam[0])[:2]
    return [beams[0][0], *beams[0][1]]


for model in (linear_regression, perceptron, convolution, lstm, tree_lstm, attention, transformer,
              nbody, gcn, beam_search):
    print(f"{model.__name__:18}", ", ".join(f"{value:.6g}" for value in np.ravel(model())))
