"""Functions as values: in data types, made in recursions, and with derivatives of their own."""
import torch

from gradient_cases.cases import case, integers, normal


@case(second=True, x=normal(2), w=normal(2), s=normal())
def layers_with_functions(x, w, s):
    def f(a):
        return (a + w).tanh()

    x1 = f(x * w) * s
    return f(x1 * x) * s


@case(second=True, n=integers(3), x=normal(), w=normal())
def closures_of_mutual_recursion(n, x, w):
    def even(n, x, k):
        return k(x) if n == 0 else odd(n - 1, x.sin(), lambda y: k(y) * x)

    def odd(n, x, k):
        return x if n == 0 else even(n - 1, x.cos() * x, lambda y: k(y * y) + x)

    return even(n + 1, x, lambda z: z * w) + odd(n, w, lambda z: z * x)


@case(second=True, x=normal(), w=normal())
def cells_in_a_list(x, w):
    cells = [w, x]

    def bump(y):
        cells[0] = cells[0] * y + y.sin()

    def f(y):
        bump(y)
        return cells[0] * y

    bump(x)
    a = f(x)
    b = f(w)
    cells[1] = a * cells[0]
    return cells[1] + b * cells[0]


@case(second=True, x=normal(), y=normal(), z=normal())
def curried_twice(x, y, z):
    def make(a):
        return lambda b: lambda c: a * b * c.sin() + b

    g = make(x)
    h = g(y)
    k = g(h(z))
    return h(y) + k(x), k(z)


@case(second=True, x=normal(2), y=normal())
def swapped_pairs(x, y):
    a, b = x, x * y
    for _ in range(2):
        b, a = a, b
        a, b = a * b, a + b * y
    return b * a.sum()


@case(second=True, x=normal(), y=normal())
def nested_derivatives(x, y):
    def grad(f):
        def at(t):
            t = t + 0
            return torch.autograd.grad(f(t), t, create_graph=True)[0]

        return at

    def f(a, b):
        return (a * b).sin() * a

    def g(a):
        return grad(lambda b: f(a, b) * y)(a * x)

    slope = grad(g)
    along = slope(x) * y
    first = y * grad(lambda a: f(a, y))(x) * 0 + grad(lambda a: x * f(a, y) + y * (a * y))(x)
    second = grad(lambda b: x * f(x, b) + y * (x * b))(y)
    return slope(y) + first * second + g(x) * along + grad(grad(lambda t: (t * x).exp()))(y) * x


@case(second=True, x=normal(), w=normal())
def tree_of_closures(x, w):
    two = torch.tensor(2.0, dtype=torch.float64)
    tree = ((x,), w, ((x * w,), x, (two,)))

    def pair(a):
        return a * w, lambda b: a * b * x

    def fold(t):
        if len(t) == 1:
            value, f = pair(t[0])
            return f(value)
        left, right = fold(t[0]), fold(t[2])
        value, f = pair(t[1])
        return f(left) + value * right

    return fold(tree)


@case(second=True, x=normal(3), w=normal(3))
def own_and_computed_again(x, w):
    def f(a):
        return (a * w).tanh()

    return f(f(x)) * (w * w), f(x) * f(x), x.detach() * 0


@case(second=True, n=integers(3), x=normal(), w=normal())
def growing_closure(n, x, w):
    def go(i, a, f):
        return f(a) if i == 0 else go(i - 1, a * w, lambda q: f(q + a) * w.sin())

    return go(n, x, lambda q: q * x)


@case(second=True, x=normal(), w=normal())
def cells_of_growing_form(x, w):
    return x * w + x.sin() * w
