//! The memory that the process may use.

use std::fs;
use std::sync::OnceLock;

/// The memory that this process may use, in bytes: the machine's, or its control group's if that is less. Without a
/// limit from the system, there is none.
pub(super) fn memory_limit() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let groups = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];
        let group = groups.iter().filter_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok()).min();
        machine_memory().into_iter().chain(group).min().unwrap_or(usize::MAX)
    })
}

/// `MemTotal` and `SwapTotal` of the machine, in bytes.
fn machine_memory() -> Option<usize> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let field = |name: &str| -> Option<usize> {
        let line = info.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().split(' ').next()?.parse::<usize>().ok()?.checked_mul(1024)
    };
    field("MemTotal:")?.checked_add(field("SwapTotal:").unwrap_or(0))
}
