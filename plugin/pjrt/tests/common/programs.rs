//! The same programs for each plugin that is tested, in a format that it knows.

/// Programs over `s32[4]`.
pub(crate) struct Programs {
    pub(crate) format: &'static str,
    /// `x + 1`, named `increment`.
    pub(crate) increment: &'static str,
    /// `x + 1` in the memory of `x`.
    pub(crate) increment_donated: &'static str,
    /// `x + y`.
    pub(crate) sum: &'static str,
    /// `x + y`, which takes the memory of `y`.
    pub(crate) sum_second_donated: &'static str,
    /// `x + y`, which takes the memory of both.
    pub(crate) sum_both_donated: &'static str,
    /// `x + 1` of positive numbers, long after it was started.
    pub(crate) slow: &'static str,
    /// Needs more memory than any machine has; `None` on platforms without such programs.
    pub(crate) huge: Option<&'static str>,
    /// As many elements of `x` as the first one says; `None` on platforms without dynamic shapes.
    pub(crate) first: Option<&'static str>,
    /// The sum of what `first` gives, four times.
    pub(crate) total: Option<&'static str>,
    /// `x`, and what the custom call `conformance_add_label` adds to it.
    pub(crate) labelled: &'static str,
}

pub(crate) const TOY: Programs = Programs {
    format: "toy",
    increment: "program increment\nparam s32[4]\nadd 1",
    increment_donated: "program increment\nparam s32[4] donated\nadd 1",
    sum: "program sum\nparam s32[4]\nparam s32[4]\nsum",
    sum_second_donated: "program sum\nparam s32[4]\nparam s32[4] donated\nsum",
    sum_both_donated: "program sum\nparam s32[4] donated\nparam s32[4] donated\nsum",
    slow: "program slow\nparam s32[4]\nsleep 20\nadd 1",
    huge: None,
    first: None,
    total: None,
    labelled: "program labelled\nparam s32[4]\ncall conformance_add_label",
};

macro_rules! stablehlo {
    ($name:literal, $args:literal, $body:literal) => {
        concat!(
            "module @",
            $name,
            " {\n  func.func public @main(",
            $args,
            ") -> tensor<4xi32> {\n    ",
            $body,
            "\n    return %r : tensor<4xi32>\n  }\n}\n"
        )
    };
}

const INCREMENT: &str = stablehlo!(
    "increment",
    "%x: tensor<4xi32>",
    "%c = stablehlo.constant dense<1> : tensor<4xi32>\n    %r = stablehlo.add %x, %c : tensor<4xi32>"
);

pub(crate) const STABLEHLO: Programs = Programs {
    format: "mlir",
    increment: INCREMENT,
    increment_donated: stablehlo!(
        "increment",
        "%x: tensor<4xi32> {tf.aliasing_output = 0 : i32}",
        "%c = stablehlo.constant dense<1> : tensor<4xi32>\n    %r = stablehlo.add %x, %c : tensor<4xi32>"
    ),
    sum: stablehlo!("sum", "%x: tensor<4xi32>, %y: tensor<4xi32>", "%r = stablehlo.add %x, %y : tensor<4xi32>"),
    sum_second_donated: stablehlo!(
        "sum",
        "%x: tensor<4xi32>, %y: tensor<4xi32> {tf.aliasing_output = 0 : i32}",
        "%r = stablehlo.add %x, %y : tensor<4xi32>"
    ),
    sum_both_donated: stablehlo!(
        "sum",
        "%x: tensor<4xi32> {tf.aliasing_output = 0 : i32}, %y: tensor<4xi32> {jax.buffer_donor = true}",
        "%r = stablehlo.add %x, %y : tensor<4xi32>"
    ),
    slow: SLOW,
    huge: Some(HUGE),
    first: Some(FIRST),
    total: Some(TOTAL),
    labelled: stablehlo!(
        "labelled",
        "%x: tensor<4xi32>",
        "%r = stablehlo.custom_call @conformance_add_label(%x) {mhlo.backend_config = {}}
            : (tensor<4xi32>) -> tensor<4xi32>"
    ),
};

/// A product of large matrices of positive numbers has elements of one and more.
const SLOW: &str = "
module @slow {
  func.func public @main(%x: tensor<4xi32>) -> tensor<4xi32> {
    %f = stablehlo.convert %x : (tensor<4xi32>) -> tensor<4xf32>
    %a = stablehlo.broadcast_in_dim %f, dims = [0] : (tensor<4xf32>) -> tensor<4x80x320xf32>
    %m = stablehlo.reshape %a : (tensor<4x80x320xf32>) -> tensor<320x320xf32>
    %p = stablehlo.dot_general %m, %m, contracting_dims = [1] x [0]
      : (tensor<320x320xf32>, tensor<320x320xf32>) -> tensor<320x320xf32>
    %s = stablehlo.slice %p [0:4, 0:1] : (tensor<320x320xf32>) -> tensor<4x1xf32>
    %v = stablehlo.reshape %s : (tensor<4x1xf32>) -> tensor<4xf32>
    %c = stablehlo.constant dense<1.0> : tensor<4xf32>
    %l = stablehlo.minimum %v, %c : tensor<4xf32>
    %i = stablehlo.convert %l : (tensor<4xf32>) -> tensor<4xi32>
    %r = stablehlo.add %x, %i : tensor<4xi32>
    return %r : tensor<4xi32>
  }
}
";

const HUGE: &str = "
module @huge {
  func.func public @main(%x: tensor<4xi32>) -> tensor<4x8796093022208xi32> {
    %r = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xi32>) -> tensor<4x8796093022208xi32>
    return %r : tensor<4x8796093022208xi32>
  }
}
";

const FIRST: &str = "
module @first {
  func.func public @main(%x: tensor<4xi32>) -> tensor<?xi32, #stablehlo.bounds<4>> {
    %s = stablehlo.slice %x [0:1] : (tensor<4xi32>) -> tensor<1xi32>
    %n = stablehlo.reshape %s : (tensor<1xi32>) -> tensor<i32>
    %r = stablehlo.set_dimension_size %x, %n, dim = 0
      : (tensor<4xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<4>>
    return %r : tensor<?xi32, #stablehlo.bounds<4>>
  }
}
";

const TOTAL: &str = "
module @total {
  func.func public @main(%x: tensor<?xi32, #stablehlo.bounds<4>>) -> tensor<4xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %s = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0]
      : (tensor<?xi32, #stablehlo.bounds<4>>, tensor<i32>) -> tensor<i32>
    %r = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<4xi32>
    return %r : tensor<4xi32>
  }
}
";
