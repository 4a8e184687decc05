//! Ops that are started and waited for, as ops that are run where they start.

use crate::{Func, Module, Op, OpKind, Region, Type};

impl Type {
    /// Whether it is a future, or a tuple with one.
    pub(crate) fn has_future(&self) -> bool {
        match self {
            Type::Future(_) => true,
            Type::Tuple(types) => types.iter().any(Type::has_future),
            Type::Tensor(_) | Type::Token => false,
        }
    }

    /// Makes tuples of futures.
    fn settle(&mut self) {
        if let Type::Future(types) = self {
            *self = Type::Tuple(std::mem::take(types));
        } else if let Type::Tuple(types) = self {
            types.iter_mut().for_each(Type::settle);
        }
    }
}

/// Puts the ops that a program starts in the place where it starts them: futures become tuples of what was computed.
/// Devices of one machine gain nothing from what else could run meanwhile. A module that [`verify`](crate::verify())
/// accepts stays one.
pub fn settle_futures(module: &mut Module) {
    module.funcs.iter_mut().filter(|func| func.values.iter().any(Type::has_future)).for_each(settle_func);
}

fn settle_func(func: &mut Func) {
    settle_region(&mut func.body);
    func.values.iter_mut().for_each(Type::settle);
}

fn settle_region(region: &mut Region) {
    let mut ops = Vec::with_capacity(region.ops.len());
    for mut op in std::mem::take(&mut region.ops) {
        op.regions.iter_mut().for_each(settle_region);
        match op.kind {
            OpKind::AsyncStart => start(op, &mut ops),
            OpKind::AsyncDone => done(&op, &mut ops),
            _ => ops.push(op),
        }
    }
    region.ops = ops;
}

/// The ops of the region, and a tuple of what it gives.
fn start(mut op: Op, ops: &mut Vec<Op>) {
    let Some(mut body) = op.regions.pop() else { return };
    let operands = body.params.iter().copied().zip(op.operands.iter().copied()).collect();
    body.rename(&operands);
    ops.append(&mut body.ops);
    ops.push(Op { kind: OpKind::Tuple, operands: body.results, ..op });
}

/// The elements of the tuple.
fn done(op: &Op, ops: &mut Vec<Op>) {
    for (index, &result) in op.results.iter().enumerate() {
        let kind = OpKind::GetTupleElement { index };
        ops.push(Op { kind, results: vec![result], regions: Vec::new(), ..op.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_text, verify};

    #[test]
    fn ops_run_where_they_start() {
        let text = r#"
            func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
              %f = func.call @start(%x) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
              %y = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
              return %y : tensor<4xf32>
            }
            func.func private @start(%x: tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>> {
              %f = "stablehlo.async_start"(%x) ({
                ^bb0(%a: tensor<2xf32>):
                %g = "stablehlo.all_gather"(%a) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<4xf32>
                stablehlo.return %g : tensor<4xf32>
              }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
              return %f : !stablehlo.future<tensor<4xf32>>
            }"#;
        let mut module = parse_text(text).unwrap();
        verify(&module).unwrap();
        settle_futures(&mut module);
        verify(&module).unwrap();
        let kinds = |func: &Func| func.body.ops.iter().map(|op| op.kind.name()).collect::<Vec<_>>();
        assert_eq!(kinds(&module.funcs[0]), ["func.call", "stablehlo.get_tuple_element"]);
        assert_eq!(kinds(&module.funcs[1]), ["stablehlo.all_gather", "stablehlo.tuple"]);
        assert_eq!(module.funcs[1].body.ops[0].operands, module.funcs[1].body.params);
        assert!(module.funcs.iter().all(|func| !func.values.iter().any(Type::has_future)));
    }
}
