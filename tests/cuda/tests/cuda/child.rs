//! Tests in processes of their own, in which a library is missing or another one: what was found stays.

use std::process::Command;

/// Set for such a process.
const CHILD: &str = "OXCALL_TEST_CHILD";

pub(crate) fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// What a test, with its path, prints in a process of its own.
pub(crate) fn in_a_process(test: &str, variables: &[(&str, &str)]) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env(CHILD, "1");
    let output = child.envs(variables.iter().copied()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}
