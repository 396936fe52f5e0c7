"""How a function in PyTorch becomes a case: its inputs, and the derivatives that programs take.

A case has the name of its program, and its parameters have the names of those of `@main`. Floats are
drawn from a seed of these names and rounded, so that a case keeps its numbers whatever is added
before it.
"""
import zlib

import numpy
import torch

CASES = {}


class Case:
    def __init__(self, function, inputs, second):
        self.function, self.inputs, self.second = function, inputs, second


def case(second=False, **inputs):
    """Makes a case of a function; `second` asks for the gradient of the sum of its gradients."""

    def add(function):
        if function.__name__ in CASES:
            raise ValueError(f"two cases are named {function.__name__}")
        drawn = {
            name: make(numpy.random.default_rng(zlib.crc32(f"{function.__name__}/{name}".encode())))
            for name, make in inputs.items()
        }
        CASES[function.__name__] = Case(function, drawn, second)
        return function

    return add


def normal(*shape):
    """Floats around zero, none of which is near to it."""

    def make(random):
        values = random.normal(size=shape)
        return numpy.asarray(numpy.round(values + 0.05 * numpy.sign(values), 3), dtype="float64")

    return make


def uniform(low, high, *shape):
    return lambda random: numpy.asarray(numpy.round(random.uniform(low, high, size=shape), 3), dtype="float64")


def floats(values):
    return lambda random: numpy.array(values, dtype="float64")


def integers(values, dtype="int32"):
    return lambda random: numpy.array(values, dtype=dtype)


def truths(values):
    return lambda random: numpy.array(values, dtype="bool")


def leaves(value):
    """The tensors in nested tuples and lists."""
    if isinstance(value, torch.Tensor):
        return [value]
    return [leaf for item in value for leaf in leaves(item)]


def traced(value):
    """The same value as a variable of its own, for an inner derivative."""
    return value.clone() if value.requires_grad else value.detach().clone().requires_grad_()


def gradients(total, inputs):
    """Gradients that can be differentiated again; zeros for what has no part in it."""
    if not total.requires_grad:
        return [torch.zeros_like(x) for x in inputs]
    found = torch.autograd.grad(total, inputs, create_graph=True, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(inputs, found)]


def value_and_grad(function, *arguments):
    """The value and the gradients with respect to all arguments, which are tensors."""
    inner = [traced(x) for x in arguments]
    value = function(*inner)
    return value, gradients(value, inner)


def grad(function, *arguments):
    """The gradients with respect to all arguments, or the gradient with respect to the only one."""
    found = value_and_grad(function, *arguments)[1]
    return found[0] if len(found) == 1 else found


def vjp(function, *arguments):
    """The value, and the pull-back from its leaves to all arguments."""
    inner = [traced(x) for x in arguments]
    value = function(*inner)
    outputs = leaves(value)

    def back(*cotangents):
        # Given apart from the values, since they may depend on the arguments.
        given = [torch.as_tensor(d, dtype=y.dtype).expand_as(y) for y, d in zip(outputs, cotangents)]
        found = torch.autograd.grad(outputs, inner, given, create_graph=True, allow_unused=True)
        return [torch.zeros_like(x) if g is None else g for x, g in zip(inner, found)]

    return value, back


def jvp(function, arguments, tangents):
    """The value and its tangent: the derivative of a pull-back, which is linear, by its cotangent."""
    value, back = vjp(function, *arguments)
    cotangent = torch.zeros_like(value).requires_grad_()
    pulled = back(cotangent)
    along = sum((g * t).sum() for g, t in zip(pulled, tangents))
    return value, gradients(along, [cotangent])[0]


def jacobian(function, x):
    inner = traced(x)
    value = function(inner)
    rows = [gradients(element, [inner])[0] for element in value.reshape(-1)]
    return torch.stack(rows).reshape(value.shape + x.shape)
