import torch
from torch import nn


class TreeLstm(nn.Module):
    def __init__(self, n, h):
        super().__init__()
        self.leaf = nn.Linear(n, 3 * h)
        self.left = nn.Linear(h, 5 * h)
        self.right = nn.Linear(h, 5 * h)

    def forward(self, tree):
        if isinstance(tree, torch.Tensor):
            i, o, u = self.leaf(tree).chunk(3)
            c = i.sigmoid() * u.tanh()
        else:
            (hl, cl), (hr, cr) = self(tree[0]), self(tree[1])
            i, fl, fr, o, u = (self.left(hl) + self.right(hr)).chunk(5)
            c = i.sigmoid() * u.tanh() + fl.sigmoid() * cl + fr.sigmoid() * cr
        return o.sigmoid() * c.tanh(), c
