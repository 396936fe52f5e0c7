"""What types of parameters say, as far as Python values need it: which numbers become what."""
import functools
import re

DTYPE = re.compile(r"bool|(u?int|float|bfloat)\d+")


class Tensor:
    def __init__(self, dtype):
        self.dtype = dtype


class Parts:
    """A tuple, or a data type with its arguments."""

    def __init__(self, name, parts):
        self.name, self.parts = name, parts

    @property
    def item(self):
        """What lists of the type hold, if it is List."""
        return self.parts[0] if self.name == "List" and self.parts else None


def split(text):
    """What stands between the commas that are in no brackets."""
    words, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            words.append(text[start:at].strip())
            start = at + 1
    rest = text[start:].strip()
    return words + [rest] if rest else words


@functools.lru_cache(maxsize=1000)
def read(text):
    """A type of the text format; None for those that nothing is to be known of."""
    if DTYPE.fullmatch(text):
        return Tensor(text)
    if text.startswith("Tensor[") and text.endswith("]"):
        return Tensor(split(text[len("Tensor["):-1])[-1])
    if text.startswith("(") and text.endswith(")"):
        return Parts(None, [read(part) for part in split(text[1:-1])])
    if text.endswith("]") and re.match(r"\w+\[", text):
        name, _, rest = text[:-1].partition("[")
        return Parts(name, [read(part) for part in split(rest)])
    return None
