"""The cases of errors_compared.py: each mistake of tests/golden/shapes in PyTorch and in JAX.

The expressions use `torch`, `F` (torch.nn.functional), `jax`, `jnp` and `lax`, and say the same
mistake with the same shapes; None where the library does not know the notion.
"""
from typing import NamedTuple

OPENING = """# The same mistake, three messages

Common mistakes of people who write models, each as a small program for Baton and as a line of
{versions}. Of {count} mistakes, PyTorch lets {torch_passes} pass without a word, JAX {jax_passes},
and Baton none, one of them thanks to a type that is written down. Some of that is meant: both
libraries convert element types by themselves, where Relay, and so Baton, wants a `cast`, and
PyTorch takes one picture as it is. To repeat it:

```sh
python3 -m venv peers && peers/bin/pip install numpy torch jax
peers/bin/python tests/tools/errors_compared.py
```

The script evaluates the expressions below and takes Baton's messages from the golden texts, which
`tests/tools/golden_test.py` compares with what Baton says. Without the two libraries it keeps what
they said before. Their messages are cut after 12 lines and come without the traceback, which shows
the line; they come when that line runs or is traced, those of Baton before anything runs.
"""


class Case(NamedTuple):
    name: str
    title: str
    text: str
    torch: str | None
    jax: str | None


