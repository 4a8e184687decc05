//! Collectives that JAX starts by custom calls, from 0.11.1 on: they run where they start.
//!
//! `all-gather-start` has a future that is typed as the result, and `all-gather-done` takes it
//! ([`CustomCall::is_identity`]). The attributes of the collective are JSON text among the frontend attributes; its
//! region is the computation that the call names.

use serde_json::Value;

use super::source::Source;
use crate::{ChannelHandle, CollectiveGroups, CustomCall, Error, OpKind, Region, TensorType};

/// The frontend attribute with the attributes of the collective.
const CONFIG: &str = "async_collective_config";

/// The collective that a custom call starts, whose region the op is given; `None` for any other call.
pub(super) fn collective(op: &mut dyn Source, call: &CustomCall) -> Result<Option<OpKind>, Error> {
    let Some((_, read)) = STARTED.iter().find(|(target, _)| *target == call.target) else { return Ok(None) };
    let frontend = call.attributes.iter().find(|(name, _)| name == "mhlo.frontend_attributes");
    let Some(text) = frontend.and_then(|(_, attributes)| attributes.get(CONFIG)?.as_str()) else { return Ok(None) };
    let config = Config::parse(text)?;
    let kind = read(&config)?;
    // Ops may share the text, and groups take ten times its room.
    let groups = kind.collective().into_iter().flat_map(|collective| &collective.groups);
    op.spend(groups.map(|group| size_of::<Vec<i64>>() + size_of_val(&group[..])).sum())?;
    if matches!(kind, OpKind::AllReduce(_) | OpKind::ReduceScatter { .. }) {
        let region = reducer(op, call)?;
        op.op().regions.push(region);
    }
    Ok(Some(kind))
}

type Read = fn(&Config) -> Result<OpKind, Error>;

/// The collective that each target starts.
const STARTED: [(&str, Read); 5] = [
    ("all-gather-start", |config| {
        Ok(OpKind::AllGather { dim: config.size("all_gather_dimension")?, groups: config.global_groups()? })
    }),
    ("all-reduce-start", |config| Ok(OpKind::AllReduce(config.global_groups()?))),
    ("all-to-all-start", |config| {
        Ok(OpKind::AllToAll {
            split_dim: config.size("split_dimension")?,
            concat_dim: config.size("concat_dimension")?,
            split_count: config.size("split_count")?,
            groups: config.groups("replica_groups")?,
        })
    }),
    ("collective-permute-start", |config| Ok(OpKind::CollectivePermute(config.groups("permutation")?))),
    ("reduce-scatter-start", |config| {
        Ok(OpKind::ReduceScatter { dim: config.size("scatter_dimension")?, groups: config.global_groups()? })
    }),
];

/// A region that applies the computation of the call to two scalars.
fn reducer(op: &mut dyn Source, call: &CustomCall) -> Result<Region, Error> {
    let [computation] = call.called_computations[..] else {
        let (target, count) = (&call.target, call.called_computations.len());
        return Err(Error::invalid(format!("`{target}` must call 1 computation, the reducer, got {count}")));
    };
    let scalar = TensorType::scalar(op.operand_type(0)?.element);
    let location = op.op().location;
    let mut value = || op.add_value(scalar.clone());
    let (params, results) = (vec![value()?, value()?], vec![value()?]);
    let apply = crate::Op {
        kind: OpKind::Call(computation),
        operands: params.clone(),
        results: results.clone(),
        regions: Vec::new(),
        location,
    };
    Ok(Region { params, ops: vec![apply], results })
}

/// The attributes of a collective, as JAX writes them.
struct Config(Value);

impl Config {
    fn parse(text: &str) -> Result<Config, Error> {
        serde_json::from_str(text).map(Config).map_err(|error| Error::invalid(format!("`{CONFIG}`: {error}")))
    }

    fn wrong(name: &str, expected: &str) -> Error {
        Error::invalid(format!("`{CONFIG}`: `{name}` must be {expected}"))
    }

