//! Types of the fields of ops.

use crate::{Attribute, FuncId};

/// Defines an enum of values of attributes whose names in MLIR are given.
macro_rules! names {
    ($(#[$doc:meta])* $enum:ident { $($variant:ident $name:literal $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $enum {
            $(#[doc = $text] $variant,)*
        }

        impl $enum {
            /// Every one.
            pub const ALL: &[$enum] = &[$($enum::$variant),*];

            /// The name in MLIR.
            pub fn name(self) -> &'static str {
                match self { $($enum::$variant => $name,)* }
            }

            /// The one of this name.
            pub fn from_name(name: &str) -> Option<$enum> {
                $enum::ALL.iter().copied().find(|each| each.name() == name)
            }
        }
    };
}

names! {
    /// How [`OpKind::Compare`](super::OpKind::Compare) compares.
    ComparisonDirection {
        Eq "EQ" "Equal.",
        Ne "NE" "Not equal.",
        Ge "GE" "Greater or equal.",
        Gt "GT" "Greater.",
        Le "LE" "Less or equal.",
        Lt "LT" "Less.",
    }
}

names! {
    /// The order that [`OpKind::Compare`](super::OpKind::Compare) uses.
    ComparisonType {
        NoType "NOTYPE" "That of the element type: float, signed or unsigned.",
        Float "FLOAT" "IEEE comparison.",
        TotalOrder "TOTALORDER" "IEEE total order: -NaN < -inf < -0 < +0 < inf < NaN.",
        Signed "SIGNED" "Of signed integers.",
        Unsigned "UNSIGNED" "Of unsigned integers.",
    }
}

names! {
    /// How precisely a contraction is computed.
    Precision {
        Default "DEFAULT" "Fast; the implementation chooses.",
        High "HIGH" "More precise.",
        Highest "HIGHEST" "As precise as the type.",
    }
}

names! {
    /// The kind of a Fourier transform.
    FftType {
        Fft "FFT" "Forward, complex to complex.",
        Ifft "IFFT" "Inverse, complex to complex.",
        Rfft "RFFT" "Forward, real to complex.",
        Irfft "IRFFT" "Inverse, complex to real.",
    }
}

names! {
    /// What a triangular solve does with its matrix.
    Transpose {
        NoTranspose "NO_TRANSPOSE" "As it is.",
        Transpose "TRANSPOSE" "Transposed.",
        Adjoint "ADJOINT" "Transposed and conjugated.",
    }
}

names! {
    /// The distribution of [`OpKind::Rng`](super::OpKind::Rng).
    RngDistribution {
        Uniform "UNIFORM" "Uniform in [a, b).",
        Normal "NORMAL" "Normal of mean a and deviation b.",
    }
}

names! {
    /// The generator of [`OpKind::RngBitGenerator`](super::OpKind::RngBitGenerator).
    RngAlgorithm {
        Default "DEFAULT" "The implementation chooses.",
        ThreeFry "THREE_FRY" "Threefry 2x32.",
        Philox "PHILOX" "Philox 4x32.",
    }
}

names! {
    /// The version of the custom call interface that a target is written for.
    CustomCallApiVersion {
        Unspecified "API_VERSION_UNSPECIFIED" "As `Original`.",
        Original "API_VERSION_ORIGINAL" "v1: `void(void* out, const void** in)`.",
        StatusReturning "API_VERSION_STATUS_RETURNING" "v2: with a status.",
        StatusReturningUnified "API_VERSION_STATUS_RETURNING_UNIFIED" "v3: with opaque bytes and a status.",
        TypedFfi "API_VERSION_TYPED_FFI" "v4: the XLA FFI.",
    }
}

/// A value of an attribute that is an enum of StableHLO.
pub(crate) trait Word: Copy + PartialEq + Sized {
    /// The enum's name in MLIR: `fft_type` in `#stablehlo<fft_type FFT>`.
    const ENUM: &'static str;

    /// The name of the value.
    fn word(self) -> &'static str;

    /// The value of this name.
    fn from_word(word: &str) -> Option<Self>;
}

/// Gives enums their names in MLIR.
macro_rules! words {
    ($($enum:ident $name:literal,)*) => {
        $(impl Word for $enum {
            const ENUM: &'static str = $name;

            fn word(self) -> &'static str {
                self.name()
            }

            fn from_word(word: &str) -> Option<$enum> {
                $enum::from_name(word)
            }
        })*
    };
}

