//! Kinds of ops, with their attributes. Names and meanings are those of the
//! [StableHLO specification](https://openxla.org/stablehlo/spec); functions that come from the CHLO dialect say so.

use crate::sharding::{ManualComputation, TensorSharding};
use crate::{Attribute, FuncId, Literal};

/// Defines an enum of ops or attribute values whose names in MLIR are given.
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
    /// An element-wise function of one operand.
    UnaryOp {
        Abs "stablehlo.abs" "Absolute value; of a complex operand, real.",
        Cbrt "stablehlo.cbrt" "Cube root.",
        Ceil "stablehlo.ceil" "Up to an integer.",
        CountLeadingZeros "stablehlo.count_leading_zeros" "Number of leading zero bits.",
        Cosine "stablehlo.cosine" "Cosine.",
        Exponential "stablehlo.exponential" "e^x.",
        ExponentialMinusOne "stablehlo.exponential_minus_one" "e^x - 1.",
        Floor "stablehlo.floor" "Down to an integer.",
        Imag "stablehlo.imag" "Imaginary part; of a real operand, 0.",
        IsFinite "stablehlo.is_finite" "Whether finite; `Pred`.",
        Log "stablehlo.log" "Natural logarithm.",
        LogPlusOne "stablehlo.log_plus_one" "log(x + 1).",
        Logistic "stablehlo.logistic" "1 / (1 + e^-x).",
        Negate "stablehlo.negate" "-x.",
        Not "stablehlo.not" "Logical or bitwise not.",
        Popcnt "stablehlo.popcnt" "Number of bits that are set.",
        Real "stablehlo.real" "Real part.",
        RoundNearestAfz "stablehlo.round_nearest_afz" "To the nearest integer, halves away from zero.",
        RoundNearestEven "stablehlo.round_nearest_even" "To the nearest integer, halves to even.",
        Rsqrt "stablehlo.rsqrt" "1 / sqrt(x).",
        Sign "stablehlo.sign" "-1, 0 or 1; of a complex operand, x / |x|.",
        Sine "stablehlo.sine" "Sine.",
        Sqrt "stablehlo.sqrt" "Square root.",
        Tan "stablehlo.tan" "Tangent.",
        Tanh "stablehlo.tanh" "Hyperbolic tangent.",
        Acos "chlo.acos" "CHLO: arc cosine.",
        Acosh "chlo.acosh" "CHLO: inverse hyperbolic cosine.",
        Asin "chlo.asin" "CHLO: arc sine.",
        Asinh "chlo.asinh" "CHLO: inverse hyperbolic sine.",
        Atan "chlo.atan" "CHLO: arc tangent.",
        Atanh "chlo.atanh" "CHLO: inverse hyperbolic tangent.",
        BesselI0e "chlo.bessel_i0e" "A composite of JAX: exponentially scaled modified Bessel function of order 0.",
        BesselI1e "chlo.bessel_i1e" "CHLO: exponentially scaled modified Bessel function of order 1.",
        Conj "chlo.conj" "CHLO: complex conjugate.",
        Cosh "chlo.cosh" "CHLO: hyperbolic cosine.",
        Digamma "chlo.digamma" "CHLO: digamma.",
        Erf "chlo.erf" "CHLO: error function.",
        ErfInv "chlo.erf_inv" "CHLO: inverse error function.",
        Erfc "chlo.erfc" "CHLO: complementary error function.",
        IsInf "chlo.is_inf" "CHLO: whether infinite; `Pred`.",
        IsNegInf "chlo.is_neg_inf" "CHLO: whether -infinity; `Pred`.",
        IsPosInf "chlo.is_pos_inf" "CHLO: whether +infinity; `Pred`.",
        Lgamma "chlo.lgamma" "CHLO: logarithm of |gamma|.",
        Sinh "chlo.sinh" "CHLO: hyperbolic sine.",
        Square "chlo.square" "CHLO: x * x.",
    }
}

