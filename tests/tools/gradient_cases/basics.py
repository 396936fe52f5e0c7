"""Arithmetic, broadcasting, sharing, reductions, and the choices where functions have kinks."""
import torch
import torch.nn.functional as F

from gradient_cases.cases import case, floats, integers, normal, uniform


@case(x=normal(3, 4), y=normal(4), z=normal(3, 1))
def broadcast_rows(x, y, z):
    return (x + y) * z - y / (z * z + 1)


@case(x=normal(3, 2), s=normal(2), t=normal(3, 1))
def broadcast_named(x, s, t):
    return (x * s + s) * t


@case(x=normal(1, 4), y=normal(3, 1), z=normal())
def broadcast_ones(x, y, z):
    return torch.maximum(x * y, z) + z * y


@case(x=normal(0, 3), y=normal(3))
def empty_extent(x, y):
    return (x * y).sum(), y * 2, y.mean()


@case(second=True, x=normal(2, 3))
def same_twice(x):
    square = x * x
    return torch.cat((x, x)), torch.where(x < 0, square, square), x / x, x @ x.T


@case(x=normal(2), y=normal(2, 2), z=normal())
def unused_parameter(x, y, z):
    return x * 3


@case(x=normal(2), y=normal(2))
def result_is_parameter(x, y):
    return x, (y * y, x), y


@case(x=normal(5, 2), n=integers([4, 0, 4]), y=normal(3, 2), k=integers(3))
def integer_between(x, n, y, k):
    rows = x[n]
    return rows * y if k > 2 else rows + y


@case(second=True, x=uniform(-0.9, 0.9, 6))
def elementwise_smooth(x):
    return (
        x.sin(), x.cos(), x.tan(), x.asin(), x.acos(), x.atan(), x.sinh(), x.cosh(), x.tanh(),
        x.asinh(), x.atanh(), (x + 2).acosh(), x.exp(), x.erf(), x.sigmoid(),
    )


@case(second=True, x=uniform(0.2, 3, 5))
def elementwise_positive(x):
    return x.sqrt(), x.rsqrt(), x.log(), x.log2(), x.log10(), x**x, 1 / x


@case(second=True, x=uniform(0.2, 3, 3, 1), y=normal(4))
def power_of_both(x, y):
    return x**y


@case(second=True, x=floats([0, -1.5, 2, 0, -0.25]))
def power_at_zero(x):
    return x**2, x**3, x**1


@case(x=floats([0, 0, 0, 0]), y=floats([0, 1, 2, 3]))
def powers_of_zero(x, y):
    return x**y


@case(second=True, x=floats([0, -1, 2, 0.5, 0]))
def guarded_root(x):
    ok = x > 0
    filled = torch.where(ok, x, 1)
    return torch.where(ok, filled.sqrt(), 0) + torch.where(ok, filled.log(), x)


@case(x=normal(4), y=floats([0, 2, -1, 0]))
def guarded_division(x, y):
    zero = y == 0
    return torch.where(zero, x, x / torch.where(zero, 1, y))


@case(x=floats(0), y=floats(2.25))
def branch_at_zero(x, y):
    def safe_root(v):
        return v.sqrt() if v > 0 else 0 * v.detach()

    return safe_root(x) + safe_root(y) * 3


@case(x=floats([5.5, -5.5, 5.5, -7.25]), y=floats([2, 2, -2, -3]))
def remainders(x, y):
    return torch.remainder(x, y), torch.fmod(x, y)


@case(x=floats([1, 2, 3, -1]), y=floats([1, 3, 2, -1]))
def ties_between(x, y):
    return torch.maximum(x, y), torch.minimum(x, y) * 3


@case(x=floats([[1, 3, 3, 2], [3, 0, 3, 3]]))
def ties_within(x):
    return x.amax(1), x.amin(0, keepdim=True) * 2, x.amax()


@case(x=floats([-2, -1, -0.5, 0, 1.5, 2, 3]))
def kinks(x):
    return x.relu(), x.abs() * 3, x.clamp(-1, 2), F.leaky_relu(x, 0.125), x.clamp(0, 0)


@case(x=floats([0.3, 1.7, -2.2, 3.9]))
def steps_through_stop(x):
    rounded = x + (x.round() - x).detach()
    return rounded * rounded


@case(second=True, x=normal(2, 3, 4))
def reductions(x):
    return (
        (x * x).sum(1), x.mean((0, 2), keepdim=True) * x, (x * x).mean((0, 2)),
        x.var(-1, unbiased=False), x.var((0, 1), unbiased=False).sqrt(),
    )


@case(second=True, x=normal(3, 5))
def variance_unbiased(x):
    return x.var(1, unbiased=False), x.var()


@case(x=floats([[1.5, 0, 2], [0, 0, 3], [-1, 2, 0.5], [1, 1, -2]]))
def products_with_zeros(x):
    return x.prod(1), x.prod(0, keepdim=True), x.prod()


@case(second=True, x=normal(3, 4))
def logsumexp(x):
    return x.logsumexp(1, keepdim=True)


def exclusive(x, axis, start, run):
    shifted = torch.cat((torch.full_like(x.narrow(axis, 0, 1), start), x.narrow(axis, 0, x.shape[axis] - 1)), axis)
    return run(shifted, axis)


@case(second=True, x=normal(3, 4))
def running(x):
    return (
        x.cumsum(1) * x, exclusive(x, 0, 0, torch.cumsum) * x, x.cumprod(1),
        exclusive(x, 0, 1, torch.cumprod),
    )


@case(x=floats([[2, 0, 3, 1, -1], [1, 2, 0, 0, 5]]))
def running_product_of_zeros(x):
    return x.cumprod(1)


@case(x=floats([1.5, -2.25, 3.75]))
def casts(x):
    narrow = x.float()
    return (narrow * narrow).double(), x.int().double() * x


@case(second=True, x=normal(4))
def activations(x):
    return F.gelu(x), F.softplus(x), F.silu(x), F.mish(x)


@case(x=floats([[[0, -1], [2, 0], [-0.5, 0]], [[1, -2], [0, 0.25], [-3, 4]]]), slope=normal(3))
def prelu_axis(x, slope):
    return F.prelu(x, slope)


@case(second=True, x=uniform(-0.5, 0.5, 2))
def shared_deeply(x):
    a = x + x
    b = a * 0.5 + a * x
    c = b + b
    d = c * b
    e = d + d
    f = e.sin() * e
    g = f + f + d
    return g * g * 0.001


@case(x=normal(2), y=normal(3))
def tuples_of_tuples(x, y):
    return (x * (x * 2)), (y * y).sum()
