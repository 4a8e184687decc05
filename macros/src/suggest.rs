//! "Did you mean": the nearest known name to a misspelt one.

/// The candidate with the smallest edit distance to `word`, ignoring case, if it is at most a third of the longer one's
/// length. Swapping two neighbours is one edit.
pub(crate) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= word.len().max(candidate.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ", did you mean `...`?" or nothing.
pub(crate) fn did_you_mean(meant: Option<&str>) -> String {
    meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_only_what_is_near() {
        assert_eq!(nearest("flaots", ["floats", "ints"]), Some("floats"));
        assert_eq!(nearest("vmpa", ["vmap", "name"]), Some("vmap"));
        assert_eq!(nearest("Legacy", ["legacy"]), Some("legacy"));
        assert_eq!(nearest("N", ["n"]), Some("n"));
        assert_eq!(nearest("strawberry", ["floats", "ints"]), None);
        assert_eq!(nearest("m", ["b"]), None);
    }
}
