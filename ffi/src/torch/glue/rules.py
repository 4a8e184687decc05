"""Rules of derivatives: which values the ops that a declaration names get, and what they compute."""

import functools

import torch
from torch.autograd import forward_ad


class Link:
    """A call of an op that a declaration names, with its parameters matched by name.

    Attributes:
        sources: for each argument of the op, a kind of values and the name of one.
        targets: for each result of the op, the name of what it is.
    """

    def __init__(self, op, option, other, sources, targets):
        self.op, self.option, self.other = op, option, other
        self.sources = {param["name"]: self._find(sources, param, "argument") for param in other.operands}
        # torch's operators have no optional results.
        results = [param for param in other.results if param["arity"] != "optional"]
        self.targets = {param["name"]: self._find(targets, param, "result") for param in results}
        self._updated = {param["name"] for param in other.operands if param["role"] == "inout"}
        own = {attr["name"] for attr in op.json["attrs"]}
        self._active = [
            attr["name"] for attr in other.json["attrs"]
            if attr["name"] not in own and attr["name"].endswith(f"{option}_active")
        ]  # fmt: skip
        self._casts = bool(other.json.get("autocast"))
        # The overloads, where there are several, differ in types only.
        self._operator, *others = other.operators()
        self._function = other.packet() if others else self._operator.overload

    def _find(self, known, param, what):
        if param["name"] not in known:
            raise RuntimeError(
                f"{self.op.name}: {what} `{param['name']}` of its {self.option} op `{self.other.name}` matches "
                f"nothing; expected one of {', '.join(sorted(known))}"
            )
        return known[param["name"]]

    def active(self, given):
        """The attribute by which a derivative that the macros made learns which tangents or cotangents are zeros.

        A zero times a slope that is not finite would be NaN.

        Args:
            given: the names of tangents of arguments, or cotangents of results, that are there.
        """
        params = self.op.operands if self.option == "jvp" else self.op.returns
        # Bits from the 63rd on are the sign.
        zeros = sum(1 << index for index, param in enumerate(params[:63]) if param["name"] not in given)
        return dict.fromkeys(self._active, ~zeros)

    def names(self, kind):
        """The names of the values of a kind that the op gets."""
        return [name for source, name in self.sources.values() if source == kind]

    def __call__(self, attributes, given):
        """The op's results by the names of what they are."""
        call = self._call_without_autocast if self._casts else self._call
        if torch.is_grad_enabled() or forward_ad._current_level >= 0:
            return call(attributes, given)
        with torch._C._AutoDispatchBelowAutograd():
            return call(attributes, given)

    def _call_without_autocast(self, attributes, given):
        """Keeps the dtypes of the call that is differentiated, whatever the other op's own policy is."""
        with without_autocast():
            return self._call(attributes, given)

    def _call(self, attributes, given):
        values = {**attributes, **{name: given[kind][source] for name, (kind, source) in self.sources.items()}}
        # torch forbids changing what it gave.
        for name in self._updated:
            values[name] = each(values[name], torch.clone)
        returned = iter(as_tuple(self._function(**self._operator.keywords(values))))
        return {
            target: values[name] if name in self._updated else next(returned) for name, target in self.targets.items()
        }  # fmt: skip


