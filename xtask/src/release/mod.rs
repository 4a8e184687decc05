//! `cargo xtask release`: versions, the change log, packages, publication and wheels.
//!
//! * `version`, `places`, `changelog`: the version, the texts that have it, and the change log.
//! * `packages`, `registry`: the crates in the order of their publication, and where they are published.
//! * `check`, `semver`: the packages as a user gets them, and their interfaces beside those of the last release.
//! * `steps`, `git`: a release from a clean tree to published crates and built wheels.
//! * `wheels`: the Python packages.
//! * `repository`: the address of the repository.
//! * `rehearsal`: the same steps in a clone, with a folder in the place of the registry.

mod changelog;
mod check;
mod git;
mod packages;
mod places;
mod registry;
mod rehearsal;
mod repository;
mod semver;
mod steps;
mod version;
mod wheels;

use crate::commands;
use crate::shell::Result;

pub(crate) use check::check;
pub(crate) use places::check as check_places;
use steps::Until;

pub(crate) fn run(args: &[String]) -> Result<()> {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["check"] => check(),
        ["semver"] => semver::check(),
        ["repository", address] => repository::change(address),
        [version] if !version.starts_with('-') => steps::release(version.parse()?, Until::Published),
        [version, "--prepare"] => steps::release(version.parse()?, Until::Tagged),
        [version, "--rehearse"] => rehearsal::rehearse(version.parse()?),
        _ => Err(commands::usage("release")),
    }
}
