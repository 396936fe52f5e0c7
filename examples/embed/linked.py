#!/usr/bin/env python3
"""Calls a program that is a shared object from Python with numpy arrays, by ctypes and DLPack alone.

usage: linked.py MODEL.so    (of model.rly, called so)
"""
import ctypes
import os
import sys

import numpy as np

python = ctypes.pythonapi
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
# A capsule keeps the very text of its name.
NEW, USED = b"dltensor", b"used_dltensor"


class Tensor:
    """What numpy takes a result from."""

    def __init__(self, pointer):
        self.pointer = pointer

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        return python.PyCapsule_New(self.pointer, NEW, None)


class Model:
    def __init__(self, path):
        self.library = ctypes.CDLL(os.path.abspath(path))
        self.library.model_main.restype = ctypes.c_void_p
        self.library.baton_error_message.restype = ctypes.c_char_p
        self.library.baton_error_message.argtypes = [ctypes.c_void_p]
        self.library.baton_error_free.argtypes = [ctypes.c_void_p]

    def main(self, *arrays):
        """The two results; what goes in is given up, by its name, only when that worked."""
        capsules = [array.__dlpack__() for array in arrays]
        pointers = [ctypes.c_void_p(python.PyCapsule_GetPointer(each, NEW)) for each in capsules]
        results = (ctypes.c_void_p * 2)()
        error = self.library.model_main(*pointers, results)
        if error:
            message = self.library.baton_error_message(error).decode()
            self.library.baton_error_free(error)
            raise ValueError(message)
        for capsule in capsules:
            python.PyCapsule_SetName(capsule, USED)
        return [np.from_dlpack(Tensor(pointer)) for pointer in results]


def main():
    model = Model(sys.argv[1])
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    weight = np.arange(12, dtype=np.float32).reshape(4, 3)[::-1]
    scores, best = model.main(x, weight)
    print(scores)
    print(best, np.allclose(scores, np.maximum(x @ weight.T, 0)))
    try:
        model.main(x, weight[:, :2])
    except ValueError as error:
        print(error)


if __name__ == "__main__":
    main()
