//! Types that an older torch cannot pass to operators, and the schema without them.

use super::{Argument, Base, Operator, Schema, Source, derive};
use crate::descriptor::Handler;

/// The operator without the arguments that a torch of version `torch` (before 2.10) cannot pass, and the reason for
/// each of them. It can only omit arguments whose absence the operation treats like the schema's default.
///
/// # Errors
/// If the operator needs one of them.
pub(crate) fn without_lists(
    handler: &'static Handler,
    operator: &Operator,
    torch: (u8, u8, u8),
) -> Result<(Operator, Vec<String>), String> {
    let (major, minor, _) = torch;
    let since = |what: String| format!("{what}, which operators have since torch 2.10; this is {major}.{minor}");
    if operator.schema.returns.iter().any(|ty| ty.list) {
        return Err(since("a result is a list".to_owned()));
    }
    let derived = derive(handler)?;
    let mut kept = Operator { schema: Schema { args: Vec::new(), ..operator.schema.clone() }, sources: Vec::new() };
    let mut left_out = Vec::new();
    for (arg, source) in operator.schema.args.iter().zip(&operator.sources) {
        let Some(what) = too_new(arg) else {
            // Arguments that would move to another place than callers expect can only be given by name.
            let keyword = arg.keyword || !left_out.is_empty();
            kept.schema.args.push(Argument { keyword, ..arg.clone() });
            kept.sources.push(source.clone());
            continue;
        };
        let noun = if matches!(arg.ty.base, Base::Tensor | Base::ScalarType) { "argument" } else { "attribute" };
        let reason = since(format!("{noun} `{}` is {what}", arg.name));
        if !may_be_absent(arg, source, &derived) {
            return Err(reason);
        }
        left_out.push(reason);
    }
    Ok((kept, left_out))
}

/// The kind of an argument that torch supports only since 2.10.
fn too_new(arg: &Argument) -> Option<&'static str> {
    match arg.ty.base {
        _ if arg.ty.list => Some("a list"),
        Base::Str => Some("a string"),
        Base::ScalarType => Some("a dtype"),
        Base::Device => Some("a device"),
        _ => None,
    }
}

/// Whether the operation treats an absent argument like the schema's default.
fn may_be_absent(arg: &Argument, source: &Source, derived: &[Operator]) -> bool {
    let own = derived.iter().find_map(|operator| {
        let at = operator.sources.iter().position(|other| other == source)?;
        operator.schema.args[at].default.as_deref()
    });
    let stated = arg.default.as_deref();
    stated.is_some() && own.is_some() && (stated == own || stated == Some("None"))
}
