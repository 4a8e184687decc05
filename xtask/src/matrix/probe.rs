//! Asks the C++ compiler for the same numbers of one version's header.

use std::collections::BTreeSet;
use std::path::Path;

use super::layout::{Item, Layout};
use crate::cpp::Compiler;
use crate::shell::{self, Failure, Result};
use crate::workspace;

/// The header's numbers for `items`. What it does not have is left out.
pub(super) fn measure(compiler: &Compiler, version: &str, include: &Path, items: &[&Item]) -> Result<Layout> {
    let folder = workspace::scratch("layout")?;
    let source = folder.join(format!("layout-{version}.cc"));
    let program = folder.join(format!("layout-{version}"));
    workspace::write(&source, &program_text(items))?;
    compiler.compile(&source, include, &program, false)?;
    let text = shell::output(&mut shell::command(&program))?;
    let values: Vec<i64> = text.lines().filter_map(|line| line.parse().ok()).collect();
    if values.len() != items.len() {
        return Err(Failure::new(format!("jaxlib {version}: {} items, {} numbers", items.len(), values.len())));
    }
    Ok(items
        .iter()
        .zip(values)
        .filter(|(_, value)| *value != ABSENT)
        .map(|(item, value)| ((*item).clone(), value))
        .collect())
}

/// Printed for what the header does not declare.
const ABSENT: i64 = i64::MIN + 1;

/// The header is included inside a namespace, and each name is also declared in another: a struct as an incomplete one,
/// a constant as `ABSENT`. That one is opened to the global scope behind the header, so it is found only for a name
/// that the header lacks, and a template can ask whether a struct is complete.
fn program_text(items: &[&Item]) -> String {
    let mut structs = BTreeSet::new();
    let mut outside = String::new();
    let mut prints = String::new();
    for item in items {
        let value = match item {
            Item::Size(name) => format!("size<{name}>()"),
            Item::Align(name) => format!("align<{name}>()"),
            Item::Offset(name, field) => format!("OFFSET({name}, {field})"),
            Item::Const(name) => {
                outside += &format!("[[maybe_unused]] constexpr long long {name} = ABSENT;\n");
                format!("static_cast<long long>({name})")
            }
        };
        if let Item::Size(name) | Item::Align(name) | Item::Offset(name, _) = item {
            structs.insert(name);
        }
        prints += &format!("  print({value});\n");
    }
    outside += &structs.iter().map(|name| format!("struct {name};\n")).collect::<String>();
    format!(
        r#"#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stddef.h>
#include <stdint.h>

constexpr long long ABSENT = {ABSENT};

namespace fallback {{
{outside}}}

template <class T> long long size() {{
  if constexpr (requires {{ sizeof(T); }}) return sizeof(T); else return ABSENT;
}}
template <class T> long long align() {{
  if constexpr (requires {{ sizeof(T); }}) return alignof(T); else return ABSENT;
}}
#define OFFSET(NAME, FIELD)                                                   \
  ([]<class T>(T*) -> long long {{                                             \
    if constexpr (requires(T t) {{ t.FIELD; }}) return offsetof(T, FIELD);     \
    else return ABSENT;                                                       \
  }}(static_cast<NAME*>(nullptr)))

void print(long long value) {{ std::printf("%lld\n", value); }}

namespace header {{
#include "xla/ffi/api/c_api.h"
}}  // namespace header

using namespace fallback;

namespace header {{
void all() {{
{prints}}}
}}  // namespace header

int main() {{ header::all(); }}
"#
    )
}
