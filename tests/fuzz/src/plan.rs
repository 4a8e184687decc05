//! A call before it becomes C structs: what is sound in it, and where it is not.

use std::collections::HashMap;

use arbitrary::{Result, Unstructured};
use oxcall::DType;
use oxcall::descriptor::{
    Arity, AttrParam, AttrType, DTypeRule, DimExpr, DimOp, DimPattern, Handler, Param, Presence, Role,
};
use xla_ffi_sys::xla_ffi as sys;

/// A whole call.
pub(crate) struct Call {
    pub(crate) handler: &'static Handler,
    pub(crate) frame: Frame,
}

/// The call frame.
pub(crate) struct Frame {
    pub(crate) struct_size: usize,
    pub(crate) extensions: Vec<Extension>,
    /// Index into `HostVersion::ALL`.
    pub(crate) version: usize,
    pub(crate) api: Api,
    pub(crate) has_context: bool,
    pub(crate) stage: u32,
    /// Whether the stages before run.
    pub(crate) instantiated: bool,
    pub(crate) args: List,
    pub(crate) rets: List,
    pub(crate) attrs: Attrs,
}

/// The host's function table.
pub(crate) enum Api {
    Null,
    Whole,
    /// A copy without some functions, given as bits, and with a size of its own.
    Damaged {
        absent: u32,
        struct_size: usize,
    },
}

/// An extension of the frame.
pub(crate) struct Extension {
    pub(crate) struct_size: usize,
    pub(crate) kind: u32,
    /// Size of the metadata struct; `None` for a null pointer to it.
    pub(crate) metadata: Option<usize>,
}

/// Arguments or results.
pub(crate) struct List {
    pub(crate) struct_size: usize,
    /// Stated instead of the number of buffers.
    pub(crate) size: Option<i64>,
    pub(crate) null_types: bool,
    pub(crate) null_buffers: bool,
    pub(crate) buffers: Vec<Buffer>,
}

/// One operand.
pub(crate) struct Buffer {
    pub(crate) code: u32,
    pub(crate) null: bool,
    pub(crate) struct_size: usize,
    pub(crate) dtype: u32,
    /// Stated instead of the number of dimensions.
    pub(crate) rank: Option<i64>,
    pub(crate) dims: Option<Vec<i64>>,
    pub(crate) data: Data,
    /// Where its bytes come from.
    pub(crate) seed: u64,
}

/// Where an operand's data is.
#[derive(Clone, Copy)]
pub(crate) enum Data {
    Null,
    /// Memory of its own, from this offset on.
    Own(usize),
    /// In the memory of an earlier operand (arguments first), this many bytes from its start.
    Shared {
        operand: usize,
        offset: usize,
    },
}

/// A dictionary.
pub(crate) struct Attrs {
    pub(crate) struct_size: usize,
    pub(crate) size: Option<i64>,
    /// Null pointers to kinds, names and values, as bits.
    pub(crate) nulls: u8,
    pub(crate) sorted: bool,
    pub(crate) entries: Vec<Attr>,
}

/// One attribute.
pub(crate) struct Attr {
    pub(crate) name: Text,
    /// Stated instead of the value's own kind.
    pub(crate) kind: Option<u32>,
    pub(crate) value: Option<Value>,
}

/// A span of bytes.
pub(crate) enum Text {
    NullSpan,
    NullData(usize),
    Bytes(Vec<u8>),
}

/// The value of an attribute.
pub(crate) enum Value {
    Scalar {
        dtype: u32,
        bytes: Option<Vec<u8>>,
    },
    /// `size` is stated instead of what the bytes hold.
    Array {
        dtype: u32,
        count: usize,
        size: Option<usize>,
        bytes: Option<Vec<u8>>,
        offset: usize,
    },
    String(Text),
    Dict(Attrs),
}

pub(crate) fn sound_attrs(entries: Vec<Attr>) -> Attrs {
    let struct_size = sys::XLA_FFI_Attrs_STRUCT_SIZE as usize;
    Attrs { struct_size, size: None, nulls: 0, sorted: true, entries }
}

/// The value of each name in patterns, and of each type parameter.
struct Names<'h> {
    handler: &'h Handler,
    dims: HashMap<&'static str, i64>,
    lists: HashMap<&'static str, Vec<i64>>,
    dtypes: Vec<DType>,
}

