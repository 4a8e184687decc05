use oxcall::Code;
use oxcall_hlo::{Attribute, ElementType, FuncId, UnaryOp};

use super::*;
use crate::compile::passes::inline::inline;

fn call(callee: u32) -> OpKind {
    OpKind::Call(FuncId(callee))
}

fn composite(name: &str, attributes: Vec<(String, Attribute)>) -> OpKind {
    OpKind::Composite { name: name.into(), attributes, decomposition: FuncId(1), version: 1 }
}

/// `x -> x * x`.
fn square(name: &str, ty: TensorType) -> Func {
    let mut f = FuncBuilder::new(name);
    let x = f.param(ty);
    let y = f.op(OpKind::Binary(BinaryOp::Multiply), [x, x]).unwrap();
    f.finish([y])
}

#[test]
fn calls_of_calls_and_in_regions() {
    let inner = square("square", f32s(&[]));
    let mut f = FuncBuilder::new("fourth");
    let x = f.param(f32s(&[]));
    let y = f.call(call(2), &inner, [x]).unwrap();
    let z = f.call(call(2), &inner, y).unwrap();
    let fourth = f.finish(z);

    let mut f = FuncBuilder::new("main");
    let (p, x) = (f.param(scalar(ElementType::Pred)), f.param(f32s(&[])));
    let then = f.region([] as [Type; 0], |f, _| f.call(call(1), &fourth, [x])).unwrap();
    let other = f.region([] as [Type; 0], |_, _| Ok(vec![x])).unwrap();
    let y = f.with_regions(OpKind::If, [p], [then, other]).unwrap();
    let y = f.call(call(2), &inner, y).unwrap();
    let mut module = module(vec![f.finish(y), fourth, inner]);
    inline(&mut module).unwrap();
    assert_eq!(module.funcs.len(), 1);
    let expected = "\
(%0 %1) : i1[] f32[]
%4 = if %0 : f32[]
{
  %2 = multiply %1 %1 : f32[]
  %3 = multiply %2 %2 : f32[]
  return %3
}
{
  return %1
}
%5 = multiply %4 %4 : f32[]
return %5
";
    assert_eq!(text(&module), expected);
}

#[test]
fn recursion_is_refused_also_where_nobody_calls() {
    let id = |callee: u32, name: &str| {
        let mut f = FuncBuilder::new(name);
        let x = f.param(f32s(&[]));
        let y = f.call(call(callee), &square("square", f32s(&[])), [x]).unwrap();
        f.finish(y)
    };
    let mut own = module(vec![id(1, "main"), id(2, "a"), id(1, "b")]);
    let error = inline(&mut own).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("func.call: recursion is not supported: @b calls @a, which calls @b"), "{error}");
    let mut apart = module(vec![square("main", f32s(&[])), id(1, "a")]);
    assert!(inline(&mut apart).unwrap_err().message().contains("recursion is not supported: @a calls @a"));
}

/// `funcs[i]` calls `funcs[i + 1]` as often as `calls` says; the last is a square.
fn chain(length: u32, calls: usize) -> Module {
    let last = square("last", f32s(&[]));
    let mut funcs: Vec<Func> = (1..=length)
        .map(|callee| {
            let mut f = FuncBuilder::new(format!("f{callee}"));
            let mut x = vec![f.param(f32s(&[]))];
            for _ in 0..calls {
                x = f.call(call(callee), &last, x).unwrap();
            }
            f.finish(x)
        })
        .collect();
    funcs.push(last);
    module(funcs)
}

#[test]
fn growth_is_limited() {
    let error = inline(&mut chain(60, 2)).unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert!(error.message().contains("inlining all calls of @f1"), "{error}");
    let mut fits = chain(10, 2);
    inline(&mut fits).unwrap();
    assert_eq!(fits.main().body.ops.len(), 1024);
    // Neither a long chain nor its length may exhaust the stack.
    assert_eq!(inline(&mut chain(5000, 1)).unwrap_err().code(), Code::ResourceExhausted);
    inline(&mut chain(200, 1)).unwrap();
}

