//! Tests of passes: programs built op by op, and the text of what becomes of them.

mod captures;
mod components;
mod corpus;
mod cse;
mod dce;
mod decompose;
mod fold;
mod hoist;
mod inline;
mod layouts;
mod negated;
mod partial;
mod permuted;
mod phases;
mod scan;
mod short;
mod simplify;
mod split;
mod stacked;
mod totals;
mod tuples;
mod unroll;
mod unstack;

use oxcall_hlo::{BinaryOp, ElementType, Func, FuncBuilder, Module, OpKind, Region, TensorType, Type, ValueId, verify};

/// A tensor of `f32`.
fn f32s(dims: &[usize]) -> TensorType {
    TensorType::new(ElementType::F32, dims.iter().copied())
}

fn scalar(element: ElementType) -> TensorType {
    TensorType::scalar(element)
}

fn add() -> OpKind {
    OpKind::Binary(BinaryOp::Add)
}

/// The text of what all passes make of a function.
fn all_passes(f: FuncBuilder, results: impl AsRef<[ValueId]>) -> String {
    text(&crate::compile::passes::run(module(vec![f.finish(results)])).unwrap())
}

/// A constant `f32` scalar.
fn f32_constant(f: &mut FuncBuilder, value: f32) -> ValueId {
    f.splat(f32s(&[]), value.to_le_bytes())
}

/// A body that combines two scalars.
fn combiner(f: &mut FuncBuilder, op: BinaryOp, element: ElementType) -> Region {
    f.region([scalar(element), scalar(element)], |f, params| Ok(vec![f.op(OpKind::Binary(op), params)?])).unwrap()
}

fn module(funcs: Vec<Func>) -> Module {
    let mut module = Module::with_main(funcs[0].clone());
    module.funcs = funcs;
    verify(&module).unwrap();
    module
}

/// The ops of the entry function, one a line, without the dialect: `%2 = add %0 %1 : tensor<4xf32>`. Regions are in
/// braces. Checks that the program is valid.
fn text(module: &Module) -> String {
    verify(module).unwrap_or_else(|error| panic!("{error}\n{module:#?}"));
    let func = module.main();
    let mut text = String::new();
    region_text(func, &func.body, 0, &mut Names::default(), &mut text);
    text
}

/// New numbers for values, in order of definition.
#[derive(Default)]
struct Names(std::collections::HashMap<ValueId, usize>);

impl Names {
    fn list(&mut self, values: &[ValueId]) -> String {
        let names = values.iter().map(|value| {
            let next = self.0.len();
            format!("%{}", self.0.entry(*value).or_insert(next))
        });
        names.collect::<Vec<_>>().join(" ")
    }
}

fn region_text(func: &Func, region: &Region, indent: usize, names: &mut Names, text: &mut String) {
    let pad = "  ".repeat(indent);
    let types = |values: &[ValueId]| values.iter().map(|value| short(func.ty(*value))).collect::<Vec<_>>().join(" ");
    if !region.params.is_empty() {
        text.push_str(&format!("{pad}({}) : {}\n", names.list(&region.params), types(&region.params)));
    }
    for op in &region.ops {
        let operands = names.list(&op.operands);
        let mut inner = String::new();
        for region in &op.regions {
            inner.push_str(&format!("{pad}{{\n"));
            region_text(func, region, indent + 1, names, &mut inner);
            inner.push_str(&format!("{pad}}}\n"));
        }
        let name = op.kind.name().trim_start_matches("stablehlo.");
        let detail = match &op.kind {
            OpKind::Constant(literal) => {
                let splat = if literal.splat_element().is_some() { "splat " } else { "" };
                format!(" {splat}{:?}", literal.data())
            }
            _ => String::new(),
        };
        let gap = if operands.is_empty() { "" } else { " " };
        let line = format!("{pad}{} = {name}{detail}{gap}{operands} : {}", names.list(&op.results), types(&op.results));
        text.push_str(&format!("{line}\n{inner}"));
    }
    text.push_str(&format!("{pad}return {}\n", names.list(&region.results)));
}

/// `f32[4,2]`.
fn short(ty: &Type) -> String {
    match ty {
        Type::Tensor(ty) => {
            let dims: Vec<String> = ty.dims.iter().map(usize::to_string).collect();
            format!("{}[{}]", ty.element, dims.join(","))
        }
        other => other.to_string(),
    }
}

fn custom_call(target: &str, called_computations: Vec<oxcall_hlo::FuncId>) -> OpKind {
    OpKind::CustomCall(Box::new(oxcall_hlo::CustomCall {
        target: target.into(),
        has_side_effect: false,
        backend_config: oxcall_hlo::Attribute::Unit,
        attributes: Vec::new(),
        api_version: oxcall_hlo::CustomCallApiVersion::TypedFfi,
        operand_layouts: None,
        result_layouts: None,
        aliases: Vec::new(),
        called_computations,
    }))
}

#[test]
fn a_pass_that_breaks_a_program_is_named() {
    let mut f = FuncBuilder::new("main");
    let x = f.param(f32s(&[2]));
    let mut broken = module(vec![f.finish([x])]);
    broken.funcs[0].body.results.push(x);
    let error = super::Observer(None).after("cse", &broken).unwrap_err();
    assert_eq!(error.code(), oxcall::Code::Internal);
    assert!(error.message().starts_with("the pass `cse` produced an invalid program"), "{error}");
}
