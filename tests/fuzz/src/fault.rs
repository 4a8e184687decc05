//! Faults that hosts must not make, made in a call.

use arbitrary::{Result, Unstructured};
use oxcall::DType;

use crate::plan::{Api, Attr, Attrs, Buffer, Call, Data, Extension, List, Text, Value, anything};

/// Sizes of structs: none, short by a little, long.
const SIZES: [usize; 12] = [0, 1, 8, 16, 24, 31, 35, 39, 47, 88, 167, usize::MAX];
const NUMBERS: [i64; 10] = [0, -1, 1, 2, i64::MIN, i64::MAX, 1 << 32, 1 << 40, 1 << 62, (1 << 55) + 1];
/// Codes of kinds, dtypes, stages: known and unknown ones.
const CODES: [u32; 12] = [0, 1, 2, 3, 4, 5, 7, 14, 33, 34, 257, u32::MAX];

/// Applies one fault.
pub(crate) fn apply(call: &mut Call, input: &mut Unstructured<'_>) -> Result<()> {
    let frame = &mut call.frame;
    match input.int_in_range(0..=19)? {
        0 => frame.struct_size = *input.choose(&SIZES)?,
        1 => frame.extensions = extensions(input)?,
        2 => {
            frame.api = match input.int_in_range(0..=3)? {
                0 => Api::Null,
                _ => Api::Damaged {
                    absent: if input.arbitrary()? { input.arbitrary()? } else { 0 },
                    struct_size: *input
                        .choose(&[0, 8, 40, 47, 48, 55, 56, 64, 72, 88, 128, 184, 192, 200, 208, 4096])?,
                },
            }
        }
        3 => frame.has_context = false,
        4 => frame.stage = *input.choose(&CODES)?,
        5..=6 => list(side(call, input)?, input)?,
        7..=13 => {
            let count = call.frame.args.buffers.len();
            let is_ret: bool = input.arbitrary()?;
            let list = if is_ret { &mut call.frame.rets } else { &mut call.frame.args };
            let Some(index) = index(input, list.buffers.len())? else { return Ok(()) };
            let earlier = if is_ret { count + index } else { index };
            buffer(&mut list.buffers[index], earlier, input)?;
        }
        _ => attrs(&mut frame.attrs, input, 4)?,
    }
    Ok(())
}

fn side<'c>(call: &'c mut Call, input: &mut Unstructured<'_>) -> Result<&'c mut List> {
    Ok(if input.arbitrary()? { &mut call.frame.args } else { &mut call.frame.rets })
}

fn index(input: &mut Unstructured<'_>, len: usize) -> Result<Option<usize>> {
    if len == 0 { Ok(None) } else { input.choose_index(len).map(Some) }
}

fn extensions(input: &mut Unstructured<'_>) -> Result<Vec<Extension>> {
    let count = input.int_in_range(1..=3)?;
    let one = |_| {
        Ok(Extension {
            struct_size: *input.choose(&[0, 8, 24, 31, 32, 64])?,
            kind: *input.choose(&[0, 1, 1, 1, 2, 128, u32::MAX])?,
            metadata: *input.choose(&[None, Some(0), Some(8), Some(35), Some(36), Some(36), Some(48)])?,
        })
    };
    (0..count).map(one).collect()
}

fn list(list: &mut List, input: &mut Unstructured<'_>) -> Result<()> {
    match input.int_in_range(0..=5)? {
        0 => list.struct_size = *input.choose(&SIZES)?,
        1 => list.size = Some(*input.choose(&[-1, i64::MIN, 0])?),
        2 => list.null_types = true,
        3 => list.null_buffers = true,
        4 => drop(list.buffers.pop()),
        _ => {
            let Some(index) = index(input, list.buffers.len())? else { return Ok(()) };
            let Buffer { code, null, struct_size, dtype, rank, ref dims, data, seed } = list.buffers[index];
            list.buffers.push(Buffer { code, null, struct_size, dtype, rank, dims: dims.clone(), data, seed });
        }
    }
    Ok(())
}

