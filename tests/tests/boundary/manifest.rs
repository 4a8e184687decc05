//! The manifest has what its readers expect, and nothing else.

use oxcall::DType;
use serde_json::Value;

use super::open;

#[track_caller]
fn keys(value: &Value, expected: &[&str]) {
    let mut keys: Vec<&str> =
        value.as_object().unwrap_or_else(|| panic!("{value}")).keys().map(String::as_str).collect();
    let mut expected = expected.to_vec();
    keys.sort_unstable();
    expected.sort_unstable();
    assert_eq!(keys, expected, "{value}");
}

fn is_text_or_null(value: &Value) -> bool {
    value.is_string() || value.is_null()
}

fn is_dtype(value: &Value) -> bool {
    value.as_str().is_some_and(|name| DType::from_name(name).is_some())
}

/// `{"var": i}` with one of the operation's type parameters.
fn is_var(value: &Value, op: &Value) -> bool {
    let params = op["type_params"].as_array().unwrap().len();
    value["var"].as_u64().is_some_and(|var| (var as usize) < params)
}

fn check_attr_type(ty: &Value, op: &Value) {
    if is_dtype(ty) || is_var(ty, op) || ["str", "dict", "ptr", "any", "device"].iter().any(|name| ty == name) {
        return;
    }
    let object = ty.as_object().unwrap_or_else(|| panic!("{ty}"));
    let (kind, inner) = object.iter().next().unwrap();
    assert_eq!(object.len(), 1, "{ty}");
    match kind.as_str() {
        "array" => assert!(is_dtype(inner)),
        "enum" => {
            for variant in inner.as_array().unwrap() {
                assert!(variant[0].is_string() && variant[1].is_i64() && variant.as_array().unwrap().len() == 2);
            }
        }
        "struct" => check_attrs(inner, op),
        _ => panic!("{ty}"),
    }
}

fn check_attrs(attrs: &Value, op: &Value) {
    for attr in attrs.as_array().unwrap() {
        match attr["presence"].as_str().unwrap() {
            "default" => {
                keys(attr, &["name", "type", "presence", "default"]);
                assert!(attr["default"].is_string());
            }
            "required" | "optional" => keys(attr, &["name", "type", "presence"]),
            other => panic!("{other}"),
        }
        assert!(attr["name"].is_string());
        check_attr_type(&attr["type"], op);
    }
}

fn check_param(param: &Value, op: &Value) {
    keys(param, &["role", "name", "dtype", "rank", "dims", "arity", "sum"]);
    assert!(["arg", "ret", "inout"].iter().any(|role| param["role"] == *role));
    assert!(["one", "optional", "variadic"].iter().any(|arity| param["arity"] == *arity));
    let dtype = &param["dtype"];
    assert!(dtype.is_null() || is_dtype(dtype) || is_var(dtype, op), "{param}");
    assert!(param["rank"].is_null() || param["rank"].is_u64());
    assert!(param["name"].is_string() && is_text_or_null(&param["dims"]) && param["sum"].is_boolean());
}

fn check_op(op: &Value) {
    keys(
        op,
        &[
            "name",
            "target",
            "platform",
            "doc",
            "module",
            "file",
            "line",
            "stages",
            "traits",
            "batch",
            "broadcast",
            "expands",
            "vmap",
            "vmap_op",
            "vjp",
            "jvp",
            "fwd",
            "transpose",
            "nondiff",
            "autocast",
            "legacy",
            "extra_attrs",
            "type_params",
            "params",
            "attrs",
            "shape",
        ],
    );
    for key in ["name", "target", "platform", "doc", "module", "file"] {
        assert!(op[key].is_string(), "{key}");
    }
    assert!(op["line"].is_u64() && op["legacy"].is_boolean() && op["extra_attrs"].is_boolean());
    assert!(op["broadcast"].is_boolean() && op["expands"].is_boolean());
    for key in ["batch", "vmap", "vmap_op", "vjp", "jvp", "fwd", "transpose", "autocast"] {
        assert!(is_text_or_null(&op[key]), "{key}");
    }
    assert!(op["nondiff"].as_array().unwrap().iter().all(Value::is_string));
    keys(&op["traits"], &["command_buffer", "side_effect"]);
    assert!(op["traits"].as_object().unwrap().values().all(Value::is_boolean));
    let stages: Vec<&str> = op["stages"].as_array().unwrap().iter().map(|stage| stage.as_str().unwrap()).collect();
    let order = ["instantiate", "prepare", "initialize", "execute"];
    assert!(stages.is_sorted_by_key(|stage| order.iter().position(|other| other == stage).unwrap()));
    assert_eq!(stages.last(), Some(&"execute"));
    for param in op["type_params"].as_array().unwrap() {
        keys(param, &["name", "dtypes"]);
        assert!(param["dtypes"].as_array().unwrap().iter().all(is_dtype));
    }
    op["params"].as_array().unwrap().iter().for_each(|param| check_param(param, op));
    check_attrs(&op["attrs"], op);
    let names: Vec<&str> = op["attrs"].as_array().unwrap().iter().map(|attr| attr["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted(), "{names:?}");
    assert!(op["shape"] == "dims" || op["shape"] == "function");
}

#[test]
fn manifests_are_as_documented() {
    for name in ["test_ops", "clashing_ops", "duplicate_ops", "empty_ops", "linked_ops"] {
        let library = open(name, false);
        let manifest = library.manifest();
        keys(manifest, &["abi", "oxcall", "errors", "ops"]);
        assert_eq!(manifest["abi"], 1);
        assert!(manifest["oxcall"].as_str().unwrap().split('.').count() == 3);
        assert!(manifest["errors"].as_array().unwrap().iter().all(Value::is_string));
        manifest["ops"].as_array().unwrap().iter().for_each(check_op);
        library.check_handlers();
    }
}
