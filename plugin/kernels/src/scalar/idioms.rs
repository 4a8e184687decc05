//! Common bodies, for which kernels have specialised code.

use std::collections::HashMap;

use oxcall_hlo::{
    BinaryOp, ComparisonDirection, ComparisonType, ElementType, Literal, Op, OpKind, Region, Type, ValueId,
};

/// The order that a comparator defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// The sorted operand that it compares: the comparator's parameters `2 * operand` and `2 * operand + 1`.
    pub operand: usize,
    /// Whether larger elements come first.
    pub descending: bool,
    /// Whether floats compare by IEEE 754's total order rather than as numbers.
    pub total: bool,
    /// Whether both zeros are equal in that order, and all NaNs, as in JAX's sort.
    pub canonical: bool,
}

/// A recognised body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// A commutative op of both parameters: `Add`, `Multiply`, `Minimum`, `Maximum`, `And`, `Or` or `Xor`.
    Binary(BinaryOp),
    /// The first parameter.
    First,
    /// The second parameter.
    Second,
    /// A comparator.
    Order(Order),
    /// For (value, index, value, index): the larger value with its index, where NaN comes first; of equal values the
    /// one with the lower index.
    ArgMax,
    /// Like `ArgMax`, for the smaller value.
    ArgMin,
}

/// The common body that `region` has, if any; `types` are those of the function's values.
pub fn idiom(types: &[Type], region: &Region) -> Option<Body> {
    let mut texts = HashMap::new();
    for (index, &param) in region.params.iter().enumerate() {
        texts.insert(param, format!("p{index}"));
    }
    for op in &region.ops {
        let text = describe(op, &texts)?;
        texts.insert(*op.results.first()?, text);
    }
    let results: Vec<&str> =
        region.results.iter().map(|result| texts.get(result).map(String::as_str)).collect::<Option<_>>()?;
    match (results[..].len(), region.params.len()) {
        (1, 2) if results[0] == "p0" => Some(Body::First),
        (1, 2) if results[0] == "p1" => Some(Body::Second),
        (1, _) => {
            commutative(types, region, &results).or_else(|| order(results[0], region.params.len()).map(Body::Order))
        }
        (2, 4) => arg_extremum(&results),
        _ => None,
    }
}

/// The expression of an op with one result, given those of its operands.
fn describe(op: &Op, texts: &HashMap<ValueId, String>) -> Option<String> {
    let operands: Vec<&str> =
        op.operands.iter().map(|operand| texts.get(operand).map(String::as_str)).collect::<Option<_>>()?;
    let name = match &op.kind {
        OpKind::Constant(literal) => return Some(constant(literal)),
        OpKind::Compare(direction, ComparisonType::TotalOrder) => format!("{}T", direction.name()),
        OpKind::Compare(direction, _) => direction.name().to_owned(),
        OpKind::Select => "select".to_owned(),
        OpKind::Binary(op) => op.name().trim_start_matches("stablehlo.").to_owned(),
        _ => return None,
    };
    Some(format!("{name}({})", operands.join(",")))
}

fn constant(literal: &Literal) -> String {
    let bytes = literal.element(0);
    let is_nan = match (literal.ty().element, bytes) {
        (ElementType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).is_nan(),
        (ElementType::F64, bytes) => bytes.try_into().is_ok_and(|bytes| f64::from_le_bytes(bytes).is_nan()),
        (ElementType::F16, &[a, b]) => half::f16::from_le_bytes([a, b]).is_nan(),
        (ElementType::BF16, &[a, b]) => half::bf16::from_le_bytes([a, b]).is_nan(),
        _ => false,
    };
    match () {
        () if is_nan => "nan".to_owned(),
        () if bytes.iter().all(|&byte| byte == 0) => "0".to_owned(),
        () => format!("{bytes:x?}"),
    }
}

fn commutative(types: &[Type], region: &Region, results: &[&str]) -> Option<Body> {
    let (name, operands) = results[0].split_once('(')?;
    let is_both = matches!(operands, "p0,p1)" | "p1,p0)");
    let op = BinaryOp::from_name(&format!("stablehlo.{name}"))?;
    use BinaryOp::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    let is_known = matches!(op, Add | Multiply | Minimum | Maximum | And | Or | Xor);
    if !is_both || region.params.len() != 2 || !is_known {
        return None;
    }
    let element = types[region.params[0].0 as usize].tensor()?.element;
    Some(Body::Binary(match op {
        Add | Maximum if element == ElementType::Pred => Or,
        Multiply | Minimum if element == ElementType::Pred => And,
        _ => op,
    }))
}

fn order(text: &str, params: usize) -> Option<Order> {
    let canonical = |param: &str| format!("select(NE({param},{param}),nan,select(EQ({param},0),0,{param}))");
    for operand in 0..params / 2 {
        let (a, b) = (format!("p{}", 2 * operand), format!("p{}", 2 * operand + 1));
        let (key_a, key_b) = (canonical(&a), canonical(&b));
        for (name, descending) in [("LT", false), ("GT", true)] {
            let order = |total, canonical, descending| Some(Order { operand, descending, total, canonical });
            for (x, y, descending) in [(&a, &b, descending), (&b, &a, !descending)] {
                match () {
                    () if text == format!("{name}({x},{y})") => return order(false, false, descending),
                    () if text == format!("{name}T({x},{y})") => return order(true, false, descending),
                    () => {}
                }
            }
            for (x, y, descending) in [(&key_a, &key_b, descending), (&key_b, &key_a, !descending)] {
                if text == format!("{name}T({x},{y})") {
                    return order(true, true, descending);
                }
            }
        }
    }
    None
}

/// JAX's reducers for `argmax` and `argmin`, with and without the NaN test (passes remove it for integers).
fn arg_extremum(results: &[&str]) -> Option<Body> {
    for (direction, body) in [(ComparisonDirection::Gt, Body::ArgMax), (ComparisonDirection::Lt, Body::ArgMin)] {
        let better = format!("{}(p0,p2)", direction.name());
        for pick in [format!("or({better},NE(p0,p0))"), better] {
            let value = format!("select({pick},p0,p2)");
            let index = format!("select(or({pick},and(EQ(p0,p2),LT(p1,p3))),p1,p3)");
            if results == [value, index] {
                return Some(body);
            }
        }
    }
    None
}
