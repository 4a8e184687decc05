//! Variants of a program that must have the same results.

use oxcall_hlo::{ElementType, Module, Op, OpKind, Region, Type, ValueId};

/// The program with a barrier after each op of each function, across which nothing is fused, folded or simplified.
pub(crate) fn with_barriers(mut module: Module) -> Module {
    for func in &mut module.funcs {
        let ops = std::mem::take(&mut func.body.ops);
        let mut replaced: Vec<ValueId> = (0..func.values.len()).map(|index| ValueId(index as u32)).collect();
        for mut op in ops {
            rename(&mut op, &replaced);
            let results = op.results.clone();
            let location = op.location;
            func.body.ops.push(op);
            if results.is_empty() {
                continue;
            }
            let mut fresh = Vec::new();
            for &result in &results {
                let id = ValueId(func.values.len() as u32);
                func.values.push(func.ty(result).clone());
                replaced[result.0 as usize] = id;
                fresh.push(id);
            }
            let kind = OpKind::OptimizationBarrier;
            func.body.ops.push(Op { kind, operands: results, results: fresh, regions: Vec::new(), location });
        }
        func.body.results.iter_mut().for_each(|value| *value = replaced[value.0 as usize]);
    }
    module
}

/// Replaces what an op and its regions use. What regions define themselves stays.
fn rename(op: &mut Op, replaced: &[ValueId]) {
    op.operands.iter_mut().for_each(|value| *value = replaced[value.0 as usize]);
    op.regions.iter_mut().for_each(|region| rename_region(region, replaced));
}

fn rename_region(region: &mut Region, replaced: &[ValueId]) {
    region.ops.iter_mut().for_each(|op| rename(op, replaced));
    region.results.iter_mut().for_each(|value| *value = replaced[value.0 as usize]);
}

/// Whether results have to be equal to the bit: nothing in the program is rounded.
pub(crate) fn is_exact(module: &Module) -> bool {
    fn exact(ty: &Type) -> bool {
        match ty {
            Type::Tensor(tensor) => !tensor.element.is_float() && !tensor.element.is_complex(),
            Type::Tuple(parts) | Type::Future(parts) => parts.iter().all(exact),
            Type::Token => true,
        }
    }
    module.funcs.iter().all(|func| func.values.iter().all(exact))
}

/// Makes bytes elements of this type: booleans 0 or 1, narrow integers extended to their byte.
pub(crate) fn make_valid(element: ElementType, bytes: &mut [u8]) {
    let unused = 8u32.saturating_sub(element.bits() as u32);
    for byte in bytes.iter_mut().filter(|_| unused > 0) {
        *byte = if element.is_signed() { ((*byte << unused) as i8 >> unused) as u8 } else { *byte & (0xff >> unused) };
    }
}
