import jax.numpy as jnp
from flax import linen as nn
from jax.nn import sigmoid, tanh


class TreeLstm(nn.Module):
    hidden: int

    def setup(self):
        self.leaf = nn.Dense(3 * self.hidden)
        self.left = nn.Dense(5 * self.hidden)
        self.right = nn.Dense(5 * self.hidden)

    def __call__(self, tree):
        if isinstance(tree, tuple):
            (hl, cl), (hr, cr) = self(tree[0]), self(tree[1])
            i, fl, fr, o, u = jnp.split(self.left(hl) + self.right(hr), 5)
            c = sigmoid(i) * tanh(u) + sigmoid(fl) * cl + sigmoid(fr) * cr
        else:
            i, o, u = jnp.split(self.leaf(tree), 3)
            c = sigmoid(i) * tanh(u)
        return sigmoid(o) * tanh(c), c
