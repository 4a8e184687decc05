//! Error messages: line and column, op, and what is wrong.

use oxcall_hlo::{ErrorKind, parse_text};

use super::program;

/// The error of the text.
#[track_caller]
fn error_of(text: &str) -> String {
    parse_text(text).unwrap_err().to_string()
}

/// The error of [`program`] with these lines, the first of which is line 3.
#[track_caller]
fn error(lines: &str) -> String {
    error_of(&program(lines))
}

#[test]
fn values() {
    let add = "%0 = stablehlo.add %arg0, %missing : tensor<2x3xf32>";
    assert_eq!(error(add), "stablehlo.add: the value %missing is used before its definition (at 3:27)");
    let negate = "%0 = stablehlo.negate %arg0 : tensor<2x3xf32>";
    let twice = format!("{negate}\n{negate}");
    assert_eq!(error(&twice), "stablehlo.negate: the value %0 is defined twice (at 4:1)");
    assert_eq!(
        error("%0 = stablehlo.negate %arg0 : tensor<3x3xf32>"),
        "stablehlo.negate: the operand must have the type of its definition, tensor<2x3xf32>, got tensor<3x3xf32> (at 3:23)"
    );
    assert_eq!(
        error("%0 = stablehlo.negate %arg0#1 : tensor<2x3xf32>"),
        "stablehlo.negate: %arg0#1 is used, but %arg0 has 1 results (at 3:23)"
    );
    assert_eq!(
        error("%0:2 = stablehlo.negate %arg0 : tensor<2x3xf32>"),
        "stablehlo.negate: 2 results are named, but the op has 1 (at 3:8)"
    );
    // What a region defines is not seen outside of it.
    let scoped = "%0 = \"stablehlo.if\"(%arg2) ({\n\
                  %1 = stablehlo.negate %arg0 : tensor<2x3xf32>\n\
                  stablehlo.return %1 : tensor<2x3xf32>\n}, {\n\
                  stablehlo.return %1 : tensor<2x3xf32>\n}) : (tensor<i1>) -> tensor<2x3xf32>";
    assert!(error(scoped).contains("the value %1 is used before its definition (at 7:18)"), "{}", error(scoped));
}

