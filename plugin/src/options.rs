//! Options of a client: what the framework was given, then the environment, then what fits the machine.

use std::path::PathBuf;
use std::time::Duration;
use std::{env, thread};

use oxcall_engine::{CacheLimit, CacheOptions};
use oxcall_pjrt::{Error, Result, Value};

use crate::in_flight::MAX_INFLIGHT;
use crate::node::{MOST_DEVICES, Node};

/// The options of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// The place of this process in its job.
    pub(crate) node: Node,
    /// Whether the client also names the devices of the job's other processes.
    pub(crate) global_devices: bool,
    /// Devices that share the machine's cores.
    pub(crate) num_devices: usize,
    /// Threads that programs use together.
    pub(crate) num_threads: usize,
    /// Programs that a device may have in flight.
    pub(crate) max_inflight: usize,
    /// Whether SIGINT ends the programs that run.
    pub(crate) interrupt: bool,
    /// Paths of libraries of ops to load.
    pub(crate) libraries: Vec<String>,
    /// The directory that programs are written to, `OXCALL_DUMP`.
    pub(crate) dump: Option<PathBuf>,
    /// The file that a trace is written to, `OXCALL_TRACE`.
    pub(crate) trace: Option<PathBuf>,
    /// Whether machine code is named to `perf`, `OXCALL_PERF_MAP`.
    pub(crate) perf_map: bool,
    /// How long a device waits at a collective for others that were not started, `OXCALL_COLLECTIVE_TIMEOUT` in
    /// seconds.
    pub(crate) collective_timeout: Option<Duration>,
    /// How much freed memory is kept, and for how long.
    pub(crate) memory_cache: CacheOptions,
    /// Whether fused ops become machine code.
    pub(crate) jit: bool,
    /// Whether calls of pointwise functions are fused with the ops around them.
    pub(crate) inline: bool,
    /// Whether a program that has failed before its call returns fails the call. Otherwise its results tell, as those
    /// of programs that fail later.
    pub(crate) errors_at_call: bool,
}

const NAMES: [&str; 10] = [
    "num_devices",
    "num_threads",
    "max_inflight",
    "interrupt",
    "jit",
    "inline",
    "libraries",
    "memory_cache",
    "errors_at_call",
    "global_devices",
];

/// What JAX adds when its distributed runtime is initialised: the number of this process, that of all, and the part of
/// the machines that this one belongs to, under its older name too.
const DISTRIBUTED: [&str; 4] = ["node_id", "num_nodes", "partition_index", "slice_index"];

impl Options {
    /// The options that `given` and the environment say.
    ///
    /// # Errors
    /// INVALID_ARGUMENT for names that are not known, and values that do not fit.
    pub(crate) fn new(given: &[(String, Value)]) -> Result<Options> {
        Options::read(given, |name| env::var(name).ok())
    }

