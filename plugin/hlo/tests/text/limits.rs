//! Limits of size and depth: the last text that is read, and the first that is not.

use oxcall_hlo::{ErrorKind, Module, parse_text};

use super::{parse, program};

/// A module with an attribute.
fn with_attribute(aliases: &str, attribute: &str) -> String {
    format!("{aliases}\nmodule attributes {{x.y = {attribute}}} {{ func.func @main() {{ return }} }}")
}

fn nested(depth: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[track_caller]
fn too_deep(text: &str) {
    let error = parse_text(text).unwrap_err().to_string();
    assert!(error.contains("nested more than 96 levels deep"), "{error}");
}

#[test]
fn levels_of_attributes() {
    let lists = |depth| nested(depth, "[", "1", "]");
    parse("96 levels", &with_attribute("", &lists(95)));
    too_deep(&with_attribute("", &lists(96)));
    // Those beside each other are no levels.
    parse("siblings", &with_attribute("", &format!("[{}]", ["[[1]]"; 200].join(", "))));
    // What an alias stands for counts where it is used.
    let alias = format!("#a = {}", lists(49));
    parse("alias", &with_attribute(&alias, &nested(45, "[", "#a", "]")));
    too_deep(&with_attribute(&alias, &nested(46, "[", "#a", "]")));
    let alias = format!("#a = {}", nested(49, "{b = ", "1", "}"));
    parse("alias", &with_attribute(&alias, &nested(45, "[", "#a", "]")));
    too_deep(&with_attribute(&alias, &nested(46, "[", "#a", "]")));
}

#[test]
fn levels_of_types() {
    let tuples = |depth, inner| nested(depth, "tuple<", inner, ">");
    let function = |aliases: &str, ty: String| format!("{aliases}\nfunc.func @main(%x: {ty}) {{ return }}");
    parse("96 levels", &function("", tuples(96, "tensor<f32>")));
    too_deep(&function("", tuples(97, "tensor<f32>")));
    let alias = format!("!t = {}", tuples(49, "tensor<f32>"));
    parse("alias", &function(&alias, tuples(46, "!t")));
    too_deep(&function(&alias, tuples(47, "!t")));
}

/// An alias costs what copying it does, whatever it stands for.
#[test]
fn uses_of_large_aliases() {
    let long = "long".repeat(500);
    let axes: Vec<String> = (0..300).map(|axis| format!("\"x{axis}\"")).collect();
    let mesh = axes.join("=1, ") + "=1";
    let many = |item: &str| format!("[{}]", [item; 1000].join(", "));
    for attribute in [
        format!("\"{long}\""),
        format!("@{long}"),
        format!("#other.{long}"),
        format!("{{{long} = 1}}"),
        format!("tuple<{}>", ["tensor<f32>"; 500].join(", ")),
        format!("tensor<{}f32>", "1x".repeat(1000)),
        many("1"),
        many("\"\""),
        many("[]"),
        many("@\"\""),
        format!("{{\"\" = {}}}", many("1")),
        format!("#sdy.mesh<[{mesh}]>"),
        format!("#sdy.sharding<@{long}, []>"),
        format!("#sdy.sharding_per_value<[<@{long}, []>]>"),
        format!("#sdy.op_sharding_rule<([{}])->([])>", ["i"; 1000].join(", ")),
        format!("#sdy<manual_axes{{{}}}>", axes.join(", ")),
    ] {
        let alias = format!("#a = {attribute}");
        parse("two uses", &with_attribute(&alias, "[#a, #a]"));
        let error = parse_text(&with_attribute(&alias, &many("#a"))).unwrap_err();
        assert_eq!(error.kind, ErrorKind::TooLarge, "{attribute}");
    }
}

/// The location of the only op.
fn location(module: &Module) -> String {
    module.location(module.main().body.ops[0].location).to_string()
}

/// Of a location that aliases nest deeper, the innermost is left out.
#[test]
fn levels_of_locations() {
    for (open, close) in [("\"n\"(", ")"), ("callsite(\"n\" at ", ")"), ("callsite(", " at \"n\")"), ("fused[", "]")] {
        let chain = |length: usize| {
            let op = format!("%0 = stablehlo.negate %arg0 : tensor<2x3xf32> loc(#loc{length})");
            let aliases = (1..=length).map(|level| format!("#loc{level} = loc({open}#loc{}{close})\n", level - 1));
            let text = format!("#loc0 = loc(\"innermost\":1:1)\n{}{}", aliases.collect::<String>(), program(&op));
            location(&parse("chain", &text))
        };
        assert!(chain(32).contains("innermost"), "{open}");
        assert!(!chain(33).contains("innermost"), "{open}");
    }
}

#[test]
fn splats_of_integers() {
    let transpose = |constant: &str| {
        parse_text(&program(&format!(
            "%0 = \"stablehlo.transpose\"(%arg0) {{permutation = dense<{constant}>}} : (tensor<2x3xf32>) -> \
             tensor<2x3xf32>"
        )))
    };
    transpose("0> : tensor<256xi64").unwrap();
    let error = transpose("0> : tensor<257xi64").unwrap_err();
    assert!(error.message.contains("`permutation` must be a list"), "{error}");
    let numbers: Vec<usize> = (0..257).collect();
    transpose(&format!("{numbers:?}> : tensor<257xi64")).unwrap();
}

#[test]
fn numbers_of_results() {
    let error = |count: &str| {
        parse_text(&program(&format!("%0:{count} = stablehlo.negate %arg0 : tensor<2x3xf32>"))).unwrap_err().to_string()
    };
    assert!(error("4294967294").contains("4294967294 results are named"), "{}", error("4294967294"));
    for count in ["4294967295", "-1"] {
        assert!(error(count).contains("expected the number of results"), "{}", error(count));
    }
}

#[test]
fn names_of_factors() {
    let rule = |factor: &str| {
        parse_text(&program(&format!(
            "%0 = stablehlo.custom_call @f(%arg0) {{sdy.sharding_rule = #sdy.op_sharding_rule<([{factor}])->([i])>}} : \
             (tensor<2x3xf32>) -> tensor<2x3xf32>"
        )))
    };
    rule("z_4078").unwrap();
    assert!(rule("z_4079").unwrap_err().message.contains("expected the names of factors"));
}

/// Groups of processes as axes of a mesh may be many more than the text has characters.
#[test]
fn groups_as_axes_of_a_mesh() {
    let gather = |devices: usize| {
        parse_text(&program(&format!(
            "%0 = \"stablehlo.all_gather\"(%arg0) <{{all_gather_dim = 0 : i64, replica_groups = \
             #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = \"x\", \
             size = {devices}>]>, axes = [#stablehlo.axis_ref<name = \"x\">]>}}> : (tensor<2x3xf32>) -> tensor<4x3xf32>"
        )))
    };
    gather(1000).unwrap();
    assert_eq!(gather(1 << 20).unwrap_err().kind, ErrorKind::TooLarge);
}
