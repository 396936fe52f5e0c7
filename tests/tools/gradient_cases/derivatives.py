"""Programs that take derivatives, and second derivatives."""
import torch
import torch.nn.functional as F

from gradient_cases.cases import (
    case, floats, grad, jacobian, jvp, normal, uniform, value_and_grad, vjp,
)


@case(x=normal(3))
def grad_of_global(x):
    return grad(lambda v: (v * v * v).sum(), x) * x


@case(x=floats(0.75), y=normal(2))
def grad_chosen(x, y):
    dx, dy = grad(lambda a, b: (b * b).sum() * a * a, x, y)
    return dx, dy, dy * dx, torch.ones_like(x)


@case(w=normal(2, 3), x=normal(4, 3))
def value_and_grad_step(w, x):
    def loss(v):
        return (F.linear(x, v).tanh() * 0.5).mean()

    value, found = value_and_grad(loss, w)
    return loss(w - found[0] * 0.5) + value


@case(w=normal(2), rate=floats(0.125), x=normal(3, 2), y=normal(3))
def descent_loop(w, rate, x, y):
    def loss(v):
        return F.mse_loss(x @ v, y)

    for _ in range(5):
        w = w - grad(loss, w) * rate
    return loss(w)


@case(x=normal(3), y=floats(0.75), d=normal(3))
def vjp_weighted(x, y, d):
    value, back = vjp(lambda a, b: (a * a * b, b.sin()), x, y)
    a = back(d, 2)
    b = back(value[0], y)
    return a[0] * b[0], a[1] + b[1] * b[1]


@case(x=normal(3), y=floats(0.75), dx=normal(3), dy=floats(-0.5))
def jvp_along(x, y, dx, dy):
    value, tangent = jvp(lambda a, b: a.exp() * b + a / b, (x, y), (dx, dy))
    return value * tangent


@case(x=floats(0.75), d=floats(-0.5))
def jvp_of_recursion(x, d):
    def f(v, n):
        return v if n == 0 else f(v * v, n - 1).sin() + v

    return jvp(lambda v: f(v, 3), (x,), (d,))


@case(w=normal(2, 3), v=normal(2, 3), x=normal(4, 3))
def hvp_of_network(w, v, x):
    def slope(u):
        return grad(lambda t: (F.linear(x, t).tanh() * F.linear(x, t)).sum(), u)

    return jvp(slope, (w,), (v,))[1]


@case(x=normal(2, 3), y=normal(3))
def jacobians(x, y):
    by_x = jacobian(lambda a: (a * a * y).sum(0), x)
    by_y = jacobian(lambda b: (x * x * b).sum(0), y)
    return by_x, by_x.sum() * (by_y * by_y).sum()


@case(x=normal(3))
def hessian_of_vector(x):
    def f(v):
        return v.prod() + v.exp().sum() * v.sum()

    return jacobian(lambda v: grad(f, v), x)


@case(x=floats(0.75))
def third_order(x):
    def slope(f):
        return lambda v: grad(f, v)

    return slope(slope(slope(lambda v: v.sin() * v.exp())))(x)


@case(x=floats(0.75))
def perturbations(x):
    return grad(lambda a: a * grad(lambda b: a * b * b, x), x * 2)


@case(second=True, x=floats(0.75), y=floats(-1.25))
def grad_inside_closure(x, y):
    def g(v):
        return grad(lambda z: (z * x).sin() * y, v)

    return g(y) * g(x)


@case(x=normal(2), y=floats(0.75))
def grad_over_pair(x, y):
    dx, dy = grad(lambda a, b: (a * a).sum() * b, x, y)
    return dx, dy * y


@case(x=normal(3), s=floats(0.75))
def grad_over_list(x, s):
    def f(v):
        return ((v[0] + s) * v[1] + s) * v[2] + s

    found = grad(f, x)
    return (found * found).sum()


@case(x=normal(3))
def grad_of_map(x):
    return grad(lambda v: (v.sin() * v).sum(), x).unbind()


@case(second=True, x=floats(0.75), y=floats(-1.25))
def stop_inside(x, y):
    return (x * y).detach() * x * x + y.detach() * y.sin()


@case(second=True, x=floats([-2, -1, -0.5, 0, 0.75, 1]))
def second_of_kinks(x):
    return x.relu() * x + x.abs() * x * x + x.clamp(-1, 1) * x


@case(second=True, x=normal(1, 1, 4, 4))
def second_of_pooling(x):
    y = F.max_pool2d(x * x, 2)
    return y * y


@case(second=True, x=normal(2, 3), w=normal(2, 3))
def second_of_softmax(x, w):
    return x.softmax(-1) * w, x.log_softmax(-1) * w


@case(second=True, x=uniform(0.3, 2, 3))
def second_of_exp(x):
    return x.exp() * x.sin() + x.sqrt() * x.log() + x.tanh() / x + x**3


@case(second=True, x=normal(1, 2, 4, 4), w=normal(2, 2, 3, 3))
def second_of_convolution(x, w):
    return F.conv2d(x, w, stride=(2, 1), padding=(1, 0)).tanh()


@case(second=True, x=floats(0.75), y=floats(-1.25))
def second_of_branches(x, y):
    def f(v, n):
        if n == 0:
            return v * v
        return f(v.sin(), n - 1) * v if v > 0 else f(v + 1, n - 1)

    return f(x, 3) * f(y, 2)


