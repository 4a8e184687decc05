//! Lookup of targets.

use oxcall::Error;
use oxcall::host::{self, LegacyFunction, Registration, Source};
use oxcall_kernels::caches;

/// XLA's platform name for handlers that run on any CPU.
const ANY_CPU: &str = "Host";

/// The op that a typed call names.
///
/// torch_xla treats calls as equal, and runs one program for both, if their targets and operands are equal. Calls from
/// torch therefore have their attributes behind the name, `top_k{k = 3 : i64}`, as well as in the usual place.
pub(super) fn op(target: &str) -> &str {
    match target.split_once('{') {
        Some((name, rest)) if rest.ends_with('}') && !name.is_empty() => name,
        _ => target,
    }
}

/// The typed handler of `target`, from the first source that has one; within a source, a handler for the platform takes
/// precedence over one for any.
///
/// # Errors
/// NOT_FOUND, with the registered targets.
pub(super) fn typed(target: &str, platform: &str) -> Result<Registration, Error> {
    check_name(target)?;
    let found = [platform, ANY_CPU].into_iter().filter_map(|platform| host::find_handler(target, platform).ok());
    let first = found.min_by_key(|handler| handler.source);
    if first.as_ref().is_some_and(|handler| handler.source == Source::Linked) {
        // The linear algebra is among these handlers, and multiplies.
        caches::know();
    }
    first.ok_or_else(|| {
        let known = host::registered_handlers().into_iter().map(|(name, platform, _)| (name, platform)).collect();
        let hint = match host::find_legacy(target, platform).or_else(|| host::find_legacy(target, ANY_CPU)) {
            Some(_) => " (a function of the legacy API has this name; the program calls it by the typed FFI)",
            None => "",
        };
        let how = format!("jax.ffi.register_ffi_target(\"{target}\", ..., platform=\"{platform}\")");
        unknown(target, platform, "FFI handler", hint, known, &how)
    })
}

/// The legacy function of `target`.
///
/// # Errors
/// NOT_FOUND, with the registered targets.
pub(super) fn legacy(target: &str, platform: &str) -> Result<LegacyFunction, Error> {
    check_name(target)?;
    host::find_legacy(target, platform).or_else(|| host::find_legacy(target, ANY_CPU)).ok_or_else(|| {
        let known = host::registered_legacy().into_iter().map(|(name, platform, _)| (name, platform)).collect();
        let hint = match host::find_handler(target, platform).or_else(|_| host::find_handler(target, ANY_CPU)) {
            Ok(_) => " (a typed FFI handler has this name; the program calls it by the legacy API)",
            Err(_) => "",
        };
        let how = format!("jax.ffi.register_ffi_target(\"{target}\", ..., platform=\"{platform}\", api_version=0)");
        unknown(target, platform, "legacy function", hint, known, &how)
    })
}

fn check_name(target: &str) -> Result<(), Error> {
    if target.starts_with('$') {
        return Err(Error::invalid_argument(format!(
            "Invalid custom_call_target \"{target}\": Call targets that start with '$' are reserved for internal use."
        )));
    }
    Ok(())
}

/// The largest number of names to list: the nearest ones.
const LISTED: usize = 20;

fn unknown(target: &str, platform: &str, what: &str, hint: &str, known: Vec<(String, String)>, how: &str) -> Error {
    let usable = |of: &str| of.eq_ignore_ascii_case(platform) || of.eq_ignore_ascii_case(ANY_CPU);
    let mut names: Vec<String> = known.into_iter().filter(|(_, of)| usable(of)).map(|(name, _)| name).collect();
    names.dedup();
    names.sort_by_cached_key(|name| distance(target, name));
    let nearest = names
        .first()
        .filter(|name| distance(target, name) <= target.len().max(3) / 3)
        .map(|name| format!(" Did you mean {name}?"))
        .unwrap_or_default();
    let listed = match names.len() {
        0 => "none".to_owned(),
        count @ 1..=LISTED => format!("{} ({count})", names.join(", ")),
        count => format!("{}, ... ({count})", names[..LISTED].join(", ")),
    };
    Error::not_found(format!(
        "No registered implementation for custom call to {target} for platform {platform}: No {what} registered for \
         {target}{hint}.{nearest} Registered: {listed}. Register it with {how}, or load the library that holds it \
         (`OXCALL_LIBRARIES` names libraries), before the program is compiled."
    ))
}

/// The number of bytes to change, insert or delete to turn one name into another.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(!x.eq_ignore_ascii_case(&y));
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [("", "", 0), ("rms_norm", "rms_norm", 0), ("rms_nrm", "rms_norm", 1), ("abc", "", 3)] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn attributes_behind_a_target_are_no_part_of_the_op() {
        for (target, expected) in [
            ("top_k{k = 3 : i64}", "top_k"),
            ("f{mode = \"{\"}", "f"),
            ("f{a = {b = 1 : i64}}", "f"),
            ("top_k", "top_k"),
            ("top_k{", "top_k{"),
            ("{}", "{}"),
        ] {
            assert_eq!(op(target), expected);
        }
    }

    #[test]
    fn unknown_targets_are_explained() {
        let known = [("a", "host"), ("rms_norm", "host"), ("other", "cuda")];
        let known = known.map(|(name, platform)| (name.to_owned(), platform.to_owned())).to_vec();
        let error = unknown("rms_nrom", "oxcall", "FFI handler", "", known, "register(...)");
        assert_eq!(error.code(), oxcall::Code::NotFound);
        let message = error.message();
        assert!(message.starts_with("No registered implementation for custom call to rms_nrom"), "{message}");
        assert!(
            message.contains("Did you mean rms_norm?") && message.contains("Registered: rms_norm, a (2)."),
            "{message}"
        );
        assert!(typed("$secret", "oxcall").unwrap_err().message().contains("reserved for internal use"));
    }
}
