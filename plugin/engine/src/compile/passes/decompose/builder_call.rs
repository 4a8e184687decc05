//! Custom calls of linear algebra that XLA's builders emit for XLA's own passes: they name no version of the interface,
//! and XLA never looks them up. Here they become typed calls of handlers.

use oxcall_hlo::{Attribute, CustomCall, CustomCallApiVersion, ElementType};

/// Turns a call that XLA expands into a typed one. `element` is the element type of the first operand.
pub(super) fn make_typed(call: &mut CustomCall, element: ElementType) {
    if call.typed_attributes().is_none()
        && let Some((target, attributes)) = typed(call, element)
    {
        call.target = target.to_owned();
        call.api_version = CustomCallApiVersion::TypedFfi;
        call.backend_config = Attribute::Dictionary(attributes);
    }
}

/// The target and the attributes of the typed call.
fn typed(call: &CustomCall, element: ElementType) -> Option<(&'static str, Vec<(String, Attribute)>)> {
    match &call.target[..] {
        "Qr" => Some(("Qr", Vec::new())),
        "ProductOfElementaryHouseholderReflectors" => Some(("ProductOfElementaryHouseholderReflectors", Vec::new())),
        "Eigh" => {
            let target = match element {
                ElementType::F32 => "Eigh.f32",
                ElementType::F64 => "Eigh.f64",
                ElementType::C64 => "Eigh.c64",
                ElementType::C128 => "Eigh.c128",
                _ => return None,
            };
            Some((target, vec![("lower".to_owned(), Attribute::Bool(lower_triangle(&call.backend_config)?))]))
        }
        _ => None,
    }
}

/// Whether the lower triangle is meant: the first of the numbers `lower,sort,iterations,epsilon`. The others are for
/// Jacobi's method; here eigenvalues are always sorted.
fn lower_triangle(config: &Attribute) -> Option<bool> {
    match config.as_str()?.split(',').next()? {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}