fn buffer(buffer: &mut Buffer, earlier: usize, input: &mut Unstructured<'_>) -> Result<()> {
    match input.int_in_range(0..=9)? {
        0 => buffer.code = *input.choose(&CODES)?,
        1 => buffer.null = true,
        2 => buffer.struct_size = *input.choose(&SIZES)?,
        3 => {
            let known: bool = input.arbitrary()?;
            buffer.dtype = if known { input.choose(DType::ALL)?.code() } else { *input.choose(&CODES)? };
        }
        4 => buffer.rank = Some(*input.choose(&[-1, i64::MIN, i64::MAX, 1025, 1 << 32])?),
        5 => buffer.dims = None,
        6 => {
            let dims = buffer.dims.get_or_insert_default();
            match index(input, dims.len())? {
                Some(index) if input.ratio(3, 4)? => dims[index] = *input.choose(&NUMBERS)?,
                Some(index) if input.arbitrary()? => drop(dims.remove(index)),
                _ => dims.push(*input.choose(&NUMBERS)?),
            }
        }
        7 => buffer.data = Data::Null,
        8 => buffer.data = Data::Own(input.int_in_range(0..=9)?),
        _ => {
            if let Some(operand) = index(input, earlier)? {
                buffer.data = Data::Shared { operand, offset: *input.choose(&[0, 0, 1, 4, 8, 16])? };
            }
        }
    }
    Ok(())
}

fn attrs(attrs: &mut Attrs, input: &mut Unstructured<'_>, depth: usize) -> Result<()> {
    let len = attrs.entries.len();
    match input.int_in_range(0..=10)? {
        0 => attrs.struct_size = *input.choose(&SIZES)?,
        1 => attrs.size = Some(*input.choose(&[-1, i64::MIN, i64::MAX, 0])?),
        2 => attrs.nulls = input.arbitrary()?,
        3 => attrs.sorted = false,
        4 => attrs.entries.push(anything(input, depth)?),
        5 => {
            if let Some(index) = index(input, len)? {
                attrs.entries.remove(index);
            }
        }
        6 => {
            // A name once more.
            if let Some(index) = index(input, len)?
                && let Text::Bytes(name) = &attrs.entries[index].name
            {
                let name = Text::Bytes(name.clone());
                attrs.entries.push(Attr { name, ..anything(input, 0)? });
            }
        }
        _ => {
            if let Some(index) = index(input, len)? {
                attr(&mut attrs.entries[index], input, depth)?;
            }
        }
    }
    Ok(())
}

fn attr(attr: &mut Attr, input: &mut Unstructured<'_>, depth: usize) -> Result<()> {
    match input.int_in_range(0..=9)? {
        0 => attr.name = Text::NullSpan,
        1 => attr.name = Text::NullData(input.int_in_range(0..=3)?),
        2 => attr.name = crate::plan::text(input)?,
        // Kinds that say another struct than there is would be the host's lie about memory: only unknown ones.
        3 => attr.kind = Some(*input.choose(&[0, 5, 6, 255, u32::MAX])?),
        4 => attr.value = None,
        5 => attr.value = anything(input, depth)?.value,
        _ => {
            if let Some(value) = &mut attr.value {
                inside(value, input, depth)?;
            }
        }
    }
    Ok(())
}

fn inside(value: &mut Value, input: &mut Unstructured<'_>, depth: usize) -> Result<()> {
    match value {
        Value::Scalar { dtype, bytes } => match input.int_in_range(0..=2)? {
            0 => *bytes = None,
            1 => {
                *dtype = *input.choose(&CODES)?;
                *bytes = Some(vec![0xff; 16]);
            }
            _ => bytes.iter_mut().flatten().for_each(|byte| *byte = 0xff),
        },
        Value::Array { dtype, count, size, bytes, offset } => match input.int_in_range(0..=4)? {
            0 => *bytes = None,
            1 => *size = Some(*input.choose(&[usize::MAX, isize::MAX as usize, (isize::MAX as usize) / 16 + 1])?),
            2 => *offset = input.int_in_range(1..=7)?,
            3 => {
                *dtype = *input.choose(&CODES)?;
                *bytes = Some(vec![2; *count * 16]);
            }
            _ => bytes.iter_mut().flatten().for_each(|byte| *byte = 0xff),
        },
        Value::String(text) => {
            *text = match input.int_in_range(0..=2)? {
                0 => Text::NullData(0),
                1 => Text::NullData(5),
                _ => crate::plan::text(input)?,
            }
        }
        Value::Dict(dict) if depth > 0 => attrs(dict, input, depth - 1)?,
        Value::Dict(_) => {}
    }
    Ok(())
}
