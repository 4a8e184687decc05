"""Derivatives, through an op's `vjp`."""

import functools

import torch


def register_derivative(op, operator, ops, library):
    """The pairing is worked out when it is first needed: a mistake in it does not disturb the op itself."""

    @functools.cache
    def derivative():
        name = op.json["vjp"]
        if name not in ops:
            raise RuntimeError(f"{op.name}: its vjp op `{name}` is not in this library; link the crate that has it")
        return Derivative(op, ops[name], operator)

    def setup_context(ctx, inputs, output, keyword_only_inputs=None):
        derivative().setup_context(ctx, inputs, output, keyword_only_inputs)

    def backward(ctx, *cotangents):
        return derivative().backward(ctx, *cotangents)

    checked = Checked(op, library)
    torch.library.register_autograd(operator.overload, backward, setup_context=setup_context, lib=checked)


def refuse_recorded_updates(op, values):
    """Refuses updates that autograd would have to record, where the kernel is not called to do so."""
    if not (op.mutates() and torch.is_grad_enabled()):
        return
    for param in op.operands:
        if any(tensor.requires_grad for tensor in members(values[param["name"]])):
            raise RuntimeError(
                f"{op.name}: argument `{param['name']}`: the tensor requires a gradient, and an operation that updates "
                "an argument in place has no derivative: call it under torch.no_grad() or with detach()ed tensors, or "
                "return the new values"
            )


class Checked:
    """A `torch.library.Library` whose autograd kernels refuse what they would give wrong results for."""

    def __init__(self, op, library):
        self.op, self.library = op, library

    def impl(self, name, kernel, key, **options):
        """As `Library.impl`."""

        def differentiable(keyset, *args, **kwargs):
            self.refuse_forward_mode(args, kwargs)
            self.refuse_transforms(args, kwargs)
            return kernel(keyset, *args, **kwargs)

        self.library.impl(name, differentiable, key, **options)

    def refuse_forward_mode(self, args, kwargs):
        """torch would drop the tangents."""
        forward_mode = torch.autograd.forward_ad
        if forward_mode._current_level < 0:
            return
        for tensor in _tensors(args, kwargs):
            if forward_mode.unpack_dual(tensor).tangent is not None:
                raise NotImplementedError(
                    f"{self.op.name}: it has no derivative in forward mode (torch.func.jvp, "
                    "torch.autograd.forward_ad): its `vjp` is for backward mode"
                )

    def refuse_transforms(self, args, kwargs):
        """torch would raise an error that does not name the operator."""
        if not (torch._C._are_functorch_transforms_active() and torch.is_grad_enabled()):
            return
        if any(tensor.requires_grad for tensor in _tensors(args, kwargs)):
            raise NotImplementedError(
                f"{self.op.name}: the transforms of torch.func (grad, vjp, jacrev) do not know its derivative; use "
                "torch.autograd.grad or backward()"
            )


def _tensors(args, kwargs):
    """The tensors of a call, those of lists included."""
    for value in (*args, *kwargs.values()):
        yield from (member for member in members(value) if isinstance(member, torch.Tensor))


