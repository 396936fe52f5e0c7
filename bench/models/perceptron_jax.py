import jax
import jax.numpy as jnp
import optax
from flax import linen as nn


class Mlp(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(128)(x))
        return nn.Dense(10)(x)


model = Mlp()


def loss(p, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(model.apply(p, x), y).mean()


def train(p, x, y, steps, rate=1e-3):
    adam = optax.adam(rate)
    state = adam.init(p)
    for _ in range(steps):
        l, g = jax.value_and_grad(loss)(p, x, y)
        updates, state = adam.update(g, state)
        p = optax.apply_updates(p, updates)
    return p, l