    fn read(given: &[(String, Value)], variable: impl Fn(&str) -> Option<String>) -> Result<Options> {
        let known = |name: &str| NAMES.contains(&name) || DISTRIBUTED.contains(&name);
        if let Some((name, _)) = given.iter().find(|(name, _)| !known(name)) {
            let known = NAMES.join("`, `");
            return Err(Error::invalid_argument(format!("unknown client option `{name}`; the options are `{known}`")));
        }
        let option = |name: &str| given.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let count = |name: &str, default: usize| match (option(name), variable(&variable_of(name))) {
            (Some(Value::Int64(number)), _) => positive(&format!("the client option `{name}`"), *number),
            (Some(Value::String(text)), _) => positive_text(&format!("the client option `{name}`"), text),
            (Some(other), _) => Err(Error::invalid_argument(format!(
                "the client option `{name}` is {other:?}; expected an integer from 1 to 4096"
            ))),
            (None, Some(text)) if !text.is_empty() => positive_text(&variable_of(name), &text),
            (None, _) => Ok(default),
        };
        let given_flag = |name: &str| match option(name) {
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(other) => {
                let message = format!("the client option `{name}` is {other:?}; expected true or false");
                Err(Error::invalid_argument(message))
            }
            None => Ok(None),
        };
        let either_flag = |name: &str, default: bool| match (given_flag(name)?, variable(&variable_of(name))) {
            (Some(flag), _) => Ok(flag),
            (None, Some(text)) if !text.is_empty() => flag(&variable_of(name), &text),
            (None, _) => Ok(default),
        };
        let libraries = match option("libraries") {
            Some(Value::String(paths)) => paths.clone(),
            Some(other) => {
                let message =
                    format!("the client option `libraries` is {other:?}; expected a string of paths separated by `:`");
                return Err(Error::invalid_argument(message));
            }
            None => variable(&variable_of("libraries")).unwrap_or_default(),
        };
        let cache = |what: &str, text: &str| memory_cache(text).ok_or_else(|| wrong_cache(what, text));
        let memory_cache = match (option("memory_cache"), variable(&variable_of("memory_cache"))) {
            (Some(Value::Int64(bytes)), _) => cache("the client option `memory_cache`", &bytes.to_string())?,
            (Some(Value::String(text)), _) => cache("the client option `memory_cache`", text)?,
            (Some(other), _) => return Err(wrong_cache("the client option `memory_cache`", format!("{other:?}"))),
            (None, Some(text)) if !text.is_empty() => cache(&variable_of("memory_cache"), &text)?,
            (None, _) => CacheOptions::default(),
        };
        let timeout = variable(TIMEOUT).filter(|text| !text.is_empty());
        let timeout = timeout.map(|text| seconds(&text)).transpose()?;
        // What they write is for people, and depends on no program: so they are variables only.
        let perf_map = variable(PERF_MAP).filter(|text| !text.is_empty());
        let perf_map = perf_map.map(|text| flag(PERF_MAP, &text)).transpose()?;
        let path = |name: &str| variable(name).filter(|path| !path.is_empty()).map(PathBuf::from);
        Ok(Options {
            node: Node::given(|name| option(name).cloned())?,
            num_devices: count("num_devices", 1)?,
            num_threads: count("num_threads", thread::available_parallelism().map_or(1, usize::from))?,
            max_inflight: count("max_inflight", MAX_INFLIGHT)?,
            interrupt: either_flag("interrupt", false)?,
            jit: either_flag("jit", true)?,
            inline: either_flag("inline", true)?,
            libraries: libraries.split(':').filter(|path| !path.is_empty()).map(str::to_owned).collect(),
            dump: path("OXCALL_DUMP"),
            trace: path("OXCALL_TRACE"),
            perf_map: perf_map.unwrap_or(false),
            collective_timeout: timeout,
            memory_cache,
            // The framework knows where it looks for errors, its user does not: so there is no variable.
            errors_at_call: given_flag("errors_at_call")?.unwrap_or(false),
            global_devices: given_flag("global_devices")?.unwrap_or(false),
        })
    }
}

const PERF_MAP: &str = "OXCALL_PERF_MAP";
const TIMEOUT: &str = "OXCALL_COLLECTIVE_TIMEOUT";

fn seconds(text: &str) -> Result<Duration> {
    let seconds = text.trim().parse().ok().filter(|seconds: &f64| *seconds > 0.0);
    let duration = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    duration
        .ok_or_else(|| Error::invalid_argument(format!("{TIMEOUT} is {text}; expected a positive number of seconds")))
}

