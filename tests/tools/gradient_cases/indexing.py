"""Elements that are chosen, moved, copied and put together."""
import torch

from gradient_cases.cases import case, floats, integers, normal, truths


@case(second=True, table=normal(5, 3), words=integers([[0, 4, 0, 2], [2, 2, 1, 0]]))
def embedding(table, words):
    rows = table[words]
    return rows * rows


@case(x=normal(3, 4), i=integers([-5, 0, 3, 9, 3]))
def take_modes(x, i):
    return x[:, i.clamp(0, 3)] * 2, x[i % 3], x[:, 1]


@case(x=normal(3, 4), i=integers([[0, 3], [1, 1], [2, 0]]), at=integers([[0, 2, 0], [3, 1, 3]]))
def gathers(x, i, at):
    return x.gather(1, i.long()), x[at[0], at[1]]


@case(x=normal(2, 3, 4), at=integers([[[0, 2, 2], [1, 0, 1]]]))
def gather_batched(x, at):
    return torch.stack([x[b, at[0, b]] for b in range(2)]) * 3


@case(x=normal(4, 3), i=integers([[0, 3, 1], [2, 0, 3]], "int64"), u=normal(2, 3))
def scatter_modes(x, i, u):
    return x.scatter_add(0, i, u) * x, x.scatter(0, i, u) * x


@case(second=True, x=normal(3, 4), at=integers([[0, 2, 0, 1], [3, 1, 3, 0]], "int64"), u=normal(4))
def scatter_nd_sum(x, at, u):
    y = x.index_put((at[0], at[1]), u, accumulate=True)
    return y * y


@case(x=normal(6, 5))
def slices(x):
    return x[1:6:2, 0:4] * 2, x[[5, 3]][:, [4, 1]], x[:, 2:4] * 3


@case(x=normal(4, 4), v=normal(2, 2))
def slice_and_set(x, v):
    y = x.clone()
    y[0:4:2, 1:3] = v
    return y * y, x[:2] * 2, x[:2, :2]


@case(x=normal(2, 3), y=normal(2, 2))
def joined_and_split(x, y):
    joined = torch.cat((x, y, x), 1)
    return joined[:, :1] * joined[:, :1], joined[:, 4:], joined[:, 4:] * 2


@case(second=True, x=normal(2, 3), y=normal(2, 3))
def stacked(x, y):
    s, t = torch.stack((x, y, x * y)), torch.stack((x, y), -1)
    return s * s, t.sum(-1) * x


@case(x=normal(2, 3, 4), w=normal(4, 6))
def rearranged(x, w):
    return x.permute(2, 0, 1).reshape(4, 6) * w, x.flip(2).reshape(4, 6) * w * w, x.reshape(-1)


@case(x=normal(2, 3), w=normal(4, 6))
def repeated(x, w):
    return (
        x.tile(2, 2) * w, x.repeat_interleave(2, 0).repeat_interleave(2, 1) * w,
        x.expand(4, 2, 3), x.sum(0, keepdim=True).expand(5, 3),
    )


@case(x=normal(3, 4), y=normal(4), c=truths([[True], [False], [True]]))
def choices(x, y, c):
    return torch.where(c, x, y) * 2, torch.where(x > y, x * y, y)


@case(x=normal(2, 5), w=normal(2, 3))
def largest_first(x, w):
    top = x.topk(3, 1)
    return top.values * w, (x * x).gather(1, top.indices), x.topk(1, 0, largest=False).values


@case(x=floats([[2, 1, 2, 1], [0, 1, 0, 3], [2, -1, 0, 3]]), w=normal(3, 4))
def in_order(x, w):
    return x.sort(dim=1, stable=True).values * w, x.sort(dim=0, descending=True, stable=True).values * w


@case(keys=normal(5), values=normal(5), w=normal(5))
def sorted_by_keys(keys, values, w):
    return values[keys.argsort()] * w


@case(second=True, a=normal(2, 3), b=normal(3, 4), c=normal(3, 3))
def einsums(a, b, c):
    return (a @ b).T, c.diagonal() * 2, a @ c @ b, torch.einsum("ij,kl->ijkl", a, a)


@case(x=normal(3, 4), d=normal(3))
def triangles(x, d):
    return x.triu() * x, x.tril(-1), x.diagonal_scatter(d) * x


@case(x=normal(4, 3), n=integers([2, 4, 1]))
def sequences(x, n):
    masked = torch.where(torch.arange(4)[:, None] < n, x, 1)
    rows = [[n[j] - 1 - i if i < n[j] else i for i in range(4)] for j in range(3)]
    return masked * x, torch.stack([x[rows[j], j] for j in range(3)], 1) * x


@case(x=normal(3), y=normal(2))
def grids(x, y):
    a, b = torch.meshgrid(x, y, indexing="ij")
    return a * b * b


@case(x=normal(3, 4), i=integers([0, 2, 0, 1], "int64"), j=integers([3, 1, 3, 0], "int64"))
def indexed_by_pairs(x, i, j):
    return x[i, j] * x[i, j]


@case(x=normal(3, 4), y=normal(4))
def argmax_picks(x, y):
    return y[x.argmax(1)], (x * x).sum(1)
