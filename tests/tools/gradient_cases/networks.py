"""Layers of networks: products, normalisation, convolutions, pools, losses."""
import torch
import torch.nn.functional as F

from gradient_cases.cases import case, floats, integers, normal, uniform


@case(x=normal(3, 4), w=normal(5, 4), b=normal(5), c=normal(3))
def dense_bias(x, w, b, c):
    return F.linear(x, w, b).relu() + c[:, None]


@case(second=True, x=normal(4, 3), w1=normal(6, 3), b1=normal(6), w2=normal(2, 6), b2=normal(2), y=normal(4, 2))
def perceptron_loss(x, w1, b1, w2, b2, y):
    return F.mse_loss(F.linear(F.linear(x, w1, b1).tanh(), w2, b2), y)


@case(second=True, a=normal(3, 4), b=normal(4, 3))
def matmul_transposes(a, b):
    return a @ b, a.T @ a, a @ a.T, a.T @ b.T


@case(a=normal(2, 3, 4), b=normal(1, 5, 4), c=normal(2, 4, 3))
def batch_matmul_broadcast(a, b, c):
    return a @ b.mT, c.mT @ b.mT, a @ c


@case(second=True, q=normal(2, 3, 4), k=normal(2, 5, 4), v=normal(2, 5, 6))
def attention(q, k, v):
    return (q @ k.mT * 0.5).softmax(-1) @ v * 2


@case(x=normal(2, 3, 4), w=normal(2, 3, 4))
def softmax_axes(x, w):
    return x.softmax(0) * w, x.softmax(1) * w, x.softmax(-1) * w


@case(second=True, x=normal(3, 4), w=normal(3, 4))
def log_softmax(x, w):
    return x.log_softmax(-1) * w, x.log_softmax(0) * w


@case(x=normal(3, 4), y=uniform(0.1, 1, 3, 4))
def cross_entropy(x, y):
    loss = F.cross_entropy(x, y)
    return loss, loss


@case(x=normal(4, 3), t=integers([2, 1, 0, 2]), w=uniform(0.2, 2, 3))
def nll_loss(x, t, w):
    p, t = x.log_softmax(-1), t.long()
    mean, total, each = (
        weighted(p, t, w, reduction, ignored)
        for reduction, ignored in (("mean", 1), ("sum", -1), ("none", -1))
    )
    return mean, total, each


def weighted(p, t, w, reduction, ignored):
    """As F.nll_loss, which has no gradient with respect to weights."""
    scale = w[t] * (t != ignored)
    each = -p.gather(1, t[:, None])[:, 0] * scale
    if reduction == "none":
        return each
    return each.sum() / scale.sum() if reduction == "mean" else each.sum()


@case(second=True, x=normal(4, 3), t=integers([2, 1, 0, 2]))
def softmax_cross_entropy(x, t):
    return F.cross_entropy(x, t.long())


@case(x=normal(2, 3, 4), g=normal(3), b=normal(3), m=normal(3), v=uniform(0.3, 2, 3))
def batch_norm(x, g, b, m, v):
    def over_channels(p):
        return p[:, None]

    plain = (x - over_channels(m)) / (over_channels(v) + 0.0009765625).sqrt()
    return (plain * over_channels(g) + over_channels(b)) * x + plain


@case(second=True, x=normal(6, 3), g=normal(3), b=normal(3))
def batch_norm_of_batch(x, g, b):
    return F.batch_norm(x, None, None, g, b, training=True, eps=0.001) ** 3


@case(x=normal(3, 4), g=normal(4), b=normal(4), h=normal(3), w=normal(3, 4))
def layer_norm(x, g, b, h, w):
    last = F.layer_norm(x, (4,), g, b, eps=0.0009765625)
    first = F.layer_norm(x.T, (3,), h, h, eps=0.0009765625).T
    return last * w, first * w


@case(x=normal(2, 4, 3), g=normal(4), b=normal(4), w=normal(2, 4, 3))
def group_and_instance_norm(x, g, b, w):
    return (
        F.group_norm(x, 2, g, b, eps=0.0009765625) * w,
        F.instance_norm(x, weight=g, bias=b, eps=0.0009765625) * w,
    )


@case(x=floats([[0, 0, 0, 0], [1, -2, 0.5, 3], [0.1, 0.2, -0.1, 0], [0, -0.5, 0, 0]]), w=normal(4, 4))
def l2_normalize(x, w):
    return x / (x * x).sum(1, keepdim=True).clamp(min=0.25).sqrt() * w


def padded_conv2d(x, w, padding, **options):
    top, left, bottom, right = padding
    return F.conv2d(F.pad(x, (left, right, top, bottom)), w, **options)


@case(x=normal(1, 2, 6, 7), w=normal(3, 2, 3, 2))
def conv2d_strided(x, w):
    return padded_conv2d(x, w, (1, 0, 2, 1), stride=(2, 1))