/// `SIZE` or `SIZE,SECONDS`. A size is bytes, which may end with `K`, `M` or `G`, or hundredths of the memory with `%`;
/// `inf` seconds keep the memory.
fn memory_cache(text: &str) -> Option<CacheOptions> {
    let (size, seconds) = text.split_once(',').map_or((text, None), |(size, seconds)| (size, Some(seconds)));
    let idle = match seconds.map(|seconds| seconds.trim().parse::<f64>()) {
        None => CacheOptions::default().idle,
        Some(Ok(f64::INFINITY)) => None,
        Some(Ok(seconds)) if seconds > 0.0 => Some(Duration::try_from_secs_f64(seconds).ok()?),
        Some(_) => return None,
    };
    let size = size.trim();
    let limit = if let Some(percent) = size.strip_suffix('%') {
        CacheLimit::Percent(percent.parse().ok().filter(|&percent: &u8| percent <= 100)?)
    } else {
        let shift = match size.chars().last()? {
            'K' => 10,
            'M' => 20,
            'G' => 30,
            _ => 0,
        };
        let number = if shift == 0 { size } else { &size[..size.len() - 1] };
        CacheLimit::Bytes(number.parse::<usize>().ok()?.checked_mul(1 << shift)?)
    };
    Some(CacheOptions { limit, idle })
}

fn wrong_cache(what: &str, value: impl std::fmt::Display) -> Error {
    Error::invalid_argument(format!(
        "{what} is {value}; expected a size in bytes (with K, M or G) or in percent of the memory (25%), optionally with \
         seconds after a comma (512M,10)"
    ))
}

fn flag(what: &str, text: &str) -> Result<bool> {
    match text.trim() {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => Err(Error::invalid_argument(format!("{what} is {text}; expected 1 or 0"))),
    }
}

fn variable_of(name: &str) -> String {
    format!("OXCALL_{}", name.to_ascii_uppercase())
}

fn positive_text(what: &str, text: &str) -> Result<usize> {
    let number = text.trim().parse::<i64>();
    number.map_err(|_| ()).and_then(|number| positive(what, number).map_err(|_| ())).map_err(|()| wrong(what, text))
}

fn positive(what: &str, number: i64) -> Result<usize> {
    usize::try_from(number)
        .ok()
        .filter(|count| (1..=MOST_DEVICES as usize).contains(count))
        .ok_or_else(|| wrong(what, number))
}

