"""Records of parameters, constructors as values, and derivatives of functions that a run chooses."""
import torch
import torch.nn.functional as F

from gradient_cases.cases import case, floats, grad, integers, normal, value_and_grad


@case(second=True, w=normal(3, 3), b=normal(3), s=floats(0.75), x=normal(2, 3))
def records_of_weights(w, b, s, x):
    def apply(weight, v):
        return F.linear(v, weight, b).tanh()

    y = apply(w * s, apply(w, x)) * s + b
    return (y * y).sum() * s * s


@case(second=True, w=normal(2, 2), b=normal(2), k=floats(0.625), x=normal(1, 2))
def recurrent_record(w, b, k, x):
    total, h, c = 0, torch.zeros(1, 2, dtype=torch.float64), x
    for v in (x, x * k, x.sin()):
        gate = F.linear(h + v, w, b).sigmoid()
        c = gate * c + (1 - gate) * v
        h = c.tanh()
        total = total + (h.sum() * k) ** 2
    return total + (c * c).sum()


@case(x=floats(0.75), y=floats(-0.5), n=integers(1))
def constructors_as_functions(x, y, n):
    total = y
    for box in (x, x * y):
        total = total * box + (total if n > 0 else total * total)
    return total


@case(second=True, x=floats(0.75), s=floats(1.25))
def slopes_of_a_list(x, s):
    def cube(v):
        return v * v * v

    total, at = 0, x
    for f in (cube, lambda v: (v * s).sin(), lambda v: cube(v) * x):
        total = total + grad(f, at) * f(at)
        at = at * at
    return total


@case(second=True, x=floats(0.75), n=integers(2))
def generic_functions_in_data(x, n):
    return x * x * (x * x) * x.sin()


@case(second=True, x=floats(0.75), rate=floats(0.125))
def descents_of_a_list(x, rate):
    total, at = 0, x
    for f in (lambda v: v * v * v, lambda v: (v * rate).sin()):
        y = at
        for _ in range(3):
            y = y - rate * grad(f, y)
        total = total + y
        at = at * at
    return total


@case(second=True, x=floats(0.75), y=floats(-0.625))
def pull_backs_of_a_list(x, y):
    def total(at, functions):
        if not functions:
            return 0
        f = functions[0]
        value = f(at, 2, y)
        da, db = grad(lambda a, b: f(a, 2, b), at, y)
        slope = grad(lambda b: f(at, 3, b), y)
        return (value * db) * (value * da) + slope + total(at * at, functions[1:])

    return total(x, [lambda a, n, b: a * b.sin() * n, lambda a, n, b: a * a * b * b * x])


@case(second=True, x=floats(0.75), s=floats(-0.625))
def slopes_of_kinds(x, s):
    total = 0
    for f in (lambda v: v * v, lambda v: (v * s).exp(), lambda v: v.tanh()):
        value, slope = value_and_grad(f, x)
        total = total + value * slope[0]
    return total


@case(second=True, x=floats(0.75), s=floats(1.5))
def slope_in_a_reference(x, s):
    return 2 * x, x.cos() * s, torch.tensor(1, dtype=torch.int32)


@case(x=floats(0.75), s=floats(1.5))
def slope_of_changing_closures(x, s):
    def changed(f):
        return lambda u, v: f(v, u) * u

    def last(u, v):
        return changed(changed(changed(lambda a, b: a.sin() * b * s)))(u, v)

    du, dv = grad(last, x, torch.tensor(0.5, dtype=torch.float64))
    return dv + du * du


@case(second=True, x=floats(0.75), s=floats(-0.625))
def grad_of_slopes(x, s):
    def total(v, t):
        return (grad(lambda u: u * u * u * t, v) + grad(lambda u: (u * t).sin(), v)) * t

    return grad(total, x, s)
