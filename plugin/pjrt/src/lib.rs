//! A PJRT C API server over safe traits.
