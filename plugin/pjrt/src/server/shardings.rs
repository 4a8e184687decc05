//! The extension that tells how a program's parameters and results are split over its partitions.

use std::ptr::null;

use xla_ffi_sys::pjrt_later::{
    PJRT_Shardings_PJRT_Executable_OutputShardings_Args, PJRT_Shardings_PJRT_Executable_ParameterShardings_Args,
};

use super::executable_object::ExecutableHandle;
use super::raw::{Texts, object};
use super::slot::slot;
use crate::Executable;

slot! {
    /// `PJRT_Shardings_PJRT_Executable_ParameterShardings`. Null pointers say that there are none.
    fn of_parameters<P>(args: PJRT_Shardings_PJRT_Executable_ParameterShardings_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        let shardings = shared.parameter_shardings.as_ref();
        (*args).num_parameters = shared.executable.parameters().len();
        (*args).shardings = shardings.map_or(null(), Texts::pointers);
        (*args).sharding_sizes = shardings.map_or(null(), Texts::sizes);
        Ok(())
    }

    /// `PJRT_Shardings_PJRT_Executable_OutputShardings`. Null pointers say that there are none.
    fn of_outputs<P>(args: PJRT_Shardings_PJRT_Executable_OutputShardings_Args) {
        let ExecutableHandle::<P>(shared) = object("executable", (*args).executable)?;
        let shardings = shared.output_shardings.as_ref();
        (*args).num_outputs = shardings.map_or(shared.output_types.len(), Texts::len);
        (*args).shardings = shardings.map_or(null(), Texts::pointers);
        (*args).sharding_sizes = shardings.map_or(null(), Texts::sizes);
        Ok(())
    }
}
