//! Names: their order, suggestions for misspelt ones, and those of dtypes in messages.

use crate::DType;

/// The dtype of an ABI code in messages: its name, or the number.
pub(crate) fn describe_dtype(code: u32) -> String {
    match DType::from_code(code) {
        Some(dtype) => dtype.name().to_owned(),
        None => format!("data type code {code}, which this version does not know"),
    }
}

/// `; did you mean ...?` for the nearest candidate, or nothing where none is near.
pub(crate) fn did_you_mean<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    nearest(given, candidates).map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// The nearest candidate within a third of the name's length in edits (at least one, at most three).
pub(crate) fn nearest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (given.chars().count() / 3).clamp(1, 3);
    candidates
        .map(|name| (edits(given, name), name))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The number of edits, where neighbours that are exchanged count once, and a difference in case not at all.
fn edits(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

/// Whether two names are one, also while the compiler runs.
pub(crate) const fn equal(a: &str, b: &str) -> bool {
    !less(a, b) && !less(b, a)
}

/// Whether `a` sorts before `b`, by bytes, as XLA sorts attributes.
pub(crate) const fn less(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() {
        if a[i] != b[i] {
            return a[i] < b[i];
        }
        i += 1;
    }
    a.len() < b.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_and_far_names() {
        let names = ["eps", "axis", "keep_dims"];
        assert_eq!(nearest("epss", names.into_iter()), Some("eps"));
        assert_eq!(nearest("keepdims", names.into_iter()), Some("keep_dims"));
        assert_eq!(nearest("esp", names.into_iter()), Some("eps"));
        assert_eq!(nearest("EPS", names.into_iter()), Some("eps"));
        assert_eq!(nearest("momentum", names.into_iter()), None);
        assert_eq!(did_you_mean("axes", names.into_iter()), "; did you mean `axis`?");
    }
}
