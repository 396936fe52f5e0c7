import torch
from torch.nn.functional import mse_loss


def fit(x, y, steps=200, rate=0.1):
    w = torch.zeros(x.shape[1], requires_grad=True)
    b = torch.zeros((), requires_grad=True)
    sgd = torch.optim.SGD([w, b], lr=rate)
    for _ in range(steps):
        sgd.zero_grad()
        mse_loss(x @ w + b, y).backward()
        sgd.step()
    return w, b
