//! A module for each Rust snippet of the pages under `docs/coming-from`, with the lines that a reader sees.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/coming-from");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut pages: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    let mut modules = String::new();
    for page in &pages {
        let text = fs::read_to_string(page).unwrap();
        let name = page.file_stem().unwrap().to_str().unwrap().replace('-', "_").to_lowercase();
        for (number, snippet) in text.split("\n```rust\n").skip(1).enumerate() {
            let code = snippet.split("\n```").next().unwrap();
            let shown: Vec<&str> = code.lines().filter(|line| *line != "#" && !line.starts_with("# ")).collect();
            modules += &format!("mod {name}_{number} {{\n{}\n}}\n", shown.join("\n"));
        }
    }
    fs::write(Path::new(&env::var_os("OUT_DIR").unwrap()).join("pages.rs"), modules).unwrap();
}
