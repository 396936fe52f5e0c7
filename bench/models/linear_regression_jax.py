import jax
import jax.numpy as jnp


def loss(p, x, y):
    w, b = p
    return jnp.mean((x @ w + b - y) ** 2)


def fit(x, y, steps=200, rate=0.1):
    p = (jnp.zeros(x.shape[1]), 0.0)
    for _ in range(steps):
        g = jax.grad(loss)(p, x, y)
        p = jax.tree.map(lambda p, g: p - rate * g, p, g)
    return p
