//! Older and other spellings of what the corpus has in jaxlib's own.

use oxcall_hlo::{ErrorKind, FuncId, OpKind, parse_text};

use super::{parse, program, reprint};

/// The spelling reads as `canonical`, and that as itself.
#[track_caller]
fn same(spelling: &str, canonical: &str) {
    assert_eq!(reprint(spelling), canonical);
    assert_eq!(reprint(canonical), canonical);
}

#[test]
fn attributes_of_older_releases() {
    let canonical = "%0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>";
    for attributes in [
        "{permutation = dense<[1, 0]> : tensor<2xi64>}",
        "{permutation = array<i64: 1, 0>}",
        "{permutation = [1, 0]}",
        "<{permutation = array<i64: 1, 0>}> {mhlo.frontend_attributes = {}}",
        "<{\"permutation\" = dense<\"0x01000000000000000000000000000000\"> : tensor<2xi64>}>",
    ] {
        same(
            &format!("%t = \"stablehlo.transpose\"(%arg0) {attributes} : (tensor<2x3xf32>) -> tensor<3x2xf32>"),
            canonical,
        );
    }
    same(
        r#"%0 = "stablehlo.pad"(%arg0, %arg0) {edge_padding_low = dense<1> : tensor<2xi64>, edge_padding_high = dense<0> : tensor<2xi64>, interior_padding = dense<0> : tensor<2xi64>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x4xf32>"#,
        "%0 = stablehlo.pad %arg0, %arg0, low = [1, 1], high = [0, 0], interior = [0, 0] : \
         (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3x4xf32>",
    );
    same(
        "%0 = stablehlo.compare  LT, %arg0, %arg0,  FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
        "%0 = stablehlo.compare LT, %arg0, %arg0, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
    );
    for direction in ["#chlo<comparison_direction LT>", "#stablehlo<comparison_direction LT>", "\"LT\""] {
        same(
            &format!(
                "%0 = \"stablehlo.compare\"(%arg0, %arg0) {{comparison_direction = {direction}}} : \
                 (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>"
            ),
            "%0 = stablehlo.compare LT, %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>",
        );
    }
}

#[test]
fn versions_of_custom_calls() {
    for version in 0..5 {
        let call = format!(
            "%0 = stablehlo.custom_call @f(%arg0) {{api_version = {version} : i32}} : (tensor<2x3xf32>) -> tensor<2x3xf32>"
        );
        let module = parse_text(&program(&call)).unwrap();
        let OpKind::CustomCall(read) = &module.main().body.ops[0].kind else { panic!("{call}") };
        assert_eq!(read.api_version as usize, version, "{call}");
    }
}

#[test]
fn legacy_ops() {
    same(
        r#"%0 = "stablehlo.broadcast"(%arg0) {broadcast_sizes = dense<[4, 5]> : tensor<2xi64>} : (tensor<2x3xf32>) -> tensor<4x5x2x3xf32>"#,
        "%0 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<2x3xf32>) -> tensor<4x5x2x3xf32>",
    );
    same(
        "%0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n\
         %1 = stablehlo.dot %arg0, %0, precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
        "%0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>\n\
         %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : \
         (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>",
    );
    same("%0 = stablehlo.create_token : !stablehlo.token", "%0 = stablehlo.after_all : !stablehlo.token");
}

#[test]
fn chlo_that_broadcasts_nothing() {
    same(
        "%0 = chlo.broadcast_add %arg0, %arg0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n\
         %1 = chlo.broadcast_compare %arg1, %arg1 {comparison_direction = #chlo<comparison_direction EQ>} : \
         (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>\n\
         %2 = \"chlo.constant_like\"(%arg0) {value = 2.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>\n\
         %3 = chlo.constant dense<1> : tensor<2xi32>",
        "%0 = stablehlo.add %arg0, %arg0 : tensor<2x3xf32>\n\
         %1 = stablehlo.compare EQ, %arg1, %arg1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi1>\n\
         %2 = stablehlo.constant dense<2.5> : tensor<2x3xf32>\n\
         %3 = stablehlo.constant dense<1> : tensor<2xi32>",
    );
    let broadcast = "%0 = chlo.broadcast_add %arg0, %c : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>";
    let text = program(&format!("%c = stablehlo.constant dense<1.0> : tensor<f32>\n{broadcast}"));
    assert_eq!(parse_text(&text).unwrap_err().kind, ErrorKind::Unsupported);
}

