from torch import nn


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        b, t, d = x.shape
        e = d // self.heads
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, e).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / e**0.5
        mixed = scores.softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(b, t, d))
