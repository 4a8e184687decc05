//! The module and its functions.

use super::attribute::Node;
use super::body::BodyReader;
use super::cursor::Cursor;
use super::header::{self, Header, PropertyData};
use super::op::Context;
use super::tables::{AttrId, Tables};
use super::types::TypeNode;
use super::value::Attributes;
use super::{convert, ops};
use crate::{ArgAttributes, Attribute, Error, Func, FuncId, Module};

/// The attributes of a function, in alphabetical order.
const FUNC_ATTRIBUTES: &[&str] = &["arg_attrs", "function_type", "res_attrs", "sym_name", "sym_visibility"];

/// The attributes of a mesh, in alphabetical order.
const MESH_ATTRIBUTES: &[&str] = &["mesh", "sym_name"];

/// Reads the IR section, which holds one module.
pub(super) fn read<'a>(tables: &Tables<'a>, mut cursor: Cursor<'a>) -> Result<Module, Error> {
    let mut context = Context::new(tables);
    let top = header::read_block_head(tables, &mut cursor)?;
    if top.ops != 1 {
        return Err(Error::invalid(format!("expected one module, got {} ops", top.ops)));
    }
    let header = context.header(&mut cursor)?;
    let name = &tables.op_names[header.name];
    if (name.dialect, name.name) != ("builtin", "module") || header.regions != 1 {
        let message = format!("expected a module, got `{}`", ops::public_name(name));
        return Err(Error::invalid(message));
    }
    let (name, attributes) = module_attributes(tables, &header)?;
    if header.isolated {
        cursor = header::region_section(tables, &mut cursor)?.unwrap_or(cursor);
    }
    let (_, block) = header::read_region_head(tables, &mut cursor)?;
    for _ in 0..block.ops {
        read_member(&mut context, &mut cursor)?;
    }
    let Context { locations, symbols, meshes, .. } = context;
    let funcs = symbols.finish().map_err(|(error, location)| locations.add_to(error, location))?;
    let entry = entry(&funcs)?;
    Ok(Module { name, funcs, entry, meshes, attributes, locations: locations.finish() })
}

/// The function that is run: `main`, or the only public one.
fn entry(funcs: &[Func]) -> Result<FuncId, Error> {
    let mut public = (0..).zip(funcs).filter(|(_, func)| func.public);
    let main = (0..).zip(funcs).find(|(_, func)| func.name == "main");
    match (main, public.next(), public.next()) {
        (Some((main, _)), ..) => Ok(FuncId(main)),
        (None, Some((only, _)), None) => Ok(FuncId(only)),
        (None, None, _) => Err(Error::invalid("expected a function `main`, got no public function")),
        (None, Some(_), Some(_)) => {
            Err(Error::invalid("expected a function `main`, got several public functions of other names"))
        }
    }
}

/// The name of the module, and its attributes.
fn module_attributes<'a>(
    tables: &Tables<'a>,
    header: &Header<'a>,
) -> Result<(String, Vec<(String, Attribute)>), Error> {
    const NAME: &[u8] = b"sym_name";
    let dictionary = header::dictionary(tables, header)?;
    let named = |entries: &[(&[u8], AttrId)]| entries.iter().find(|(key, _)| *key == NAME).map(|(_, id)| *id);
    let name = match &header.properties {
        // The name comes first, and may be absent.
        Some(PropertyData::Native(data)) => {
            let mut cursor = data.clone();
            let (index, present) = cursor.flagged()?;
            present.then(|| tables.attribute_index(&cursor, index)).transpose()?
        }
        Some(PropertyData::Dictionary(id)) => match tables.attribute(*id)? {
            Node::Dictionary(entries) => named(entries),
            _ => None,
        },
        None => named(dictionary),
    };
    let name = name.map(|id| convert::text(tables.string(id)?)).transpose()?.unwrap_or_default();
    let others = dictionary.iter().copied().filter(|(key, _)| *key != NAME && *key != b"sym_visibility");
    Ok((name, convert::entries(tables, others)?))
}