#[test]
fn selections_are_stable_anyway() {
    same(
        "%0:2 = \"chlo.top_k\"(%arg0) <{is_stable = true, k = 2 : i64}> : \
         (tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi32>)",
        "%0:2 = chlo.top_k(%arg0, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)",
    );
}

#[test]
fn windows_without_attributes() {
    let shape = "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>";
    same(
        &format!(
            "%0 = stablehlo.convolution(%arg0, %arg0) dim_numbers = [b, f]x[i, o]->[b, f], window = {{}} \
             {{feature_group_count = 1 : i64, batch_group_count = 1 : i64}} : {shape}"
        ),
        &format!(
            "%0 = stablehlo.convolution(%arg0, %arg0) dim_numbers = [b, f]x[i, o]->[b, f], window = {{stride = [], \
             pad = [], lhs_dilate = [], rhs_dilate = [], reverse = []}} \
             {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : {shape}"
        ),
    );
}

#[test]
fn convolutions_in_generic_form() {
    let shape = "(tensor<1x4x4x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x3x3x1xf32>";
    let operands = "%0 = stablehlo.constant dense<1.0> : tensor<1x4x4x1xf32>\n\
                    %1 = stablehlo.constant dense<2.0> : tensor<2x2x1x1xf32>\n";
    let canonical = format!(
        "{operands}%2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = \
         {{stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]}} \
         {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : {shape}"
    );
    // Some printers write flags as numbers.
    assert_eq!(
        reprint(&canonical.replace("[false, false]", "[1, 0]")),
        canonical.replace("[false, false]", "[true, false]")
    );
    let raw = "#stablehlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, \
               input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2, \
               kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0, \
               output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>";
    for dims in [raw, "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"] {
        same(
            &format!(
                "{operands}%2 = \"stablehlo.convolution\"(%0, %1) {{batch_group_count = 1 : i64, dimension_numbers = \
                 {dims}, feature_group_count = 1 : i64, padding = dense<0> : tensor<2x2xi64>, window_reversal = \
                 dense<false> : tensor<2xi1>, window_strides = dense<1> : tensor<2xi64>}} : {shape}"
            ),
            &canonical,
        );
    }
}

