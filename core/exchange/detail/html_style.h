#pragma once

// The fixed parts of a report. Its policy forbids to load anything, so that nothing in it can call home.
namespace batchscope::exchange::detail {

inline constexpr const char* html_head = R"html(<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>
:root { color-scheme: light dark; --text: #1b1f24; --dim: #606873; --line: #dde1e6; --back: #ffffff; --card: #f5f6f8;
  --good: #1a8754; --c0: #0072b2; --c1: #e69f00; --c2: #009e73; --c3: #cc79a7; --c4: #56b4e9; --c5: #d55e00 }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ed; --dim: #9aa3ad; --line: #363c44; --back: #16191d;
  --card: #1f2328; --good: #4cc38a; --c0: #4da3dc; --c1: #f0b840; --c2: #3cc79b; --c3: #dd9cc1; --c4: #86ccf2; --c5: #f08a4b } }
* { box-sizing: border-box }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif }
main { max-width: 1200px; margin: 0 auto; padding: 24px 16px }
h1 { font-size: 24px; margin: 0 0 12px } h2 { font-size: 17px; margin: 28px 0 8px }
h3 { font-size: 15px; margin: 20px 0 6px }
.answer { font-size: 17px; border-left: 4px solid var(--good); background: var(--card); padding: 12px 16px; border-radius: 4px }
.scroll { overflow: auto; max-height: 75vh } thead th { position: sticky; top: 0; background: var(--back) }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: 6px 10px; border-bottom: 1px solid var(--line); white-space: nowrap }
.number { text-align: right } tr.chosen td { font-weight: 600; color: var(--good) }
th button { font: inherit; font-weight: 600; color: var(--dim); background: none; border: 0; padding: 0; cursor: pointer }
th[aria-sort] button { color: var(--text) }
th[aria-sort=ascending] button::after { content: " \2191" } th[aria-sort=descending] button::after { content: " \2193" }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 12px; margin-top: 24px }
figure { margin: 0; background: var(--card); border-radius: 8px; padding: 8px } svg { width: 100%; height: auto; display: block }
svg text { fill: var(--text); font: 12px system-ui, sans-serif } svg .axis { fill: var(--dim) } svg .title { font-weight: 600 }
svg .end { text-anchor: end } svg .middle { text-anchor: middle } svg .grid { stroke: var(--line) }
svg .line { fill: none; stroke-width: 1.5 } svg .dot { opacity: .85 }
svg .line.c0 { stroke: var(--c0) } svg .line.c1 { stroke: var(--c1); stroke-dasharray: 7 3 } svg .line.c2 { stroke: var(--c2) }
svg .line.c3 { stroke: var(--c3); stroke-dasharray: 7 3 } svg .line.c4 { stroke: var(--c4) } svg .line.c5 { stroke: var(--c5); stroke-dasharray: 7 3 }
svg .dot.c0 { fill: var(--c0) } svg .dot.c1 { fill: var(--c1) } svg .dot.c2 { fill: var(--c2) } svg .dot.c3 { fill: var(--c3) }
svg .dot.c4 { fill: var(--c4) } svg .dot.c5 { fill: var(--c5) }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 2px 18px; padding: 0; margin: 24px 0 -12px; color: var(--dim) }
.legend svg { display: inline-block; width: 10px; height: 10px; margin-right: 6px }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 2px 24px; margin: 0 }
dl div { display: flex; justify-content: space-between; gap: 12px; border-bottom: 1px solid var(--line) } dl .long { grid-column: 1 / -1 } dt { color: var(--dim) }
dd { margin: 0; text-align: right; overflow-wrap: anywhere } details { margin: 4px 0 } small { color: var(--dim) }
pre { background: var(--card); padding: 12px; border-radius: 4px; overflow-x: auto }
@media (max-width: 600px) { .plots svg text { font-size: 15px } }
@media print { details { display: none } .scroll { overflow: visible; max-height: none } main { padding: 0 } figure, tr { break-inside: avoid } }
</style>
)html";

/// Sorts a table by the column whose heading is pressed: numbers by their value, anything else as text.
inline constexpr const char* html_script = R"html(<script>
for (const table of document.querySelectorAll("table.sortable"))
  table.querySelectorAll("th").forEach((heading, column) => heading.addEventListener("click", () => {
    const down = heading.getAttribute("aria-sort") === "ascending";
    table.querySelectorAll("th").forEach(other => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = row => row.cells[column].dataset.sort ?? row.cells[column].textContent;
    const rows = [...table.tBodies[0].rows].sort((a, b) => {
      const [x, y] = [parseFloat(key(a)), parseFloat(key(b))];
      if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
      return (down ? -1 : 1) * (isNaN(x) ? key(a).localeCompare(key(b)) : x - y);
    });
    table.tBodies[0].append(...rows);
  }));
</script></html>)html";

} // namespace batchscope::exchange::detail
