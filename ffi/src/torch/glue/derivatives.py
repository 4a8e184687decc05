"""Derivatives: the autograd kernel of an operator, which calls the ops that its declaration names."""

import torch
from torch._functorch.utils import enable_single_level_autograd_function
from torch.autograd import forward_ad
from torch.autograd.forward_ad import _set_fwd_grad_enabled
from torch.autograd.function import _SingleLevelFunction


def register_derivative(op, operator, ops, library):
    """Registers the autograd kernel of an overload: of an op that declares a derivative, or that one calls."""
    name = operator.overload._name.partition("::")[2]
    kernel = Autograd(op, operator, ops)
    # Others have a kernel of torch's for all devices, whose error does not say what to declare.
    for key in ("Autograd",) if op.declares_derivative() else ("AutogradCPU", "AutogradCUDA"):
        library.impl(name, kernel, key, with_keyset=True)


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


def _any_requires_grad(*args, **kwargs):
    values = (*args, *kwargs.values())
    return any(isinstance(x, torch.Tensor) and x.requires_grad for value in values for x in members(value))


# torch 2.7 lacks it.
any_requires_grad = getattr(torch._C, "_any_requires_grad", _any_requires_grad)


class Autograd:
    """The autograd kernel of an operator.

    torch.func keeps a stack of transforms, and calls this kernel once for each of them that differentiates, as it calls
    the kernels of torch's own operators: the kernel records one level, and what it calls below autograd reaches the
    others. An `autograd.Function` would go through all levels from inside one of them; its base class has one level.
    """

    def __init__(self, op, operator, ops):
        self.op, self.operator, self.overload = op, operator, operator.overload
        self.rules = Rules(op, operator, ops)
        self.function = type(op.name, (Recorded,), {})

    def __call__(self, keyset, *args, **kwargs):
        is_recorded = torch.is_grad_enabled() and any_requires_grad(*args, **kwargs)
        if not is_recorded and forward_ad._current_level < 0:
            with torch._C._AutoDispatchBelowAutograd():
                return self.overload.redispatch(keyset & torch._C._after_autograd_keyset, *args, **kwargs)
        # torch knows the derivatives of views.
        args, kwargs = self.op.broadcast(self.operator, args, kwargs)
        call = Call(self, keyset, args, kwargs)
        if not torch._C._are_functorch_transforms_active():
            return call.returned(self.function.apply(call, *call.tensors))
        with enable_single_level_autograd_function():
            return call.returned(self.function.apply(call, *call.tensors))


class Call:
    """A call of an operator that autograd records."""

    def __init__(self, kernel, keyset, args, kwargs):
        self.overload, self.rules = kernel.overload, kernel.rules
        self.keyset, self.args, self.kwargs = keyset, args, kwargs
        self.inputs = self.rules.operator.bind(args, kwargs)
        # All tensors, those of lists included, in the order of the parameters.
        self.tensors = [tensor for name in self.rules.inputs for tensor in members(self.inputs[name])]

    def run(self):
        """Calls the op, or its forward op, below autograd: results and residuals by name."""
        with torch._C._AutoDispatchBelowAutograd():
            if self.rules.fwd:
                self.outputs = self.rules.fwd(self.rules.attributes(self.inputs), {"input": self.inputs})
            else:
                keyset = self.keyset & torch._C._after_autograd_keyset
                results = as_tuple(self.overload.redispatch(keyset, *self.args, **self.kwargs))
                self.outputs = dict(zip(self.rules.outputs, results, strict=True))
        return self.outputs

    def returned(self, recorded):
        """What the operator returns: the recorded tensors without residuals. The node keeps no tensors through this."""
        outputs, self.inputs, self.outputs = self.outputs, None, None
        if len(recorded) == 1 and not self.rules.returns_lists:
            return recorded[0]
        named = unflatten(recorded, [(name, count(value)) for name, value in outputs.items()])
        results = tuple(named[name] for name in self.rules.outputs)
        return results[0] if len(results) == 1 else results


