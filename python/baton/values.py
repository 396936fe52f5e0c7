"""Values of programs as Python objects, and back, by stacks, since they may be deep."""
from baton import arrays, library, type_text

TENSOR, TUPLE, CONSTRUCTOR, FUNCTION, REFERENCE = range(5)


class Handle:
    """A value of the library, given back when nobody has it any more."""

    def __init__(self, loaded, address, model=None):
        # The model is kept for as long as names in the value point into it.
        self.library, self.address, self.model = loaded, address, model

    def __del__(self):
        self.library.value_free(self.address)

    def __reduce__(self):
        raise TypeError("values of a model cannot be pickled; take their elements as arrays")

    def kind(self):
        return self.library.value_kind(self.address)

    def name(self):
        return self.library.value_name(self.address).decode()

    def __len__(self):
        return self.library.value_fields(self.address)

    def field(self, index):
        address = self.library.value_field(self.address, index)
        if not address:
            raise library.OutOfMemory("out of memory")
        return Handle(self.library, address, self.model)


class Value:
    """What holds a value of the library, so that it goes in again as it is."""

    def __init__(self, handle):
        self._handle = handle

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class Tensor(Value):
    """A tensor of the library. `numpy.asarray` shows its elements where they lie; they cannot be
    written."""

    def __init__(self, handle):
        super().__init__(handle)
        self._shown = None

    def _tensor(self):
        """The elements, shown for as long as this lives."""
        if self._shown is None:
            self._shown = Shown(self._handle)
        return self._shown.tensor

    @property
    def dtype(self):
        """The name of the element type, `float32`."""
        tensor = self._tensor()
        return arrays.dtype_name(tensor.code, tensor.bits)

    @property
    def shape(self):
        tensor = self._tensor()
        return tuple(tensor.shape[dim] for dim in range(tensor.rank))

    @property
    def ndim(self):
        return self._tensor().rank

    @property
    def __array_interface__(self):
        tensor = self._tensor()
        letter = {"int": "i", "uint": "u", "float": "f", "bfloat": "V", "bool": "b"}[
            arrays.WORDS[tensor.code]]
        return {"version": 3, "shape": self.shape, "typestr": f"<{letter}{tensor.bits // 8}",
                "data": (tensor.data + tensor.offset, True)}

    def __dlpack__(self, **_):
        return arrays.capsule_of(self._handle.library.ask(self._handle.library.value_to_dlpack,
                                                          self._handle.address))

    def __dlpack_device__(self):
        return arrays.PROCESSOR, 0

    def numpy(self):
        """The elements as an array of numpy, without a copy. It has no bfloat16: the array of those
        is of two bytes each, or of ml_dtypes where that is there."""
        import numpy

        array = numpy.asarray(self)
        if self.dtype == "bfloat16":
            try:
                import ml_dtypes
            except ImportError:
                return array
            return array.view(ml_dtypes.bfloat16)
        return array

    def item(self):
        """The only element, as a number of Python."""
        found = arrays.numbers(self._tensor())
        if len(found) != 1:
            raise ValueError(f"a tensor of {len(found)} elements is no number")
        return found[0]

    def tolist(self):
        """The elements as numbers, in lists by dimensions."""
        found = list(arrays.numbers(self._tensor()))
        for size in reversed(self.shape[1:]):
            rows = len(found) // size if size else 0
            found = [found[row * size:(row + 1) * size] for row in range(rows)]
        return found if self.ndim else found[0]

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __index__(self):
        if not self.dtype.startswith(("int", "uint")):
            raise TypeError(f"a tensor of {self.dtype} is no index")
        return self.item()

    def __bool__(self):
        return bool(self.item())

    def __len__(self):
        if not self.ndim:
            raise TypeError("a tensor without dimensions has no length")
        return self.shape[0]

    def __getitem__(self, key):
        return self.numpy()[key]

    def __repr__(self):
        extents = ", ".join(map(str, self.shape))
        if self.ndim == 0:
            return f"Tensor({self.item()}, {self.dtype})"
        return f"Tensor[({extents}), {self.dtype}]"


class Shown:
    """The elements of a value, until this is gone."""

    def __init__(self, handle):
        # What is shown is of the library, which must outlive it.
        self.library = handle.library
        self.address = handle.library.ask(handle.library.value_to_dlpack, handle.address)
        self.tensor = library.DLTensor.from_address(self.address)

    def __del__(self):
        if hasattr(self, "address"):
            arrays.delete(self.address)


class Data(Value):
    """A value of a data type: the name of its constructor, and its fields, `Data("Pair", x, y)`."""

    __match_args__ = ("constructor", "fields")

    def __init__(self, constructor, *fields):
        super().__init__(None)
        self.constructor = constructor
        self._fields = fields

    @classmethod
    def _of(cls, handle):
        made = cls(handle.name())
        made._handle, made._fields = handle, None
        return made

    @property
    def fields(self):
        """A tuple. Fields of what a call gave are looked at when they are asked for."""
        if self._fields is None:
            self._fields = tuple(shown(self._handle.field(i)) for i in range(len(self._handle)))
        return self._fields

    def __len__(self):
        return len(self._handle if self._fields is None else self._fields)

    def __iter__(self):
        return iter(self.fields)

    def __getitem__(self, index):
        return self.fields[index]

    def __repr__(self):
        return text(self)


