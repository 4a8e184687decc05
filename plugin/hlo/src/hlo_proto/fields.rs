//! The numbers of the fields of XLA's messages, as `hlo.proto` and `xla_data.proto` have them, and values of enums.

/// Defines a module for each message, with the numbers of its fields.
macro_rules! messages {
    ($($(#[$doc:meta])* $message:ident { $($field:ident = $number:literal,)* })*) => {
        $($(#[$doc])* pub(crate) mod $message {
            $(pub(crate) const $field: u32 = $number;)*
        })*
    };
}

messages! {
    /// `HloModuleProtoWithConfig`.
    with_config {
        MODULE = 1,
        CONFIG = 2,
    }

    /// `HloModuleConfigProto`.
    config {
        ENTRY_LAYOUT = 1,
        REPLICAS = 4,
        PARTITIONS = 5,
    }

    /// `HloModuleProto`.
    module {
        NAME = 1,
        ENTRY_NAME = 2,
        COMPUTATIONS = 3,
        PROGRAM_SHAPE = 4,
        ID = 5,
        ENTRY_ID = 6,
        ALIASES = 8,
        DONORS = 18,
    }

    /// `AliasEntryProto`.
    alias {
        OUTPUT = 1,
        PARAMETER = 2,
        PARAMETER_PATH = 3,
        KIND = 4,
    }

    /// `BufferDonorEntryProto`.
    donor {
        PARAMETER = 1,
        PARAMETER_PATH = 2,
    }

    /// `HloComputationProto`.
    computation {
        NAME = 1,
        INSTRUCTIONS = 2,
        PROGRAM_SHAPE = 4,
        ID = 5,
        ROOT = 6,
    }

    /// `ProgramShapeProto`.
    program_shape {
        PARAMETERS = 1,
        RESULT = 2,
        NAMES = 3,
    }

    /// `HloInstructionProto`.
    instruction {
        NAME = 1,
        OPCODE = 2,
        SHAPE = 3,
        METADATA = 7,
        LITERAL = 8,
        PARAMETER = 9,
        TUPLE_INDEX = 13,
        DIMENSIONS = 14,
        WINDOW = 15,
        CONVOLUTION_DIMS = 16,
        SLICES = 17,
        EXPONENT_BITS = 18,
        MANTISSA_BITS = 19,
        DYNAMIC_SLICE_SIZES = 20,
        PADDING = 21,
        DISTRIBUTION = 23,
        EPSILON = 24,
        FEATURE = 25,
        CHANNEL = 26,
        TARGET = 28,
        DOT_DIMS = 30,
        FFT_TYPE = 31,
        FFT_LENGTH = 32,
        GATHER_DIMS = 33,
        GATHER_SIZES = 34,
        ID = 35,
        OPERANDS = 36,
        CALLED = 38,
        SHARDING = 40,
        BACKEND_CONFIG = 43,
        SCATTER_DIMS = 48,
        REPLICA_GROUPS = 49,
        FEATURE_GROUPS = 50,
        PRECISION = 51,
        SOURCE_TARGET_PAIRS = 52,
        CONSTRAIN_LAYOUT = 56,
        OPERAND_SHAPES = 57,
        BATCH_GROUPS = 58,
        TRIANGULAR_SOLVE = 59,
        STABLE = 60,
        CHOLESKY = 62,
        DIRECTION = 63,
        SIDE_EFFECT = 65,
        INDICES_SORTED = 67,
        FRONTEND_ATTRIBUTES = 68,
        UNIQUE_INDICES = 69,
        RNG_ALGORITHM = 70,
        GLOBAL_DEVICE_IDS = 71,
        COMPARISON = 72,
        ALIASES = 74,
        API_VERSION = 77,
        K = 81,
        LARGEST = 85,
        COLLECTIVE_DEVICES = 87,
        IS_COMPOSITE = 89,
    }

    /// `OpSharding`.
    op_sharding {
        TYPE = 1,
        GRID = 3,
        DEVICES = 4,
        TUPLE = 5,
        REPLICATE_LAST = 6,
        LAST_DIMS = 8,
        IOTA_DIMS = 9,
        IOTA_ORDER = 10,
    }

    /// `CollectiveDeviceListProto`.
    collective_devices {
        REPLICA_GROUPS = 1,
        IOTA = 2,
    }

    /// `IotaReplicaGroupListProto`.
    iota_groups {
        GROUPS = 1,
        DEVICES_PER_GROUP = 2,
        RESHAPE_DIMS = 3,
        TRANSPOSE_PERM = 4,
    }

    /// `OpMetadata`.
    metadata {
        OP_NAME = 2,
        FILE = 3,
        LINE = 4,
        COLUMN = 18,
    }

    /// `ShapeProto`.
    shape {
        ELEMENT = 2,
        DIMENSIONS = 3,
        TUPLE = 4,
        LAYOUT = 5,
        DYNAMIC = 6,
    }

    /// `LayoutProto`.
    layout {
        MINOR_TO_MAJOR = 1,
        TILES = 6,
    }

    /// `LiteralProto`: the shape; the elements are in a field for each element type.
    literal {
        SHAPE = 1,
        TUPLE = 10,
    }

    /// `WindowDimension`.
    window {
        SIZE = 1,
        STRIDE = 2,
        PADDING_LOW = 3,
        PADDING_HIGH = 4,
        WINDOW_DILATION = 5,
        BASE_DILATION = 6,
        REVERSAL = 7,
    }

    /// `ConvolutionDimensionNumbers`.
    convolution {
        KERNEL_INPUT_FEATURE = 3,
        KERNEL_OUTPUT_FEATURE = 4,
        KERNEL_SPATIAL = 6,
        INPUT_BATCH = 7,
        INPUT_FEATURE = 8,
        OUTPUT_BATCH = 9,
        OUTPUT_FEATURE = 10,
        INPUT_SPATIAL = 11,
        OUTPUT_SPATIAL = 12,
    }

    /// `DotDimensionNumbers`.
    dot {
        LHS_CONTRACTING = 1,
        RHS_CONTRACTING = 2,
        LHS_BATCHING = 3,
        RHS_BATCHING = 4,
    }

    /// `PrecisionConfig`.
    precision {
        OPERANDS = 1,
        ALGORITHM = 2,
    }

    /// `GatherDimensionNumbers`.
    gather {
        OFFSET_DIMS = 1,
        COLLAPSED_SLICE_DIMS = 2,
        START_INDEX_MAP = 3,
        INDEX_VECTOR_DIM = 4,
        OPERAND_BATCHING = 5,
        INDICES_BATCHING = 6,
    }

    /// `ScatterDimensionNumbers`.
    scatter {
        UPDATE_WINDOW_DIMS = 1,
        INSERTED_WINDOW_DIMS = 2,
        SCATTER_DIMS = 3,
        INDEX_VECTOR_DIM = 4,
        INPUT_BATCHING = 5,
        INDICES_BATCHING = 6,
    }

    /// `TriangularSolveOptions`.
    triangular_solve {
        LEFT_SIDE = 1,
        LOWER = 2,
        UNIT_DIAGONAL = 3,
        TRANSPOSE = 4,
    }

    /// `OutputOperandAliasing`.
    operand_alias {
        OUTPUT = 1,
        OPERAND = 2,
        OPERAND_PATH = 3,
    }

    /// `FrontendAttributes`, a map, and the entries of maps.
    map {
        ENTRIES = 1,
        KEY = 1,
        VALUE = 2,
    }
}

/// `ReplicaGroup` is a list of ids, and `SourceTarget` a pair.
pub(crate) const REPLICA_IDS: u32 = 1;
pub(crate) const SOURCE_TARGET: [u32; 2] = [1, 2];

/// `HloInputOutputAliasProto` and `HloBufferDonorProto` are lists of entries.
pub(crate) const ENTRIES: u32 = 1;

/// A message of integers: a dimension of a slice, or of padding.
pub(crate) const TRIPLE: [u32; 3] = [1, 2, 3];

/// `PaddingConfig` and `Window` are lists of dimensions.
pub(crate) const WINDOW_DIMENSIONS: u32 = 1;

/// `CholeskyOptions`.
pub(crate) const CHOLESKY_LOWER: u32 = 1;

/// A value of the field `KIND` of an alias.
pub(crate) const MAY_ALIAS: i64 = 1;