class Recorded(_SingleLevelFunction):
    """A node of one level of autograd, for a `Call` and its tensors.

    Residuals are results of the node, so that what is computed from them in a backward pass has derivatives as well.
    """

    @staticmethod
    def forward(ctx, call, *tensors):
        rules, inputs = call.rules, call.inputs
        if torch._C._are_functorch_transforms_active():
            # `apply` has turned derivatives off, but the other levels have theirs.
            with torch.enable_grad(), _set_fwd_grad_enabled(True):
                outputs = call.run()
        else:
            outputs = call.run()
        results = [tensor for value in outputs.values() for tensor in members(value)]
        ctx.rules = rules
        ctx.set_materialize_grads(False)
        if rules.nondiff:
            ctx.mark_non_differentiable(*(tensor for name in rules.nondiff for tensor in members(outputs.get(name))))
        # torch calls `jvp` before `apply` returns.
        ctx.call = call if forward_ad._current_level >= 0 else None
        ctx.lost_tangents = False
        if any(ctx.needs_input_grad):
            ctx.attributes = rules.attributes(inputs)
            ctx.inputs = rules.places(inputs)
            ctx.outputs = [(name, count(value)) for name, value in outputs.items()]
            ctx.types = [(tensor.shape, tensor.dtype) for tensor in results] if len(results) > 1 else None
            saved = []
            values = {"input": inputs, "output": outputs}
            ctx.saved = {place: put(values[place[0]][place[1]], saved) for place in rules.saved}
            # Only what is saved this way is protected from being changed, and freed with the graph.
            ctx.save_for_backward(*saved)
        return tuple(results)

    @staticmethod
    def backward(ctx, *cotangents):
        if all(cotangent is None for cotangent in cotangents):
            return (None,) * len(ctx.needs_input_grad)
        tensors = ctx.saved_tensors
        given = {"input": {}, "output": {}}
        for (kind, name), place in ctx.saved.items():
            given[kind][name] = None if place is None else tensors[place]
        gradients = ctx.rules.backward(ctx, given, cotangents)
        flat = [gradient for name, n in ctx.inputs for gradient in spread(gradients.get(name), n)]
        wanted = zip(flat, ctx.needs_input_grad[1:], strict=True)
        return (None, *(conjugate(gradient) if is_wanted else None for gradient, is_wanted in wanted))

    @staticmethod
    def jvp(ctx, _, *tangents):
        call, ctx.call = ctx.call, None
        tangents = unflatten(tangents, ctx.rules.places(call.inputs))
        given = {"input": call.inputs, "output": call.outputs, "tangent": tangents}
        found = ctx.rules.forward(ctx, given)
        flat = [tangent for name, value in call.outputs.items() for tangent in spread(found.get(name), count(value))]
        return tuple(flat) if len(flat) != 1 else flat[0]


MODES = {
    "reverse": ("vjp", "backward(), torch.autograd.grad, torch.func.grad, torch.func.jacrev"),
    "forward": ("jvp", "torch.autograd.forward_ad, torch.func.jvp, torch.func.jacfwd"),
}


def undeclared(op, mode):
    """The message about a derivative that an op does not declare."""
    (option, uses), name = MODES[mode], op.name
    order = sum(attr["name"].endswith(("jvp_active", "vjp_active")) for attr in op.json["attrs"])
    function = name.rsplit("_", order)[0]
    if order >= 2:
        return (
            f"{name}: it has no derivative, since functions under `#[pointwise]` and `#[rowwise]` have derivatives of "
            f"first and second order; differentiate `{function}` twice at most, or write its derivative as a function "
            "under the macro of its own, and join both by `torch.autograd.Function`"
        )
    if order or op.is_recorded():
        return (
            f"{name}: it has no derivative, since `{function}` is declared with `derivatives = {order}`; write "
            f"`derivatives = {order + 1}` there, or leave the option out for 2"
        )
    return (
        f"{name}: it has no derivative in {mode} mode ({uses}); write an op that computes it, and name it: "
        f"`#[custom_call({option} = {name}_{option})]`"
    )
