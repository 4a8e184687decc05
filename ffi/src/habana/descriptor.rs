//! Descriptors as they are written: the older form with inputs and outputs, and the newer one with a function.

use super::{Stack, UserParams};
use crate::host::AttrValue;
use crate::{DType, Result};

/// The shape of one output.
pub type OutputShapeFn = fn(&Stack<'_>) -> Result<Vec<i64>>;

/// Dtypes and shapes of all outputs.
pub type OutputMetaFn = fn(&Stack<'_>) -> Result<Vec<PartialOutputMetaData>>;

/// The role of an argument of the schema in the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputType {
    /// A tensor: an operand of the kernel.
    Tensor,
    /// A number that the kernel reads as an operand of rank 0, in device memory. Its dtype is the one that the kernel
    /// declares for that operand; where that is open, the dtype of input 0.
    Scalar,
    /// A value that the kernel does not get as an operand: it goes into the parameters, or decides a shape.
    UserParams,
}

/// An argument of the schema, by its index there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputDesc {
    /// The role of the argument in the kernel.
    pub ty: InputType,
    /// Its index in the schema.
    pub index: usize,
}

/// A result of the schema.
#[derive(Clone, Copy, Debug)]
pub struct OutputDesc {
    /// Its index in the schema.
    pub index: usize,
    /// Its dtype.
    pub dtype: DType,
    /// Its shape; without a function, that of input 0.
    pub shape: Option<OutputShapeFn>,
}

/// Dtype and shape of one output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialOutputMetaData {
    /// The dtype.
    pub dtype: DType,
    /// The dimensions.
    pub shape: Vec<i64>,
}

/// Fills the parameters of a call: named attributes of the kernel.
pub(super) type FillParams = Box<dyn Fn(&Stack<'_>) -> Result<Vec<(&'static str, AttrValue)>> + Send + Sync>;

/// The parameters that a descriptor fills in.
pub(super) struct Params {
    /// The names of the attributes.
    pub(super) names: &'static [&'static str],
    pub(super) fill: FillParams,
}

impl Params {
    fn new<P: UserParams>(fill: fn(&Stack<'_>) -> Result<P>) -> Params {
        Params { names: P::NAMES, fill: Box::new(move |stack| Ok(fill(stack)?.into_attributes())) }
    }
}

/// How outputs are described.
pub(super) enum Outputs {
    /// One by one.
    Listed(Vec<OutputDesc>),
    /// By a function for all of them.
    Function(OutputMetaFn),
}

/// The common content of both forms of descriptors.
pub struct Definition {
    pub(super) schema: String,
    pub(super) guid: String,
    /// `None`: as the schema says, tensors are operands and all else is for the functions.
    pub(super) inputs: Option<Vec<InputDesc>>,
    pub(super) outputs: Outputs,
    pub(super) params: Option<Params>,
}

/// A descriptor in the older form (`hpu_custom_op.h`): each input and output is described.
///
/// Indexes are those of the schema's arguments and results. What is wrong with a descriptor is said when it is
/// registered.
#[must_use = "a descriptor does nothing until it is registered"]
pub struct CustomOpDescriptor {
    schema: String,
    guid: String,
    inputs: Vec<InputDesc>,
    outputs: Vec<OutputDesc>,
    params: Option<Params>,
}

impl CustomOpDescriptor {
    /// A descriptor of the operator with this schema (`custom_op::custom_relu(Tensor self) -> Tensor`; without a
    /// namespace, that of the crate), computed by the kernel `guid`: a target of the registry.
    pub fn new(schema: impl Into<String>, guid: impl Into<String>) -> CustomOpDescriptor {
        CustomOpDescriptor {
            schema: schema.into(),
            guid: guid.into(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            params: None,
        }
    }

    /// Adds a description of an input.
    pub fn input(mut self, ty: InputType, index: usize) -> CustomOpDescriptor {
        self.inputs.push(InputDesc { ty, index });
        self
    }

    /// Adds descriptions of inputs, numbered as they stand.
    pub fn inputs(mut self, types: impl IntoIterator<Item = InputType>) -> CustomOpDescriptor {
        self.inputs.extend(types.into_iter().enumerate().map(|(index, ty)| InputDesc { ty, index }));
        self
    }

    /// Adds outputs, numbered as they stand, with or without a function for the shape.
    pub fn outputs(mut self, outputs: impl IntoIterator<Item = (DType, Option<OutputShapeFn>)>) -> CustomOpDescriptor {
        let numbered = outputs.into_iter().enumerate();
        self.outputs.extend(numbered.map(|(index, (dtype, shape))| OutputDesc { index, dtype, shape }));
        self
    }

    /// Adds an output with the shape of input 0.
    pub fn output(self, index: usize, dtype: DType) -> CustomOpDescriptor {
        self.push(OutputDesc { index, dtype, shape: None })
    }

    /// Adds an output whose shape a function computes.
    pub fn output_with_shape(self, index: usize, dtype: DType, shape: OutputShapeFn) -> CustomOpDescriptor {
        self.push(OutputDesc { index, dtype, shape: Some(shape) })
    }

    fn push(mut self, output: OutputDesc) -> CustomOpDescriptor {
        self.outputs.push(output);
        self
    }

    /// Sets the function that fills the kernel's parameters.
    pub fn user_params<P: UserParams>(mut self, fill: fn(&Stack<'_>) -> Result<P>) -> CustomOpDescriptor {
        self.params = Some(Params::new(fill));
        self
    }
}

/// A descriptor in the newer form (`hpu_custom_op_pt2.h`): one function gives dtypes and shapes of all outputs, and
/// the schema's tensors are the kernel's operands.
#[must_use = "a descriptor does nothing until it is registered"]
pub struct UserCustomOpDescriptor {
    schema: String,
    guid: String,
    output_meta: OutputMetaFn,
    params: Option<Params>,
}

impl UserCustomOpDescriptor {
    /// A descriptor of the operator with this schema, computed by the kernel `guid`.
    pub fn new(
        schema: impl Into<String>,
        guid: impl Into<String>,
        output_meta: OutputMetaFn,
    ) -> UserCustomOpDescriptor {
        UserCustomOpDescriptor { schema: schema.into(), guid: guid.into(), output_meta, params: None }
    }

    /// Sets the function that fills the kernel's parameters.
    pub fn fill_params<P: UserParams>(mut self, fill: fn(&Stack<'_>) -> Result<P>) -> UserCustomOpDescriptor {
        self.params = Some(Params::new(fill));
        self
    }
}

impl From<CustomOpDescriptor> for Definition {
    fn from(descriptor: CustomOpDescriptor) -> Definition {
        let CustomOpDescriptor { schema, guid, inputs, outputs, params } = descriptor;
        Definition { schema, guid, inputs: Some(inputs), outputs: Outputs::Listed(outputs), params }
    }
}

impl From<UserCustomOpDescriptor> for Definition {
    fn from(descriptor: UserCustomOpDescriptor) -> Definition {
        let UserCustomOpDescriptor { schema, guid, output_meta, params } = descriptor;
        Definition { schema, guid, inputs: None, outputs: Outputs::Function(output_meta), params }
    }
}
