"""Sizes that are computed, samples of pictures, and programs that learn while they run."""
import torch
import torch.nn.functional as F

from gradient_cases.cases import case, floats, grad, integers, jacobian, jvp, normal, uniform, vjp


@case(x=normal(4, 3), y=normal(2, 3), w=normal(3))
def unknown_sizes(x, y, w):
    p = x @ y.T
    return p * p, x * w, y.sum(0)


@case(x=normal(2, 6), like=normal(3, 4))
def sizes_computed(x, like):
    return x.reshape(3, 4) * like, x.sum() * like, 2 * like, x


@case(x=normal(1, 4, 2, 2), w=normal(1, 4, 3, 5))
def normalised_locally(x, w):
    spread = torch.ones_like(w)
    spread[:, :, ::2, ::4] = x
    return F.local_response_norm(x, 3, alpha=0.5, beta=0.75, k=2) * x, spread * w


@case(x=normal(1, 2, 4, 5), grid=uniform(-1.2, 1.2, 1, 2, 3, 3))
def sampled_by_grid(x, grid):
    at = grid.permute(0, 2, 3, 1)
    return (
        F.grid_sample(x, at, align_corners=True) * 2,
        F.grid_sample(x, at, padding_mode="border", align_corners=False),
    )


@case(x=normal(2, 3))
def dropout_at_inference(x):
    return x * x


@case(second=True, x=floats(0.75), y=floats(1.5))
def shown_on_the_way(x, y):
    return x * y * (x * y).sin()


@case(x=floats(0.75), s=floats(0.875))
def long_list(x, s):
    acc = 0
    for n in range(200, 0, -1):
        acc = acc * s + (x * n).sin()
    return acc


@case(x=normal(2), y=normal(2))
def results_in_data(x, y):
    return x * y, torch.tensor(3, dtype=torch.int32), y, x * x


@case(second=True, x=normal(1, 2), w=normal(2, 2), s=floats(0.75))
def functions_in_data(x, w, s):
    hidden = (x @ w.T).tanh() * s
    return x + hidden + hidden @ w.T


@case(x=floats(0.75), w=floats(0.625))
def numerals(x, w):
    for _ in range(4):
        x = x.sin() * w + x
    return x


@case(w=normal(2), t=normal(2), rates=floats([0.25, 0.125, 0.0625]), keep=floats(0.75))
def momentum(w, t, rates, keep):
    def loss(u):
        return ((u - t) ** 2).sum() + u.prod()

    speed = torch.zeros_like(w)
    for rate in rates:
        speed = speed * keep - grad(loss, w) * rate
        w = w + speed
    return loss(w)


@case(w=normal(3), s=floats(0.75))
def adapted_to_tasks(w, s):
    total = 0
    for x, y in ((1.0, 0.5), (-0.75, 2.0)):

        def loss(u, v):
            return ((u * x).tanh().sum() * v - y) ** 2

        du, dv = grad(loss, w, s)
        total = total + loss(w - du * 0.125, s - dv * 0.125)
    return total


@case(x=normal(2), y=normal(3))
def grad_at_two_sizes(x, y):
    def norm(v):
        return ((v * v).sum() + 1).sqrt()

    return grad(norm, x), grad(lambda v: (grad(norm, v) * y).sum(), y)


@case(x=normal(2), d=normal(2))
def jacobian_of_recursion(x, d):
    def f(v):
        for _ in range(2):
            v = v.flip(0).sin() * v + v
        return v

    value, tangent = jvp(lambda v: grad(lambda u: f(u).sum(), v), (x,), (d,))
    return jacobian(f, x), value, tangent


@case(x=normal(3), s=floats(0.75))
def vjp_of_list(x, s):
    def products(v, t):
        return v.cumprod(0) * t

    value, back = vjp(products, x, s)
    dx, ds = back(value)
    return (dx * dx).sum(), ds


@case(x=floats(0.75))
def grad_through_reference(x):
    def f(v):
        return (v * v).sin() + v

    return grad(f, x) * f(x)


@case(x=floats(0.75), s=floats(0.625), n=integers(1))
def derivative_passed_on(x, s, n):
    def f(v):
        return v.sin() * v

    def slope(v):
        return grad(f, v)

    def curvature(v):
        return grad(slope, v)

    return slope(curvature(x) if n > 0 else slope(x)) * s