@case(second=True, x=normal(3), s=floats(0.75))
def second_of_fold(x, s):
    acc = s
    for v in x:
        acc = (acc * s).sin() + v * v * acc
    return acc


@case(second=True, x=floats(0.75), y=floats(-1.25))
def second_of_references(x, y):
    return ((x * y * x).sin() + y * y * y) * x


@case(second=True, a=normal(2, 3), b=normal(3, 2))
def second_of_matmul(a, b):
    p = a @ b
    return p @ p, (p * p * p).mean(), a.var(1, unbiased=False)


@case(second=True, x=normal(3), w=normal(3))
def checkpointed(x, w):
    def layer(v, u):
        return (v * u).tanh() + v

    return layer(layer(layer(x, w), w), w * w)


@case(x=floats(0.75), w=floats(0.5))
def checkpointed_recursion(x, w):
    for _ in range(12):
        x = x.sin() * w + x
    return x


class Bounded(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x.clone()

    @staticmethod
    def backward(_, cotangent):
        return cotangent.clamp(-1, 1)


@case(second=True, x=normal(3), y=floats([0.25, -1.5, 0.375]))
def custom_clipped(x, y):
    return Bounded.apply(x * y) * y * 2


@case(x=floats(0.875), s=floats(4.5))
def custom_straight_through(x, s):
    square = x * x
    rounded = (square * s).round() / s
    y = square + (rounded - square).detach()
    return y * y * s


@case(x=floats([1.125]), dx=floats([-0.75]))
def jvp_of_scatter(x, dx):
    row = torch.tensor([[0.0], [1.0]], dtype=torch.float64)
    return row * (x * x).expand(3), row * (2 * x * dx).expand(3)


@case(second=True, x=floats(0.875), dx=floats(-0.625))
def generic_inside(x, dx):
    return x**4, 4 * x**3 * dx


@case(second=True, x=floats(3))
def named_derivatives(x):
    return 3 * x * x + x * x + 2 * x


@case(second=True, x=floats(0.75), d=floats(-0.5))
def stop_in_forward_mode(x, d):
    def f(v):
        return v.sin() * (v * v).detach() + v * v * v + v.detach() * v.detach() * v

    def slope(v):
        return grad(f, v)

    second = grad(slope, x)
    return jvp(f, (x,), (d,)), jvp(slope, (x,), (d,))[1], second, slope(x), slope(x)


@case(second=True, x=floats(0.75), rate=floats(0.125))
def generic_minimum(x, rate):
    def f(p, a):
        return p * p * a + (a * x).sin()

    p, a = x, x * x
    for _ in range(2):
        dp, da = grad(f, p, a)
        p, a = p - rate * dp, a - rate * da
    single = x
    for _ in range(3):
        single = single - rate * grad(lambda v: v * v * v * x, single)
    return p, a, single, x * 2 * rate, x.cos() * rate


class Thrice(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        context.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(context, cotangent):
        return cotangent * 3 * context.saved_tensors[0]


class Through(torch.autograd.Function):
    @staticmethod
    def forward(_, x):
        return x.round()

    @staticmethod
    def backward(_, cotangent):
        return cotangent.clone()


@case(second=True, x=floats(0.875), y=floats(-2.5))
def custom_again(x, y):
    return (
        Thrice.apply(x) * y,
        Through.apply(x * y) * x,
        grad(lambda v: Thrice.apply(v) * v, x),
    )


class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(context, x, s):
        context.save_for_backward(x, s)
        return x * s

    @staticmethod
    def backward(context, cotangent):
        x, s = context.saved_tensors
        return 2 * s * cotangent, (x * x * cotangent).sum()


@case(second=True, x=normal(3), s=floats(0.75), dx=normal(3), ds=floats(-0.5))
def custom_forward(x, s, dx, ds):
    once = Scaled.apply(x, s) * x
    value, tangent = jvp(lambda v, t: Scaled.apply(v * t, t).sin(), (x, s), (dx, ds))
    return once, once, (value, tangent), (value, tangent)


class Root(torch.autograd.Function):
    @staticmethod
    def forward(context, a):
        context.save_for_backward(a)
        return a.sqrt()

    @staticmethod
    def backward(context, cotangent):
        return 0.5 * cotangent / Root.apply(context.saved_tensors[0])


@case(second=True, x=floats(0.875), y=floats(1.25))
def custom_solve(x, y):
    return Root.apply(x * x + 1) * y


class Handed(torch.autograd.Function):
    @staticmethod
    def forward(context, x, value, slope):
        context.save_for_backward(slope)
        return value.clone()

    @staticmethod
    def backward(context, cotangent):
        return cotangent * context.saved_tensors[0], None, None


@case(second=True, x=floats(0.875), y=floats(-1.25))
def custom_handed_on(x, y):
    def with_slope(v, value, slope):
        return Handed.apply(v, value.detach(), slope)

    a = y.detach()
    v = with_slope(x, x * a, a * x)
    v = with_slope(v, v.sin(), y)
    v = with_slope(v, v * a, a * v)
    return v * y


@case(second=True, m=normal(2, 3), x=normal(3), d=normal(2), e=normal(3))
def transposes(m, x, d, e):
    def steps(v):
        return v * e + v * e * e + v * e * e * e

    return (d @ m, steps(e), x * e + x.sum(), m @ e)