CASES = [
    Case(
        "matmul_inner",
        "Matrices whose inner dimensions differ",
        "Queries times keys, where the keys must be transposed.",
        "torch.zeros(128, 32) @ torch.zeros(128, 32)",
        "jnp.zeros((128, 32)) @ jnp.zeros((128, 32))",
    ),
    Case(
        "dense_transposed_weight",
        "A weight stored the other way round",
        "JAX has no dense layer of its own; users write the product.",
        "F.linear(torch.zeros(32, 784), torch.zeros(784, 128))",
        "jnp.zeros((32, 784)) @ jnp.zeros((784, 128)).T",
    ),
    Case(
        "dense_units",
        "A number of units that the weight does not have",
        "Neither library repeats the number of units at the call; there, the next layer fails.",
        "F.linear(F.linear(torch.zeros(16, 128), torch.zeros(128, 128)), torch.zeros(10, 256))",
        "jnp.zeros((16, 128)) @ jnp.zeros((128, 128)) @ jnp.zeros((256, 10))",
    ),
    Case(
        "dense_swapped_arguments",
        "Weight and data swapped",
        "Both libraries go on with a result of the wrong shape.",
        "F.linear(torch.zeros(10, 784), torch.zeros(32, 784))",
        "jnp.zeros((10, 784)) @ jnp.zeros((32, 784)).T",
    ),
    Case(
        "missing_flatten",
        "Feature maps that are not flattened",
        "A dense layer behind a pooling.",
        "F.linear(torch.zeros(1, 16, 16, 16), torch.zeros(10, 4096))",
        "jnp.zeros((1, 16, 16, 16)) @ jnp.zeros((4096, 10))",
    ),
    Case(
        "bias_length",
        "A bias of the wrong length",
        "It was made for the features that come in.",
        "F.linear(torch.zeros(32, 784), torch.zeros(128, 784), torch.zeros(784))",
        "jnp.zeros((32, 128)) + jnp.zeros(784)",
    ),
    Case(
        "conv_missing_batch",
        "A picture without a batch axis",
        "PyTorch takes it as a batch of its own accord.",
        "F.conv2d(torch.zeros(3, 224, 224), torch.zeros(64, 3, 7, 7), stride=2, padding=3)",
        "lax.conv(jnp.zeros((3, 224, 224)), jnp.zeros((64, 3, 7, 7)), (2, 2), 'SAME')",
    ),
    Case(
        "conv_data_nhwc",
        "Channels-last data in a channels-first convolution",
        "PyTorch has no other layout than NCHW.",
        "F.conv2d(torch.zeros(8, 224, 224, 3), torch.zeros(64, 3, 7, 7), stride=2, padding=3)",
        "lax.conv(jnp.zeros((8, 224, 224, 3)), jnp.zeros((64, 3, 7, 7)), (2, 2), 'SAME')",
    ),
    Case(
        "conv_data_nchw",
        "Channels-first data in a channels-last convolution",
        "The converse. PyTorch has no such convolution.",
        None,
        "lax.conv_general_dilated(jnp.zeros((8, 3, 32, 32)), jnp.zeros((3, 3, 3, 16)), (1, 1), "
        "'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))",
    ),
    Case(
        "conv_kernel_layout",
        "A kernel stored as height, width, in, out",
        "As TensorFlow stores it.",
        "F.conv2d(torch.zeros(1, 3, 64, 64), torch.zeros(5, 5, 3, 32), padding=2)",
        "lax.conv(jnp.zeros((1, 3, 64, 64)), jnp.zeros((5, 5, 3, 32)), (1, 1), 'SAME')",
    ),
    Case(
        "conv_in_channels",
        "A convolution that expects other channels",
        "The layer before was widened.",
        "F.conv2d(torch.zeros(1, 64, 64, 64), torch.zeros(64, 32, 3, 3), padding=1)",
        "lax.conv(jnp.zeros((1, 64, 64, 64)), jnp.zeros((64, 32, 3, 3)), (1, 1), 'SAME')",
    ),
    Case(
        "conv_groups",
        "Groups that do not divide the channels",
        "A depthwise convolution whose number of groups was forgotten.",
        "F.conv2d(torch.zeros(1, 96, 56, 56), torch.zeros(96, 1, 3, 3), padding=1, groups=64)",
        "lax.conv_general_dilated(jnp.zeros((1, 96, 56, 56)), jnp.zeros((96, 1, 3, 3)), (1, 1), "
        "'SAME', feature_group_count=64)",
    ),
    Case(
        "conv_kernel_too_large",
        "A kernel larger than the picture",
        "One pooling too many.",
        "F.conv2d(torch.zeros(1, 6, 4, 4), torch.zeros(16, 6, 5, 5))",
        "lax.conv(jnp.zeros((1, 6, 4, 4)), jnp.zeros((16, 6, 5, 5)), (1, 1), 'VALID')",
    ),
    Case(
        "residual_unpadded",
        "A residual sum after a convolution without padding",
        "The branch has lost a pixel on each side.",
        "torch.zeros(1, 64, 54, 54) + torch.zeros(1, 64, 56, 56)",
        "jnp.zeros((1, 64, 54, 54)) + jnp.zeros((1, 64, 56, 56))",
    ),
    Case(
        "batch_norm_axis",
        "Batch normalisation along the wrong axis",
        "Channels-last data; JAX has no batch normalisation, so users write the product.",
        "F.batch_norm(torch.zeros(8, 28, 28, 64), torch.zeros(64), torch.ones(64), "
        "torch.ones(64), torch.zeros(64))",
        "jnp.zeros((8, 28, 28, 64)) * jnp.zeros(64)[:, None, None]",
    ),
    Case(
        "layer_norm_gamma",
        "A scale as long as the sequence",
        "Layer normalisation runs over the features.",
        "F.layer_norm(torch.zeros(2, 128, 512), (512,), torch.zeros(128), torch.zeros(512))",
        "jnp.zeros((2, 128, 512)) * jnp.zeros(128)",
    ),
    Case(
        "pool_rank",
        "Pooling without a batch axis",
        "PyTorch takes it as a batch of its own accord.",
        "F.max_pool2d(torch.zeros(64, 28, 28), 2)",
        "lax.reduce_window(jnp.zeros((64, 28, 28)), -jnp.inf, lax.max, (1, 1, 2, 2), "
        "(1, 1, 2, 2), 'VALID')",
    ),
    Case(
        "broadcast_column",
        "Scores (32, 1) less targets (32)",
        "The classic that trains badly: in all three the difference is a matrix of 32 x 32. Baton "
        "finds it only because the result has a type that was written down.",
        "torch.zeros(32, 1) - torch.zeros(32)",
        "jnp.zeros((32, 1)) - jnp.zeros(32)",
    ),
    Case(
        "broadcast_rows",
        "A number for each row meets columns",
        "A maximum without `keepdims`.",
        "torch.zeros(32, 10) - torch.zeros(32, 10).amax(1)",
        "jnp.zeros((32, 10)) - jnp.zeros((32, 10)).max(1)",
    ),
    Case(
        "broadcast_mask",
        "A mask of another length",
        "It was made for the longest sequence.",
        "torch.zeros(2, 8, 100, 100) + torch.zeros(1, 1, 128, 128)",
        "jnp.zeros((2, 8, 100, 100)) + jnp.zeros((1, 1, 128, 128))",
    ),
    Case(
        "reduce_axis",
        "A reduction axis off by one",
        "Axes counted from 1.",
        "torch.zeros(2, 128, 512).mean(3)",
        "jnp.zeros((2, 128, 512)).mean(3)",
    ),
    Case(
        "softmax_axis",
        "A softmax along an axis that is gone",
        "The axis of time was averaged away before.",
        "F.softmax(torch.zeros(4, 10), 2)",
        "jax.nn.softmax(jnp.zeros((4, 10)), 2)",
    ),
    Case(
        "reshape_count",
        "A reshape to another count",
        "Numbers of an older size of picture.",
        "torch.zeros(64, 1, 32, 32).reshape(64, 784)",
        "jnp.zeros((64, 1, 32, 32)).reshape(64, 784)",
    ),
    Case(
        "reshape_remainder",
        "A reshape whose -1 does not come out",
        "The batch would silently be mixed with the features if it did.",
        "torch.zeros(1, 16, 6, 6).reshape(-1, 400)",
        "jnp.zeros((1, 16, 6, 6)).reshape(-1, 400)",
    ),
    Case(
        "attention_heads",
        "Heads that do not divide the model",
        "512 features in 12 heads.",
        "torch.zeros(2, 128, 512).reshape(2, 128, 12, -1)",
        "jnp.zeros((2, 128, 512)).reshape(2, 128, 12, -1)",
    ),
    Case(
        "concatenate_axis",
        "Concatenation along the wrong axis",
        "A skip connection joined along the batch.",
        "torch.cat((torch.zeros(1, 64, 56, 56), torch.zeros(1, 32, 56, 56)), 0)",
        "jnp.concatenate((jnp.zeros((1, 64, 56, 56)), jnp.zeros((1, 32, 56, 56))), 0)",
    ),
    Case(
        "concatenate_odd_size",
        "A skip connection of odd size",
        "57 halved and doubled is 56.",
        "torch.cat((torch.zeros(1, 32, 56, 56), torch.zeros(1, 32, 57, 57)), 1)",
        "jnp.concatenate((jnp.zeros((1, 32, 56, 56)), jnp.zeros((1, 32, 57, 57))), 1)",
    ),
    Case(
        "concatenate_rank",
        "Concatenation of different numbers of dimensions",
        "A class token without the axis of positions.",
        "torch.cat((torch.zeros(8, 768), torch.zeros(8, 196, 768)), 1)",
        "jnp.concatenate((jnp.zeros((8, 768)), jnp.zeros((8, 196, 768))), 1)",
    ),
    Case(
        "stack_shapes",
        "A stack of unequal shapes",
        "Feature maps of two stages.",
        "torch.stack((torch.zeros(1, 256, 14, 14), torch.zeros(1, 256, 28, 28)))",
        "jnp.stack((jnp.zeros((1, 256, 14, 14)), jnp.zeros((1, 256, 28, 28))))",
    ),
    Case(
        "transpose_length",
        "A transpose with an axis too few",
        "The batch was forgotten.",
        "torch.zeros(2, 128, 8, 64).permute(1, 0, 2)",
        "jnp.zeros((2, 128, 8, 64)).transpose(1, 0, 2)",
    ),
    Case(
        "transpose_repeated",
        "A transpose with an axis twice",
        "A slip of the pen.",
        "torch.zeros(8, 3, 224, 224).permute(0, 2, 2, 1)",
        "jnp.zeros((8, 3, 224, 224)).transpose(0, 2, 2, 1)",
    ),
    Case(
        "take_float_indices",
        "Words that are floats",
        "An embedding looked up with numbers from a file of floats.",
        "F.embedding(torch.zeros(4, 16), torch.zeros(30000, 300))",
        "jnp.take(jnp.zeros((30000, 300)), jnp.zeros((4, 16)), axis=0)",
    ),
    Case(
        "gather_rank",
        "Labels as a vector in a gather",
        "Indices need as many dimensions as the data.",
        "torch.gather(torch.zeros(32, 10), 1, torch.zeros(32, dtype=torch.int64))",
        "jnp.take_along_axis(jnp.zeros((32, 10)), jnp.zeros(32, dtype=int), 1)",
    ),
    Case(
        "cross_entropy_labels",
        "Class numbers where rows are expected",
        "PyTorch takes both; JAX has no cross entropy, so users write the product.",
        "F.cross_entropy(torch.zeros(32, 10), torch.zeros(32, dtype=torch.int64))",
        "-(jnp.zeros(32, dtype=int) * jax.nn.log_softmax(jnp.zeros((32, 10)))).mean()",
    ),
    Case(
        "batch_matmul_transposed",
        "A batch of products with the second operand as it is",
        "`transpose_b` is true by default in Relay's Python interface, and false in its text.",
        "torch.bmm(torch.zeros(16, 128, 64), torch.zeros(16, 128, 64))",
        "jnp.zeros((16, 128, 64)) @ jnp.zeros((16, 128, 64))",
    ),
    Case(
        "batch_matmul_batch",
        "Batches of different size",
        "The heads are part of the batch on one side only.",
        "torch.bmm(torch.zeros(16, 128, 64), torch.zeros(2, 64, 128))",
        "jnp.zeros((16, 128, 64)) @ jnp.zeros((2, 64, 128))",
    ),
    Case(
        "split_remainder",
        "A split that does not come out",
        "PyTorch makes a smaller last part.",
        "torch.chunk(torch.zeros(1, 64, 28, 28), 3, 1)",
        "jnp.split(jnp.zeros((1, 64, 28, 28)), 3, 1)",
    ),
    Case(
        "lstm_gates",
        "Three gates of a recurrent cell where four are taken",
        "PyTorch makes three parts of 38 and one of 36, and fails lines later.",
        "torch.chunk(torch.zeros(1, 150), 4, 1)",
        "jnp.split(jnp.zeros((1, 150)), 4, 1)",
    ),
    Case(
        "squeeze_axis",
        "Dropping an axis that is not 1",
        "PyTorch leaves such an axis as it is without a word.",
        "torch.zeros(8, 512, 1, 1).squeeze((1, 2))",
        "jnp.zeros((8, 512, 1, 1)).squeeze((1, 2))",
    ),
    Case(
        "one_tuple_operand",
        "Parentheses that make no tuple",
        "`(x)` is `x`; a tuple of one is `(x,)`.",
        "torch.cat((torch.zeros(8, 64)), 1)",
        "jnp.concatenate((jnp.zeros((8, 64))), 1)",
    ),
    Case(
        "pad_pairs",
        "Padding for some of the dimensions",
        "PyTorch counts from the last dimension and takes any number of pairs.",
        "F.pad(torch.zeros(1, 3, 32, 32), (2, 2, 2, 2))",
        "jnp.pad(jnp.zeros((1, 3, 32, 32)), ((2, 2), (2, 2)))",
    ),
    Case(
        "dtype_mismatch",
        "Bytes divided by a float",
        "Both libraries convert.",
        "torch.zeros(1, 3, 224, 224, dtype=torch.uint8) / 255.0",
        "jnp.zeros((1, 3, 224, 224), dtype='uint8') / 255.0",
    ),
    Case(
        "dtype_labels",
        "Labels of 64 bits compared with positions of 32",
        "Both libraries convert; JAX, as it is set up at first, makes labels of 32 bits.",
        "torch.zeros(32, dtype=torch.int32) == torch.zeros(32, dtype=torch.int64)",
        "jnp.zeros(32, dtype='int32') == jnp.zeros(32, dtype='int64')",
    ),
    Case(
        "dtype_double",
        "A table of doubles",
        "PyTorch goes on in doubles and fails at the next product of matrices; JAX, as it is "
        "set up at first, makes floats of them on creation.",
        "torch.zeros(2, 128, 512) + torch.zeros(128, 512, dtype=torch.float64)",
        "jnp.zeros((2, 128, 512)) + jnp.zeros((128, 512), dtype='float64')",
    ),
    Case(
        "where_branches",
        "An integer among scores",
        "Both libraries convert.",
        "torch.where(torch.ones(128, 128, dtype=torch.bool), torch.zeros(128, 128), -10000)",
        "jnp.where(jnp.ones((128, 128), dtype=bool), jnp.zeros((128, 128)), -10000)",
    ),
]
