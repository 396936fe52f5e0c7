"""Executables, their functions, and calls of them."""
import ctypes
import os
import threading

from baton import library, type_text, values


class ModelHandle:
    """A model of the library, given back when nobody has it any more."""

    def __init__(self, loaded, path, trusts_code):
        self.library = loaded
        self.address = loaded.ask(loaded.model_load, os.fsencode(path))
        if trusts_code:
            loaded.trust_code(self.address)

    def __del__(self):
        if hasattr(self, "address"):
            self.library.model_free(self.address)


class Context:
    """What one thread calls with."""

    def __init__(self, model, limits):
        self.model = model
        self.address = model.library.ask(model.library.context_new, model.address,
                                         ctypes.byref(limits))

    def __del__(self):
        if hasattr(self, "address"):
            self.model.library.context_free(self.address)


class Function:
    """A function of a model: `parameters` are pairs of name and type, `result` is a type."""

    def __init__(self, model, number):
        self._model, self._number = model, number
        loaded, address = model._handle.library, model._handle.address
        self.name = loaded.model_entry(address, number).decode()
        self.parameters = [(loaded.model_parameter_name(address, number, i).decode(),
                            loaded.model_parameter_type(address, number, i).decode())
                           for i in range(loaded.model_parameters(address, number))]
        self.result = loaded.model_result_type(address, number).decode()
        self._wanted = [type_text.read(type) for _, type in self.parameters]
        self.__doc__ = self._signature()

    def _signature(self):
        words = ", ".join(f"%{name}: {type}" for name, type in self.parameters)
        return f"@{self.name}({words}) -> {self.result}"

    def __call__(self, *arguments, **named):
        arguments = self._in_order(arguments, named)
        loaded, model = self._model._handle.library, self._model._handle
        builder = values.Builder(loaded, model)
        handles = [builder.build(argument, wanted)
                   for argument, wanted in zip(arguments, self._wanted)]
        handles += [builder.build(argument, None) for argument in arguments[len(handles):]]
        given = loaded.ask(loaded.call, self._model._context().address, self._number,
                           values.addresses(handles), len(handles))
        return values.shown(values.Handle(loaded, given, model))

    def _in_order(self, arguments, named):
        arguments = list(arguments)
        names = [name for name, _ in self.parameters]
        for name in names[len(arguments):]:
            if name not in named:
                break
            arguments.append(named.pop(name))
        if named:
            raise TypeError(f"`{next(iter(named))}` is given twice, is none of the parameters, or "
                            f"one before it is missing: {self._signature()}")
        return arguments

    def __repr__(self):
        return f"<{self._signature()}>"


class Model:
    """An executable: its functions are attributes, or items by their names. Several threads may
    call them at once."""

    def __init__(self, handle, limits):
        self._handle, self._limits = handle, limits
        self._local = threading.local()
        count = handle.library.model_entries(handle.address)
        self._functions = {function.name: function
                           for function in (Function(self, i) for i in range(count))}

    def _context(self):
        if not hasattr(self._local, "context"):
            self._local.context = Context(self._handle, self._limits)
        return self._local.context

    @property
    def functions(self):
        """By their names, in the order of the executable."""
        return dict(self._functions)

    def __getitem__(self, name):
        return self._functions[name]

    def __getattr__(self, name):
        functions = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"the model has no function `{name}`; it has "
                             + (", ".join(f"`{each}`" for each in functions) or "none"))

    def __dir__(self):
        return [*super().__dir__(), *self._functions]

    def __call__(self, *arguments, **named):
        """Calls @main, or the only function."""
        if "main" not in self._functions and len(self._functions) != 1:
            raise AttributeError("the model has several functions, and no `main`: "
                                 + ", ".join(f"`{each}`" for each in self._functions))
        function = self._functions.get("main") or next(iter(self._functions.values()))
        return function(*arguments, **named)

    def __repr__(self):
        return f"<Model of {', '.join(self._functions)}>"


def load(path, *, max_memory=0, max_steps=0, max_depth=0, timeout=0, library_path=None,
         trusts_code=False):
    """The model in a file that `baton compile` made. Each call may use so many bytes, calls of
    functions, nested calls and seconds; 0 is for no limit. `library_path` says which library to use;
    the module tells where it is looked for otherwise. With `trusts_code`, kernels run the machine
    code that the file has for this processor, which nothing can look over: for files only that you
    would run as a program."""
    limits = library.Limits(max_memory, max_steps, max_depth, timeout)
    return Model(ModelHandle(_library(library_path), path, trusts_code), limits)


def limit_threads(most, *, library_path=None):
    """Lets each kernel compute in at most so many threads, from 1 to 256, instead of one for each
    processor; what calls give does not depend on it. It holds for all models of the library."""
    _library(library_path).limit(most)


def _library(path):
    return library.library(os.fspath(path) if path else library.find())