@case(x=normal(2, 4, 6, 6), w=normal(6, 2, 2, 3))
def conv2d_grouped(x, w):
    return F.conv2d(x, w, padding=1, dilation=(2, 1), groups=2)


@case(x=normal(1, 3, 6, 5), w=normal(3, 1, 3, 3))
def conv2d_depthwise(x, w):
    return F.conv2d(x, w, stride=2, groups=3)


@case(x=normal(1, 5, 6, 2), w=normal(3, 3, 2, 4), b=normal(4))
def conv2d_nhwc(x, w, b):
    y = F.conv2d(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), padding=1, stride=(1, 2)).permute(0, 2, 3, 1)
    return (y + b).relu() * y


@case(x=normal(1, 2, 8), w=normal(3, 2, 3), y=normal(1, 1, 3, 4, 4), v=normal(2, 1, 2, 2, 2))
def conv1d_and_3d(x, w, y, v):
    return (
        F.conv1d(x, w, stride=2, padding=1, dilation=2),
        F.conv3d(y, v, stride=(1, 2, 1), padding=(0, 1, 0)),
    )


@case(second=True, x=normal(1, 3, 4, 3), w=normal(3, 2, 3, 3))
def conv2d_transposed(x, w):
    return F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1)


@case(x=normal(2, 4, 5), w=normal(4, 3, 2))
def conv_transposed_grouped(x, w):
    return F.conv_transpose1d(x, w, stride=3, groups=2)


@case(x=normal(2, 1, 8, 8), w1=normal(2, 1, 3, 3), w2=normal(3, 2, 3, 3), w3=normal(2, 12), t=integers([1, 0]))
def convolutional_net(x, w1, w2, w3, t):
    a = F.max_pool2d(F.conv2d(x, w1, padding=1).relu(), 2)
    b = F.avg_pool2d(F.conv2d(a, w2, padding=1).tanh(), 2)
    return F.cross_entropy(F.linear(b.flatten(1), w3), t.long(), reduction="sum")


@case(x=normal(1, 2, 6, 6), w=normal(1, 2, 4, 4))
def max_pool2d_ceil(x, w):
    return F.max_pool2d(x, (3, 2), 2, padding=1, ceil_mode=True) * w


@case(x=floats([[[[1, 1, 2, 0], [1, 1, 2, 2], [0, 3, 3, 3], [-1, 0, 0, 3]]]]))
def max_pools_of_ties(x):
    return F.max_pool2d(x, 2), F.max_pool2d(x, 3, 1, 1) * 2, F.adaptive_max_pool2d(x, (1, 2)) * 3


@case(x=normal(1, 2, 6, 5), w=normal(1, 2, 4, 3))
def avg_pool2d_padding(x, w):
    return tuple(
        F.avg_pool2d(x, 3, 2, padding=1, ceil_mode=True, count_include_pad=counts) * w
        for counts in (True, False)
    )


@case(x=normal(2, 3, 7), y=normal(1, 2, 4, 4, 4))
def pools_1d_and_3d(x, y):
    return (
        F.avg_pool1d(x, 3, 2), F.max_pool1d(x, 2, 1), F.max_pool3d(y, 2, 2) * 2,
        F.avg_pool3d(y, (2, 3, 2), (1, 1, 2)),
    )


@case(x=normal(1, 2, 7, 5), w=normal(1, 2, 3, 2))
def adaptive_pools(x, w):
    return (
        F.adaptive_avg_pool2d(x, (3, 2)) * w, F.adaptive_max_pool2d(x, (3, 2)) * w,
        x.mean((2, 3), keepdim=True), x.amax((2, 3), keepdim=True),
    )


@case(x=normal(1, 2, 3, 4), w=normal(1, 2, 6, 12))
def upsampled(x, w):
    return (
        F.interpolate(x, scale_factor=(2, 3), mode="nearest") * w,
        F.interpolate(x, scale_factor=(2, 3), mode="bilinear", align_corners=True) * w,
    )


@case(x=normal(1, 1, 4, 6), w=normal(1, 1, 7, 3))
def resized(x, w):
    return tuple(
        F.interpolate(x, size=(7, 3), mode="bilinear", align_corners=aligns) * w
        for aligns in (False, True)
    )


@case(x=normal(1, 1, 3, 4), v=normal(), w=normal(1, 1, 6, 6))
def padded(x, v, w):
    widths = (2, 0, 1, 2)
    inside = F.pad(torch.ones_like(x), widths)
    return (
        (F.pad(x, widths) + v * (1 - inside)) * w, F.pad(x, widths, mode="replicate") * w,
        F.pad(x, widths, mode="reflect") * w,
    )


@case(x=normal(1, 4, 2, 3), w=normal(1, 1, 4, 6))
def depth_and_space(x, w):
    wide = F.pixel_shuffle(x, 2)
    return wide * w + wide * wide
