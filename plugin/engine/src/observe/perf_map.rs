//! Names of machine code for `perf`, which has no symbols of code that a program generates.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::plan::Plan;

/// The file `/tmp/perf-<pid>.map`. Other generators of code in the process may add lines to it too.
#[derive(Debug)]
pub(crate) struct PerfMap {
    directory: PathBuf,
    has_failed: AtomicBool,
}

impl PerfMap {
    /// The file that `perf` reads.
    pub(crate) fn new() -> PerfMap {
        PerfMap::in_directory("/tmp".into())
    }

    fn in_directory(directory: PathBuf) -> PerfMap {
        PerfMap { directory, has_failed: AtomicBool::new(false) }
    }

    /// The file of this process, which may be a fork of the one that made the map.
    fn path(&self) -> PathBuf {
        self.directory.join(format!("perf-{}.map", std::process::id()))
    }

    /// Adds the machine code of a plan. A failure does not stop the compilation, and is told once.
    pub(crate) fn write(&self, plan: &Plan) {
        let lines = lines(plan);
        if !lines.is_empty() {
            self.add(&lines);
        }
    }

    fn add(&self, lines: &str) {
        let path = self.path();
        if let Err(error) = append(&path, lines)
            && !self.has_failed.swap(true, Ordering::Relaxed)
        {
            eprintln!("oxcall: OXCALL_PERF_MAP: cannot write {}: {error}", path.display());
        }
    }
}

/// The lines of a plan: start and size in hexadecimal digits, and the name.
fn lines(plan: &Plan) -> String {
    let mut lines = String::new();
    for code in plan.code() {
        for (offset, size, name) in code.ranges().filter(|(_, size, _)| *size > 0) {
            let name: String = format!("oxcall {}: {name}", plan.module.name).replace(|c: char| c.is_control(), "_");
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{:x} {size:x} {name}", code.listing.address + offset);
        }
    }
    lines
}

/// Adds lines to a file, which is not followed if it is a link that somebody else may have made.
fn append(path: &Path, lines: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NOFOLLOW);
    options.open(path)?.write_all(lines.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_are_added_to_the_file() {
        let directory = std::env::temp_dir().join(format!("oxcall-engine-{}-perf-map", std::process::id()));
        let map = PerfMap::in_directory(directory.clone());
        // There is no such directory yet: one failure is told, and the next one is not.
        map.add("1000 10 lost\n");
        map.add("1000 10 lost\n");
        assert!(map.has_failed.load(Ordering::Relaxed));
        fs::create_dir_all(&directory).unwrap();
        fs::write(map.path(), "100 1 of another generator\n").unwrap();
        map.add("1000 10 first\n");
        map.add("2000 10 second\n");
        let text = fs::read_to_string(map.path()).unwrap();
        assert_eq!(text, "100 1 of another generator\n1000 10 first\n2000 10 second\n");
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        let directory = std::env::temp_dir().join(format!("oxcall-engine-{}-perf-link", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let (map, target) = (PerfMap::in_directory(directory.clone()), directory.join("target"));
        fs::write(&target, "kept").unwrap();
        std::os::unix::fs::symlink(&target, map.path()).unwrap();
        map.add("1000 10 name\n");
        assert!(map.has_failed.load(Ordering::Relaxed));
        assert_eq!(fs::read_to_string(&target).unwrap(), "kept");
        fs::remove_dir_all(directory).unwrap();
    }
}
