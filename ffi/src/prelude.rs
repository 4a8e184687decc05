//! The imports of a crate of custom calls: `use oxcall::prelude::*;`

pub use half::{bf16, f16};
pub use num_complex::Complex;

pub use crate::attr::{AttrValue, Device, Dict, FromAttr, IntOrFloat, Pointer};
pub use crate::buffer::{
    AnyArray, AnyOut, Array, DeviceArray, DeviceInOut, DeviceOut, Dyn, InOut, Out, Rank, Scalar, ScalarOut, Token,
    TokenOut, Variadic,
};
pub use crate::context::{
    Async, Context, CustomOptions, DeviceOrdinal, Future, Promise, RunId, Scratch, Stream, ThreadPool, UserData,
};
pub use crate::element::{Float, Number, Plain, Unpacked};
pub use crate::ndarray::{
    ArrayView, ArrayView0, ArrayView1, ArrayView2, ArrayView3, ArrayView4, ArrayView5, ArrayView6, ArrayViewD,
    ArrayViewMut, ArrayViewMut0, ArrayViewMut1, ArrayViewMut2, ArrayViewMut3, ArrayViewMut4, ArrayViewMut5,
    ArrayViewMut6, ArrayViewMutD,
};
pub use crate::pointwise::{Mask, Real, Ring};
pub use crate::rowwise::{PerRow, Row};
pub use crate::{AttrEnum, AttrStruct, Code, DType, Element, Error, Result, custom_call, pointwise, rowwise, stage};
