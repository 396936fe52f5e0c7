import jax
from flax import linen as nn


class Classifier(nn.Module):
    hidden: int
    classes: int

    @nn.compact
    def __call__(self, xs):
        cell = nn.LSTMCell(self.hidden)
        state = cell.initialize_carry(jax.random.key(0), xs[0].shape)
        for x in xs:
            state, _ = cell(state, x)
        return nn.Dense(self.classes)(state[1])