class Closure(Value):
    """A function that a call gave; `name` is that of an operator, or a type. No call takes it."""

    @property
    def name(self):
        return self._handle.name()

    def __repr__(self):
        return f"<{self.name}>"


class Reference(Value):
    """A reference that a call gave. No call takes it."""

    @property
    def content(self):
        return shown(self._handle.field(0))

    def __repr__(self):
        return f"ref({text(self.content)})"


def text(value, depth=3):
    """A value in few characters."""
    if isinstance(value, (Data, tuple)):
        fields = ["..."] if depth == 0 else [text(field, depth - 1) for field in value]
        name = value.constructor if isinstance(value, Data) else ""
        comma = "," if isinstance(value, tuple) and len(fields) == 1 else ""
        return name + (f"({', '.join(fields)}{comma})" if fields or not name else "")
    return repr(value)


def shown(handle):
    """A value as Python objects."""
    kind = handle.kind()
    if kind == TENSOR:
        return Tensor(handle)
    if kind == TUPLE:
        return tuple(shown(handle.field(i)) for i in range(len(handle)))
    if kind == CONSTRUCTOR:
        return list_of(handle) if is_list(handle) else Data._of(handle)
    return Closure(handle) if kind == FUNCTION else Reference(handle)


def is_list(handle):
    """Whether a value is of the prelude's List, whose constructors are known by their names."""
    return (handle.name(), len(handle)) in (("Nil", 0), ("Cons", 2))


def list_of(handle):
    items = []
    while len(handle):
        items.append(shown(handle.field(0)))
        handle = handle.field(1)
    return items


class Builder:
    """Makes values for a model."""

    def __init__(self, loaded, model):
        self.library, self.model = loaded, model

    def build(self, value, wanted):
        """The handle of a value for a parameter of a type."""
        work, done = [(self.visit, (value, wanted))], []
        while work:
            step, words = work.pop()
            step(work, done, *words)
        return done.pop()

    def keep(self, function, *words):
        return Handle(self.library, self.library.ask(function, *words), self.model)

    def visit(self, work, done, value, wanted):
        handle = getattr(value, "_handle", None)
        if handle is not None and handle.library is self.library:
            done.append(handle)
        elif isinstance(value, Data):
            self.open(work, self.close_data, value.constructor, value.fields, ())
        elif isinstance(value, tuple) and not isinstance(wanted, type_text.Tensor):
            self.open(work, self.close_tuple, None, value, getattr(wanted, "parts", ()))
        elif isinstance(value, list) and not isinstance(wanted, type_text.Tensor):
            item = getattr(wanted, "item", None)
            self.open(work, self.close_list, None, value, [item] * len(value) if item else ())
        else:
            done.append(self.tensor(value, getattr(wanted, "dtype", None)))

    def open(self, work, close, name, parts, wanted):
        work.append((close, (name, len(parts))))
        for i in reversed(range(len(parts))):
            work.append((self.visit, (parts[i], wanted[i] if i < len(wanted) else None)))

    def close_tuple(self, _, done, _name, count):
        fields = taken(done, count)
        done.append(self.keep(self.library.value_tuple, addresses(fields), count))

    def close_data(self, _, done, name, count):
        done.append(self.constructor(name, taken(done, count)))

    def close_list(self, _, done, _name, count):
        items = taken(done, count)
        rest = self.constructor("Nil", [])
        for item in reversed(items):
            rest = self.constructor("Cons", [item, rest])
        done.append(rest)

    def constructor(self, name, fields):
        return self.keep(self.library.value_constructor, self.model.address, name.encode(),
                         addresses(fields), len(fields))

    def tensor(self, value, dtype):
        if isinstance(value, Tensor):
            # Of another library.
            address = arrays.lend_array(value.numpy())
        elif isinstance(value, (bool, int, float)):
            address = arrays.lend_number(value, dtype)
        elif isinstance(value, (list, tuple)):
            import numpy

            address = arrays.lend_array(numpy.array(value, dtype=dtype))
        elif hasattr(value, "__array_interface__"):
            address = arrays.lend_array(value)
        elif hasattr(value, "__dlpack__"):
            capsule = value.__dlpack__()
            address = arrays.pointer_in(capsule)
        else:
            raise library.ArgumentError(f"a {type(value).__name__} is no value of a program")
        try:
            return Handle(self.library, self.library.ask(self.library.value_from_dlpack, address))
        except library.Error:
            arrays.delete(address)
            raise


def taken(done, count):
    """The last ones, which are no longer there."""
    first = len(done) - count
    fields = done[first:]
    del done[first:]
    return fields


def addresses(handles):
    return (library.POINTER * max(1, len(handles)))(*[handle.address for handle in handles])
