import jax.numpy as jnp
from flax import linen as nn


class Attention(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        b, t, d = x.shape
        e = d // self.heads
        qkv = nn.Dense(3 * d)(x).reshape(b, t, 3, self.heads, e)
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-1, -2) / jnp.sqrt(e)
        mixed = nn.softmax(scores) @ v
        return nn.Dense(d)(mixed.swapaxes(1, 2).reshape(b, t, d))
