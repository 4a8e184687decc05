//! Schemas that an operation states, checked against its signature.

use super::{Argument, Base, Operator, Schema, Type, derive, op_name, parse};
use crate::descriptor::Handler;

/// The operators of an operation, by the schema that it states, or else by its signature.
///
/// # Errors
/// Why torch cannot have the operation, or where its schema contradicts the signature.
pub(crate) fn operators(handler: &'static Handler) -> Result<Vec<Operator>, String> {
    let Some(text) = handler.schema else {
        op_name(handler)?;
        return derive(handler);
    };
    let wrong = |reason: String| format!("`schema = \"{text}\"`: {reason}");
    let parsed = parse(text).map_err(|error| wrong(error.message().to_owned()))?;
    // An argument that may be any number is an integer or a float, as the schema says.
    let mut outcomes = derive(handler)?.into_iter().map(|derived| fit(&parsed.schema, &derived));
    let first = outcomes.next().unwrap_or_else(|| Err("the operation has no operator".to_owned()));
    let operator = first.or_else(|reason| outcomes.find_map(Result::ok).ok_or(reason)).map_err(wrong)?;
    Ok(vec![operator])
}

/// The contradiction between the schema that an operation states and its signature, if there is one.
pub(crate) fn wrong_schema(handler: &'static Handler) -> Option<String> {
    handler.schema.and_then(|_| operators(handler).err())
}

/// The operator of `schema`, whose arguments have the uses of those of `derived`. They are matched by name, or else,
/// since not every name is valid in Rust, by type and order.
fn fit(schema: &Schema, derived: &Operator) -> Result<Operator, String> {
    let known = &derived.schema.args;
    let mut taken: Vec<Option<usize>> =
        schema.args.iter().map(|arg| known.iter().position(|other| other.name == arg.name)).collect();
    for (i, arg) in schema.args.iter().enumerate() {
        if taken[i].is_none() {
            let free = |index: &usize| !taken.contains(&Some(*index)) && accepts(&known[*index], arg);
            taken[i] = (0..known.len()).find(free);
        }
    }
    let mut sources = Vec::with_capacity(schema.args.len());
    for (arg, index) in schema.args.iter().zip(&taken) {
        let Some(index) = *index else {
            return Err(format!("no parameter of the function is for `{}`", show(arg)));
        };
        if !accepts(&known[index], arg) {
            return Err(format!("`{}` is for a parameter that takes `{}`", show(arg), show(&known[index])));
        }
        sources.push(derived.sources[index].clone());
    }
    let missing = (0..known.len()).find(|index| !taken.contains(&Some(*index)) && known[*index].default.is_none());
    if let Some(index) = missing {
        return Err(format!("no argument is for the parameter `{}`", show(&known[index])));
    }
    if schema.returns != derived.schema.returns {
        let given = Schema { args: Vec::new(), ..schema.clone() }.to_string();
        let expected = Schema { args: Vec::new(), ..derived.schema.clone() }.to_string();
        let results = |text: &str| text.split(" -> ").last().unwrap_or_default().to_owned();
        return Err(format!("it returns {}, but the function {}", results(&given), results(&expected)));
    }
    Ok(Operator { schema: schema.clone(), sources })
}

/// Whether a parameter whose own argument would be `known` accepts the values of `arg`.
fn accepts(known: &Argument, arg: &Argument) -> bool {
    let base = |ty: Type| if ty.base == Base::SymInt { Base::Int } else { ty.base };
    // A parameter with its own default uses it for an absent value; if the schema has a default, that is the value.
    let absent = known.ty.optional || !arg.ty.optional;
    base(known.ty) == base(arg.ty) && known.ty.list == arg.ty.list && absent && known.mutable == arg.mutable
}

/// An argument as a schema shows it, without its default.
fn show(arg: &Argument) -> String {
    format!("{}{} {}", arg.ty, if arg.mutable { " (updated in place)" } else { "" }, arg.name)
}
