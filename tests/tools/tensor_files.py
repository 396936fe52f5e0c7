"""Tensors in .npy, .npz, .safetensors and Baton's .json, read and written with the standard library.

A tensor is a triple (dtype, shape, array of elements in row-major order).
"""
import array
import ast
import json
import struct
import zipfile

# dtype: array code, numpy descriptor, name in safetensors. A float16 is held as its bits.
KINDS = {
    "float16": ("H", "<f2", "F16"),
    "float32": ("f", "<f4", "F32"),
    "float64": ("d", "<f8", "F64"),
    "int8": ("b", "|i1", "I8"),
    "int16": ("h", "<i2", "I16"),
    "int32": ("i", "<i4", "I32"),
    "int64": ("q", "<i8", "I64"),
    "uint8": ("B", "|u1", "U8"),
    "uint16": ("H", "<u2", "U16"),
    "uint32": ("I", "<u4", "U32"),
    "uint64": ("Q", "<u8", "U64"),
    "bool": ("B", "|b1", "BOOL"),
}
OF_DESCRIPTOR = {row[1]: dtype for dtype, row in KINDS.items()}
OF_SAFE_NAME = {row[2]: dtype for dtype, row in KINDS.items()}


def elements(dtype, data):
    values = array.array(KINDS[dtype][0])
    values.frombytes(data)
    return values


def read_npy(data):
    if data[:8] != b"\x93NUMPY\x01\x00":
        raise ValueError("not an .npy file of version 1.0")
    (length,) = struct.unpack_from("<H", data, 8)
    header = ast.literal_eval(data[10 : 10 + length].decode("latin1"))
    if header["fortran_order"]:
        raise ValueError("columns first")
    dtype = OF_DESCRIPTOR[header["descr"]]
    return dtype, list(header["shape"]), elements(dtype, data[10 + length :])


def npy_bytes(tensor):
    dtype, shape, values = tensor
    sizes = "".join(f"{size}, " for size in shape)
    header = f"{{'descr': '{KINDS[dtype][1]}', 'fortran_order': False, 'shape': ({sizes}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + values.tobytes()


def read_npz(path):
    with zipfile.ZipFile(path) as archive:
        return {
            name.removesuffix(".npy"): read_npy(archive.read(name)) for name in archive.namelist()
        }


def write_npz(path, tensors):
    with zipfile.ZipFile(path, "w") as archive:
        for name, tensor in tensors.items():
            archive.writestr(name + ".npy", npy_bytes(tensor))


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8 : 8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        dtype = OF_SAFE_NAME[entry["dtype"]]
        tensors[name] = (dtype, entry["shape"], elements(dtype, data[begin:end]))
    return tensors


def read_json(path):
    tensors = {}
    pending = [("out", json.loads(path.read_text())["out"])]
    while pending:
        name, value = pending.pop()
        if "tuple" in value:
            pending += [(f"{name}.{i}", part) for i, part in enumerate(value["tuple"])]
            continue
        code = KINDS[value["dtype"]][0]
        data = [float(x) if isinstance(x, str) else x for x in value["data"]]
        tensors[name] = (value["dtype"], value["shape"], array.array(code, data))
    return tensors


READERS = {".npz": read_npz, ".safetensors": read_safetensors, ".json": read_json}
