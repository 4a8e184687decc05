//! The results of all releases of a host, as a table.

use super::row::Row;

pub(super) fn markdown(rows: &[Row]) -> String {
    // A process that died early leaves checks out, so the longest list names the columns.
    let longest = rows.iter().max_by_key(|row| row.checks.len());
    let columns: Vec<&str> =
        longest.map(|row| row.checks.iter().map(|(check, _)| check.as_str()).collect()).unwrap_or_default();
    let host = rows.first().map_or("", |row| row.host);
    let mut text = format!("| {host} | Python | {} |\n", columns.join(" | "));
    text += &format!("|---|---|{}\n", "---|".repeat(columns.len()));
    for row in rows {
        let cells = columns.iter().map(|column| match row.checks.iter().find(|(check, _)| check == column) {
            Some((_, result)) if result == "ok" => "ok",
            Some(_) => "**fails**",
            None if row.interpreter.is_none() => "not run",
            None => "**died**",
        });
        let python = row.interpreter.as_ref().map_or("none here".into(), ToString::to_string);
        text += &format!("| {} | {python} | {} |\n", row.version, cells.collect::<Vec<_>>().join(" | "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::Interpreter;

    fn row(version: &'static str, checks: &[(&str, &str)], failure: Option<&str>) -> Row {
        Row {
            host: "jaxlib",
            version,
            interpreter: Some(Interpreter { path: "python3".into(), version: (11, 7) }),
            checks: checks.iter().map(|(check, result)| ((*check).to_owned(), (*result).to_owned())).collect(),
            failure: failure.map(str::to_owned),
        }
    }

    #[test]
    fn a_process_that_dies_is_seen() {
        let rows =
            [row("1", &[("load", "ok"), ("async", "ok")], None), row("2", &[("load", "ok")], Some("signal: 11"))];
        assert!(rows[0].complaint().is_none());
        assert!(rows[1].complaint().unwrap().contains("signal: 11"));
        assert!(markdown(&rows).contains("| 2 | Python 3.11.7 | ok | **died** |"), "{}", markdown(&rows));
    }

    #[test]
    fn a_failed_check_is_named() {
        let failed = row("1", &[("load", "wrong")], None);
        assert!(failed.complaint().unwrap().contains("load: wrong"));
        assert!(markdown(&[failed]).contains("**fails**"));
    }
}
