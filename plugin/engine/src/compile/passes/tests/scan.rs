//! Scans of CHLO.

use super::*;

/// Text in the generic form, since composites with regions have no other.
fn scan(steps: usize, reverse: bool, decomposition: &str) -> Module {
    let text = format!(
        r#"func.func @main(%x: tensor<2x{steps}xf32>, %c: tensor<2xf32>) -> (tensor<2x{steps}xf32>, tensor<2xf32>) {{
          %r:2 = "stablehlo.composite"(%x, %c) <{{
            name = "chlo.scan", decomposition = @scan, version = 1 : i32, composite_attributes = {{
              dimension = 1 : i64, is_reverse = {reverse}, operandSegmentSizes = array<i32: 1, 1>,
              resultSegmentSizes = array<i32: 1, 1>
            }}
          }}> ({{
          ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
            %s = stablehlo.subtract %a, %b : tensor<2xf32>
            stablehlo.return %s, %s : tensor<2xf32>, tensor<2xf32>
          }}) : (tensor<2x{steps}xf32>, tensor<2xf32>) -> (tensor<2x{steps}xf32>, tensor<2xf32>)
          return %r#0, %r#1 : tensor<2x{steps}xf32>, tensor<2xf32>
        }}
        func.func private @scan(%x: tensor<2x{steps}xf32>, %c: tensor<2xf32>) ->
            (tensor<2x{steps}xf32>, tensor<2xf32>) {{
          {decomposition}
          return %x, %c : tensor<2x{steps}xf32>, tensor<2xf32>
        }}"#
    );
    oxcall_hlo::parse_text(&text).unwrap()
}

/// The decomposition is not what runs.
#[test]
fn scans_are_loops_over_slices() {
    for reverse in [false, true] {
        let text = text(&crate::compile::passes::run(scan(5, reverse, "")).unwrap());
        assert!(text.contains("while"), "{text}");
        assert_eq!(text.matches("subtract").count(), 1 + usize::from(reverse), "{text}");
    }
}

#[test]
fn no_step_gives_what_was_carried() {
    let text = text(&crate::compile::passes::run(scan(0, false, "")).unwrap());
    assert!(!text.contains("while"), "{text}");
    assert!(!text.contains("subtract"), "{text}");
}