class Rules:
    """The derivatives of an op.

    Links are made when they are first needed: a mistake in one does not disturb the op itself.
    """

    def __init__(self, op, operator, ops):
        self.op, self.operator, self.ops = op, operator, ops
        self.inputs = [param["name"] for param in op.operands]
        self.outputs = [param["name"] for param in op.returns]
        self.nondiff = op.json.get("nondiff") or ()
        self.takes_lists, self.returns_lists = (
            any(param["arity"] != "one" for param in params) for params in (op.operands, op.returns)
        )
        self._single = [(name, None) for name in self.inputs]

    def attributes(self, values):
        """The attributes among the values of a call."""
        return {name: value for name, value in values.items() if name not in self.inputs}

    @functools.cached_property
    def fwd(self):
        """The forward op, which gives results and residuals; `None` if there is none."""
        if (other := self._other("fwd")) is None:
            return None
        residuals = [param["name"] for param in other.returns]
        return Link(self.op, "fwd", other, self._inputs(), {name: name for name in residuals})

    @functools.cached_property
    def reverse(self):
        """The op that computes cotangents of arguments; `None` if there is none."""
        transpose = self._other("transpose")
        other = transpose or self._other("vjp")
        if other is None:
            return None
        sources = prefixed("d", self.outputs, "cotangent")
        if transpose is None:
            sources.update(self._outputs())
        targets = {name: target for name, (_, target) in prefixed("d", self.inputs, "").items()}
        option = "vjp" if transpose is None else "transpose"
        link = Link(self.op, option, other, {**sources, **self._inputs()}, targets)
        taken = link.names("cotangent")
        for param in self.op.returns:
            if param["name"] not in (*taken, *self.nondiff) and has_derivative(self.op, param):
                raise RuntimeError(
                    f"{self.op.name}: its {option} op `{other.name}` takes no cotangent of result `{param['name']}`, "
                    f"so that gradients through it would be zero; add an argument `d{param['name']}`"
                )
        return link

    @functools.cached_property
    def tangent(self):
        """The op that computes tangents of results; `None` if there is none."""
        if self._other("transpose") is not None:
            # The op is linear: its tangent is the op itself on tangents.
            linear = set(self.reverse.targets.values())
            sources = {name: ("tangent" if name in linear else "input", name) for name in self.inputs}
            return Link(self.op, "transpose", self.op, sources, {name: name for name in self.outputs})
        if (other := self._other("jvp")) is None:
            return None
        sources = {**prefixed("t", self.inputs, "tangent"), **self._outputs(), **self._inputs()}
        targets = {name: target for name, (_, target) in prefixed("t", self.outputs, "").items()}
        return Link(self.op, "jvp", other, sources, targets)

    @functools.cached_property
    def of_fwd(self):
        """The derivatives of the forward op; `None` if there is none."""
        other = self._other("fwd")
        return None if other is None else Rules(other, other.operators()[0], self.ops)

    @functools.cached_property
    def saved(self):
        """Kinds and names of the values that a backward pass needs."""
        links = [self.reverse, self.of_fwd.reverse if self.of_fwd else None]
        sources = [source for link in links if link for source in link.sources.values()]
        return list(dict.fromkeys(source for source in sources if source[0] != "cotangent"))

    def places(self, values):
        """The name and count of each argument."""
        return [(name, count(values[name])) for name in self.inputs] if self.takes_lists else self._single

    def backward(self, ctx, given, cotangents):
        """The cotangents of arguments by name."""
        residuals = self.fwd and [
            name for name, value in unflatten(cotangents, ctx.outputs).items()
            if name not in self.outputs and has_any(value)
        ]  # fmt: skip
        link = self.of_fwd.reverse if residuals else self.reverse
        if link is None:
            raise NotImplementedError(undeclared(self._other("fwd") if residuals else self.op, "reverse"))
        if ctx.lost_tangents and forward_ad._current_level >= 0:
            raise NotImplementedError(undeclared(self._other("fwd"), "forward"))
        given_cotangents = unflatten(cotangents, ctx.outputs).items()
        active = link.active({name for name, value in given_cotangents if has_any(value)})
        if len(cotangents) > 1:
            like = next(cotangent for cotangent in cotangents if cotangent is not None)
            cotangents = [
                like.new_zeros(shape, dtype=dtype) if cotangent is None else cotangent
                for cotangent, (shape, dtype) in zip(cotangents, ctx.types, strict=True)
            ]
        filled = [conjugate(cotangent) for cotangent in cotangents]
        self._check_wanted(ctx, link)
        return link({**ctx.attributes, **active}, {**given, "cotangent": unflatten(filled, ctx.outputs)})

    def _check_wanted(self, ctx, link):
        """Refuses gradients of arguments that a linear op is not linear in."""
        if link.option != "transpose":
            return
        known = {*link.targets.values(), *self.nondiff}
        for name, is_wanted in unflatten(ctx.needs_input_grad[1:], ctx.inputs).items():
            if name not in known and has_any(is_wanted):
                raise NotImplementedError(self._nonlinear(name, "gradient", link))

    def _nonlinear(self, name, what, link):
        return (
            f"{self.op.name}: argument `{name}`: it has no {what}, since its transpose op `{link.other.name}` gives no "
            f"result `d{name}`; pass {name}.detach(), declare `nondiff = [{name}]`, or declare `vjp` and `jvp` instead "
            "of `transpose`"
        )

    def forward(self, ctx, given):
        """The tangents of results and residuals by name."""
        link = self.tangent
        if link is None:
            raise NotImplementedError(undeclared(self.op, "forward"))
        known = {*link.names("tangent"), *self.nondiff}
        for name, value in given["tangent"].items():
            if name not in known and has_any(value):
                raise NotImplementedError(
                    self._nonlinear(name, "tangent", self.reverse) if link.option == "transpose" else
                    f"{self.op.name}: argument `{name}`: it has no tangent, since its jvp op `{link.other.name}` takes "
                    f"no argument `t{name}`; pass {name}.detach(), add the argument, or declare `nondiff = [{name}]`"
                )  # fmt: skip
        moved = {name for name, value in given["tangent"].items() if has_any(value)}
        given["tangent"] = {name: self._tangent(given, name) for name in self.inputs}
        attributes = self.attributes(given["input"])
        if self.of_fwd and self.of_fwd.tangent and any(ctx.needs_input_grad):
            link = self.of_fwd.tangent
            found = link({**attributes, **link.active(moved)}, given)
        else:
            found = link({**attributes, **link.active(moved)}, given)
            # A backward pass in forward mode, which would need the tangents of residuals, is refused.
            ctx.lost_tangents = self.fwd is not None
            residuals = self.fwd.targets.values() if self.fwd else ()
            found = {**{name: each(given["output"][name], zeros) for name in residuals}, **found}
        return {name: value for name, value in found.items() if name not in self.nondiff}

    def _tangent(self, given, name):
        """The tangents of an argument, with zeros for those that are absent."""
        value, tangents = given["input"][name], given["tangent"][name]
        if isinstance(value, (list, tuple)):
            pairs = zip(value, tangents, strict=True)
            return [zeros(tensor) if tangent is None else tangent for tensor, tangent in pairs]
        return zeros(value) if tangents is None and value is not None else tangents

    def _other(self, option):
        name = self.op.json.get(option)
        if name is None:
            return None
        if name not in self.ops:
            raise RuntimeError(
                f"{self.op.name}: its {option} op `{name}` is not in this library; link the crate that has it"
            )
        return self.ops[name]

    def _inputs(self):
        return {name: ("input", name) for name in self.inputs}

    def _outputs(self):
        """Results and residuals."""
        names = self.outputs if self.fwd is None else [*self.outputs, *self.fwd.targets]
        return {name: ("output", name) for name in names}


