"""Elements of arrays: lent to the library by DLPack, and numbers in them."""
import ctypes
import struct

from baton import library

# Of DLPack.
CODES = {"int": 0, "uint": 1, "float": 2, "bfloat": 4, "bool": 6}
WORDS = {code: word for word, code in CODES.items()}
# Letters of the module struct; those of bfloat16 are its bits.
LETTERS = {"bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "q", "uint8": "B",
           "uint16": "H", "uint32": "I", "uint64": "Q", "float16": "e", "float32": "f",
           "float64": "d", "bfloat16": "H"}
PROCESSOR = 1

# What the library uses, by the addresses of its tensors.
lent = {}


@library.DELETER
def give_back(address):
    lent.pop(address, None)


def dtype_name(code, bits):
    return "bool" if code == CODES["bool"] else f"{WORDS[code]}{bits}"


def lend(owner, address, dtype, shape, strides=None):
    """The address of a DLManagedTensor over elements that `owner` keeps; `strides` count elements."""
    word = dtype.rstrip("0123456789")
    made = library.DLTensor()
    sizes = (ctypes.c_int64 * (2 * len(shape) or 1))(*shape, *(strides or ()))
    made.data, made.device_type, made.rank = address, PROCESSOR, len(shape)
    made.code, made.lanes = CODES[word], 1
    made.bits = 8 if word == "bool" else int(dtype[len(word):])
    made.shape = ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int64))
    if strides:
        made.strides = ctypes.cast(ctypes.byref(sizes, 8 * len(shape)),
                                   ctypes.POINTER(ctypes.c_int64))
    made.deleter = ctypes.cast(give_back, library.POINTER)
    lent[ctypes.addressof(made)] = made, sizes, owner
    return ctypes.addressof(made)


def lend_number(number, dtype):
    """The same of a number, in a type or in the one that the text format gives it."""
    if dtype is None:
        kinds = {bool: "bool", int: "int32", float: "float32"}
        dtype = next(name for kind, name in kinds.items() if isinstance(number, kind))
    try:
        if isinstance(number, bool) != (dtype == "bool"):
            raise library.ArgumentError(f"{number!r} is no {dtype}")
        if dtype == "bfloat16":
            data = struct.pack("<f", number)
            bits = int.from_bytes(data, "little")
            data = (bits + 0x7FFF + (bits >> 16 & 1) >> 16 & 0xFFFF).to_bytes(2, "little")
        elif not isinstance(number, int) and not dtype.startswith("float"):
            raise library.ArgumentError(f"{number!r} is no {dtype}")
        else:
            data = struct.pack("<" + LETTERS[dtype], number)
    except (struct.error, OverflowError):
        raise library.ArgumentError(f"{number!r} does not fit {dtype}") from None
    kept = ctypes.create_string_buffer(data, len(data))
    return lend(kept, ctypes.addressof(kept), dtype, ())


def lend_array(array):
    """The same of an array of numpy, or of what has its interface."""
    described = array.__array_interface__
    kind, bits = described["typestr"][1], 8 * int(described["typestr"][2:])
    name = {"b": "bool", "i": f"int{bits}", "u": f"uint{bits}", "f": f"float{bits}"}.get(kind)
    if str(getattr(array, "dtype", "")) == "bfloat16":
        name = "bfloat16"
    if name not in LETTERS or described["typestr"][0] == ">":
        raise library.ArgumentError(f"there are no tensors of {described['typestr']}")
    size = bits // 8
    strides = described.get("strides")
    if strides is not None and any(step % size for step in strides):
        array = array.copy()
        described, strides = array.__array_interface__, None
    steps = strides and tuple(step // size for step in strides)
    return lend(array, described["data"][0], name, described["shape"], steps)


capsules = ctypes.pythonapi
capsules.PyCapsule_GetPointer.restype = library.POINTER
capsules.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
capsules.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
capsules.PyCapsule_New.restype = ctypes.py_object
capsules.PyCapsule_New.argtypes = [library.POINTER, ctypes.c_char_p, library.POINTER]
# The same functions on an object that is being destroyed.
is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, library.POINTER, ctypes.c_char_p)(
    ("PyCapsule_IsValid", capsules))
pointer_of = ctypes.PYFUNCTYPE(library.POINTER, library.POINTER, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", capsules))


def delete(address):
    """Calls the deleter of a tensor."""
    deleter = library.DLTensor.from_address(address).deleter
    if deleter:
        library.DELETER(deleter)(address)


@library.DELETER
def delete_unused(capsule):
    if is_valid(capsule, b"dltensor"):
        delete(pointer_of(capsule, b"dltensor"))


def capsule_of(address):
    """A tensor as `__dlpack__` gives it; nobody else owns it."""
    return capsules.PyCapsule_New(address, b"dltensor",
                                  ctypes.cast(delete_unused, library.POINTER))


def elements(tensor):
    """The bytes of a DLTensor in row-major order."""
    count = tensor.bits // 8
    for dim in range(tensor.rank):
        count *= tensor.shape[dim]
    return ctypes.string_at(tensor.data + tensor.offset, count) if count else b""


def numbers(tensor):
    """The elements of a DLTensor, flat."""
    dtype = dtype_name(tensor.code, tensor.bits)
    data = elements(tensor)
    found = struct.unpack(f"<{len(data) * 8 // tensor.bits}{LETTERS[dtype]}", data)
    if dtype == "bfloat16":
        found = struct.unpack(f"<{len(found)}f", b"".join(
            (bits << 16).to_bytes(4, "little") for bits in found))
    return found


def pointer_in(capsule):
    """The tensor of a capsule, which does not own it any more."""
    address = capsules.PyCapsule_GetPointer(capsule, b"dltensor")
    capsules.PyCapsule_SetName(capsule, b"used_dltensor")
    return address
