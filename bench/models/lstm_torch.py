import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, n, h, k):
        super().__init__()
        self.cell = nn.LSTMCell(n, h)
        self.out = nn.Linear(h, k)

    def forward(self, xs):
        state = None
        for x in xs:
            state = self.cell(x, state)
        return self.out(state[0])
