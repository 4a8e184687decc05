"""Drives a plugin's library with pypjrt, a PJRT client in pure Python that shares no code with XLA or with us.

    python pypjrt_check.py <plugin.so>

First its own conformance checks, which count what a plugin lacks as unsupported; then what the plugin must not lack.
"""

import array
import sys

import pypjrt
from pypjrt import conform, errors, ffi

S32 = 4

INCREMENT = """
module @increment {
  func.func public @main(%%x: tensor<4xi32>%s) -> tensor<4xi32> {
    %%one = stablehlo.constant dense<1> : tensor<4xi32>
    %%y = stablehlo.add %%x, %%one : tensor<4xi32>
    return %%y : tensor<4xi32>
  }
}
"""

CUSTOM_CALL = """
module @calls_python {
  func.func public @main(%x: tensor<4xi32>) -> tensor<4xi32> {
    %y = stablehlo.custom_call @pypjrt_square(%x) {api_version = 4 : i32, backend_config = {}}
      : (tensor<4xi32>) -> tensor<4xi32>
    return %y : tensor<4xi32>
  }
}
"""


def put(client, values, device):
    return client.buffer_from_host(array.array("i", values), S32, [len(values)], device)


def get(buffer):
    out = array.array("i", [0] * 4)
    buffer.to_host(out)
    return list(out)


def check_execution(client, device):
    program = client.compile(INCREMENT % "")
    assert "increment" in program.name, program.name
    (out,) = program(put(client, [1, 2, 3, 4], device))
    (out,) = program(out)
    assert get(out) == [3, 4, 5, 6]


def check_donation(client, device):
    program = client.compile(INCREMENT % " {tf.aliasing_output = 0 : i32}")
    source = put(client, [1, 2, 3, 4], device)
    (kept,) = program(source, non_donatable=[0])
    assert get(kept) == [2, 3, 4, 5] and not source.is_deleted
    (out,) = program(source)
    assert get(out) == [2, 3, 4, 5] and source.is_deleted


def check_errors(client, device):
    for wrong in ["not a module", "module { func.func @main() -> tensor<2xf32> { } }", b"ML\xefR nonsense"]:
        try:
            client.compile(wrong)
        except errors.PjrtError as error:
            assert str(error)
        else:
            raise AssertionError(f"{wrong!r} compiled")


def check_custom_call(plugin, client, device):
    def square(call):
        (x,), (y,) = call.args, call.rets
        for i, value in enumerate(x.as_ctypes()):
            y.as_ctypes()[i] = value * value

    ffi.register(plugin, "pypjrt_square", square, platform=client.platform_name)
    (out,) = client.compile(CUSTOM_CALL)(put(client, [1, 2, 3, 4], device))
    assert get(out) == [1, 4, 9, 16]


def main(path):
    if conform.main([path, "-v"]) != 0:
        return 1
    plugin = pypjrt.Plugin(path)
    with pypjrt.Client.create(plugin, allow_multiple=True) as client, client.devices() as devices:
        check_execution(client, devices[0])
        check_donation(client, devices[0])
        check_errors(client, devices[0])
        check_custom_call(plugin, client, devices[0])
    print("pypjrt: all checks passed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
