//! Control flow, calls, tuples and tokens.

use super::signature::{Class, RegionType, Signature, ensure, one, scalar};
use crate::{CustomCall, ElementType, Error, TensorType, Type};

/// Types separated by commas, in brackets.
pub(super) fn list(types: &[Type]) -> String {
    let texts: Vec<String> = types.iter().map(Type::to_string).collect();
    format!("({})", texts.join(", "))
}

fn is_scalar_of(types: &[Type], element: ElementType) -> bool {
    matches!(types, [Type::Tensor(ty)] if *ty == TensorType::scalar(element))
}

pub(crate) fn while_loop(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.region_count(2)?;
    let [cond, body] = cx.regions else { unreachable!("counted") };
    for (region, name) in [(cond, "cond"), (body, "body")] {
        ensure!(
            region.params == cx.operands,
            "the parameters of {name} must have the types of operand, {}, got {}",
            list(cx.operands),
            list(&region.params)
        );
    }
    ensure!(
        is_scalar_of(&cond.results, ElementType::Pred),
        "cond must return one tensor<i1>, got {}",
        list(&cond.results)
    );
    ensure!(
        body.results == cx.operands,
        "the results of body must have the types of operand, {}, got {}",
        list(cx.operands),
        list(&body.results)
    );
    Ok(cx.operands.to_vec())
}

/// Checks branches: no parameters, the same results.
fn branches(regions: &[RegionType]) -> Result<Vec<Type>, Error> {
    let Some(first) = regions.first() else {
        return Err(Error::invalid("expected at least one branch, got none"));
    };
    for region in regions {
        ensure!(region.params.is_empty(), "branches must have no parameters, got {}", list(&region.params));
        ensure!(
            region.results == first.results,
            "branches must return the same types, got {} and {}",
            list(&first.results),
            list(&region.results)
        );
    }
    Ok(first.results.clone())
}

pub(crate) fn if_else(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    scalar(cx.tensor_of(0, "pred", Class::Boolean)?, "pred")?;
    cx.region_count(2)?;
    branches(cx.regions)
}

pub(crate) fn case(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let index = cx.tensor(0, "index")?;
    ensure!(*index == TensorType::scalar(ElementType::S32), "index must be a tensor<i32>, got {index}");
    branches(cx.regions)
}

pub(crate) fn call(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.region_count(1)?;
    let callee = &cx.regions[0];
    ensure!(
        callee.params == cx.operands,
        "the operands must have the types of the parameters of the function, {}, got {}",
        list(&callee.params),
        list(cx.operands)
    );
    Ok(callee.results.clone())
}

/// The types of results that nothing else tells.
pub(crate) fn given_results(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    let results = cx.results.ok_or_else(|| Error::invalid("the types of the results must be given"))?;
    Ok(results.to_vec())
}

pub(crate) fn sharding_constraint(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    Ok(cx.operands.to_vec())
}

pub(crate) fn custom_call(cx: Signature<'_>, call: &CustomCall) -> Result<Vec<Type>, Error> {
    let results = given_results(cx)?;
    let results = results.as_slice();
    // One tuple stands for several results.
    let elements = match results {
        [Type::Tuple(elements)] => elements.as_slice(),
        _ => results,
    };
    for (layouts, types, name) in
        [(&call.operand_layouts, cx.operands, "operand"), (&call.result_layouts, elements, "result")]
    {
        let Some(layouts) = layouts else { continue };
        ensure!(
            layouts.len() == types.len(),
            "{name}_layouts must have an entry for each {name}, got {} for {}",
            layouts.len(),
            types.len()
        );
        for (layout, ty) in layouts.iter().zip(types) {
            let rank = ty.tensor().map_or(0, TensorType::rank);
            let mut sorted = layout.clone();
            sorted.sort_unstable();
            ensure!(
                sorted.iter().copied().eq(0..rank),
                "{name}_layouts must be permutations of the dimensions, got {layout:?} for {ty}"
            );
        }
    }
    for alias in &call.aliases {
        let operand = cx.operands.get(alias.operand).and_then(|ty| element(ty, &alias.operand_path));
        let output = match results {
            [single] => element(single, &alias.output),
            _ => alias.output.split_first().and_then(|(index, rest)| element(results.get(*index)?, rest)),
        };
        let (Some(operand), Some(output)) = (operand, output) else {
            return Err(Error::invalid(format!(
                "output_operand_aliases: output {:?} or operand {} {:?} does not exist",
                alias.output, alias.operand, alias.operand_path
            )));
        };
        ensure!(
            operand == output,
            "output_operand_aliases needs equal types, got operand {} of type {operand} and output {:?} of type {output}",
            alias.operand,
            alias.output
        );
    }
    Ok(results.to_vec())
}

/// The element of `ty` at `path`.
fn element<'t>(ty: &'t Type, path: &[usize]) -> Option<&'t Type> {
    path.iter().try_fold(ty, |ty, index| match ty {
        Type::Tuple(types) => types.get(*index),
        _ => None,
    })
}

pub(crate) fn get_tuple_element(cx: Signature<'_>, index: usize) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    let Type::Tuple(types) = &cx.operands[0] else {
        return Err(Error::invalid(format!("operand must be a tuple, got {}", cx.operands[0])));
    };
    let element = types.get(index);
    element.map(|ty| vec![ty.clone()]).ok_or_else(|| {
        Error::invalid(format!("index = {index} must be less than the size of operand, {}", cx.operands[0]))
    })
}

pub(crate) fn after_all(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    for ty in cx.operands {
        ensure!(*ty == Type::Token, "inputs must be tokens, got {ty}");
    }
    one(Type::Token)
}

pub(crate) fn device_id(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(0)?;
    one(TensorType::scalar(ElementType::U32))
}

/// The region uses nothing but its parameters, which the module's rules check.
pub(crate) fn async_start(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.region_count(1)?;
    let region = &cx.regions[0];
    ensure!(
        region.params == cx.operands,
        "the region must take the operands, {}, got {}",
        list(cx.operands),
        list(&region.params)
    );
    Ok(vec![Type::Future(region.results.clone())])
}

pub(crate) fn async_done(cx: Signature<'_>) -> Result<Vec<Type>, Error> {
    cx.arity(1)?;
    match &cx.operands[0] {
        Type::Future(types) => Ok(types.clone()),
        other => Err(Error::invalid(format!("operand must be a future, got {other}"))),
    }
}