fn wrong(what: &str, value: impl std::fmt::Display) -> Error {
    Error::invalid_argument(format!("{what} is {value}; expected an integer from 1 to 4096"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[(&str, Value)], variables: &[(&str, &str)]) -> Result<Options> {
        let given: Vec<_> = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        Options::read(&given, |name| variables.iter().find(|(key, _)| key == name).map(|(_, text)| text.clone()))
    }

    #[test]
    fn options_come_before_variables() {
        let options = read(
            &[
                ("num_threads", Value::Int64(3)),
                ("libraries", "a.so:b.so".into()),
                ("interrupt", Value::Bool(true)),
                ("errors_at_call", Value::Bool(true)),
            ],
            &[
                ("OXCALL_NUM_THREADS", "7"),
                ("OXCALL_NUM_DEVICES", " 2 "),
                ("OXCALL_LIBRARIES", "c.so"),
                ("OXCALL_INTERRUPT", "0"),
                ("OXCALL_JIT", "0"),
                ("OXCALL_INLINE", "0"),
                ("OXCALL_MAX_INFLIGHT", "8"),
                ("OXCALL_ERRORS_AT_CALL", "0"),
            ],
        );
        let expected = Options {
            node: Node::ALONE,
            num_devices: 2,
            num_threads: 3,
            max_inflight: 8,
            interrupt: true,
            jit: false,
            inline: false,
            libraries: vec!["a.so".to_owned(), "b.so".to_owned()],
            dump: None,
            trace: None,
            perf_map: false,
            collective_timeout: None,
            memory_cache: CacheOptions::default(),
            errors_at_call: true,
            global_devices: false,
        };
        assert_eq!(options.unwrap(), expected);
        let options = read(&[], &[("OXCALL_INTERRUPT", "1")]).unwrap();
        assert_eq!((options.interrupt, options.max_inflight), (true, MAX_INFLIGHT));
        assert!(!options.errors_at_call && options.jit && options.inline);
        let variables = [
            ("OXCALL_LIBRARIES", "c.so:"),
            ("OXCALL_NUM_DEVICES", ""),
            ("OXCALL_TRACE", "a.json"),
            (PERF_MAP, "1"),
            (TIMEOUT, "1.5"),
        ];
        let options = read(&[], &variables).unwrap();
        assert_eq!((options.num_devices, options.libraries), (1, vec!["c.so".to_owned()]));
        assert_eq!((options.dump, options.trace, options.perf_map), (None, Some("a.json".into()), true));
        assert_eq!(options.collective_timeout, Some(Duration::from_millis(1500)));
    }

    #[test]
    fn the_cache_is_a_size_and_a_time() {
        let of = |text: &str| read(&[], &[("OXCALL_MEMORY_CACHE", text)]).unwrap().memory_cache;
        let (bytes, idle) = (CacheLimit::Bytes, CacheOptions::default().idle);
        assert_eq!(of("0"), CacheOptions { limit: bytes(0), idle });
        assert_eq!(of("512M"), CacheOptions { limit: bytes(512 << 20), idle });
        assert_eq!(
            of("50%,0.5"),
            CacheOptions { limit: CacheLimit::Percent(50), idle: Some(Duration::from_millis(500)) }
        );
        assert_eq!(of("2G, inf"), CacheOptions { limit: bytes(2 << 30), idle: None });
        let given = read(&[("memory_cache", Value::Int64(4096))], &[("OXCALL_MEMORY_CACHE", "0")]).unwrap();
        assert_eq!(given.memory_cache.limit, bytes(4096));
    }

    #[test]
    fn a_process_of_a_distributed_runtime() {
        let given = [("node_id", Value::Int64(1)), ("num_nodes", Value::Int64(2)), ("slice_index", Value::Int64(0))];
        let options = read(&given, &[]).unwrap();
        assert_eq!((options.node, options.num_devices), (Node { index: 1, count: 2 }, 1));
    }

    #[test]
    fn mistakes_are_named() {
        for (given, variables, message) in [
            (("num_device", Value::Int64(1)), ("", ""), "unknown client option `num_device`; the options are"),
            (("num_devices", Value::Int64(0)), ("", ""), "the client option `num_devices` is 0"),
            (("num_threads", Value::Bool(true)), ("", ""), "expected an integer from 1"),
            (("libraries", Value::Int64(1)), ("", ""), "paths separated by `:`"),
            (("memory_cache", Value::Int64(-1)), ("", ""), "the client option `memory_cache` is -1; expected a size"),
            (("memory_cache", Value::Bool(true)), ("", ""), "the client option `memory_cache` is Bool(true)"),
            (("memory_cache", "101%".into()), ("", ""), "percent of the memory"),
            (("libraries", "".into()), ("OXCALL_MEMORY_CACHE", "1M,0"), "OXCALL_MEMORY_CACHE is 1M,0; expected a size"),
            (("interrupt", "yes".into()), ("", ""), "the client option `interrupt` is"),
            (("libraries", "".into()), ("OXCALL_INTERRUPT", "on"), "OXCALL_INTERRUPT is on; expected 1 or 0"),
            (("libraries", "".into()), ("OXCALL_JIT", "off"), "OXCALL_JIT is off; expected 1 or 0"),
            (("libraries", "".into()), (PERF_MAP, "yes"), "OXCALL_PERF_MAP is yes; expected 1 or 0"),
            (("errors_at_call", Value::Int64(1)), ("", ""), "the client option `errors_at_call` is Int64(1)"),
            (("max_inflight", Value::Int64(0)), ("", ""), "the client option `max_inflight` is 0"),
            (("libraries", "".into()), (TIMEOUT, "-1"), "OXCALL_COLLECTIVE_TIMEOUT is -1; expected a positive number"),
            (("libraries", "".into()), ("OXCALL_NUM_THREADS", "many"), "OXCALL_NUM_THREADS is many"),
            (
                ("libraries", "".into()),
                ("OXCALL_NUM_DEVICES", "-1"),
                "OXCALL_NUM_DEVICES is -1; expected an integer from 1",
            ),
        ] {
            let error = read(&[given], &[variables]).unwrap_err();
            assert!(error.message().contains(message), "{error}");
        }
    }
}
