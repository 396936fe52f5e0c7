"""The C interface, as vm/rt/baton_rt.h declares it, with exceptions for its errors."""
import ctypes
import ctypes.util
import functools
import os
import pathlib

POINTER = ctypes.c_void_p
SIZE = ctypes.c_size_t
TEXT = ctypes.c_char_p


class Error(Exception):
    """What the library says. `places` are where the program stood, `FILE:LINE:COLUMN`: the error,
    and the calls that led there, innermost first."""

    places = ()


class FileError(Error):
    """A file that cannot be read, or is no executable."""


class ArgumentError(Error):
    """What was handed to a call does not belong there."""


class ProgramError(Error):
    """What a program ran into."""


class LimitError(Error):
    """A call took more steps, depth or time than its limits."""


class OutOfMemory(Error):
    """A call took more memory than its limit, or than there is."""


ERRORS = {1: FileError, 2: ArgumentError, 3: ProgramError, 4: LimitError, 5: OutOfMemory}


class DLTensor(ctypes.Structure):
    """DLManagedTensor of DLPack."""
    _fields_ = [("data", POINTER), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
                ("context", POINTER), ("deleter", POINTER)]


class Limits(ctypes.Structure):
    _fields_ = [("memory_bytes", SIZE), ("steps", ctypes.c_uint64), ("depth", ctypes.c_uint64),
                ("seconds", ctypes.c_double)]


DELETER = ctypes.CFUNCTYPE(None, POINTER)

# Those that work for long, without Python's lock.
LONG = {"call": (POINTER, POINTER, SIZE, POINTER, SIZE, POINTER),
        "model_load": (POINTER, TEXT, POINTER), "model_trust_code": (POINTER, POINTER, POINTER)}
# The others hold it, so that counts of values are changed by one thread at a time.
SHORT = {"error_what": (ctypes.c_int, POINTER), "error_message": (TEXT, POINTER),
         "error_place": (TEXT, POINTER, SIZE), "error_free": (None, POINTER),
         "model_free": (None, POINTER), "model_entries": (SIZE, POINTER),
         "model_entry": (TEXT, POINTER, SIZE), "model_parameters": (SIZE, POINTER, SIZE),
         "model_parameter_name": (TEXT, POINTER, SIZE, SIZE),
         "model_parameter_type": (TEXT, POINTER, SIZE, SIZE),
         "model_result_type": (TEXT, POINTER, SIZE),
         "limit_threads": (POINTER, SIZE),
         "context_new": (POINTER, POINTER, POINTER, POINTER), "context_free": (None, POINTER),
         "value_from_dlpack": (POINTER, POINTER, POINTER),
         "value_to_dlpack": (POINTER, POINTER, POINTER),
         "value_tuple": (POINTER, POINTER, SIZE, POINTER),
         "value_constructor": (POINTER, POINTER, TEXT, POINTER, SIZE, POINTER),
         "value_kind": (ctypes.c_int, POINTER), "value_name": (TEXT, POINTER),
         "value_fields": (SIZE, POINTER), "value_field": (POINTER, POINTER, SIZE),
         "value_free": (None, POINTER)}


class Library:
    """The functions by their names, without `baton_`."""

    def __init__(self, path):
        self.path = path
        try:
            loaders = [(ctypes.CDLL(path), LONG), (ctypes.PyDLL(path), SHORT)]
        except OSError as problem:
            raise FileError(f"cannot load the library: {problem}") from None
        for loaded, names in loaders:
            for name, (result, *takes) in names.items():
                function = getattr(loaded, f"baton_{name}")
                function.restype, function.argtypes = result, takes
                setattr(self, name, function)

    def ask(self, function, *words):
        """The handle that a function gives by its last parameter."""
        handle = POINTER()
        error = function(*words, ctypes.byref(handle))
        if error:
            raise self.taken(error)
        return handle.value

    def trust_code(self, model):
        """Lets calls run the machine code of a model; the number of kernels that have some."""
        return self.ask(self.model_trust_code, model) or 0

    def limit(self, most):
        """Lets it compute with at most so many threads."""
        if error := self.limit_threads(most):
            raise self.taken(error)

    def taken(self, error):
        """The exception of an error, which is given back."""
        made = ERRORS.get(self.error_what(error), Error)(self.error_message(error).decode())
        places = []
        while (place := self.error_place(error, len(places))) is not None:
            places.append(place.decode())
        made.places = tuple(places)
        self.error_free(error)
        return made


def find():
    """The path of the library."""
    if said := os.environ.get("BATON_LIBRARY"):
        return said
    tree = pathlib.Path(__file__).resolve().parents[2]
    for name in "libbaton.so", "libbaton_rt.so":
        if (path := tree / "build" / name).exists():
            return str(path)
    for name in "baton", "baton_rt":
        if path := ctypes.util.find_library(name):
            return path
    raise FileError(f"there is no libbaton.so or libbaton_rt.so in {tree / 'build'} or where the "
                    "system looks for libraries; say where it is by BATON_LIBRARY")


@functools.cache
def library(path):
    return Library(path)