words! {
    ComparisonDirection "comparison_direction",
    ComparisonType "comparison_type",
    FftType "fft_type",
    RngAlgorithm "rng_algorithm",
    RngDistribution "rng_distribution",
    Transpose "transpose",
}

/// The dimension numbers of a gather.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatherDims {
    /// Dimensions of the result that come from slices.
    pub offset_dims: Vec<usize>,
    /// Dimensions of the operand that are dropped from slices (size 1).
    pub collapsed_slice_dims: Vec<usize>,
    /// Batching dimensions of the operand.
    pub operand_batching_dims: Vec<usize>,
    /// Batching dimensions of the indices, as many.
    pub start_indices_batching_dims: Vec<usize>,
    /// For each element of an index vector, the dimension of the operand it indexes.
    pub start_index_map: Vec<usize>,
    /// The dimension of the indices that holds index vectors; their rank if vectors are scalars.
    pub index_vector_dim: usize,
}

impl GatherDims {
    /// Those of a gather of single elements of an array of one dimension, at indices of so many dimensions.
    pub fn of_elements(index_rank: usize) -> GatherDims {
        GatherDims {
            offset_dims: Vec::new(),
            collapsed_slice_dims: vec![0], // Bounded: one.
            operand_batching_dims: Vec::new(),
            start_indices_batching_dims: Vec::new(),
            start_index_map: vec![0], // Bounded: one.
            index_vector_dim: index_rank,
        }
    }
}

/// The dimension numbers of a scatter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScatterDims {
    /// Dimensions of the updates that are windows.
    pub update_window_dims: Vec<usize>,
    /// Dimensions of the input that windows lack (size 1).
    pub inserted_window_dims: Vec<usize>,
    /// Batching dimensions of the input.
    pub input_batching_dims: Vec<usize>,
    /// Batching dimensions of the indices, as many.
    pub scatter_indices_batching_dims: Vec<usize>,
    /// For each element of an index vector, the dimension of the input it indexes.
    pub scatter_dims_to_operand_dims: Vec<usize>,
    /// The dimension of the indices that holds index vectors; their rank if vectors are scalars.
    pub index_vector_dim: usize,
}

/// One dimension of a sliding window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowDim {
    /// Elements in the window.
    pub size: usize,
    /// Step between windows.
    pub stride: usize,
    /// Elements added before; negative ones are dropped.
    pub padding_low: i64,
    /// Elements added after; negative ones are dropped.
    pub padding_high: i64,
    /// Step between elements of the base, 1 more than the holes put there.
    pub base_dilation: usize,
    /// Step between elements of the window.
    pub window_dilation: usize,
    /// Whether the window is reversed (convolution only).
    pub reversal: bool,
}

/// The dimension numbers and precision of a dot product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DotDims {
    /// Batching dimensions of the left operand.
    pub lhs_batching: Vec<usize>,
    /// Batching dimensions of the right operand.
    pub rhs_batching: Vec<usize>,
    /// Contracted dimensions of the left operand.
    pub lhs_contracting: Vec<usize>,
    /// Contracted dimensions of the right operand.
    pub rhs_contracting: Vec<usize>,
    /// The precision of each operand; empty for the default.
    pub precision: Vec<Precision>,
    /// The algorithm asked for.
    pub algorithm: Option<DotAlgorithm>,
}

/// How a dot product is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DotAlgorithm {
    /// The type that the left operand is rounded to; `None` is TF32.
    pub lhs_precision: Option<crate::ElementType>,
    /// The type that the right operand is rounded to; `None` is TF32.
    pub rhs_precision: Option<crate::ElementType>,
    /// The type of accumulation; `None` is TF32.
    pub accumulation: Option<crate::ElementType>,
    /// Parts that the left operand is split in.
    pub lhs_components: i64,
    /// Parts that the right operand is split in.
    pub rhs_components: i64,
    /// Products of parts that are summed.
    pub primitive_operations: i64,
    /// Whether imprecise accumulation is allowed.
    pub allow_imprecise_accumulation: bool,
}

