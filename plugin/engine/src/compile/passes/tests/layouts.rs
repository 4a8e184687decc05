use oxcall_hlo::Attribute;

use super::*;
use crate::compile::passes::layouts::{IoSpec, apply};

fn mode(layout: &str) -> Vec<(String, Attribute)> {
    vec![("mhlo.layout_mode".to_owned(), Attribute::String(layout.into()))]
}

/// A function of one parameter, which it returns, with these layouts.
fn identity(param: &str, result: &str) -> Module {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[2, 3, 5]));
    let mut func = f.finish([x]);
    func.param_attributes = vec![mode(param)];
    func.result_attributes = vec![mode(result)];
    module(vec![func])
}

#[test]
fn transposes_at_the_edges() {
    let mut module = identity("{0,2,1}", "{0,1,2}");
    let interface = apply(&mut module).unwrap();
    // From the slowest in memory to the fastest: 1, 2, 0 and 2, 1, 0.
    let edge = |order| IoSpec { ty: f32s(&[2, 3, 5]).into(), major_to_minor: Some(order), dynamic: Vec::new() };
    assert_eq!((&*interface.parameters, &*interface.results), (&[edge(vec![1, 2, 0])][..], &[edge(vec![2, 1, 0])][..]));
    let expected = "\
(%0) : f32[3,5,2]
%1 = transpose %0 : f32[2,3,5]
%2 = transpose %1 : f32[5,3,2]
return %2
";
    assert_eq!(text(&module), expected);
}

#[test]
fn row_major_is_what_it_is_by_default() {
    for layout in ["default", "auto", "{2,1,0}", "{2,1,0:E(32)}"] {
        let mut module = identity(layout, layout);
        let interface = apply(&mut module).unwrap();
        assert_eq!(
            interface.results,
            [IoSpec { ty: f32s(&[2, 3, 5]).into(), major_to_minor: None, dynamic: Vec::new() }]
        );
        assert_eq!(text(&module), "(%0) : f32[2,3,5]\nreturn %0\n");
    }
}

#[test]
fn constraints_decide_where_any_layout_will_do() {
    for (result, order) in [("auto", Some(vec![1, 0])), ("default", None), ("{1,0}", None)] {
        let mut f = FuncBuilder::new("main");
        let x = f.param(f32s(&[2, 3]));
        let OpKind::CustomCall(mut call) = custom_call("LayoutConstraint", vec![]) else { unreachable!() };
        call.result_layouts = Some(vec![vec![0, 1]]);
        let y = f.with_types(OpKind::CustomCall(call), [x], &[f32s(&[2, 3]).into()]).unwrap();
        let mut func = f.finish(y);
        func.result_attributes = vec![mode(result)];
        let mut module = module(vec![func]);
        assert_eq!(apply(&mut module).unwrap().results[0].major_to_minor, order, "{result}");
        assert!(!text(&module).contains("custom_call"));
    }
}

#[test]
fn nonsense_is_refused() {
    for layout in ["", "{", "{0,1}", "{0,1,1}", "{0,1,3}", "{-1,0,1}", "{0,1,2,3}", "{0,1,x}", "rows"] {
        let error = apply(&mut identity("default", layout)).unwrap_err().to_string();
        assert!(error.contains("result 0") && error.contains(&format!("`{layout}`")), "{error}");
    }
    let error = apply(&mut identity("{2,1,0:T(8,128)}", "default")).unwrap_err().to_string();
    assert!(error.contains("parameter 0") && error.contains("tiles"), "{error}");
}
