"""What holds programs together, on every dtype: constants, calls, tuples, tokens, control flow, custom calls."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
from jax import lax

from conformance import inputs, oracles
from conformance.cases import Case, family
from conformance.modules import body, module, single, tensor
from conformance.tolerances import sums

_SHAPES = ((), (1,), (7,), (0, 3), (5, 2, 3))

_HALVED = "float8_e5m2fnuz"


@family
def containers(rng: np.random.Generator) -> Iterator[Case]:
    """Tuples, which a program has inside only, and barriers."""
    for dtype in inputs.EVERY:
        for shape in _SHAPES:
            x, y = inputs.values(rng, dtype, shape), inputs.values(rng, dtype, shape)
            of = tensor(dtype, shape)
            nested = f"tuple<{of}, tuple<{of}, {of}>>"
            lines = f"""
              %inner = "stablehlo.tuple"(%1, %0) : ({of}, {of}) -> tuple<{of}, {of}>
              %outer = "stablehlo.tuple"(%0, %inner) : ({of}, tuple<{of}, {of}>) -> {nested}
              %again = "stablehlo.get_tuple_element"(%outer) <{{index = 1 : i32}}> : ({nested}) -> tuple<{of}, {of}>
              %a = "stablehlo.get_tuple_element"(%again) <{{index = 0 : i32}}> : (tuple<{of}, {of}>) -> {of}
              %b = "stablehlo.get_tuple_element"(%outer) <{{index = 0 : i32}}> : ({nested}) -> {of}
              return %a, %b : {of}, {of}"""
            function = body(lines, [of, of], [of, of])
            yield Case("tuple", dtype, f"{shape}", function, [x, y])
            yield Case("get_tuple_element", dtype, f"{shape}", function, [y, x])
            barrier = lambda x, y: lax.optimization_barrier((y, x))  # noqa: E731
            yield Case("optimization_barrier", dtype, f"{shape}", barrier, [x, y])


@family
def calls(rng: np.random.Generator) -> Iterator[Case]:
    """Functions called, composites of no known name, and custom calls that give their operand."""
    for dtype in inputs.EVERY:
        for shape in _SHAPES:
            x, of = inputs.values(rng, dtype, shape), tensor(dtype, shape)
            flag = tensor("bool")
            swapped = f"""
              func.func private @swapped(%a: {of}, %b: {of}, %c: {flag}) -> ({of}, {of}) {{
                %r = "stablehlo.select"(%c, %b, %a) : ({flag}, {of}, {of}) -> {of}
                return %r, %b : {of}, {of}
              }}
              func.func @main(%x: {of}, %y: {of}, %c: {flag}) -> ({of}, {of}) {{
                CALL
                return %r#0, %r#1 : {of}, {of}
              }}"""
            signature = f"({of}, {of}, {flag}) -> ({of}, {of})"
            y, c = inputs.values(rng, dtype, shape), np.asarray(rng.random() < 0.5)
            call = f"%r:2 = func.call @swapped(%x, %y, %c) : {signature}"
            yield Case("call", dtype, f"{shape}", module(swapped.replace("CALL", call)), [x, y, c])
            composite = f"""
              %r:2 = "stablehlo.composite"(%x, %y, %c) <{{name = "conformance.swapped", decomposition = @swapped,
                version = 1 : i32, composite_attributes = {{k = 1 : i64}}}}> : {signature}"""
            yield Case("composite", dtype, f"{shape}", module(swapped.replace("CALL", composite)), [x, y, c])
            lines = f"""
              %r = stablehlo.custom_call @Sharding(%0) {{mhlo.sharding = "{{replicated}}"}} : ({of}) -> {of}
              return %r : {of}"""
            yield Case("custom_call", dtype, f"Sharding {shape}", body(lines, [of], [of]), [x])


@family
def constants(rng: np.random.Generator) -> Iterator[Case]:
    """Constants inside programs: numbers, strings of bytes, and splats."""
    for dtype in inputs.EVERY:
        for shape in (*_SHAPES, (2053,)):
            x = inputs.values(rng, dtype, shape)
            yield Case("constant", dtype, f"{shape}", lambda x=x: jnp.asarray(x), [])
        one = np.ones((3, 5), inputs.dtype_of(dtype))
        yield Case("constant", dtype, "splat", lambda x=one: jnp.asarray(x), [])


def _swapped(x: np.ndarray, y: np.ndarray, count: np.int32) -> tuple[np.ndarray, np.ndarray]:
    """What the loop of `flow` computes."""
    for i in range(count):
        x, y = y, x if i % 2 == 0 else y
    return x, y


@family
def flow(rng: np.random.Generator) -> Iterator[Case]:
    """Branches and loops that carry every dtype."""
    for dtype in inputs.EVERY:
        for shape in _SHAPES:
            x, y = inputs.values(rng, dtype, shape), inputs.values(rng, dtype, shape)
            count = int(rng.integers(0, 5))

            def loop(x, y, n):
                return lax.fori_loop(0, n, lambda i, s: (s[1], lax.select(i % 2 == 0, s[0], s[1])), (x, y))

            # XLA:CPU selects elements of this dtype as halves, in which its smallest normal number is lost.
            oracle = (
                oracles.numpy(_swapped, "XLA:CPU's select makes 2^-14 of 2^-15") if dtype == _HALVED else oracles.STOCK
            )
            operands = [x, y, np.int32(count)]
            yield Case("while", dtype, f"{shape} {count} times", loop, operands, oracle=oracle)
            flag = np.asarray(count % 2 == 0)
            branch = lambda f, x, y: lax.cond(f, lambda x, y: (y, x), lambda x, y: (x, x), x, y)  # noqa: E731
            yield Case("if", dtype, f"{shape} {flag}", branch, [flag, x, y])

            def choose(i, x, y):
                return lax.switch(i, [lambda x, y: x, lambda x, y: y, lambda x, y: lax.select(True, x, y)], x, y)

            yield Case("case", dtype, f"{shape} {count - 1}", choose, [np.int32(count - 1), x, y])


@family
def tokens(rng: np.random.Generator) -> Iterator[Case]:
    """Tokens, the program's place among devices, and sizes."""
    for number, dtype in enumerate(("float32", "int8", "bool", "complex64", "float16", "uint64")):
        shape = (number, 3)
        x, of, size = inputs.values(rng, dtype, shape), tensor(dtype, shape), tensor("int32")
        token = "!stablehlo.token"
        for op, tokens in (("after_all", 2), ("create_token", 1)):
            made = '%t0 = "stablehlo.create_token"() : () -> ' + token
            joined = f'%t1 = "stablehlo.after_all"(%t0, %t0) : ({token}, {token}) -> {token}' if tokens > 1 else ""
            last = f"%t{tokens - 1}"
            lines = f"""
              {made}
              {joined}
              %r:2 = "stablehlo.optimization_barrier"(%0, {last}) : ({of}, {token}) -> ({of}, {token})
              return %r#0 : {of}"""
            yield Case(op, "none", f"{dtype} {shape}", body(lines, [of], [of]), [x])
        for dimension in (0, 1):
            function = single("stablehlo.get_dimension_size", [of], [size], f"dimension = {dimension} : i64")
            yield Case("get_dimension_size", "none", f"{dtype} {shape} {dimension}", function, [x])
        for op in ("partition_id", "replica_id"):
            id = tensor("uint32")
            lines = f"""
              %i = "stablehlo.{op}"() : () -> {id}
              %b = stablehlo.broadcast_in_dim %i, dims = [] : ({id}) -> {tensor("uint32", shape)}
              return %b, %0 : {tensor("uint32", shape)}, {of}"""
            function = body(lines, [of], [tensor("uint32", shape), of])
            zeros = oracles.other(lambda x: (jnp.zeros(x.shape, "uint32"), x), "programs of one device: the id is 0")
            yield Case(op, "none", f"{dtype} {shape}", function, [x], oracle=zeros)


