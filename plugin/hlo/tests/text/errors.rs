//! Error messages: line and column, op, and what is wrong.

use oxcall_hlo::{ErrorKind, parse_text};

use super::{program, reprint};

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
    // The types of the generic form.
    let generic = |types: &str| error(&format!("%0 = \"stablehlo.add\"(%arg0, %arg0) : {types} -> tensor<2x3xf32>"));
    assert_eq!(
        generic("(tensor<2x3xf32>)"),
        "stablehlo.add: expected a type for each operand, got 2 operands and 1 types (at 3:6)"
    );
    assert_eq!(
        generic("(tensor<2x3xf32>, tensor<6xf32>)"),
        "stablehlo.add: the operand must have the type of its definition, tensor<2x3xf32>, got tensor<6xf32> (at 3:29)"
    );
    // What a region defines is not seen outside of it.
    let scoped = "%0 = \"stablehlo.if\"(%arg2) ({\n\
                  %1 = stablehlo.negate %arg0 : tensor<2x3xf32>\n\
                  stablehlo.return %1 : tensor<2x3xf32>\n}, {\n\
                  stablehlo.return %1 : tensor<2x3xf32>\n}) : (tensor<i1>) -> tensor<2x3xf32>";
    assert!(error(scoped).contains("the value %1 is used before its definition (at 7:18)"), "{}", error(scoped));
}