    fn size(&self, name: &str) -> Result<usize, Error> {
        let size = self.0[name].as_u64().and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| Config::wrong(name, "a non-negative integer"))
    }

    /// The rows of `name` with the channel; what is not there is as if StableHLO did not say it.
    fn groups(&self, name: &str) -> Result<CollectiveGroups, Error> {
        let row = |row: &Value| row.as_array()?.iter().map(Value::as_i64).collect::<Option<Vec<_>>>();
        let rows = self.0[name].as_array().and_then(|rows| rows.iter().map(row).collect());
        let groups = rows.ok_or_else(|| Config::wrong(name, "a list of lists of integers"))?;
        let channel = match &self.0["channel_id"] {
            Value::Null => None,
            id => Some(id.as_i64().ok_or_else(|| Config::wrong("channel_id", "an integer"))?),
        };
        let channel = channel.filter(|&handle| handle != 0).map(|handle| ChannelHandle { handle, ty: 0 });
        Ok(CollectiveGroups { groups, channel, use_global_device_ids: false })
    }

    /// Those of a collective whose ids may be those of devices.
    fn global_groups(&self) -> Result<CollectiveGroups, Error> {
        let use_global_device_ids = match &self.0["use_global_device_ids"] {
            Value::Null => false,
            flag => flag.as_bool().ok_or_else(|| Config::wrong("use_global_device_ids", "true or false"))?,
        };
        Ok(CollectiveGroups { use_global_device_ids, ..self.groups("replica_groups")? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Module, parse_text, print_module, verify};

    /// A program of one start, which is waited for.
    fn read(target: &str, config: &str, result: &str) -> Result<Module, Error> {
        let stem = target.strip_suffix("-start").unwrap_or(target);
        let reducer = if target.contains("reduce") { "called_computations = [@add], " } else { "" };
        let text = format!(
            r#"
            func.func public @main(%x: tensor<4x8xf32>) -> tensor<{result}xf32> {{
              %f = stablehlo.custom_call @"{target}"(%x) {{
                backend_config = "", {reducer}mhlo.frontend_attributes = {{async_collective_config = "{{{config}}}"}}
              }} : (tensor<4x8xf32>) -> tensor<{result}xf32>
              %y = stablehlo.custom_call @"{stem}-done"(%f) : (tensor<{result}xf32>) -> tensor<{result}xf32>
              return %y : tensor<{result}xf32>
            }}
            func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {{
              %s = stablehlo.add %a, %b : tensor<f32>
              return %s : tensor<f32>
            }}"#,
            config = config.replace('"', "\\22"),
        );
        let module = parse_text(&text)?;
        verify(&module)?;
        Ok(module)
    }

    #[test]
    fn starts_are_collectives() {
        let ids = r#""channel_id": 1, "use_global_device_ids": true"#;
        let of_devices = ["all_gather", "all_reduce", "reduce_scatter"];
        for (target, config, result, kind) in [
            ("all-gather-start", r#""all_gather_dimension": 1, "replica_groups": [[0, 1]]"#, "4x16", "all_gather"),
            ("all-reduce-start", r#""replica_groups": [[0, 1]]"#, "4x8", "all_reduce"),
            (
                "all-to-all-start",
                r#""split_dimension": 0, "concat_dimension": 1, "split_count": 2, "replica_groups": [[0, 1]]"#,
                "2x16",
                "all_to_all",
            ),
            ("collective-permute-start", r#""permutation": [[0, 1], [1, 0]]"#, "4x8", "collective_permute"),
            (
                "reduce-scatter-start",
                r#""scatter_dimension": 0, "replica_groups": [[0, 1]], "tiled": true"#,
                "2x8",
                "reduce_scatter",
            ),
        ] {
            for (config, handle) in [(config.to_owned(), None), (format!("{config}, {ids}"), Some(1))] {
                let module = read(target, &config, result).unwrap();
                let [start, done] = &module.main().body.ops[..] else { panic!("{module}") };
                assert_eq!(start.kind.name(), format!("stablehlo.{kind}"));
                let groups = start.kind.collective().unwrap();
                assert_eq!(groups.channel.map(|channel| channel.handle), handle);
                assert_eq!(groups.use_global_device_ids, handle.is_some() && of_devices.contains(&kind));
                assert!(matches!(&done.kind, OpKind::CustomCall(call) if call.is_identity()), "{done:?}");
                // What is printed is read again.
                verify(&parse_text(&print_module(&module)).unwrap()).unwrap();
            }
        }
    }

    #[test]
    fn mistakes_are_named() {
        let failed = |target, config| read(target, config, "4x8").unwrap_err().to_string();
        for (config, message) in [
            (r#""replica_groups": [[0, 1]]"#, "`all_gather_dimension` must be a non-negative integer"),
            (r#""all_gather_dimension": 0, "replica_groups": [0]"#, "`replica_groups` must be a list of lists"),
            (r#""all_gather_dimension": 0, "replica_groups": [], "channel_id": []"#, "`channel_id` must be an integer"),
            (r#""all_gather_dimension": "#, "`async_collective_config`: "),
            (r#""all_gather_dimension": 0, "replica_groups": [[0, 1]]"#, "must differ by the factor 2"),
        ] {
            let error = failed("all-gather-start", config);
            assert!(error.contains(message), "{error}");
        }
    }

    /// Of other clients, or of users.
    #[test]
    fn calls_without_attributes_of_collectives_stay() {
        let text = r#"
            func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
              %y = stablehlo.custom_call @"all-gather-start"(%x) : (tensor<4xf32>) -> tensor<4xf32>
              return %y : tensor<4xf32>
            }"#;
        let module = parse_text(text).unwrap();
        assert_eq!(module.main().body.ops[0].kind.name(), "stablehlo.custom_call");
    }
}
