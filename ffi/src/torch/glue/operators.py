"""Ops of the manifest and their operators."""

import torch


class Op:
    """An op of the manifest, and its operator."""

    def __init__(self, implementations):
        """Takes the implementations for all platforms; they agree but for the platform."""
        platforms = [entry["platform"] for entry, _ in implementations]
        self.json, outcome = implementations[platforms.index("Host") if "Host" in platforms else 0]
        self.name = self.json["name"]
        self.keys = {other["key"] for _, other in implementations}
        self.left_out = outcome["left_out"]
        self._overloads = outcome["overloads"]
        self.namespace, _, self._torch_name = (outcome["name"] or "").partition("::")
        params = self.json["params"]
        self.operands = [param for param in params if param["role"] != "ret"]
        self.results = [param for param in params if param["role"] != "arg"]
        # torch's operators have no optional results.
        self.returns = [param for param in params if param["role"] == "ret" and param["arity"] != "optional"]

    def packet(self):
        """The operator with all its overloads."""
        if self.left_out:
            raise RuntimeError(f"{self.name} is not an operator of torch: {self.left_out}")
        return getattr(getattr(torch.ops, self.namespace), self._torch_name)

    def operators(self):
        """Its overloads: none where this torch cannot have the op."""
        return [
            Operator(getattr(self.packet(), overload["overload"] or "default"), overload["arguments"])
            for overload in self._overloads
        ]

    def promote(self, operator, args, kwargs, in_dims=()):
        """The arguments of a call with tensors of one dtype for each type parameter, where the op promotes them.

        Args:
            in_dims: the dimension of each argument that `torch.vmap` maps, or `None`.
        """
        if not self.json.get("broadcast"):
            return args, kwargs
        values = operator.bind(args, kwargs)
        mapped = dict(zip(operator.names, in_dims, strict=False))
        for var, declared in enumerate(self.json["type_params"]):
            names = [param["name"] for param in self.operands if param["dtype"] == {"var": var}]
            given = [(values[name].dtype, values[name].dim() - (mapped.get(name) is not None)) for name in names]
            dtype = promoted_dtype(given, declared["dtypes"])
            if given and dtype is None:
                listed = ", ".join(f"`{name}` ({values[name].dtype})" for name in names)
                raise RuntimeError(
                    f"{self.name}: the arguments {listed} have no common dtype that {declared['name']} accepts: "
                    f"{', '.join(str(DTYPES.get(name, name)) for name in declared['dtypes'])}; convert them with `.to`"
                )
            if any(dtype != other for other, _ in given):
                args, kwargs = operator.with_tensors(names, lambda x, dtype=dtype: x.to(dtype), args, kwargs)
        return args, kwargs

    def broadcast(self, operator, args, kwargs):
        """The arguments of a call with tensors of one dtype and shape, where the op broadcasts its operands.

        What torch converts and expands here, it has derivatives of.
        """
        if not self.json.get("broadcast"):
            return args, kwargs
        args, kwargs = self.promote(operator, args, kwargs)
        names = {param["name"] for param in self.operands}
        values = operator.bind(args, kwargs)
        shapes = [values[param["name"]].shape for param in self.operands]
        # Shapes of several ranks differ, and torch would compare their first sizes: symbols, which it would fix.
        if all(len(shape) == len(shapes[0]) and shape == shapes[0] for shape in shapes):
            return args, kwargs
        shape = torch.broadcast_shapes(*shapes)
        return operator.with_tensors(names, lambda tensor: tensor.expand(shape), args, kwargs)

    def mutates(self):
        return any(param["role"] == "inout" for param in self.json["params"])

    def derivatives(self):
        """The ops that its derivatives call."""
        return [name for option in ("vjp", "jvp", "fwd", "transpose") if (name := self.json.get(option))]

    def is_recorded(self):
        """Whether it is a function of single numbers, or of rows alone, whose derivatives an option leaves out."""
        return bool(self.json.get("broadcast"))

    def declares_derivative(self):
        return bool(self.derivatives())


class Operator:
    """An overload, whose schema may have other names for the parameters of the op.

    Attributes:
        names: for each argument of the schema, the name of the parameter or attribute, or the path to a field of one.
    """

    def __init__(self, overload, paths):
        self.overload = overload
        self._arguments = overload._schema.arguments
        self.names = [
            # What is no parameter is a dtype.
            argument.name if path is None else path[0] if len(path) == 1 else tuple(path)
            for argument, path in zip(self._arguments, paths, strict=True)
        ]

    def bind(self, args, kwargs):
        """Values of a call by the names of the op, defaults included."""
        values = {}
        for index, (argument, name) in enumerate(zip(self._arguments, self.names, strict=True)):
            given = args[index] if index < len(args) else kwargs.get(argument.name, argument.default_value)
            values[name] = given
        return values

    def with_tensors(self, names, function, args, kwargs):
        """The arguments of a call, with a function of the tensors of the parameters of these names."""
        by_argument = {argument.name: name for argument, name in zip(self._arguments, self.names, strict=True)}

        def new(name, value):
            return each_tensor(value, function) if name in names else value

        args = [new(name, value) for name, value in zip(self.names, args, strict=False)]
        return args, {key: new(by_argument[key], value) for key, value in kwargs.items()}

    def keywords(self, values):
        """Values by the names of the op as keywords of a call; those that the operator does not have are left out."""
        pairs = zip(self._arguments, self.names, strict=True)
        return {argument.name: values[name] for argument, name in pairs if name in values}


def members(value):
    """The tensors of a parameter: one, or none where it is absent, or those of a list."""
    if isinstance(value, (list, tuple)):
        return list(value)
    return [] if value is None else [value]


def as_tuple(results):
    """What an operator returned, as a tuple with one place for each return."""
    if results is None:
        return ()
    return results if isinstance(results, tuple) else (results,)


def each(value, function):
    """A function of a parameter: of each member of a list, of none where it is absent."""
    if isinstance(value, (list, tuple)):
        return [function(tensor) for tensor in value]
    return None if value is None else function(value)


def each_tensor(value, function):
    """A function of the tensors of an argument, which may be no tensor."""
    if isinstance(value, (list, tuple)):
        return [each_tensor(member, function) for member in value]
    return function(value) if isinstance(value, torch.Tensor) else value