@family
def once_dynamic(rng: np.random.Generator) -> Iterator[Case]:
    """Ops of dynamic shape whose shapes turn out to be static."""
    static = "XLA:CPU takes no dynamic shapes: the static op of the same meaning"
    for n in (1, 2, 3, 5, 7):
        x = inputs.values(rng, "float32", (n, 6))
        of = tensor("float32", (n, 6))

        def program(lines, result, parameters=(of,)):
            to = tensor("float32", result)
            return body(f"{lines}\nreturn %r : {to}", list(parameters), [to])

        def shape(*sizes, name="s"):
            values = ", ".join(map(str, sizes))
            return f"%{name} = stablehlo.constant dense<[{values}]> : tensor<{len(sizes)}xi64>"

        to = tensor("float32", (6, n))
        lines = f"""{shape(6, n)}
          %r = "stablehlo.dynamic_reshape"(%0, %s) : ({of}, tensor<2xi64>) -> {to}"""
        same = oracles.other(lambda x: x.reshape(x.shape[1], x.shape[0]), static)
        yield Case("dynamic_reshape", "float32", f"{n}", program(lines, (6, n)), [x], oracle=same)
        to = tensor("float32", (4, n, 6))
        lines = f"""{shape(4, n, 6)}
          %r = "stablehlo.dynamic_broadcast_in_dim"(%0, %s) <{{broadcast_dimensions = array<i64: 1, 2>}}>
            : ({of}, tensor<3xi64>) -> {to}"""
        same = oracles.other(lambda x: jnp.broadcast_to(x, (4, *x.shape)), static)
        yield Case("dynamic_broadcast_in_dim", "float32", f"{n}", program(lines, (4, n, 6)), [x], oracle=same)
        to = tensor("float32", (n, 4))
        lines = f"""{shape(n, 4)}
          %r = "stablehlo.dynamic_iota"(%s) <{{iota_dimension = 1 : i64}}> : (tensor<2xi64>) -> {to}"""
        same = oracles.other(lambda n=n: lax.broadcasted_iota("float32", (n, 4), 1), static)
        yield Case("dynamic_iota", "float32", f"{n}", program(lines, (n, 4), ()), [], oracle=same)
        to = tensor("float32", (n + 3, 17))
        scalar = tensor("float32")
        lines = f"""{shape(1, 2, name="l")}\n{shape(2, -1, name="h")}\n{shape(0, 2, name="i")}
          %v = stablehlo.constant dense<2.5> : {scalar}
          %r = "stablehlo.dynamic_pad"(%0, %v, %l, %h, %i) :
            ({of}, {scalar}, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> {to}"""
        same = oracles.other(lambda x: lax.pad(x, np.float32(2.5), ((1, 2, 0), (2, -1, 2))), static)
        yield Case("dynamic_pad", "float32", f"{n}", program(lines, (n + 3, 17)), [x], oracle=same)
        to = tensor("float32", (n, 2))
        lines = f"""{shape(0, 1, name="a")}\n{shape(n, 5, name="b")}\n{shape(1, 2, name="c")}
          %r = "stablehlo.real_dynamic_slice"(%0, %a, %b, %c) :
            ({of}, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> {to}"""
        same = oracles.other(lambda x: x[:, 1:5:2], static)
        yield Case("real_dynamic_slice", "float32", f"{n}", program(lines, (n, 2)), [x], oracle=same)
        i, at = rng.integers(-2, n + 2, (3, 1)), tensor("int64", (3, 1))
        to = tensor("float32", (3, 6))
        lines = f"""{shape(1, 6)}
          %r = "stablehlo.dynamic_gather"(%0, %1, %s) <{{dimension_numbers = #stablehlo.gather<offset_dims = [1],
            collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}}> :
            ({of}, {at}, tensor<2xi64>) -> {to}"""
        same = oracles.other(lambda x, i: jnp.take(x, i[:, 0], 0, mode="clip"), static)
        function = program(lines, (3, 6), (of, at))
        yield Case("dynamic_gather", "float32", f"{n}", function, [x, np.maximum(i, 0)], oracle=same)
        lines = f"""
          %n = stablehlo.constant dense<{n}> : tensor<i32>
          %r = "stablehlo.set_dimension_size"(%0, %n) <{{dimension = 0 : i64}}> : ({of}, tensor<i32>) -> {of}"""
        same = oracles.other(lambda x: x, static)
        yield Case("set_dimension_size", "float32", f"{n}", program(lines, (n, 6)), [x], oracle=same)
        x, w = inputs.moderate(rng, "float32", (1, n + 2, 3)), inputs.moderate(rng, "float32", (3, 3, 2))
        types = (tensor("float32", x.shape), tensor("float32", w.shape))
        to = tensor("float32", (1, n + 2, 2))
        lines = f"""
          %p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>
          %r = "stablehlo.dynamic_conv"(%0, %1, %p) <{{
            dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
            feature_group_count = 1 : i64, batch_group_count = 1 : i64}}> :
            ({types[0]}, {types[1]}, tensor<1x2xi64>) -> {to}"""
        conv = lambda x, w: lax.conv_general_dilated(x, w, (1,), [(1, 1)], dimension_numbers=("NWC", "WIO", "NWC"))  # noqa: E731
        function = program(lines, (1, n + 2, 2), types)
        yield Case("dynamic_conv", "float32", f"{n}", function, [x, w], sums(9), oracle=oracles.other(conv, static))


