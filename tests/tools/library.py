"""Models of the libraries for other programs, called with tensors of tensor_files.

What a call gives is in the form of `baton run --output FILE.json`, so that results of the library
and of the command are compared alike.
"""
import array
import ctypes
import pathlib
import struct
import sys

import tensor_files

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
import baton.library
from baton.library import DLTensor, Error, POINTER

CODES = {"int": 0, "uint": 1, "float": 2, "bool": 6}
TENSOR, TUPLE, CONSTRUCTOR = 0, 1, 2
NAMES = {(CODES[dtype.rstrip("0123456789")], 8 * array.array(row[0]).itemsize): dtype
         for dtype, row in tensor_files.KINDS.items()}

# What the library uses, by the addresses of its tensors.
LENT = {}
GIVE_BACK = baton.library.DELETER(lambda tensor: LENT.pop(tensor))


class Library(baton.library.Library):
    """The library with values as plain data."""

    def given(self, tensor):
        """A value over a copy of the elements, which its deleter keeps."""
        dtype, shape, elements = tensor
        word = dtype.rstrip("0123456789")
        made = DLTensor()
        data = (ctypes.c_char * max(1, elements.itemsize * len(elements)))()
        ctypes.memmove(data, elements.tobytes(), elements.itemsize * len(elements))
        sizes = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        made.data, made.device_type, made.rank = ctypes.addressof(data), 1, len(shape)
        made.code, made.bits, made.lanes = CODES[word], 8 * elements.itemsize, 1
        made.shape = ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64))
        made.deleter = ctypes.cast(GIVE_BACK, POINTER)
        LENT[ctypes.addressof(made)] = made, data, sizes
        return self.ask(self.value_from_dlpack, ctypes.addressof(made))

    def shown(self, value):
        """A value as plain data; gives it up."""
        kind = self.value_kind(value)
        try:
            if kind == TENSOR:
                return self.elements(value)
            fields = [self.shown(self.value_field(value, i))
                      for i in range(self.value_fields(value))]
            if kind == TUPLE:
                return {"tuple": fields}
            return {"con": self.value_name(value).decode(), "fields": fields}
        finally:
            self.value_free(value)

    def elements(self, value):
        managed = self.ask(self.value_to_dlpack, value)
        tensor = ctypes.cast(managed, ctypes.POINTER(DLTensor)).contents
        shape = [tensor.shape[i] for i in range(tensor.rank)]
        count = 1
        for size in shape:
            count *= size
        dtype = NAMES[tensor.code, tensor.bits]
        data = ctypes.string_at(tensor.data + tensor.offset, count * tensor.bits // 8)
        baton.library.DELETER(tensor.deleter)(managed)
        numbers = tensor_files.elements(dtype, data).tolist()
        if dtype == "float16":
            numbers = list(struct.unpack(f"<{count}e", data))
        return {"dtype": dtype, "shape": shape, "data": numbers}


class Model:
    """An executable with a context, for one thread at a time."""

    def __init__(self, library, path, trusts=False):
        self.library = library
        self.model = library.ask(library.model_load, str(path).encode())
        # Kernels with machine code that is run.
        self.kernels = library.trust_code(self.model) if trusts else 0
        self.context = library.ask(library.context_new, self.model, None)

    def parameters(self, entry=0):
        names = self.library.model_parameter_name
        return [names(self.model, entry, i).decode()
                for i in range(self.library.model_parameters(self.model, entry))]

    def __call__(self, *tensors, entry=0):
        values = [self.library.given(tensor) for tensor in tensors]
        try:
            result = self.library.ask(self.library.call, self.context, entry,
                                      (POINTER * max(1, len(values)))(*values), len(values))
        finally:
            for value in values:
                self.library.value_free(value)
        return self.library.shown(result)

    def close(self):
        self.library.context_free(self.context)
        self.library.model_free(self.model)
