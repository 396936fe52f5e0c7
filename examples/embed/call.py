#!/usr/bin/env python3
"""Calls an executable from Python with numpy arrays, which go in and out without a copy.

usage: call.py LIBRARY MODEL.bvm
"""
import ctypes
import sys

import numpy as np

POINTER = ctypes.c_void_p


class Baton:
    """The library: a function for each of its functions."""

    def __init__(self, path):
        loaded = ctypes.CDLL(path)
        for name, result, *takes in [
            ("baton_error_message", ctypes.c_char_p, POINTER),
            ("baton_error_free", None, POINTER),
            ("baton_model_load", POINTER, ctypes.c_char_p, POINTER),
            ("baton_model_free", None, POINTER),
            ("baton_context_new", POINTER, POINTER, POINTER, POINTER),
            ("baton_context_free", None, POINTER),
            ("baton_call", POINTER, POINTER, ctypes.c_size_t, POINTER, ctypes.c_size_t, POINTER),
            ("baton_value_from_dlpack", POINTER, POINTER, POINTER),
            ("baton_value_to_dlpack", POINTER, POINTER, POINTER),
            ("baton_value_kind", ctypes.c_int, POINTER),
            ("baton_value_fields", ctypes.c_size_t, POINTER),
            ("baton_value_field", POINTER, POINTER, ctypes.c_size_t),
            ("baton_value_free", None, POINTER),
        ]:
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, takes
            setattr(self, name, function)

    def ask(self, function, *words):
        """The handle that a function gives by its last parameter, or an exception."""
        handle = POINTER()
        error = function(*words, ctypes.byref(handle))
        if error:
            message = self.baton_error_message(error).decode()
            self.baton_error_free(error)
            raise RuntimeError(message)
        return handle.value


CAPSULE = ctypes.pythonapi
CAPSULE.PyCapsule_GetPointer.restype = POINTER
CAPSULE.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
CAPSULE.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
CAPSULE.PyCapsule_New.restype = ctypes.py_object
CAPSULE.PyCapsule_New.argtypes = [POINTER, ctypes.c_char_p, POINTER]


class Shown:
    """A tensor of the library as numpy.from_dlpack takes one."""

    def __init__(self, managed):
        self.managed = managed

    def __dlpack__(self, **_):
        return CAPSULE.PyCapsule_New(self.managed, b"dltensor", None)

    def __dlpack_device__(self):
        return 1, 0


class Model:
    """A function on numpy arrays."""

    def __init__(self, baton, path):
        self.baton = baton
        self.model = baton.ask(baton.baton_model_load, path.encode())
        self.context = baton.ask(baton.baton_context_new, self.model, None)

    def __call__(self, *arrays):
        values = [self.value(array) for array in arrays]
        try:
            given = self.baton.ask(self.baton.baton_call, self.context, 0,
                                   (POINTER * len(values))(*values), len(values))
        finally:
            for value in values:
                self.baton.baton_value_free(value)
        return self.array(given)

    def value(self, array):
        """The library holds the array until nothing of it is used."""
        capsule = array.__dlpack__()
        managed = CAPSULE.PyCapsule_GetPointer(capsule, b"dltensor")
        value = self.baton.ask(self.baton.baton_value_from_dlpack, managed)
        CAPSULE.PyCapsule_SetName(capsule, b"used_dltensor")
        return value

    def array(self, value):
        """A numpy array over the library's tensor, or a tuple; gives up the value."""
        try:
            if self.baton.baton_value_kind(value) == 0:
                return np.from_dlpack(Shown(self.baton.ask(self.baton.baton_value_to_dlpack, value)))
            count = self.baton.baton_value_fields(value)
            return tuple(self.array(self.baton.baton_value_field(value, i)) for i in range(count))
        finally:
            self.baton.baton_value_free(value)

    def close(self):
        self.baton.baton_context_free(self.context)
        self.baton.baton_model_free(self.model)


def main():
    library, path = sys.argv[1:]
    model = Model(Baton(library), path)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    weight = np.arange(12, dtype=np.float32).reshape(4, 3)[::-1]
    scores, best = model(x, weight)
    print(scores)
    print(best, np.allclose(scores, np.maximum(x @ weight.T, 0)))
    try:
        model(x, weight[:, :2])
    except RuntimeError as error:
        print(error)
    model.close()


if __name__ == "__main__":
    main()