impl Call {
    /// A call that most often is sound.
    pub(crate) fn sound(input: &mut Unstructured<'_>) -> Result<Call> {
        let handler = *input.choose(&crate::ops::ALL)?;
        let dtypes = handler.type_params.iter().map(|param| input.choose(param.dtypes).copied());
        let mut names =
            Names { handler, dtypes: dtypes.collect::<Result<_>>()?, dims: HashMap::new(), lists: HashMap::new() };
        let mut entries = Vec::new();
        for param in handler.attrs {
            if matches!(param.presence, Presence::Required) || input.ratio(1, 2)? {
                entries.push(names.attr(input, param)?);
            }
        }
        if handler.extra_attrs && input.arbitrary()? {
            let value = Value::Dict(sound_attrs(Vec::new()));
            entries.push(Attr { name: Text::Bytes(b"extra".to_vec()), kind: None, value: Some(value) });
        }
        let args = names.list(input, Role::Ret)?;
        let rets = names.list(input, Role::Arg)?;
        let frame = Frame {
            struct_size: sys::XLA_FFI_CallFrame_STRUCT_SIZE as usize,
            extensions: Vec::new(),
            version: input.choose_index(7)?,
            api: Api::Whole,
            has_context: true,
            stage: sys::XLA_FFI_ExecutionStage_EXECUTE,
            instantiated: input.ratio(9, 10)?,
            args,
            rets,
            attrs: sound_attrs(entries),
        };
        let mut call = Call { handler, frame };
        call.alias_in_outs(input)?;
        Ok(call)
    }

    /// Lets results of in-out parameters share their argument's memory, most often.
    fn alias_in_outs(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let (mut arg, mut ret) = (0, 0);
        for param in self.handler.params.iter().take_while(|param| param.arity == Arity::One) {
            if param.role == Role::InOut && input.ratio(3, 4)? {
                self.frame.rets.buffers[ret].data = Data::Shared { operand: arg, offset: 0 };
            }
            arg += usize::from(param.role != Role::Ret);
            ret += usize::from(param.role != Role::Arg);
        }
        Ok(())
    }
}

impl Names<'_> {
    /// The operands of one side: all parameters but those of role `but`.
    fn list(&mut self, input: &mut Unstructured<'_>, but: Role) -> Result<List> {
        let mut buffers = Vec::new();
        for param in self.handler.params.iter().filter(|param| param.role != but) {
            let count = match param.arity {
                Arity::One => 1,
                Arity::Optional => input.int_in_range(0..=1)?,
                Arity::Variadic => input.int_in_range(0..=4)?,
            };
            for _ in 0..count {
                buffers.push(self.buffer(input, param)?);
            }
            if param.arity == Arity::Optional && count == 0 {
                break;
            }
        }
        let struct_size = sys::XLA_FFI_Args_STRUCT_SIZE as usize;
        Ok(List { struct_size, size: None, null_types: false, null_buffers: false, buffers })
    }

    fn buffer(&mut self, input: &mut Unstructured<'_>, param: &Param) -> Result<Buffer> {
        let dtype = match param.dtype {
            DTypeRule::One(dtype) => dtype,
            DTypeRule::Var(var) => self.dtypes[var],
            DTypeRule::Any => *input.choose(DType::ALL)?,
        };
        let dims = match (param.dims, param.rank) {
            (Some(pattern), _) => self.dims(input, pattern)?,
            (None, Some(rank)) => self.some_dims(input, rank)?,
            // Results without a pattern have the shape of argument 0.
            (None, None) => match self.lists.get("") {
                Some(dims) => dims.clone(),
                None => {
                    let rank = input.int_in_range(0..=3)?;
                    self.some_dims(input, rank)?
                }
            },
        };
        self.lists.entry("").or_insert_with(|| dims.clone());
        Ok(Buffer {
            code: sys::XLA_FFI_ArgType_BUFFER,
            null: false,
            struct_size: sys::XLA_FFI_Buffer_STRUCT_SIZE as usize,
            dtype: dtype.code(),
            rank: None,
            dims: Some(dims),
            data: Data::Own(0),
            seed: input.arbitrary()?,
        })
    }

    fn some_dims(&mut self, input: &mut Unstructured<'_>, rank: usize) -> Result<Vec<i64>> {
        (0..rank).map(|_| input.int_in_range(0..=4)).collect()
    }

    fn dims(&mut self, input: &mut Unstructured<'_>, pattern: &'static [DimPattern]) -> Result<Vec<i64>> {
        let mut dims = Vec::new();
        for token in pattern {
            match token {
                DimPattern::Any => dims.extend(self.some_dims(input, 1)?),
                DimPattern::List(name) => {
                    if !self.lists.contains_key(name) {
                        let rank = input.int_in_range(0..=2)?;
                        let list = self.some_dims(input, rank)?;
                        self.lists.insert(name, list);
                    }
                    dims.extend(&self.lists[name]);
                }
                DimPattern::Dim(expr) => dims.push(self.value(input, expr)?),
            }
        }
        Ok(dims)
    }

    fn value(&mut self, input: &mut Unstructured<'_>, expr: &DimExpr) -> Result<i64> {
        Ok(match *expr {
            DimExpr::Wildcard => input.int_in_range(0..=3)?,
            DimExpr::Const(value) => value,
            DimExpr::Name(name) => match self.dims.get(name) {
                Some(&value) => value,
                None => {
                    let value = input.int_in_range(0..=5)?;
                    self.dims.insert(name, value);
                    value
                }
            },
            DimExpr::Binary(op, a, b) => {
                let (a, b) = (self.value(input, a)?, self.value(input, b)?);
                match op {
                    DimOp::Add => a + b,
                    DimOp::Sub => a - b,
                    DimOp::Mul => a * b,
                    DimOp::Div => a.checked_div(b).unwrap_or(1),
                    DimOp::Rem => a.checked_rem(b).unwrap_or(1),
                }
            }
        })
    }

    fn attr(&mut self, input: &mut Unstructured<'_>, param: &AttrParam) -> Result<Attr> {
        let value = self.attr_value(input, param.ty, Some(param.name))?;
        Ok(Attr { name: Text::Bytes(param.name.as_bytes().to_vec()), kind: None, value: Some(value) })
    }

    fn attr_value(&mut self, input: &mut Unstructured<'_>, ty: AttrType, name: Option<&'static str>) -> Result<Value> {
        Ok(match ty {
            AttrType::Scalar(dtype) => self.scalar(input, dtype, name)?,
            AttrType::Var(var) => self.scalar(input, self.dtypes[var], None)?,
            AttrType::Pointer => self.scalar(input, DType::S64, None)?,
            AttrType::Number => {
                let dtype = *input.choose(&[DType::S64, DType::F64])?;
                self.scalar(input, dtype, None)?
            }
            AttrType::String | AttrType::Device => Value::String(text(input)?),
            AttrType::Array(dtype) => array(input, dtype)?,
            AttrType::Enum(variants) => {
                let (name, number) = *input.choose(variants)?;
                if input.arbitrary()? {
                    Value::String(Text::Bytes(name.as_bytes().to_vec()))
                } else {
                    Value::Scalar { dtype: DType::S64.code(), bytes: Some(number.to_ne_bytes().to_vec()) }
                }
            }
            AttrType::Struct(fields) => {
                let mut entries = Vec::new();
                for field in fields {
                    if matches!(field.presence, Presence::Required) || input.arbitrary()? {
                        entries.push(self.attr(input, field)?);
                    }
                }
                Value::Dict(sound_attrs(entries))
            }
            AttrType::Dictionary => Value::Dict(sound_attrs(vec![anything(input, 3)?])),
            AttrType::Any => anything(input, 3)?.value.expect("it has a value"),
        })
    }

    /// A scalar; an integer that names a dimension has its value.
    fn scalar(&mut self, input: &mut Unstructured<'_>, dtype: DType, name: Option<&'static str>) -> Result<Value> {
        let mut bytes = scalar_bytes(input, dtype)?;
        if let Some(name) = name.filter(|_| matches!(dtype, DType::S64 | DType::U8)) {
            let value: i64 = input.int_in_range(0..=3)?;
            self.dims.insert(name, value);
            bytes = value.to_ne_bytes()[..bytes.len()].to_vec();
        }
        Ok(Value::Scalar { dtype: dtype.code(), bytes: Some(bytes) })
    }
}

