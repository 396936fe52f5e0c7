import jax
import optax
from flax import linen as nn


class Cnn(nn.Module):
    @nn.compact
    def __call__(self, x):
        for channels in (8, 16):
            x = nn.relu(nn.Conv(channels, (3, 3))(x))
            x = nn.max_pool(x, (2, 2), strides=(2, 2))
        return nn.Dense(10)(x.reshape(len(x), -1))


model = Cnn()
adam = optax.adam(1e-3)


def cost(p, x, y):
    return optax.softmax_cross_entropy_with_integer_labels(model.apply(p, x), y).mean()


@jax.jit
def step(p, state, x, y):
    loss, g = jax.value_and_grad(cost)(p, x, y)
    updates, state = adam.update(g, state)
    return optax.apply_updates(p, updates), state, loss


def train(p, x, y, epochs, batch=32):
    state = adam.init(p)
    for epoch in range(epochs):
        for i in range(0, len(x) - batch + 1, batch):
            p, state, loss = step(p, state, x[i : i + batch], y[i : i + batch])
        print("epoch", epoch, "loss", loss)
    return p