#[test]
fn composites_of_known_names_take_the_kernel_if_types_fit() {
    for (name, ty, kernel) in [
        ("chlo.erf", f32s(&[4]), true),
        ("chlo.square", TensorType::new(ElementType::C64, [4]), false),
        ("stablehlo.negate", f32s(&[4]), false),
        ("user.erf", f32s(&[4]), false),
        ("chlo.zeta", f32s(&[4]), false),
    ] {
        let inner = square("impl", ty.clone());
        let mut f = FuncBuilder::new("main");
        let x = f.param(ty);
        let y = f.call(composite(name, Vec::new()), &inner, [x]).unwrap();
        let mut module = module(vec![f.finish(y), inner]);
        inline(&mut module).unwrap();
        let [op] = module.main().body.ops.as_slice() else { panic!("one op") };
        let expected = if kernel { OpKind::Unary(UnaryOp::Erf) } else { OpKind::Binary(BinaryOp::Multiply) };
        assert_eq!(op.kind, expected, "{name}");
        verify(&module).unwrap();
    }
}

#[test]
fn top_k_takes_its_attributes() {
    let mut f = FuncBuilder::new("impl");
    let x = f.param(f32s(&[8]));
    let values = f.with_regions(OpKind::TopK { k: 3, largest: true }, [x], []).unwrap();
    let inner = f.finish(values);
    let k = ("k".to_string(), Attribute::Integer(3, ElementType::S64));
    let smallest = ("largest".to_string(), Attribute::Bool(false));
    for (attributes, expected) in [
        (vec![k.clone()], OpKind::TopK { k: 3, largest: true }),
        (vec![k, smallest], OpKind::TopK { k: 3, largest: false }),
        // Without `k` the decomposition says it.
        (vec![], OpKind::TopK { k: 3, largest: true }),
    ] {
        let mut f = FuncBuilder::new("main");
        let x = f.param(f32s(&[8]));
        let y = f.call(composite("chlo.top_k", attributes), &inner, [x]).unwrap();
        let mut module = module(vec![f.finish(y), inner.clone()]);
        inline(&mut module).unwrap();
        assert_eq!(module.main().body.ops[0].kind, expected);
    }
}

/// As JAX 0.4.38 writes `jax.lax.top_k`.
#[test]
fn custom_calls_of_mhlo_are_functions() {
    let attributes = vec![("k".to_string(), Attribute::Integer(3, ElementType::S64))];
    for (target, kernel) in [("mhlo.topk", true), ("mhlo.topp", false), ("topk", false)] {
        let mut kind = custom_call(target, vec![]);
        let OpKind::CustomCall(call) = &mut kind else { panic!("a custom call") };
        call.attributes.push(("mhlo.attributes".to_string(), Attribute::Dictionary(attributes.clone())));
        let mut f = FuncBuilder::new("main");
        let x = f.param(f32s(&[8]));
        let indices = TensorType::new(ElementType::S32, [3]);
        let y = f.with_types(kind, [x], &[f32s(&[3]).into(), indices.into()]).unwrap();
        let mut module = module(vec![f.finish(y)]);
        inline(&mut module).unwrap();
        let kind = &module.main().body.ops[0].kind;
        assert_eq!(*kind == OpKind::TopK { k: 3, largest: true }, kernel, "{target}: {kind:?}");
    }
}

#[test]
fn functions_of_custom_calls_are_kept() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[8]));
    let kind = custom_call("top", vec![FuncId(2)]);
    let y = f.with_types(kind, [x], &[f32s(&[2]).into()]).unwrap();
    let unused = square("unused", f32s(&[]));
    let mut g = FuncBuilder::new("comparator");
    let a = g.param(f32s(&[]));
    let b = g.call(call(1), &unused, [a]).unwrap();
    let mut module = module(vec![f.finish(y), unused, g.finish(b)]);
    inline(&mut module).unwrap();
    assert_eq!(module.funcs.iter().map(|func| func.name.as_str()).collect::<Vec<_>>(), ["main", "comparator"]);
    let OpKind::CustomCall(call) = &module.main().body.ops[0].kind else { panic!("a custom call") };
    assert_eq!(call.called_computations, [FuncId(1)]);
    verify(&module).unwrap();
}
