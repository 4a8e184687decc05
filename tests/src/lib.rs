//! Tests that cross crates; see the `tests` folder.

#[cfg(doctest)]
mod guide;