names! {
    /// An element-wise function of two operands.
    BinaryOp {
        Add "stablehlo.add" "Sum; of `Pred`, or.",
        And "stablehlo.and" "Logical or bitwise and.",
        Atan2 "stablehlo.atan2" "Angle of the point (y, x).",
        Divide "stablehlo.divide" "Quotient; of integers, truncated.",
        Maximum "stablehlo.maximum" "The larger; NaN if one is; of `Pred`, or; of complex, lexicographic.",
        Minimum "stablehlo.minimum" "The smaller; NaN if one is; of `Pred`, and.",
        Multiply "stablehlo.multiply" "Product; of `Pred`, and.",
        Or "stablehlo.or" "Logical or bitwise or.",
        Power "stablehlo.power" "x^y.",
        Remainder "stablehlo.remainder" "Remainder with the sign of the dividend.",
        ShiftLeft "stablehlo.shift_left" "Left shift; 0 if by the width or more.",
        ShiftRightArithmetic "stablehlo.shift_right_arithmetic" "Right shift that copies the sign.",
        ShiftRightLogical "stablehlo.shift_right_logical" "Right shift that fills zeros.",
        Subtract "stablehlo.subtract" "Difference.",
        Xor "stablehlo.xor" "Logical or bitwise exclusive or.",
        NextAfter "chlo.next_after" "CHLO: the next float towards the second operand.",
        Polygamma "chlo.polygamma" "CHLO: derivative of digamma of order n.",
        Zeta "chlo.zeta" "CHLO: Hurwitz zeta function.",
    }
}

names! {
    /// How [`OpKind::Compare`] compares.
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
    /// The order that [`OpKind::Compare`] uses.
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
    /// The distribution of [`OpKind::Rng`].
    RngDistribution {
        Uniform "UNIFORM" "Uniform in [a, b).",
        Normal "NORMAL" "Normal of mean a and deviation b.",
    }
}