class Derivative:
    """An op's derivative through the op that its `vjp` names.

    What belongs together is found by name: an operand `x` of the backward op is the argument or result `x`, `dy` or
    `d_y` is the cotangent of result `y`; a result `dx` or `d_x` is the cotangent of argument `x`; attributes of one
    name are passed on.
    """

    def __init__(self, forward, backward, operator):
        self.forward, self.backward_op, self.operator = forward, backward, operator
        inputs = [param["name"] for param in forward.operands]
        outputs = [param["name"] for param in forward.returns]
        self.outputs = outputs
        sources = {f"{prefix}{name}": ("cotangent", name) for name in outputs for prefix in ("d", "d_")}
        sources.update((name, ("output", name)) for name in outputs)
        sources.update((name, ("input", name)) for name in inputs)
        targets = {f"{prefix}{name}": name for name in inputs for prefix in ("d", "d_")}
        self.sources = {param["name"]: self._find(sources, param, "argument") for param in backward.operands}
        self.targets = [self._find(targets, param, "result") for param in backward.results]
        taken = [name for kind, name in self.sources.values() if kind == "cotangent"]
        for param in forward.returns:
            if param["name"] not in taken and _has_derivative(forward, param):
                raise RuntimeError(
                    f"{forward.name}: its vjp op `{backward.name}` takes no cotangent of result `{param['name']}`, so "
                    f"that gradients through it would be zero; add an argument `d{param['name']}`"
                )
        self.saved_inputs = [name for kind, name in self.sources.values() if kind == "input"]
        self.saved_outputs = [name for kind, name in self.sources.values() if kind == "output"]

    def _find(self, known, param, what):
        if param["name"] not in known:
            raise RuntimeError(
                f"{self.forward.name}: {what} `{param['name']}` of its vjp op `{self.backward_op.name}` matches "
                f"nothing; expected one of {', '.join(sorted(known))}"
            )
        return known[param["name"]]

    def setup_context(self, ctx, inputs, output, keyword_only_inputs):
        """Keeps what the backward op needs."""
        values = self.operator.bind(inputs, keyword_only_inputs or {})
        kept = {name: values[name] for name in self.saved_inputs}
        results = dict(zip(self.outputs, as_tuple(output), strict=True))
        kept.update((name, results[name]) for name in self.saved_outputs)
        tensors = []
        ctx.places = {name: _put(value, tensors) for name, value in kept.items()}
        # Only what is saved this way is protected from being changed, and freed with the graph.
        ctx.save_for_backward(*tensors)
        operands = {param["name"] for param in self.forward.operands}
        ctx.attributes = {name: value for name, value in values.items() if name not in operands}
        ctx.differentiable = {name: _differentiable(values[name]) for name in operands}

    def backward(self, ctx, *cotangents):
        """Calls the backward op, and puts its results where torch wants the gradients."""
        saved = ctx.saved_tensors
        kept = {name: None if place is None else saved[place] for name, place in ctx.places.items()}
        given = {name: each(value, _conjugate) for name, value in zip(self.outputs, cotangents, strict=True)}
        values = {}
        for param in self.backward_op.operands:
            kind, name = self.sources[param["name"]]
            value = given[name] if kind == "cotangent" else kept[name]
            # torch forbids changing what it gave.
            values[param["name"]] = each(value, torch.clone) if param["role"] == "inout" else value
        # The overloads, where there are several, differ in types only.
        keywords = self.backward_op.operators()[0].keywords({**ctx.attributes, **values})
        returned = iter(as_tuple(self.backward_op.packet()(**keywords)))
        found = {}
        for param, target in zip(self.backward_op.results, self.targets, strict=True):
            found[target] = values[param["name"]] if param["role"] == "inout" else next(returned)
        gradients = tuple(_gradient(ctx.differentiable.get(name), found.get(name)) for name in self.operator.names)
        # torch passes no arguments that have their default, and older versions want no gradients for them.
        return gradients[: len(ctx.needs_input_grad)]


def _has_derivative(op, param):
    """Whether some dtype of a parameter is one of floating-point or complex numbers."""
    dtype = param["dtype"]
    if dtype is None:
        return True
    dtypes = op.json["type_params"][dtype["var"]]["dtypes"] if isinstance(dtype, dict) else [dtype]
    return any(name.startswith(("f", "bf", "c")) for name in dtypes)


def _put(value, tensors):
    """Appends the tensors of a parameter to a list, and says where they are."""
    if value is None:
        return None
    start = len(tensors)
    tensors += members(value)
    return slice(start, len(tensors)) if isinstance(value, (list, tuple)) else start


def _differentiable(value):
    if isinstance(value, (list, tuple)):
        return [_differentiable(tensor) for tensor in value]
    return value is not None and (value.is_floating_point() or value.is_complex())


def _gradient(differentiable, gradient):
    if isinstance(differentiable, list):
        gradients = gradient or [None] * len(differentiable)
        return [_gradient(*pair) for pair in zip(differentiable, gradients, strict=True)]
    return _conjugate(gradient) if differentiable and gradient is not None else None


def _conjugate(tensor):
    """Between cotangents as JAX has them, which backward ops compute, and torch's gradients, which are conjugate."""
    return tensor.conj() if tensor.is_complex() else tensor
