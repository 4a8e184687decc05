//! Prints programs, given as files of MLIR text or bytecode, as this crate's printer writes them.

use std::error::Error;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    for path in env::args().skip(1) {
        let bytes = fs::read(path)?;
        let module = if oxcall_hlo::is_bytecode(&bytes) {
            oxcall_hlo::read_bytecode(&bytes)?
        } else {
            oxcall_hlo::parse_text(std::str::from_utf8(&bytes)?)?
        };
        print!("{module}");
    }
    Ok(())
}