#[test]
fn comments_aliases_and_names() {
    let text = r##"// A comment.
        #gather = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
        !vector = tensor<8xf32>
        module @"a module" attributes {a.b = #gather, c.d = @"x y"} {
          func.func @main(%x: tensor<3x8xf32> loc("x"), %i: tensor<2x1xi32>) -> !vector attributes {execution_thread = "main"} { // trailing
            %first, %second = "stablehlo.optimization_barrier"(%x, %i) : (tensor<3x8xf32>, tensor<2x1xi32>) -> (tensor<3x8xf32>, tensor<2x1xi32>) loc(fused<"m">["a", callsite("b" at "f.py":1:2 to :7)])
            %0 = "stablehlo.gather"(%first, %second) <{dimension_numbers = #gather, slice_sizes = array<i64: 1, 8>}> : (tensor<3x8xf32>, tensor<2x1xi32>) -> tensor<2x8xf32> loc(#loc1)
            %1 = stablehlo.slice %0 [0:1, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32> loc(unknown)
            %named_value-2 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> !vector
            return %named_value-2 : !vector
          } loc("f")
        } loc(#loc)
        #loc = loc("file.py":1:0)
        #loc1 = loc("jit(f)/gather"(#loc))
    "##;
    let module = parse("aliases", text);
    assert_eq!(module.name, "a module");
    let locations: Vec<String> =
        module.main().body.ops.iter().map(|op| module.location(op.location).to_string()).collect();
    let gather = "jit(f)/gather, file.py:1:0";
    assert_eq!(locations, ["a; b, called at f.py:1:2", gather, "unknown location", "-:9:30"]);
    let printed = module.to_string();
    assert!(printed.starts_with("module @\"a module\" attributes {a.b = #stablehlo.gather<"), "{printed}");
    assert_eq!(parse("printed", &printed).to_string(), printed);
}

#[test]
fn functions_alone_are_a_module() {
    let text = "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }";
    assert_eq!(parse("function", text).main().name, "f");
    let text = "func.func private @g(tensor<2xf32>) -> tensor<2xf32>\nfunc.func @main() { return }";
    assert_eq!(parse("declaration", text).funcs.len(), 1);
}

#[test]
fn shardings_in_both_forms() {
    const SHARDING: &str = "<@mesh, [{\"x\", ?}p1, {\"y\":(2)4}], replicated={\"z\"}, unreduced={\"w\"}>";
    same(
        &format!(
            "%0 = \"sdy.sharding_constraint\"(%arg0) <{{sharding = #sdy.sharding{SHARDING}}}> : (tensor<2x3xf32>) -> \
             tensor<2x3xf32>"
        ),
        &format!("%0 = sdy.sharding_constraint %arg0 {SHARDING} : tensor<2x3xf32>"),
    );
    same(
        "\"sdy.manual_computation\"(%arg0) <{in_shardings = #sdy.sharding_per_value<[<mesh<[\"x\"=2], \
         device_ids=[1, 0]>, [{\"x\"}, {?}]>]>, manual_axes = #sdy<manual_axes{\"x\"}>, out_shardings = \
         #sdy.sharding_per_value<[]>}> ({\n^bb0(%arg3: tensor<1x3xf32>):\nsdy.return\n}) : (tensor<2x3xf32>) -> ()",
        "sdy.manual_computation(%arg0) in_shardings=[<mesh<[\"x\"=2], device_ids=[1, 0]>, [{\"x\"}, {?}]>] \
         out_shardings=[] manual_axes={\"x\"} (%arg3: tensor<1x3xf32>) {\nsdy.return\n} : (tensor<2x3xf32>) -> ()",
    );
}

#[test]
fn meshes_in_both_forms() {
    let text = |mesh: &str| format!("{mesh}\nfunc.func @main() {{\nreturn\n}}");
    let pretty = parse("pretty", &text("sdy.mesh @m = <[\"x\"=2, \"y\"=2], device_ids=[3, 2, 1, 0]> {a = 1 : i64}"));
    let generic = "\"sdy.mesh\"() <{mesh = #sdy.mesh<[\"x\"=2, \"y\"=2], device_ids=[3, 2, 1, 0]>, sym_name = \"m\"}> : \
                   () -> ()";
    assert_eq!(pretty.meshes, parse("generic", &text(generic)).meshes);
    assert!(
        oxcall_hlo::print_module(&pretty).contains("sdy.mesh @m = <[\"x\"=2, \"y\"=2], device_ids=[3, 2, 1, 0]>\n")
    );
    for wrong in ["<[\"x\"=0]>", "<[\"x\"=2, \"x\"=2]>", "<[\"x\"=2], device_ids=[0, 0]>", "<[\"x\"=-1]>"] {
        assert!(oxcall_hlo::parse_text(&text(&format!("sdy.mesh @m = {wrong}"))).is_err(), "{wrong}");
    }
}

/// What means nothing here is kept in its words.
#[test]
fn attributes_that_mean_nothing_here() {
    for (text, canonical) in [
        ("1 : i1", "true"),
        ("0 : i1", "false"),
        ("-1", "-1 : i64"),
        ("1.5", "1.5 : f64"),
        ("-1.5 : f32", "-1.5 : f32"),
        ("1.", "1.0 : f64"),
        ("2.5e+1", "25.0 : f64"),
        ("25.0E-1", "2.5 : f64"),
        ("#other.kind<-(1)>", "#other.kind<-(1)>"),
        ("{a = unit}", "{a}"),
        ("tensor<2xf32>", "tensor<2xf32>"),
        ("!stablehlo.token", "!stablehlo.token"),
        ("!other.kind<1>", "!other.kind<1>"),
        ("strided<[1, 2]>", "strided<[1, 2]>"),
        ("[#other.kind, 1]", "[#other.kind, 1 : i64]"),
        ("#other.kind<\"]\\\"\", (a) -> [b], c-d>", "#other.kind<\"]\\\"\", (a) -> [b], c-d>"),
        ("loc(\"f\":1:2)", "loc(\"f\":1:2)"),
        ("#sdy<other<1>>", "#sdy<other<1>>"),
        ("#other.kind<[1, {a = 2}]>", "#other.kind<[1, {a = 2}]>"),
        ("(tensor<f32>) -> tensor<f32>", "(tensor<f32>) -> tensor<f32>"),
        ("[unit, @f, {b, a = 1}]", "[unit, @f, {a = 1 : i64, b}]"),
    ] {
        let reprint = |text: &str| parse(text, text).to_string();
        let printed = reprint(&format!("module attributes {{x.y = {text}}} {{ func.func @main() {{ return }} }}"));
        assert!(printed.starts_with(&format!("module attributes {{x.y = {canonical}}} {{")), "{printed}");
        assert_eq!(reprint(&printed), printed);
    }
}

#[test]
fn comments_and_spaces() {
    let text = "//\nfunc.func // one\r\n\t@main() { // two / three\n return }// four";
    assert_eq!(parse("comments", text).main().name, "main");
    let error = parse_text("func.func @main() { / one\n return }").unwrap_err().to_string();
    assert!(error.contains("expected an op, but found `/`"), "{error}");
}

/// Functions are numbered as they are defined, wherever they are named first.
#[test]
fn functions_that_are_named_before_they_are_defined() {
    let text = "func.func @main() {
        stablehlo.custom_call @target() {called_computations = [@second, @first]} : () -> ()
        func.call @second() : () -> ()
        return
    }
    func.func private @first() { return }
    func.func private @second() { return }";
    let module = parse("functions", text);
    let [custom, call] = &module.main().body.ops[..] else { panic!() };
    let name = |id: FuncId| &module.funcs[id.0 as usize].name[..];
    let OpKind::CustomCall(custom) = &custom.kind else { panic!() };
    assert_eq!(custom.called_computations.iter().map(|&id| name(id)).collect::<Vec<_>>(), ["second", "first"]);
    let OpKind::Call(call) = call.kind else { panic!() };
    assert_eq!(name(call), "second");
}

#[test]
fn escapes_in_strings() {
    let text = r#"module @"a\tb\n\\\22\41" { func.func @main() { return } }"#;
    let module = parse("escapes", text);
    assert_eq!(module.name, "a\tb\n\\\"A");
    assert_eq!(parse("printed", &module.to_string()).name, module.name);
}

#[test]
fn ranges_of_locations_are_their_starts() {
    let of = |location: &str| {
        let lines = format!("%0 = stablehlo.negate %arg0 : tensor<2x3xf32> loc({location})");
        let module = parse(location, &program(&lines));
        module.location(module.main().body.ops[0].location).to_string()
    };
    assert_eq!(of("\"f\":1:2 to 3:4"), "f:1:2");
    assert_eq!(of("\"f\":1:2 to :4"), "f:1:2");
    assert_eq!(of("\"f\":5"), "f:5:0");
    assert_eq!(of("\"name\"(\"f\":1:2)"), "name, f:1:2");
    assert_eq!(of("callsite(\"a\" at callsite(\"b\" at unknown))"), "a, called at b, called at unknown location");
}

#[test]
fn modules_in_generic_form() {
    let func = "\"func.func\"() <{function_type = () -> (), sym_name = \"main\", sym_visibility = \"private\"}> ({\n\
                \"func.return\"() : () -> ()\n}) : () -> ()";
    for block in ["", "^bb0:\n"] {
        let text =
            format!("\"builtin.module\"() <{{sym_name = \"m\"}}> ({{\n{block}{func}\n}}) {{a.b = 1 : i64}} : () -> ()");
        let module = parse("generic", &text);
        assert_eq!((&module.name[..], module.attributes.len(), module.main().public), ("m", 1, false));
    }
    // One without a body is declared.
    let declared = "\"func.func\"() <{function_type = () -> (), sym_name = \"g\"}> ({}) : () -> ()";
    assert_eq!(parse("declared", &format!("{declared}\n{func}")).funcs.len(), 1);
}