/// Reads an op of the module: a function or a mesh.
fn read_member<'a>(context: &mut Context<'_, 'a>, cursor: &mut Cursor<'a>) -> Result<(), Error> {
    let tables = context.tables;
    let header = context.header(cursor)?;
    let (name, location) = (header.name, header.location);
    let op = &tables.op_names[name];
    let result = match (op.dialect, op.name) {
        ("vhlo", "func_v1") => read_func(context, cursor, header),
        ("sdy", "mesh") if header.regions == 0 => read_mesh(context, &header),
        ("vhlo", _) => Err(Error::invalid("the op must be in a function")),
        _ => ops::find(op).map(|_| ()),
    };
    result.or_else(|error| header::blame(context, name, location, error))
}

/// Reads a mesh.
fn read_mesh<'a>(context: &mut Context<'_, 'a>, header: &Header<'a>) -> Result<(), Error> {
    let tables = context.tables;
    let inherent = header::inherent(tables, header, MESH_ATTRIBUTES, header::dictionary(tables, header)?)?;
    let attributes = Attributes { tables, inherent };
    let name = convert::text(attributes.required("sym_name")?.string()?)?;
    match convert::attribute(tables, attributes.id("mesh")?)? {
        Attribute::Mesh(mesh) => context.meshes.push((name, mesh)),
        _ => return Err(Error::invalid("the attribute `mesh` must be a mesh")),
    }
    Ok(())
}

/// Reads a function.
fn read_func<'a>(context: &mut Context<'_, 'a>, cursor: &mut Cursor<'a>, header: Header<'a>) -> Result<(), Error> {
    let tables = context.tables;
    let inherent = header::inherent(tables, &header, FUNC_ATTRIBUTES, header::dictionary(tables, &header)?)?;
    let attributes = Attributes { tables, inherent };
    let name = attributes.required("sym_name")?.string()?;
    let ty = attributes.required("function_type")?.type_id()?;
    let TypeNode::Function { parameters, results } = tables.ty(ty)? else {
        return Err(Error::invalid("the attribute `function_type` must be a function type"));
    };
    let public = match attributes.optional("sym_visibility")? {
        Some(visibility) => visibility.string()? != b"private",
        None => true,
    };
    let param_attributes = argument_attributes(&attributes, "arg_attrs", parameters.len())?;
    let result_attributes = argument_attributes(&attributes, "res_attrs", results.len())?;

    let mut reader = BodyReader::new(context, cursor.remaining());
    let mut regions = reader.regions(cursor, &header)?;
    let values = reader.values.types;
    let (1, Some(body)) = (header.regions, regions.pop()) else {
        return Err(Error::invalid(format!("a function must have one region, got {}", header.regions)));
    };
    if body.params.len() != parameters.len() || body.results.len() != results.len() {
        let message = format!(
            "the function has {} parameters and {} results, but its type has {} and {}",
            body.params.len(),
            body.results.len(),
            parameters.len(),
            results.len(),
        );
        return Err(Error::invalid(message));
    }
    let func = Func { name: convert::text(name)?, public, body, values, param_attributes, result_attributes };
    context.symbols.define(name, func)
}

/// The attributes of `count` parameters or results: a list of dictionaries, or an empty one.
fn argument_attributes(
    attributes: &Attributes<'_, '_>,
    name: &'static str,
    count: usize,
) -> Result<Vec<ArgAttributes>, Error> {
    let Some(list) = attributes.optional(name)? else { return Ok(vec![Vec::new(); count]) };
    let ids = list.ids()?;
    if ids.is_empty() {
        return Ok(vec![Vec::new(); count]);
    }
    if ids.len() != count {
        return Err(Error::invalid(format!(
            "the attribute `{name}` must have {count} entries, one for each value, got {}",
            ids.len()
        )));
    }
    ids.iter().map(|&id| convert::dictionary(attributes.tables, id)).collect()
}