#[test]
fn attributes() {
    assert_eq!(
        error("%0 = \"stablehlo.transpose\"(%arg0) : (tensor<2x3xf32>) -> tensor<3x2xf32>"),
        "stablehlo.transpose: the attribute `permutation` is missing (at 3:6)"
    );
    assert_eq!(
        error("%0 = stablehlo.transpose %arg0, dims = [1, -1] : (tensor<2x3xf32>) -> tensor<3x2xf32>"),
        "stablehlo.transpose: the attribute `permutation` must be a list of non-negative integers (at 3:40)"
    );
    assert_eq!(
        error("%0 = stablehlo.transpose %arg0, perm = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>"),
        "stablehlo.transpose: expected `dims`, but found `perm` (at 3:33)"
    );
    assert_eq!(
        error("%0 = \"stablehlo.negate\"(%arg0) <{fast = true}> : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
        "stablehlo.negate: the op has no attribute `fast` (at 3:34)"
    );
    assert_eq!(
        error("%0 = stablehlo.compare XX, %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>"),
        "stablehlo.compare: the attribute `comparison_direction` must be one of the names that StableHLO defines for \
         it (at 3:24)"
    );
    let gather = "%0 = \"stablehlo.gather\"(%arg0, %arg1) {dimension_numbers = #stablehlo.gather<offset = [1]>, \
                  slice_sizes = array<i64: 1>} : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>";
    assert_eq!(error(gather), "stablehlo.gather: the op has no attribute `offset` (at 3:40)");
}

#[test]
fn constants() {
    let constant = |text: &str| error(&format!("%0 = stablehlo.constant {text}"));
    for (text, message) in [
        ("dense<300> : tensor<i8>", "300 does not fit type i8 (at 3:31)"),
        ("dense<-1> : tensor<ui8>", "1 does not fit type ui8 (at 3:31)"),
        ("dense<1> : tensor<f32>", "a number of type f32 needs a decimal point, got `1` (at 3:31)"),
        ("dense<0x1FFFFFFFF> : tensor<f32>", "0x1FFFFFFFF does not fit type f32 (at 3:31)"),
        ("dense<1.5> : tensor<i32>", "`1.5` is not a number of type i32 (at 3:31)"),
        ("dense<[1, 2]> : tensor<3xi32>", "expected 3 elements along dimension 0 of tensor<3xi32>, got 2 (at 3:31)"),
        (
            "dense<[[1], [2, 3]]> : tensor<2x1xi32>",
            "expected 1 elements along dimension 1 of tensor<2x1xi32>, got 2 (at 3:37)",
        ),
        ("dense<> : tensor<2xi32>", "expected 2 elements for tensor<2xi32>, got none (at 3:31)"),
        ("dense<\"0x0000\"> : tensor<2xi32>", "expected 8 bytes of elements for tensor<2xi32>, got 2 (at 3:31)"),
        (
            "dense<\"0x0\"> : tensor<2xi32>",
            "elements in hexadecimal must be whole bytes, got half a byte at the end (at 3:31)",
        ),
        ("dense<\"0xgg\"> : tensor<i8>", "a character in the elements is not a hexadecimal digit (at 3:31)"),
        (
            "dense<1> : tensor<9223372036854775807x2xi8>",
            "tensor<9223372036854775807x2xi8> does not fit in memory (at 3:36)",
        ),
    ] {
        assert_eq!(constant(text), format!("stablehlo.constant: {message}"));
    }
    assert!(constant("dense_resource<__elided__> : tensor<4xf32>").contains("__elided__"));
}

#[test]
fn what_is_not_supported_is_named() {
    for (lines, message) in [
        (
            "%0 = \"stablehlo.outfeed\"(%arg0) {} : (tensor<2x3xf32>) -> tensor<4x3xf32>",
            "stablehlo.outfeed: infeed and outfeed are not supported (at 3:6)",
        ),
        (
            "%0 = \"stablehlo.dynamic_gather\"(%arg0, %arg1, %arg1) {dimension_numbers = #stablehlo.gather<>} : \
             (tensor<2x3xf32>, tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<6xf32>",
            "stablehlo.dynamic_gather: operand 2 must be a constant: dynamic shapes are not supported here (at 3:6)",
        ),
        (
            "%0 = \"stablehlo.negate\"(%arg0) : (tensor<2x3xf32>) -> tensor<2x!quant.uniform<u8:f32, 34.0:16>>",
            "stablehlo.negate: quantized types are not supported: !quant.uniform<u8:f32, 34.0:16> (at 3:64)",
        ),
        (
            "%0 = \"stablehlo.negate\"(%arg0) : (tensor<2x3xf32>) -> tensor<?x3xf32>",
            "stablehlo.negate: tensors with dynamic dimensions without bounds are not supported (at 3:55)",
        ),
        (
            "%0 = \"stablehlo.negate\"(%arg0) : (tensor<2x3xf32>) -> tensor<?x3xf32, #sparse>",
            "stablehlo.negate: tensors with an encoding other than bounds of dynamic dimensions are not supported \
             (at 3:71)",
        ),
        (
            "%0 = \"stablehlo.negate\"(%arg0) : (tensor<2x3xf32>) -> memref<2x3xf32>",
            "stablehlo.negate: type memref<2x3xf32> is not supported (at 3:55)",
        ),
        ("%0 = stablehlo.frobnicate %arg0", "stablehlo.frobnicate: unknown op (at 3:6)"),
        ("%0 = arith.addf %arg0, %arg0 : f32", "arith.addf: ops of this dialect are not supported (at 3:6)"),
        (
            "%0 = sdy.all_gather [{\"x\"}, {}] %arg0 out_sharding=<@mesh, [{}, {}]> : tensor<2x3xf32>",
            "sdy.all_gather: this op of Shardy is not supported (at 3:6)",
        ),
        (
            "%0 = \"stablehlo.case\"(%arg1) ({\nstablehlo.return\n^bb1:\nstablehlo.return\n}) : (tensor<i32>) -> ()",
            "stablehlo.case: a region of several blocks is not supported (at 5:1)",
        ),
    ] {
        let error = parse_text(&program(lines)).unwrap_err();
        assert_eq!((error.kind, &*error.to_string()), (ErrorKind::Unsupported, message));
    }
    let error = error_of("module { ml_program.global @x : tensor<f32> }");
    assert_eq!(error, "ml_program.global: is not supported in a module: only functions are (at 1:10)");
}

#[test]
fn what_is_no_program() {
    for (text, message) in [
        (
            "func.func @main(%x: tensor<f32>) { %0 = mhlo.add %x, %x : tensor<f32> return }",
            "mhlo.add: this is MHLO text, which is not supported; convert it to StableHLO (--hlo-legalize-to-stablehlo) \
             (at 1:41)",
        ),
        (
            "module { \"vhlo.func_v1\"() : () -> () }",
            "vhlo.func_v1: this is VHLO text, which is not supported; send it as bytecode, or convert it to StableHLO \
             (--vhlo-legalize-to-stablehlo) (at 1:10)",
        ),
        ("HloModule m", "this is HLO text; expected MLIR text of StableHLO, which begins with `module` (at 1:1)"),
        ("", "the program has no function @main"),
        ("module {", "expected a function, but the text ends (at 1:9)"),
        ("module { } module { }", "expected one module, got a second one (at 1:12)"),
        ("\u{fe}", "unexpected character '\u{fe}' (at 1:1)"),
        ("module { func.func @main() { return }\n \"abc", "func.func: a string is not closed (at 2:2)"),
        ("func.func @main() { }", "func.func: a region must end with a `return` (at 1:21)"),
        (
            "func.func @main() -> tensor<f32> { return }",
            "func.func: @main returns values of other types than it declares (at 1:11)",
        ),
        ("func.func @main() { func.call @f() : () -> () return }", "the function @f is not defined (at 1:21)"),
        ("func.func @f() { return } func.func @f() { return }", "the function @f is defined twice (at 1:37)"),
        ("#a = #b", "the alias #b is not defined (at 1:6)"),
        ("func.func @main() { return } loc(#loc9)", "the alias #loc9 is not defined (at 1:34)"),
    ] {
        assert_eq!(error_of(text), message, "{text}");
    }
}
