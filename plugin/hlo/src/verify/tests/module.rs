use super::ty;
use crate::{
    Attribute, BinaryOp, ElementType, Error, Func, FuncBuilder, FuncId, Location, LocationId, Module, OpKind, UnaryOp,
    ValueId, verify,
};

/// `x -> sin(x) + x`, at a location.
fn module() -> Module {
    let mut f = FuncBuilder::new("main");
    let x = f.param(ty("4xf32"));
    f.set_location(LocationId(1));
    let y = f.op(OpKind::Unary(UnaryOp::Sine), [x]).unwrap();
    let z = f.op(OpKind::Binary(BinaryOp::Add), [y, x]).unwrap();
    let mut module = Module::with_main(f.finish([z]));
    module.locations.push(Location::File { file: "a.py".into(), line: 7, column: 2 });
    module
}

fn refused(change: impl FnOnce(&mut Module)) -> Error {
    let mut module = module();
    verify(&module).unwrap();
    change(&mut module);
    verify(&module).unwrap_err()
}

fn main(module: &mut Module) -> &mut Func {
    &mut module.funcs[0]
}

#[test]
fn errors_name_op_and_location() {
    let error = refused(|module| main(module).values[1] = ty("5xf32"));
    let text = "stablehlo.sine: result 0 must have type tensor<4xf32>, got tensor<5xf32> (at a.py:7:2)";
    assert_eq!(error.to_string(), text);
    let error = refused(|module| main(module).body.ops[1].operands.truncate(1));
    assert_eq!(error.to_string(), "stablehlo.add: expected 2 operands, got 1 (at a.py:7:2)");
}

#[test]
fn values_are_defined_once_and_before_use() {
    type Case = (fn(&mut Module), &'static str);
    let cases: [Case; 9] = [
        (|module| main(module).body.ops.swap(0, 1), "stablehlo.add: it uses value 1, which is not defined before"),
        (|module| main(module).body.ops[0].operands[0] = ValueId(9), "it uses value 9, which is not defined"),
        (|module| main(module).body.results[0] = ValueId(9), "the terminator uses value 9"),
        (|module| main(module).body.ops[0].results[0] = ValueId(9), "value 9 has no type"),
        (|module| main(module).body.ops[0].results[0] = ValueId(0), "value 0 is defined twice"),
        (|module| main(module).body.params.push(ValueId(0)), "value 0 is defined twice"),
        (|module| main(module).body.ops[0].location = LocationId(2), "location 2 does not exist"),
        (|module| main(module).body.ops[0].results.clear(), "stablehlo.sine: expected 1 results, got 0"),
        (|module| module.locations[0] = Location::Fused(vec![]), "the first location must be the unknown one"),
    ];
    for (change, expected) in cases {
        let error = refused(change).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn regions_do_not_see_each_other() {
    let mut f = FuncBuilder::new("main");
    let (p, x) = (f.param(ty("i1")), f.param(ty("f32")));
    let mut inner = None;
    let then = f.region([] as [crate::Type; 0], |f, _| {
        inner = Some(f.op(OpKind::Unary(UnaryOp::Sine), [x])?);
        Ok(vec![inner.unwrap()])
    });
    let other = f.region([] as [crate::Type; 0], |_, _| Ok(vec![inner.unwrap()]));
    let y = f.with_regions(OpKind::If, [p], [then.unwrap(), other.unwrap()]).unwrap();
    let error = verify(&Module::with_main(f.finish(y))).unwrap_err();
    assert_eq!(
        error.to_string(),
        "stablehlo.if: the terminator uses value 2, which is not defined before or in a region around it (at \
         unknown location)"
    );
}

#[test]
fn functions_and_their_attributes() {
    let alias = |output| vec![("tf.aliasing_output".to_string(), Attribute::Integer(output, ElementType::S32))];
    let mut aliased = module();
    aliased.funcs[0].param_attributes = vec![alias(0)];
    verify(&aliased).unwrap();
    let error = refused(|module| main(module).param_attributes = vec![alias(1)]).to_string();
    assert!(
        error.contains("func.func @main: tf.aliasing_output of parameter 0 must be the index of one of the 1 results"),
        "{error}"
    );
    let error = refused(|module| main(module).param_attributes = vec![alias(-1)]).to_string();
    assert!(error.contains("must be the index of one of the 1 results"), "{error}");
    let error = refused(|module| {
        main(module).values.push(ty("5xf32"));
        main(module).body.params.push(ValueId(3));
        main(module).param_attributes = vec![vec![], alias(0)];
    });
    assert!(
        error
            .to_string()
            .contains("parameter 1 must name a result of type tensor<5xf32>, got result 0 of type tensor<4xf32>"),
        "{error}"
    );
    let error = refused(|module| {
        main(module).values.push(ty("4xf32"));
        main(module).body.params.push(ValueId(3));
        main(module).param_attributes = vec![alias(0), alias(0)];
    });
    assert!(error.to_string().contains("two parameters have tf.aliasing_output = 0"), "{error}");
    let error = refused(|module| main(module).param_attributes.clear());
    assert!(
        error.to_string().contains("has attributes for 0 parameters and 1 results, but 1 parameters and 1 results"),
        "{error}"
    );
    let error = refused(|module| module.entry = FuncId(1));
    assert!(error.to_string().contains("no entry function"), "{error}");
    let error = refused(|module| module.funcs.push(module.funcs[0].clone()));
    assert!(error.to_string().contains("the function @main is defined twice"), "{error}");
    let error = refused(|module| main(module).body.ops[0].kind = OpKind::Call(FuncId(1)));
    assert!(error.to_string().contains("func.call: the called function 1 does not exist"), "{error}");
}

#[test]
fn sizes_and_depths_are_limited() {
    for dims in [&[usize::MAX][..], &[1 << 55], &[1 << 31, 1 << 31, 2], &[usize::MAX, 0]] {
        let large = crate::TensorType::new(ElementType::F32, dims.iter().copied());
        let error = refused(|module| main(module).values.push(large.into()));
        assert!(error.to_string().contains("does not fit in memory"), "{error}");
    }
    let mut nested = ty("f32");
    (0..200).for_each(|_| nested = crate::Type::Tuple(vec![nested.clone()]));
    let error = refused(|module| main(module).values.push(nested));
    assert!(error.to_string().contains("tuples are nested more than 128 deep"), "{error}");

    let mut f = FuncBuilder::new("main");
    let (p, x) = (f.param(ty("i1")), f.param(ty("f32")));
    fn nest(f: &mut FuncBuilder, p: ValueId, x: ValueId, depth: usize) -> Result<Vec<ValueId>, Error> {
        if depth == 0 {
            return Ok(vec![x]);
        }
        let then = f.region([] as [crate::Type; 0], |f, _| nest(f, p, x, depth - 1))?;
        let other = f.region([] as [crate::Type; 0], |_, _| Ok(vec![x]))?;
        f.with_regions(OpKind::If, [p], [then, other])
    }
    let y = nest(&mut f, p, x, 130).unwrap();
    let error = verify(&Module::with_main(f.finish(y))).unwrap_err();
    assert!(error.to_string().contains("regions are nested more than 128 deep"), "{error}");
}

#[test]
fn ranks_are_limited() {
    let module = |rank| {
        let mut f = FuncBuilder::new("main");
        let value = f.param(crate::TensorType::new(ElementType::F32, vec![1; rank]));
        Module::with_main(f.finish([value]))
    };
    verify(&module(256)).unwrap();
    assert_eq!(verify(&module(257)).unwrap_err().kind, crate::ErrorKind::Unsupported);
}