/// The dimension numbers of a convolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvolutionDims {
    /// The window, one for each spatial dimension.
    pub window: Vec<WindowDim>,
    /// Batch dimension of the input.
    pub input_batch: usize,
    /// Feature dimension of the input.
    pub input_feature: usize,
    /// Spatial dimensions of the input.
    pub input_spatial: Vec<usize>,
    /// Input feature dimension of the kernel.
    pub kernel_input_feature: usize,
    /// Output feature dimension of the kernel.
    pub kernel_output_feature: usize,
    /// Spatial dimensions of the kernel.
    pub kernel_spatial: Vec<usize>,
    /// Batch dimension of the result.
    pub output_batch: usize,
    /// Feature dimension of the result.
    pub output_feature: usize,
    /// Spatial dimensions of the result.
    pub output_spatial: Vec<usize>,
    /// Groups of features.
    pub feature_groups: usize,
    /// Groups of the batch.
    pub batch_groups: usize,
    /// The precision of each operand; empty for the default.
    pub precision: Vec<Precision>,
}

/// A result (or part of one) that shares its memory with an operand (or part of one).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    /// Path into the tuple of results; empty for the only one.
    pub output: Vec<usize>,
    /// Index of the operand.
    pub operand: usize,
    /// Path into the operand, if it is a tuple.
    pub operand_path: Vec<usize>,
}

/// The channel of a collective or transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChannelHandle {
    /// Its number.
    pub handle: i64,
    /// What it joins: 0 for an unknown kind, 1 for device to device.
    pub ty: i64,
}

/// Which processes a collective is of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CollectiveGroups {
    /// The ids of the processes of each group, in the order that the op's channel and ids say; without any, all are one
    /// group. Of [`OpKind::CollectivePermute`](super::OpKind::CollectivePermute), pairs of source and target.
    pub groups: Vec<Vec<i64>>,
    /// The channel.
    pub channel: Option<ChannelHandle>,
    /// Whether ids are those of devices: the number of the replica times the number of partitions, plus that of the
    /// partition.
    pub use_global_device_ids: bool,
}

impl CollectiveGroups {
    /// Whether the collective has a channel: then it crosses partitions.
    pub fn has_channel(&self) -> bool {
        self.channel.is_some_and(|channel| channel.handle > 0)
    }
}

/// The groups of a collective with a root: one process of each group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RootedGroups {
    /// The groups.
    pub groups: CollectiveGroups,
    /// Whether the last operand, `S32` of one dimension, has the root's place in its group for each of the others;
    /// otherwise the root is the first of the group.
    pub dynamic_root: bool,
}

/// A call of a function that is not part of the program.
#[derive(Debug, Clone, PartialEq)]
pub struct CustomCall {
    /// The name it is registered under.
    pub target: String,
    /// Whether it must not be removed or reordered with others of its kind.
    pub has_side_effect: bool,
    /// `backend_config` as a string (v1 to v3), or dictionary (typed FFI).
    pub backend_config: Attribute,
    /// Every other attribute that StableHLO does not define, sorted by name: `mhlo.backend_config`, `mhlo.sharding`.
    pub attributes: Vec<(String, Attribute)>,
    /// The interface version that the program names.
    pub api_version: CustomCallApiVersion,
    /// Layouts of operands, minor to major; `None` for row-major ones.
    pub operand_layouts: Option<Vec<Vec<usize>>>,
    /// Layouts of results, minor to major; `None` for row-major ones.
    pub result_layouts: Option<Vec<Vec<usize>>>,
    /// Results that share memory with operands.
    pub aliases: Vec<Alias>,
    /// Functions that the target may call.
    pub called_computations: Vec<FuncId>,
}

/// Calls that XLA's compiler knows, and takes for their operands: they say how values are spread among devices, in
/// which memory they are or in which layout, or wait for a collective, which has run where it was started.
const IDENTITIES: [&str; 14] = [
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "PinToDevice",
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "all-gather-done",
    "all-reduce-done",
    "all-to-all-done",
    "annotate_device_placement",
    "collective-permute-done",
    "reduce-scatter-done",
    "xla.sdy.FuncResultSharding",
];

impl CustomCall {
    /// Whether the results are the operands, where their types are the same, and the call says something about them
    /// only.
    pub fn is_identity(&self) -> bool {
        IDENTITIES.contains(&self.target.as_str())
    }

    /// The attributes that a typed FFI handler is given, or `None` for the legacy interfaces. JAX writes them as
    /// `mhlo.backend_config` beside an API version of 1.
    pub fn typed_attributes(&self) -> Option<&Attribute> {
        let mhlo = self.attributes.iter().find(|(name, _)| name == "mhlo.backend_config").map(|(_, value)| value);
        mhlo.or(match self.api_version {
            CustomCallApiVersion::TypedFfi => Some(&self.backend_config),
            _ => None,
        })
    }
}