names! {
    /// The generator of [`OpKind::RngBitGenerator`].
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
    /// group. Of [`OpKind::CollectivePermute`], pairs of source and target.
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

/// What an op does, with its attributes. Operands and results are in the order of the specification.
#[derive(Debug, Clone, PartialEq)]
pub enum OpKind {
    /// A constant.
    Constant(Literal),
    /// Counts along a dimension.
    Iota {
        /// The dimension.
        dim: usize,
    },
    /// Element-wise, one operand.
    Unary(UnaryOp),
    /// Element-wise, two operands of one type.
    Binary(BinaryOp),
    /// Element-wise comparison of two operands.
    Compare(ComparisonDirection, ComparisonType),
    /// `pred ? on_true : on_false`; `pred` may be a scalar.
    Select,
    /// `clamp(min, x, max)`; the bounds may be scalars.
    Clamp,
    /// Conversion to the element type of the result.
    Convert,
    /// The bits as another element type; a last dimension joins or splits elements of different widths.
    BitcastConvert,
    /// Rounds to a format with so many bits.
    ReducePrecision {
        /// Bits of the exponent.
        exponent_bits: u32,
        /// Bits of the mantissa.
        mantissa_bits: u32,
    },
    /// A complex number of its parts.
    Complex,
    /// Repeats along new dimensions: `dims[i]` is where dimension `i` of the operand goes.
    BroadcastInDim {
        /// One for each dimension of the operand.
        dims: Vec<usize>,
    },
    /// The same elements in another shape.
    Reshape,
    /// Permutes dimensions: dimension `i` of the result is `permutation[i]` of the operand.
    Transpose {
        /// A permutation.
        permutation: Vec<usize>,
    },
    /// A part with static bounds.
    Slice {
        /// First index of each dimension.
        start: Vec<usize>,
        /// One past the last.
        limit: Vec<usize>,
        /// Step.
        strides: Vec<usize>,
    },
    /// A part from indices given as scalar operands, clamped.
    DynamicSlice {
        /// The size of each dimension.
        sizes: Vec<usize>,
    },
    /// Replaces a part from indices given as scalar operands, clamped: operand, update, indices.
    DynamicUpdateSlice,
    /// Pads with operand 1.
    Pad {
        /// Added before; negative ones are dropped.
        low: Vec<i64>,
        /// Added after; negative ones are dropped.
        high: Vec<i64>,
        /// Added between elements.
        interior: Vec<i64>,
    },
    /// Joins along a dimension.
    Concatenate {
        /// The dimension.
        dim: usize,
    },
    /// Reverses along dimensions.
    Reverse {
        /// The dimensions.
        dims: Vec<usize>,
    },
    /// Slices from indices: operand, start indices.
    Gather {
        /// Dimension numbers.
        dims: GatherDims,
        /// The size of a slice in each dimension of the operand.
        slice_sizes: Vec<usize>,
        /// Whether indices are sorted.
        indices_are_sorted: bool,
    },
    /// Combines updates into inputs: inputs, indices, updates; one region.
    Scatter {
        /// Dimension numbers.
        dims: ScatterDims,
        /// Whether indices are sorted.
        indices_are_sorted: bool,
        /// Whether no element is updated twice.
        unique_indices: bool,
    },
    /// Reduces along dimensions: inputs, initial values; one region.
    Reduce {
        /// The dimensions.
        dims: Vec<usize>,
    },
    /// Reduces each window: inputs, initial values; one region.
    ReduceWindow {
        /// One for each dimension.
        window: Vec<WindowDim>,
    },
    /// Scatters to the selected element of each window: operand, source, initial value; regions select and scatter.
    SelectAndScatter {
        /// One for each dimension, undilated.
        window: Vec<WindowDim>,
    },
    /// Sorts operands together along a dimension; one region, the comparator.
    Sort {
        /// The dimension.
        dim: usize,
        /// Whether equal elements keep their order.
        stable: bool,
    },
    /// CHLO: the `k` largest along the last dimension: values, indices (`S32`).
    TopK {
        /// How many.
        k: usize,
        /// Whether the largest rather than the smallest.
        largest: bool,
    },
    /// Applies a region to each element.
    Map {
        /// All dimensions, in order.
        dims: Vec<usize>,
    },
    /// Contraction of two operands.
    DotGeneral(DotDims),
    /// Convolution of an input with a kernel.
    Convolution(ConvolutionDims),
    /// Fourier transform of the last dimensions.
    Fft {
        /// The kind.
        fft_type: FftType,
        /// The lengths of the transformed dimensions.
        lengths: Vec<usize>,
    },
    /// Cholesky factor of each matrix.
    Cholesky {
        /// Whether the lower one.
        lower: bool,
    },
    /// Solves with a triangular matrix: a, b.
    TriangularSolve {
        /// Whether `a x = b` rather than `x a = b`.
        left_side: bool,
        /// Whether `a` is lower triangular.
        lower: bool,
        /// Whether its diagonal counts as ones.
        unit_diagonal: bool,
        /// What is done with `a`.
        transpose: Transpose,
    },
    /// Random numbers of unspecified state: a, b, shape.
    Rng(RngDistribution),
    /// Random bits of a given state: state; new state, bits.
    RngBitGenerator(RngAlgorithm),
    /// Batch norm, inference: operand, scale, offset, mean, variance.
    BatchNormInference {
        /// Added to the variance.
        epsilon: f32,
        /// Feature dimension.
        feature: usize,
    },
    /// Batch norm, training: operand, scale, offset; output, mean, variance.
    BatchNormTraining {
        /// Added to the variance.
        epsilon: f32,
        /// Feature dimension.
        feature: usize,
    },
    /// Batch norm, gradient: operand, scale, mean, variance, output gradient; gradients of operand, scale, offset.
    BatchNormGrad {
        /// Added to the variance.
        epsilon: f32,
        /// Feature dimension.
        feature: usize,
    },
    /// Loop; regions condition and body.
    While,
    /// Branch on a `Pred` scalar; regions then and else, without parameters.
    If,
    /// Branch on an `S32` scalar; regions without parameters, the last for indices out of range.
    Case,
    /// Call of a function of the module.
    Call(FuncId),
    /// A named op with a function that says what it does.
    Composite {
        /// The name: `chlo.erf`.
        name: String,
        /// Its attributes, sorted by name.
        attributes: Vec<(String, Attribute)>,
        /// What it does.
        decomposition: FuncId,
        /// The version.
        version: i64,
    },
    /// Call of a function outside the program.
    CustomCall(Box<CustomCall>),
    /// The operands; keeps other ops from moving across.
    OptimizationBarrier,
    /// A tuple of the operands.
    Tuple,
    /// An element of a tuple.
    GetTupleElement {
        /// Its index.
        index: usize,
    },
    /// A token after those of the operands; with none, a new token.
    AfterAll,
    /// The size of a dimension, `S32`.
    GetDimensionSize {
        /// The dimension.
        dim: usize,
    },
    /// The first operand, whose dimension has as many elements as the second says, `S32`: what is beyond them in memory
    /// is no part of it.
    SetDimensionSize {
        /// The dimension.
        dim: usize,
    },
    /// The operand, split as the sharding says.
    ShardingConstraint(Box<TensorSharding>),
    /// The operand is split as all others of a group; no result.
    ShardingGroup {
        /// The group.
        id: i64,
    },
    /// A region that is written for one device of some axes of a mesh; it uses nothing from outside.
    ManualComputation(Box<ManualComputation>),
    /// Reduces each operand over the processes of each group; one region.
    AllReduce(CollectiveGroups),
    /// Joins the operands of the processes of each group.
    AllGather {
        /// The dimension that they are joined along.
        dim: usize,
        /// The groups.
        groups: CollectiveGroups,
    },
    /// Reduces the operand over the processes of each group, each of which gets a part; one region.
    ReduceScatter {
        /// The dimension that is split.
        dim: usize,
        /// The groups.
        groups: CollectiveGroups,
    },
    /// Splits the operands, and sends part `i` to the process `i` of the group, which joins what it gets.
    AllToAll {
        /// The dimension that is split.
        split_dim: usize,
        /// The dimension that parts are joined along.
        concat_dim: usize,
        /// The number of parts: as many as processes in a group.
        split_count: usize,
        /// The groups.
        groups: CollectiveGroups,
    },
    /// Sends the operands of the root of each group to all of it; a process of no group gets zeros.
    CollectiveBroadcast(RootedGroups),
    /// Reduces the operands over the processes of each group; the root gets the results, the others zeros. One region.
    CollectiveReduce(RootedGroups),
    /// Sends the operand of each source to its target; a process that is no target gets zeros.
    CollectivePermute(CollectiveGroups),
    /// Starts the op of its region, whose parameters are the operands; a future of its results.
    AsyncStart,
    /// Waits for a future.
    AsyncDone,
    /// The number of the partition, `U32`.
    PartitionId,
    /// The number of the replica, `U32`.
    ReplicaId,
}

impl OpKind {
    /// The groups of a collective.
    pub fn collective(&self) -> Option<&CollectiveGroups> {
        match self {
            OpKind::AllReduce(groups)
            | OpKind::AllGather { groups, .. }
            | OpKind::ReduceScatter { groups, .. }
            | OpKind::AllToAll { groups, .. }
            | OpKind::CollectivePermute(groups) => Some(groups),
            OpKind::CollectiveBroadcast(rooted) | OpKind::CollectiveReduce(rooted) => Some(&rooted.groups),
            _ => None,
        }
    }

    /// The name in MLIR: `stablehlo.add`.
    pub fn name(&self) -> &'static str {
        match self {
            OpKind::Constant(_) => "stablehlo.constant",
            OpKind::Iota { .. } => "stablehlo.iota",
            OpKind::Unary(op) => op.name(),
            OpKind::Binary(op) => op.name(),
            OpKind::Compare(..) => "stablehlo.compare",
            OpKind::Select => "stablehlo.select",
            OpKind::Clamp => "stablehlo.clamp",
            OpKind::Convert => "stablehlo.convert",
            OpKind::BitcastConvert => "stablehlo.bitcast_convert",
            OpKind::ReducePrecision { .. } => "stablehlo.reduce_precision",
            OpKind::Complex => "stablehlo.complex",
            OpKind::BroadcastInDim { .. } => "stablehlo.broadcast_in_dim",
            OpKind::Reshape => "stablehlo.reshape",
            OpKind::Transpose { .. } => "stablehlo.transpose",
            OpKind::Slice { .. } => "stablehlo.slice",
            OpKind::DynamicSlice { .. } => "stablehlo.dynamic_slice",
            OpKind::DynamicUpdateSlice => "stablehlo.dynamic_update_slice",
            OpKind::Pad { .. } => "stablehlo.pad",
            OpKind::Concatenate { .. } => "stablehlo.concatenate",
            OpKind::Reverse { .. } => "stablehlo.reverse",
            OpKind::Gather { .. } => "stablehlo.gather",
            OpKind::Scatter { .. } => "stablehlo.scatter",
            OpKind::Reduce { .. } => "stablehlo.reduce",
            OpKind::ReduceWindow { .. } => "stablehlo.reduce_window",
            OpKind::SelectAndScatter { .. } => "stablehlo.select_and_scatter",
            OpKind::Sort { .. } => "stablehlo.sort",
            OpKind::TopK { .. } => "chlo.top_k",
            OpKind::Map { .. } => "stablehlo.map",
            OpKind::DotGeneral(_) => "stablehlo.dot_general",
            OpKind::Convolution(_) => "stablehlo.convolution",
            OpKind::Fft { .. } => "stablehlo.fft",
            OpKind::Cholesky { .. } => "stablehlo.cholesky",
            OpKind::TriangularSolve { .. } => "stablehlo.triangular_solve",
            OpKind::Rng(_) => "stablehlo.rng",
            OpKind::RngBitGenerator(_) => "stablehlo.rng_bit_generator",
            OpKind::BatchNormInference { .. } => "stablehlo.batch_norm_inference",
            OpKind::BatchNormTraining { .. } => "stablehlo.batch_norm_training",
            OpKind::BatchNormGrad { .. } => "stablehlo.batch_norm_grad",
            OpKind::While => "stablehlo.while",
            OpKind::If => "stablehlo.if",
            OpKind::Case => "stablehlo.case",
            OpKind::Call(_) => "func.call",
            OpKind::Composite { .. } => "stablehlo.composite",
            OpKind::CustomCall(_) => "stablehlo.custom_call",
            OpKind::OptimizationBarrier => "stablehlo.optimization_barrier",
            OpKind::Tuple => "stablehlo.tuple",
            OpKind::GetTupleElement { .. } => "stablehlo.get_tuple_element",
            OpKind::AfterAll => "stablehlo.after_all",
            OpKind::GetDimensionSize { .. } => "stablehlo.get_dimension_size",
            OpKind::SetDimensionSize { .. } => "stablehlo.set_dimension_size",
            OpKind::ShardingConstraint(_) => "sdy.sharding_constraint",
            OpKind::ShardingGroup { .. } => "sdy.sharding_group",
            OpKind::ManualComputation(_) => "sdy.manual_computation",
            OpKind::AllReduce(_) => "stablehlo.all_reduce",
            OpKind::AllGather { .. } => "stablehlo.all_gather",
            OpKind::ReduceScatter { .. } => "stablehlo.reduce_scatter",
            OpKind::AllToAll { .. } => "stablehlo.all_to_all",
            OpKind::CollectiveBroadcast(_) => "stablehlo.collective_broadcast",
            OpKind::CollectivePermute(_) => "stablehlo.collective_permute",
            OpKind::CollectiveReduce(_) => "stablehlo.collective_reduce",
            OpKind::AsyncStart => "stablehlo.async_start",
            OpKind::AsyncDone => "stablehlo.async_done",
            OpKind::PartitionId => "stablehlo.partition_id",
            OpKind::ReplicaId => "stablehlo.replica_id",
        }
    }
}
