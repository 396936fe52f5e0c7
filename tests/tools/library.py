"""Models of the libraries for other programs, called with tensors of tensor_files.

What a call gives is in the form of `baton run --output FILE.json`, so that results of the library
and of the command are compared alike.
"""
import array
import ctypes
import struct

import tensor_files

POINTER = ctypes.c_void_p
CODES = {"int": 0, "uint": 1, "float": 2, "bool": 6}
TENSOR, TUPLE, CONSTRUCTOR = 0, 1, 2
NAMES = {(CODES[dtype.rstrip("0123456789")], 8 * array.array(row[0]).itemsize): dtype
         for dtype, row in tensor_files.KINDS.items()}


class Tensor(ctypes.Structure):
    """DLManagedTensor of DLPack."""
    _fields_ = [("data", POINTER), ("device", ctypes.c_int32 * 2), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
                ("context", POINTER), ("deleter", POINTER)]


# What the library uses, by the addresses of its tensors.
LENT = {}
GIVE_BACK = ctypes.CFUNCTYPE(None, POINTER)(lambda tensor: LENT.pop(tensor))


class Library:
    def __init__(self, path):
        loaded = ctypes.CDLL(str(path))
        for name, result, *takes in [
            ("error_message", ctypes.c_char_p, POINTER), ("error_free", None, POINTER),
            ("error_place", ctypes.c_char_p, POINTER, ctypes.c_size_t),
            ("model_load", POINTER, ctypes.c_char_p, POINTER), ("model_free", None, POINTER),
            ("model_parameters", ctypes.c_size_t, POINTER, ctypes.c_size_t),
            ("model_parameter_name", ctypes.c_char_p, POINTER, ctypes.c_size_t, ctypes.c_size_t),
            ("context_new", POINTER, POINTER, POINTER, POINTER), ("context_free", None, POINTER),
            ("call", POINTER, POINTER, ctypes.c_size_t, POINTER, ctypes.c_size_t, POINTER),
            ("value_from_dlpack", POINTER, POINTER, POINTER),
            ("value_to_dlpack", POINTER, POINTER, POINTER),
            ("value_kind", ctypes.c_int, POINTER), ("value_name", ctypes.c_char_p, POINTER),
            ("value_fields", ctypes.c_size_t, POINTER),
            ("value_field", POINTER, POINTER, ctypes.c_size_t), ("value_free", None, POINTER),
        ]:
            function = getattr(loaded, f"baton_{name}")
            function.restype, function.argtypes = result, takes
            setattr(self, name, function)

    def ask(self, function, *words):
        """The handle that a function gives by its last parameter, or a RuntimeError."""
        handle = POINTER()
        error = function(*words, ctypes.byref(handle))
        if error:
            message = self.error_message(error).decode()
            place = self.error_place(error, 0)
            self.error_free(error)
            raise RuntimeError(message + (f" at {place.decode()}" if place else ""))
        return handle.value

    def given(self, tensor):
        """A value over a copy of the elements, which its deleter keeps."""
        dtype, shape, elements = tensor
        word = dtype.rstrip("0123456789")
        made = Tensor()
        data = (ctypes.c_char * max(1, elements.itemsize * len(elements)))()
        ctypes.memmove(data, elements.tobytes(), elements.itemsize * len(elements))
        sizes = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        made.data, made.device[0], made.rank = ctypes.addressof(data), 1, len(shape)
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
        tensor = ctypes.cast(managed, ctypes.POINTER(Tensor)).contents
        shape = [tensor.shape[i] for i in range(tensor.rank)]
        count = 1
        for size in shape:
            count *= size
        dtype = NAMES[tensor.code, tensor.bits]
        data = ctypes.string_at(tensor.data + tensor.offset, count * tensor.bits // 8)
        ctypes.CFUNCTYPE(None, POINTER)(tensor.deleter)(managed)
        numbers = tensor_files.elements(dtype, data).tolist()
        if dtype == "float16":
            numbers = list(struct.unpack(f"<{count}e", data))
        return {"dtype": dtype, "shape": shape, "data": numbers}


class Model:
    """An executable with a context, for one thread at a time."""

    def __init__(self, library, path):
        self.library = library
        self.model = library.ask(library.model_load, str(path).encode())
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
