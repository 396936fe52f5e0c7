import torch
from torch import nn
from torch.nn.functional import cross_entropy

model = nn.Sequential(
    nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(784, 10),
)


def train(model, x, y, epochs, batch=32, rate=1e-3):
    adam = torch.optim.Adam(model.parameters(), lr=rate)
    for epoch in range(epochs):
        for xs, ys in zip(x.split(batch), y.split(batch)):
            loss = cross_entropy(model(xs), ys)
            adam.zero_grad()
            loss.backward()
            adam.step()
        print("epoch", epoch, "loss", loss.item())
