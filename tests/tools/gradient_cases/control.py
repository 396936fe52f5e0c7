"""Branches, recursion, closures, lists, data types and references: PyTorch follows Python."""
import functools

import torch
import torch.nn.functional as F

from gradient_cases.cases import case, floats, integers, normal, uniform


@case(x=floats(0.75), y=floats(-1.25))
def taken_side(x, y):
    z = x * y
    if z > 1:
        return z.sin() * x
    return x.exp() if x < y else y * y * z


@case(x=normal(2), y=normal(2), n=integers(1))
def sides_of_tuples(x, y, n):
    p = (x, y * y) if n > 0 else (y, x)
    q = (p[1], p[1]) if p[0].sum() > 0 else p
    return q[0] * q[1] + p[0]


@case(x=floats(0.5), n=integers(1))
def unused_in_a_side(x, n):
    return x.exp() * x if n == 1 else (x - 2).sqrt() * x.exp()


@case(second=True, x=floats(0.875))
def power_by_recursion(x):
    return x**7 + (x * x) ** 2


@case(x=uniform(0.2, 0.6, 3), n=integers(13))
def power_by_squares(x, n):
    return x.sum() ** int(n)


@case(x=floats(0.625))
def fibonacci_of_floats(x):
    def tree(v, n):
        return v if n < 2 else tree(v * 0.5, n - 1) * tree(v.sin(), n - 2) + v

    return tree(x, 7)


@case(second=True, x=floats(0.375), y=floats(-0.5))
def mutual_recursion(x, y):
    def even(v, n):
        return v if n == 0 else odd(v.sin() + v, n - 1)

    def odd(v, n):
        return 0 - v if n == 0 else even(v * v, n - 1) * v

    return even(x, 4) + odd(y, 2)


@case(a=floats(3.5))
def newton_until_close(a):
    x, following = torch.ones((), dtype=torch.float64), None
    while True:
        following = (x + a / x) * 0.5
        if abs(following - x) < 1e-9:
            return following * a
        x = following


@case(x=floats(0.75), y=floats(1.5))
def local_recursion(x, y):
    acc = x
    for _ in range(4):
        acc = acc * x + y
    return acc * y


@case(x=floats(0.75), y=floats(-1.5))
def closure_captures(x, y):
    return x * y * y + x * x * x + x * 4


@case(second=True, x=floats(0.75), y=floats(-1.5))
def closures_in_a_list(x, y):
    acc = y
    for f in (lambda z: x * z, lambda z: z.sin() + y):
        acc = f(acc) * f(x)
    return acc


@case(x=floats(0.75), y=floats(-1.5), n=integers(3))
def function_returned(x, y, n):
    def scaled_by(s):
        return lambda v: s * v * v

    def pick(k, v):
        return scaled_by(v) if k > 1 else torch.sin

    return scaled_by(x)(y) + pick(n, y)(x) + pick(n - 5, y)(x)


@case(second=True, x=floats(0.75), w=floats(1.25))
def composed(x, w):
    def step(z):
        return (z * w).sin() + z

    return step(step(step(step(x)))) + step(w * w)


@case(x=floats(0.75), v=floats(-0.5))
def iterated_state(x, v):
    for _ in range(6):
        v = v - x.sin() * 0.1
        x = x + v * 0.1
    return x * v


@case(x=normal(2), y=normal(2))
def polymorphic(x, y):
    return (x * x).sum() * 2 * ((y * y).sum() * 2) + x.sum()


@case(x=uniform(0.5, 2, 3), s=floats(0.75))
def list_folds(x, s):
    left = functools.reduce(lambda acc, v: acc * s + v, x, 1)
    right = functools.reduce(lambda acc, v: acc.sin() * v, reversed(x), s)
    last = x[0] / (x[1] / x[2])
    return left + right + last


@case(x=floats([0.5, -1.25, 2, 0.75]), s=floats(1.5))
def list_maps(x, s):
    kept = [v * s for v in x if v * s > 0]
    return sum(a * b * b for a, b in zip(reversed(list(x)), kept))


@case(x=normal(4), d=floats(0.75))
def list_scan(x, d):
    acc, run = 0, []
    for v in x:
        acc = acc * d + v
        run.append(acc * acc)
    return functools.reduce(lambda a, v: a * 0.5 + v, reversed(run), acc)