fn scalar_bytes(input: &mut Unstructured<'_>, dtype: DType) -> Result<Vec<u8>> {
    let size = dtype.size_in_bytes(1).expect("one element");
    let small: u8 = if dtype == DType::Pred { input.int_in_range(0..=1)? } else { input.arbitrary()? };
    let mut bytes = vec![0; size];
    if let Some(first) = bytes.first_mut() {
        *first = small;
    }
    Ok(bytes)
}

fn array(input: &mut Unstructured<'_>, dtype: DType) -> Result<Value> {
    let count = input.int_in_range(0..=3)?;
    let mut bytes = Vec::new();
    for _ in 0..count {
        bytes.extend(scalar_bytes(input, dtype)?);
    }
    bytes.truncate(dtype.size_in_bytes(count).expect("a few elements"));
    Ok(Value::Array { dtype: dtype.code(), count, size: None, bytes: Some(bytes), offset: 0 })
}

pub(crate) fn text(input: &mut Unstructured<'_>) -> Result<Text> {
    const TEXTS: [&[u8]; 8] = [
        b"",
        b"a",
        b"fast",
        b"panic",
        b"a text of more than sixteen bytes",
        "na\u{ef}ve".as_bytes(),
        b"\xff\xfe",
        b"a\0b",
    ];
    Ok(Text::Bytes(input.choose(&TEXTS)?.to_vec()))
}

/// An attribute of any kind under any name.
pub(crate) fn anything(input: &mut Unstructured<'_>, depth: usize) -> Result<Attr> {
    let value = match input.int_in_range(0..=if depth > 0 { 3 } else { 2 })? {
        0 => {
            let dtype = *input.choose(DType::ALL)?;
            Value::Scalar { dtype: dtype.code(), bytes: Some(scalar_bytes(input, dtype)?) }
        }
        1 => {
            let dtype = *input.choose(&[DType::S64, DType::F32, DType::Pred, DType::C128, DType::S4])?;
            array(input, dtype)?
        }
        2 => Value::String(text(input)?),
        _ => {
            let count = input.int_in_range(0..=3)?;
            let entries = (0..count).map(|_| anything(input, depth - 1));
            Value::Dict(sound_attrs(entries.collect::<Result<_>>()?))
        }
    };
    Ok(Attr { name: text(input)?, kind: None, value: Some(value) })
}
