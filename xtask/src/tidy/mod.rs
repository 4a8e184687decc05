//! `cargo xtask tidy`: the agreement of documents with the sources, and the form of comments and imports.
//!
//! Each check is a function over all files of the repository, in a file of its own with a planted fault as its test.

mod chapters;
mod commands;
mod counts;
mod crates;
mod decisions;
mod exports;
mod heads;
mod imports;
mod items;
mod layers;
pub(crate) mod links;
mod manifests;
pub(crate) mod markdown;
mod paths;
mod releases;
pub(crate) mod sources;
mod versions;
mod width;

use std::fmt;

use crate::shell::{Failure, Result};
pub(crate) use manifests::LICENCES;
use sources::Sources;

/// A fault, its place, and what mends it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Complaint {
    file: String,
    line: usize,
    message: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// A check: the faults of its kind in the repository.
type Check = fn(&Sources) -> Vec<Complaint>;

const CHECKS: &[Check] = &[
    links::check,
    paths::check,
    items::check,
    commands::check,
    chapters::check,
    counts::check,
    crates::check,
    manifests::check,
    crate::release::check_places,
    width::check,
    heads::check,
    versions::check,
    releases::check,
    decisions::check,
    imports::check,
    layers::check,
    crate::messages::check,
    crate::site::check,
    exports::check,
];

/// Prints every complaint of every check.
pub(crate) fn run(args: &[String]) -> Result<()> {
    if !args.is_empty() {
        return Err(crate::commands::usage("tidy"));
    }
    let sources = Sources::read()?;
    let mut complaints: Vec<Complaint> = CHECKS.iter().flat_map(|check| check(&sources)).collect();
    complaints.sort();
    for complaint in &complaints {
        println!("{complaint}");
    }
    match complaints.len() {
        0 => println!("{} files are tidy", sources.files().len()),
        count => return Err(Failure::new(format!("tidy found {count} faults; each line above says what mends it"))),
    }
    Ok(())
}