@family
def normalisation(rng: np.random.Generator) -> Iterator[Case]:
    """Batch normalisation and its gradient."""
    for dtype in inputs.FLOATS:
        for shape, axis in (((4, 3), 1), ((2, 5, 3), 2), ((3, 4, 2), 0), ((1, 7), 1), ((2, 3, 4, 5), 1)):
            count = int(np.prod(shape)) // shape[axis]
            near = sums(count, 16)
            of, per = tensor(dtype, shape), tensor(dtype, (shape[axis],))
            x, g = inputs.moderate(rng, dtype, shape), inputs.moderate(rng, dtype, shape)
            scale, offset, mean = (inputs.moderate(rng, dtype, (shape[axis],)) for _ in range(3))
            variance = np.abs(inputs.moderate(rng, dtype, (shape[axis],))) + np.asarray(0.5, dtype=x.dtype)
            options = f"epsilon = 1.0e-3 : f32, feature_index = {axis} : i64"
            for op, types, results, operands in (
                ("batch_norm_inference", [of, per, per, per, per], [of], [x, scale, offset, mean, variance]),
                ("batch_norm_training", [of, per, per], [of, per, per], [x, scale, offset]),
                ("batch_norm_grad", [of, per, per, per, of], [of, per, per], [x, scale, mean, variance, g]),
            ):
                function = single(f"stablehlo.{op}", types, results, options)
                yield Case(op, dtype, f"{shape} {axis}", function, operands, near)
