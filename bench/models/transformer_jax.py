from flax import linen as nn


class Block(nn.Module):
    heads: int
    hidden: int

    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(self.heads)(y, y)
        y = nn.LayerNorm()(x)
        y = nn.gelu(nn.Dense(self.hidden)(y))
        return x + nn.Dense(x.shape[-1])(y)


class Encoder(nn.Module):
    layers: int
    heads: int
    hidden: int

    @nn.compact
    def __call__(self, x):
        for _ in range(self.layers):
            x = Block(self.heads, self.hidden)(x)
        return nn.LayerNorm()(x)
