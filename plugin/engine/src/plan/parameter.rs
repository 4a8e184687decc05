//! Parameters of programs, and the buffers that values consist of.

use oxcall_hlo::{Attribute, Func, TensorType, Type};

/// Appends the buffers that a value of type `ty` consists of: `None` for a token, the elements of tuples in order.
fn flatten<'t>(ty: &'t Type, into: &mut Vec<Option<&'t TensorType>>) {
    match ty {
        Type::Tensor(tensor) => into.push(Some(tensor)),
        Type::Token => into.push(None),
        Type::Tuple(elements) | Type::Future(elements) => elements.iter().for_each(|element| flatten(element, into)),
    }
}

/// The buffers that a value of type `ty` consists of: `None` for a token, the elements of tuples in order.
pub(crate) fn leaves(ty: &Type) -> Vec<Option<&TensorType>> {
    let mut leaves = Vec::with_capacity(1);
    flatten(ty, &mut leaves);
    leaves
}

/// The size of a buffer in bytes; 0 for a token.
pub(crate) fn byte_size(leaf: Option<&TensorType>) -> usize {
    leaf.map_or(0, TensorType::byte_size)
}

/// A parameter of a program, as the caller sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its size in bytes.
    pub bytes: usize,
    /// Whether the caller may donate its memory to a result.
    pub donated: bool,
    /// The result that takes its memory.
    pub aliases: Option<usize>,
}

impl Parameter {
    /// The parameters of `func`: donation comes from their attributes, as JAX writes them.
    pub(crate) fn from_func(func: &Func) -> Vec<Parameter> {
        let parameter = |(index, &value): (usize, _)| {
            let attributes = func.param_attributes.get(index).map_or(&[][..], Vec::as_slice);
            let find = |name| attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value);
            let aliases = find("tf.aliasing_output").and_then(Attribute::as_integer);
            let donor = matches!(find("jax.buffer_donor"), Some(Attribute::Bool(true) | Attribute::Unit));
            let bytes = leaves(func.ty(value)).into_iter().map(byte_size).sum();
            let aliases = aliases.and_then(|result| usize::try_from(result).ok());
            Parameter { bytes, donated: donor || aliases.is_some(), aliases }
        };
        func.body.params.iter().enumerate().map(parameter).collect()
    }
}
