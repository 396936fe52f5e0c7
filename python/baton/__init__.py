"""Compiled Baton programs as Python functions.

    import baton
    model = baton.load("model.bvm")          # made by `baton compile`
    net, loss = model.step(net, images)      # its function @step

Arguments are arrays (of numpy, or whatever has `__dlpack__`), numbers, tuples, lists for values of
List, and `Data` for other data types. What comes back is the same with `Tensor` for arrays: numpy
sees their elements where they lie, and they go into further calls without a copy, as do `Data`.
Arrays are not copied either, so what was handed in must not be changed as long as it is in use.

Needs no package; numpy where arrays are asked for. The library is `libbaton.so` or, for programs
whose shapes hang on no values, `libbaton_rt.so`: that in $BATON_LIBRARY, in the build folder of the tree that
this package lies in, or where the system finds it.
"""
from baton.library import (ArgumentError, Error, FileError, LimitError, OutOfMemory, ProgramError)
from baton.model import Function, Model, limit_threads, load
from baton.values import Closure, Data, Reference, Tensor

__all__ = ["ArgumentError", "Closure", "Data", "Error", "FileError", "Function", "LimitError",
           "Model", "OutOfMemory", "ProgramError", "Reference", "Tensor", "limit_threads", "load"]