@case(x=normal(3), n=integers(1))
def list_result(x, n):
    changed = list(x)
    changed[int(n)] = x[0] * 5
    return [v * v for v in changed], changed[1]


@case(x=floats([2.5, 1.25, -0.5]), y=floats(0.75))
def constructor_by_data(x, y):
    def area(v):
        if v > 2:
            return v * v * 3.25
        return v * y if v > 0 else 0

    return sum(area(v) for v in x)


@case(x=floats(0.75), y=floats(-1.5))
def nested_patterns(x, y):
    return x * y + x + y * y * x.sin() + 1


@case(second=True, x=floats(0.75), w=floats(1.25))
def sum_of_tree(x, w):
    def fold(v, n):
        if n == 0:
            return v * v * w
        return (fold(v * 0.5, n - 1) + w * fold(v.sin(), n - 1)).tanh() * v

    return fold(x, 3)


@case(e=normal(4, 3), w=normal(3, 6))
def tree_of_tensors(e, w):
    def encode(tree):
        if isinstance(tree, int):
            return e[tree : tree + 1]
        return F.linear(torch.cat((encode(tree[0]), encode(tree[1])), 1), w).tanh()

    return encode(((0, 2), (2, (1, 0))))


@case(x=floats(0.75), y=floats(-1.5), w=floats(0.625))
def rose_tree(x, y, w):
    leaf = y * y
    return x + w * (leaf + (x.sin() + w * leaf))


@case(second=True, x=normal(4, 1, 3), wi=normal(8, 3), wh=normal(8, 2), b=normal(8))
def lstm_over_list(x, wi, wh, b):
    h = c = torch.zeros(1, 2, dtype=torch.float64)
    for v in x:
        i, f, g, o = (F.linear(v, wi) + F.linear(h, wh) + b).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
    return h, c * 2


@case(x=normal(5, 2), w=normal(3, 2), u=normal(3, 3))
def rnn_by_counter(x, w, u):
    h = torch.zeros(1, 3, dtype=torch.float64)
    for v in x:
        h = (F.linear(v[None], w) + F.linear(h, u)).tanh()
    return h


@case(x=normal(3), s=floats(0.75))
def reference_total(x, s):
    middle = (s * x[0] + x[0]) * x[1] + x[1]
    last = x[2] * middle
    return (middle * last + last) * middle


@case(second=True, x=floats(0.75), w=floats(1.25))
def reference_loop(x, w):
    state = x
    for _ in range(5):
        state = state.sin() * w
    return state + x


@case(x=floats(0.75), y=floats(1.25))
def reference_overwritten(x, y):
    return y * 3 * (x * x) + y


@case(x=floats(0.75), y=floats(1.25))
def write_inside_a_block(x, y):
    return x * x * y * 3


@case(x=floats(0.75), y=floats(1.25))
def references_in_a_list(x, y):
    a, b = y.sin(), x * 2
    acc = x + a * 0.5
    for v in (a, b):
        acc = acc * v + acc
    return acc


@case(x=floats(0.875))
def counter_closure(x):
    calls, scale, v = 0, 1, x
    for _ in range(4):
        calls, scale = calls + 1, scale * x
        v = v * scale if calls > 2 else v * v
    return v


@case(second=True, x=normal(2), w=floats(0.75))
def functions_of_any_size(x, w):
    return x * w**3


@case(second=True, x=floats(0.875), n=integers(1))
def operators_as_values(x, n):
    def f(v, k):
        g = v if k > 1 else v * v
        if k > 0:
            return h(f(g, k - 1))
        return h(v) * v.exp()

    def h(v):
        return v.tanh() * F.leaky_relu(-v, 0.25)

    return f(x, n)


@case(second=True, x=floats(0.75))
def reference_to_data(x):
    return (x + x**2 + x**4) * (1 + 2 * x + 4 * x * x)


@case(second=True, x=normal(3), w=normal(3))
def checkpointed_loop(x, w):
    def loop(begin, end, v, total):
        for i in range(begin, end):
            v = (v * w).sin() + v
            total = total + i * v.mean()
        return v, total

    zero = torch.zeros((), dtype=torch.float64)
    return loop(2, 13, x, zero + 1), loop(0, 1, w, zero), (x, zero), (x * w, zero)