def prefixed(letter, names, kind):
    """Tangents (`t`) or cotangents (`d`) of values, by either of their names."""
    return {f"{prefix}{name}": (kind, name) for name in names for prefix in (letter, f"{letter}_")}


def has_derivative(op, param):
    """Whether some dtype of a parameter is one of floating-point or complex numbers."""
    dtype = param["dtype"]
    if dtype is None:
        return True
    dtypes = op.json["type_params"][dtype["var"]]["dtypes"] if isinstance(dtype, dict) else [dtype]
    return any(name.startswith(("f", "bf", "c")) for name in dtypes)


def zeros(tensor):
    """The tangent of a constant; `None` for a tensor of integers."""
    return torch.zeros_like(tensor) if tensor.is_floating_point() or tensor.is_complex() else None


def has_any(value):
    """Whether a value, or a member of a list, is there and true."""
    return any(member is not None and member is not False for member in members(value))


def put(value, tensors):
    """Appends the tensors of a parameter to a list, and says where they are."""
    if value is None:
        return None
    start = len(tensors)
    tensors += members(value)
    return slice(start, len(tensors)) if isinstance(value, (list, tuple)) else start


def count(value):
    """The number of tensors in a list; `None` for one tensor, -1 for an absent one."""
    if value is None:
        return -1
    return len(value) if isinstance(value, (list, tuple)) else None


def unflatten(flat, places):
    """Values by name, from a flat sequence and the count of each."""
    flat = iter(flat)
    return {
        name: None if n == -1 else next(flat) if n is None else [next(flat) for _ in range(n)] for name, n in places
    }


def spread(value, n):
    """A value as a list with as many members as `count` says."""
    if n is None:
        return [value]
    return [] if n == -1 else [None] * n if value is None else list(value)


def conjugate(tensor):
    """Between cotangents as JAX has them, which backward ops compute, and torch's gradients, which are conjugate."""
    return tensor.conj() if tensor is not None and tensor.is_complex() else tensor
