//! Errors that handlers return.

use std::{fmt, io};

use oxcall::prelude::*;
use oxcall::testing::call;

use super::error;

#[custom_call]
fn fail(#[attr] code: u32, #[attr(default = "it failed")] message: &str, y: ScalarOut<f32>) -> Result<()> {
    let _ = y;
    Err(Error::new(Code::from_code(code).unwrap(), message))
}

#[test]
fn all_sixteen_codes_on_every_host() {
    assert_eq!(Code::ALL.len(), 16);
    for &version in super::HOSTS {
        for &code in Code::ALL {
            let error = error(call::<fail>().attr("code", code as u32).host(version));
            assert_eq!((error.code(), error.message()), (code, "fail: it failed"), "{version:?}");
        }
    }
}

#[test]
fn embedded_nuls_are_shown() {
    for &version in super::HOSTS {
        let call = call::<fail>().attr("code", 3u32).attr("message", "a\0b\0").host(version);
        assert_eq!(error(call).message(), "fail: a\\0b\\0");
    }
    assert_eq!(error(call::<fail>().attr("code", 3u32).attr("message", "")).message(), "fail: ");
}

#[test]
fn the_name_of_the_operation_comes_once() {
    let call = call::<fail>().attr("code", 3u32).attr("message", "fail: again");
    assert_eq!(error(call).message(), "fail: again");
}

#[derive(Debug)]
struct Chain(&'static str, Option<Box<dyn std::error::Error + 'static>>);

impl fmt::Display for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for Chain {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.1.as_deref()
    }
}

fn chain() -> Chain {
    let root = io::Error::new(io::ErrorKind::NotFound, "no such weights");
    Chain("outer", Some(Box::new(Chain("middle", Some(Box::new(root))))))
}

#[custom_call]
fn question_marks(#[attr] which: u8, y: ScalarOut<f32>) -> Result<()> {
    let _ = y;
    match which {
        0 => drop("x".parse::<i32>()?),
        1 => Err(chain())?,
        2 => drop(String::from_utf8(vec![0xff])?),
        _ => drop("1.5e".parse::<f64>().map_err(|e| Error::from(e).with_code(Code::DataLoss).context("line 3"))?),
    }
    Ok(())
}

/// Any error type that converts may be the function's own.
#[custom_call]
fn own_error(y: ScalarOut<f32>) -> Result<(), Chain> {
    let _ = y;
    Err(chain())
}

#[test]
fn other_errors_convert_with_their_sources() {
    let said = |which: u8| error(call::<question_marks>().attr("which", which));
    assert_eq!(said(0).message(), "question_marks: invalid digit found in string");
    assert_eq!(said(1).message(), "question_marks: outer: middle: no such weights");
    assert!(said(2).message().contains("invalid utf-8"), "{}", said(2));
    assert_eq!((said(3).code(), said(0).code()), (Code::DataLoss, Code::Internal));
    assert_eq!(said(3).message(), "question_marks: line 3: invalid float literal");
    assert_eq!(error(call::<own_error>()).message(), "own_error: outer: middle: no such weights");
}

/// An error whose text cannot be made.
#[derive(Debug)]
struct Speechless;

impl fmt::Display for Speechless {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        panic!("no words")
    }
}

impl std::error::Error for Speechless {}

#[custom_call]
fn speechless(y: ScalarOut<f32>) -> Result<(), Speechless> {
    let _ = y;
    Err(Speechless)
}

#[test]
fn an_error_that_panics_is_an_error() {
    assert!(error(call::<speechless>()).message().contains("no words"));
}