#[test]
fn attributes_with_parameters() {
    let gather = |numbers: &str| {
        error(&format!(
            "%0 = \"stablehlo.gather\"(%arg0, %arg0) <{{dimension_numbers = {numbers}, slice_sizes = array<i64: 1, 3>}}> : \
             (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>"
        ))
    };
    assert_eq!(
        gather("#stablehlo.gather<offset_dims = 1 2>"),
        "stablehlo.gather: in the attribute `dimension_numbers`: expected `>`, but found `2` (at 3:41)"
    );
    assert_eq!(
        gather("1"),
        "stablehlo.gather: in the attribute `dimension_numbers`: expected an attribute with parameters (at 3:41)"
    );
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
    // What is no property may be anything.
    reprint("%0 = \"stablehlo.negate\"(%arg0) {fast = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>");
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
        ("%0 = func.frobnicate %arg0", "func.frobnicate: unknown op (at 3:6)"),
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
        ("module attributes {a.b = \"x\ny\"} { }", "a string is not closed (at 1:26)"),
        ("func.func @main() { % = stablehlo.iota }", "func.func: expected a name after `%` (at 1:21)"),
        ("module @1 { }", "expected a name after `@` (at 1:8)"),
        ("module attributes {a.b = # } { }", "expected a name after `#` (at 1:26)"),
        ("module attributes {a.b = ! } { }", "expected a name after `!` (at 1:26)"),
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

/// The error of [`program`] with these lines says so.
#[track_caller]
fn says(lines: &str, words: &str) {
    let error = error(lines);
    assert!(error.contains(words), "{lines}\n{error}");
}

#[test]
fn names_are_given_once() {
    let unary = ": (tensor<2x3xf32>) -> tensor<2x3xf32>";
    says(
        &format!("%0 = \"stablehlo.negate\"(%arg0) {{a.b = 1, a.b = 2}} {unary}"),
        "the attribute `a.b` is given twice",
    );
    says(
        &format!("%0 = \"stablehlo.negate\"(%arg0) {{a.b = {{c = 1, c = 2}}}} {unary}"),
        "the attribute `c` is given twice",
    );
    for (aliases, name) in [
        ("#a = 1\n#a = 2", "#a"),
        ("!t = tensor<f32>\n!t = tensor<f64>", "!t"),
        ("#loc1 = loc(\"a\")\n#loc1 = loc(\"b\")", "#loc1"),
    ] {
        assert_eq!(error_of(aliases), format!("the alias {name} is defined twice (at 2:1)"));
    }
    // What begins with a digit is a number alone.
    says("%0a = stablehlo.iota dim = 0 : tensor<2xi32>", "expected `=`, but found `a`");
    says("%0 = return", "%0 cannot name a result: the op has none");
    says("%0 = \"stablehlo.return\"() : () -> ()", "%0 cannot name a result: the op has none");
}

#[test]
fn integers_have_64_bits() {
    for digits in ["9223372036854775808", "-9223372036854775809", "0x8000000000000000", "-0x8000000000000001"] {
        says(
            &format!("%0 = stablehlo.transpose %arg0, dims = [{digits}] : (tensor<2x3xf32>) -> tensor<2x3xf32>"),
            &format!("the integer {digits} does not fit 64 bits (at 3:41)"),
        );
    }
    // Without a digit after it, `0x` is no number.
    says(
        "%0 = stablehlo.transpose %arg0, dims = [0xg] : (tensor<2x3xf32>) -> tensor<2x3xf32>",
        "expected `]`, but found `xg` (at 3:42)",
    );
    for digits in ["9223372036854775807", "-9223372036854775808", "0x7fffffffffffffff", "-0x8000000000000000"] {
        let lines = format!("%0 = stablehlo.transpose %arg0, dims = [{digits}] : (tensor<2x3xf32>) -> tensor<2x3xf32>");
        assert!(parse_text(&program(&lines)).map_or_else(|error| !error.message.contains("64 bits"), |_| true));
    }
}

#[test]
fn attributes_of_another_kind() {
    let results = "-> tensor<2x3xf32>";
    let one = |op: &str, attributes: &str, operands: &str, types: &str| {
        format!("%0 = \"stablehlo.{op}\"({operands}) {{{attributes}}} : ({types}) {results}")
    };
    let matrix = "tensor<2x3xf32>";
    for (lines, words) in [
        (one("concatenate", "dimension = \"x\"", "%arg0", matrix), "`dimension` must be an integer"),
        (one("transpose", "permutation = 1", "%arg0", matrix), "`permutation` must be a list of integers"),
        (one("cholesky", "lower = 1", "%arg0", matrix), "`lower` must be a boolean"),
        (one("reduce_precision", "exponent_bits = true, mantissa_bits = 1 : i32", "%arg0", matrix), "`exponent_bits`"),
        (one("custom_call", "call_target_name = 1", "%arg0", matrix), "`call_target_name` must be a string"),
        (
            one("custom_call", "call_target_name = \"f\", called_computations = [1]", "%arg0", matrix),
            "called_computations",
        ),
        (one("custom_call", "call_target_name = \"f\", operand_layouts = 1", "%arg0", matrix), "operand_layouts"),
        (one("custom_call", "call_target_name = \"f\", output_operand_aliases = [1]", "%arg0", matrix), "alias"),
        (one("constant", "value = 1", "", ""), "`value` must be a constant tensor"),
        (one("fft", "fft_type = 1, fft_length = array<i64: 3>", "%arg0", matrix), "`fft_type`"),
        (
            one("gather", "dimension_numbers = 1, slice_sizes = array<i64: 1>", "%arg0", matrix),
            "expected an attribute with parameters",
        ),
    ] {
        says(&lines, words);
    }
    let aliases = |fields: &str| {
        one(
            "custom_call",
            &format!("call_target_name = \"f\", output_operand_aliases = [#stablehlo.output_operand_alias<{fields}>]"),
            "%arg0",
            matrix,
        )
    };
    reprint(&aliases("output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []"));
    for fields in ["output_tuple_indices = 1", "operand_index = [1]", "operand_index = -1", "operand = 1"] {
        says(&aliases(fields), "the attribute `output_operand_aliases` must be a list of output_operand_alias (at ");
    }
    let channel = |fields: &str| {
        format!(
            "%0 = \"stablehlo.collective_permute\"(%arg0) {{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>, \
             channel_handle = #stablehlo.channel_handle<{fields}>}} : (tensor<2x3xf32>) -> tensor<2x3xf32>"
        )
    };
    reprint(&channel("handle = 1, type = 1"));
    for fields in ["handle = [1]", "number = 1"] {
        says(&channel(fields), "the attribute `channel_handle` must be");
    }
}

#[test]
fn forms_of_ops() {
    for (lines, words) in [
        ("%0 = stablehlo.gather %arg0", "the op needs its generic form: \"stablehlo.gather\"(...)"),
        ("%0 = \"stablehlo.negate\"(%arg0)[^bb1] : (tensor<2x3xf32>) -> tensor<2x3xf32>", "branches to other blocks"),
        (
            "%0 = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.negate across dimensions = [0] : \
             (tensor<2x3xf32>, tensor<i1>) -> tensor<3xf32>",
            "`applies` takes a binary op with one result, got stablehlo.negate",
        ),
        ("%0 = stablehlo.select %arg2, %arg0 : tensor<i1>, tensor<2x3xf32>", "three operands and their types"),
        ("%0 = stablehlo.complex %arg0, %arg0 : tensor<2x3xf32>", "a complex tensor type"),
        ("%0 = stablehlo.tuple %arg0 : tensor<2x3xf32>", "a tuple type"),
        ("%0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>", "types as `(...) -> ...`"),
        (
            "%0 = stablehlo.reduce_precision %arg0, format = m5e10 : tensor<2x3xf32>",
            "expected a format such as `e5m10`, but found `m5e10`",
        ),
        ("%0 = stablehlo.constant dense<1> : vector<2xi32>", "vector types are not supported"),
        ("%0 = stablehlo.constant dense<1> : !stablehlo.token", "a constant must be a tensor, got !stablehlo.token"),
        ("%0 = stablehlo.negate %arg0 : tensor<2x3xf32> loc(3)", "expected a location"),
        ("%0 = stablehlo.negate %arg0 : tensor<2x3xf32> loc(\"f\":-1:2)", "a line or column must not be negative"),
    ] {
        says(lines, words);
    }
    let convolution = |dims: &str| {
        format!("%0 = stablehlo.convolution(%arg0, %arg0) dim_numbers = {dims}, window = {{}} : (tensor<2x3xf32>)")
    };
    says(&convolution("[b, 0, f]x[i, o]->[b, f]"), "stablehlo.convolution");
    says(&convolution("[b, 1, f]x[i, o]->[b, f]"), "expected spatial dimensions numbered from 0, 1 in all");
    says(&convolution("[b, 0]x[i, o]->[b, f]"), "the dimension `f` is missing");
    says(&convolution("[b, ?]x[i, o]->[b, f]"), "expected a dimension: a letter or a number");
    let labels = |count: usize| {
        let spatial = (0..count - 2).map(|dim| format!(", {dim}")).collect::<String>();
        convolution(&format!("[b, f{spatial}]x[i, i]->[b, f]"))
    };
    says(&labels(65), "expected at most 64 dimensions, got 65");
    says(&labels(64), "the dimension `o` is missing");
}

#[test]
fn bounds_of_dynamic_dimensions() {
    let of = |ty: &str| error_of(&format!("func.func @main(%x: tensor<{ty}>) {{ return }}"));
    for bounds in ["<?>", "<4, 5, ?>", "<?, ?>", "<4, 5>", "<x, ?>"] {
        let error = of(&format!("?x3xf32, #stablehlo.bounds{bounds}"));
        assert!(
            error.contains("expected the bound of each dynamic dimension, and `?` for others"),
            "{bounds}: {error}"
        );
    }
}

#[test]
fn modules_and_functions() {
    let function = |attributes: &str, region: &str| {
        format!("\"func.func\"() <{{function_type = (tensor<f32>) -> (){attributes}}}> {region} : () -> ()")
    };
    let body = "({ ^bb0(%x: tensor<f32>): \"func.return\"() : () -> () })";
    parse_text(&function(", sym_name = \"main\", arg_attrs = [{a.b = 1}]", body)).unwrap();
    for (text, words) in [
        (
            "{-# dialect_resources: {} #-}".to_owned(),
            "resources are not supported: constants must be in the text (at 1:1)",
        ),
        (function("", body), "a function must have a name"),
        (function(", sym_name = \"main\"", ""), "a function must have one region"),
        (
            function(", sym_name = \"main\", arg_attrs = 1", body),
            "arg_attrs and res_attrs must be lists of a dictionary each",
        ),
        (
            function(", sym_name = \"main\", arg_attrs = [1]", body),
            "arg_attrs and res_attrs must be lists of a dictionary each",
        ),
        (
            function(", sym_name = \"main\", arg_attrs = []", body),
            "arg_attrs and res_attrs must be lists of a dictionary each",
        ),
        (
            function(", sym_name = \"main\", res_attrs = [{}]", body),
            "arg_attrs and res_attrs must be lists of a dictionary each",
        ),
        ("\"sdy.mesh\"() <{sym_name = \"m\"}> : () -> ()".to_owned(), "a mesh has attributes `mesh` and `sym_name`"),
        ("\"sdy.mesh\"() <{}> ({}) : () -> ()".to_owned(), "a mesh has no region"),
    ] {
        let error = error_of(&text);
        assert!(error.contains(words), "{text}\n{error}");
    }
}

#[test]
fn parts_of_shardings() {
    let constraint = |sharding: &str| format!("%0 = sdy.sharding_constraint %arg0 {sharding} : tensor<2x3xf32>");
    says(&constraint("<@mesh, [{?, \"x\"}, {}]>"), "`?` must be the last entry of a dimension");
    says(&constraint("<@mesh, [{}, {}], manual={\"x\"}>"), "expected `unreduced`, but found `manual`");
    says(&constraint("<@mesh, [{\"x\":(-1)2}, {}]>"), "a size or index must not be negative");
    let rule = |rule: &str| {
        format!(
            "%0 = stablehlo.custom_call @f(%arg0) {{sdy.sharding_rule = #sdy.op_sharding_rule<{rule}>}} : \
             (tensor<2x3xf32>) -> tensor<2x3xf32>"
        )
    };
    says(&rule("([i, j])->([i, j]) {j=3, i=2}"), "the sizes of factors must be in the order of the factors");
    says(&rule("([i, h])->([i, j]) {i=2, j=3}"), "expected the names of factors: `i` to `z`, `z_1`, ...");
    says(&rule("([i, z_x])->([i, j]) {i=2, j=3}"), "expected the names of factors");
    says(&rule("([i, z_4096])->([i, j]) {i=2, j=3}"), "expected the names of factors");
    says(&rule("([i, j])->([i, j]) {i=2, j=3} other={i}"), "expected a kind of factors");
    let gather = |mesh: &str| {
        format!(
            "%0 = \"stablehlo.all_gather\"(%arg0) <{{all_gather_dim = 0 : i64, replica_groups = \
             #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<{mesh}>, axes = [#stablehlo.axis_ref<name = \
             \"x\">]>}}> : (tensor<2x3xf32>) -> tensor<4x3xf32>"
        )
    };
    let wrong = "the ids of devices must be integers, as many as devices";
    let axis = "axes = [#stablehlo.mesh_axis<name = \"x\", size = 2>]";
    reprint(&gather(&format!("{axis}, device_ids = dense<[1, 0]> : tensor<2xi64>")));
    says(&gather(&format!("{axis}, device_ids = dense<[1, 0, 2]> : tensor<3xi64>")), wrong);
    says(&gather(&format!("{axis}, device_ids = dense<[1, -1]> : tensor<2xi64>")), wrong);
    says(&gather("axes = [#stablehlo.other<name = \"x\", size = 2>]"), "expected `#stablehlo.mesh_axis`");
}
