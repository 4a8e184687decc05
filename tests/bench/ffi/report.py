"""Writes docs/bench/ffi.{json,md,svg}: `report.py MEASURED.json FOLDER`, with what `cargo xtask bench ffi` measured."""

import json
import pathlib
import sys

import charts

TARGETS = {"identity": 0.30, "four": 0.35}
NAMES = {
    "identity": "1 argument, 1 result",
    "four": "4 arguments, 1 result, 4 attributes",
    "rms_norm": "rms_norm of f32[64, 512]",
}


def markdown(measured):
    direct, jit, build, about = (measured[key] for key in ("direct", "jit", "build", "about"))
    lines = [
        "# Cost of a call",
        "",
        f"Written by `{about['command']}` on {about['date']}. {about['cpu']}; {about['os']}.",
        f"{about['rustc']}; {about['cxx']}; JAX {jit['jax']}.",
        "",
        "Ours have every check on: dtype dispatch, dimension relations, overlap, panic guard. The C++ handlers are",
        "compiled with `-O2` from the headers that jaxlib ships ([peers.cc](../../tests/cpp/peers.cc)).",
        "",
        "![Cost of a call](ffi.svg)",
        "",
        "## Decoding alone",
        "",
        "Both handlers are called directly in one process, in turns, on equal call frames; medians of"
        f" {direct[0]['repetitions']} batches.",
        "",
        "| call | ours (ns) | C++ (ns) | ratio | target |",
        "|---|---|---|---|---|",
    ]
    for row in direct:
        target = f"{TARGETS[row['op']]:.2f}" if row["op"] in TARGETS else ""
        lines.append(
            f"| {NAMES[row['op']]} | {row['ours_ns']:.1f} | {row['cpp_ns']:.1f} | {row['ratio']:.2f} | {target} |"
        )
    lines += [
        "",
        "## Inside a jitted loop",
        "",
        "A call in a `fori_loop` on stock JAX, most of which is XLA's own dispatch.",
        "",
        "| call | ours (ns) | C++ (ns) | ratio |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {NAMES[row['op']]} | {row['ours_ns']:.1f} | {row['cpp_ns']:.1f} | {row['ratio']:.2f} |"
        for row in jit["rows"]
    ]
    lines += [
        "",
        "## Building",
        "",
        "A crate outside the workspace with one op and the default features.",
        "",
        "| what | measured | target |",
        "|---|---|---|",
        f"| clean release build | {build['clean_s']:.1f} s | 30 s |",
        f"| rebuild after an edit of the op | {build['rebuild_s']:.1f} s | 3 s |",
        f"| stripped `.so` | {build['bytes'] / 1e3:.0f} kB | 1000 kB |",
        "",
    ]
    return "\n".join(lines)


def plot(measured, path):
    figure, axes = charts.figure(1, 2, (9, 3.2))
    direct = [row for row in measured["direct"] if row["op"] in TARGETS]
    for axis, title, rows in (
        (axes[0], "decoding alone", direct),
        (axes[1], "in a jitted loop", measured["jit"]["rows"]),
    ):
        positions = range(len(rows))
        for shift, key, label, color in (
            (-0.2, "ours_ns", "oxcall", charts.OURS),
            (0.2, "cpp_ns", "C++", charts.THEIRS),
        ):
            bars = axis.bar([x + shift for x in positions], [row[key] for row in rows], 0.38, label=label, color=color)
            axis.bar_label(bars, fmt="%.1f", padding=2)
        axis.set_xticks(list(positions), [NAMES[row["op"]].replace(", ", "\n") for row in rows])
        axis.set_title(title)
        axis.set_ylabel("ns per call")
        axis.margins(y=0.15)
    axes[0].legend(frameon=False)
    charts.save(figure, path)


def main():
    measured = json.loads(pathlib.Path(sys.argv[1]).read_text())
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ffi.json").write_text(json.dumps(measured, indent=2) + "\n")
    (folder / "ffi.md").write_text(markdown(measured))
    plot(measured, folder / "ffi.svg")
    for row in measured["direct"]:
        target = TARGETS.get(row["op"])
        verdict = "" if target is None else f"  (target {target:.2f}: {'met' if row['ratio'] <= target else 'MISSED'})"
        print(f"{NAMES[row['op']]:<40} {row['ours_ns']:9.1f} ns {row['cpp_ns']:9.1f} ns  {row['ratio']:.2f}{verdict}")


if __name__ == "__main__":
    main()
