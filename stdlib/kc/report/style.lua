---@module kc.report.style
-- The style sheet of the HTML report: light and dark as the reader's system asks, and paper. No character of it needs escaping.
return [[

:root { color-scheme: light dark; --text: #1b1b1b; --back: #ffffff; --soft: #5a5a5a; --line: #c8c8c8; --track: #e6e6e6;
  --good: #1a6b2d; --bad: #a8141c; --open: #7a4b00; --bar: #2f6fa7; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8e8; --back: #16181a; --soft: #a6a6a6; --line: #454a4f; --track: #2c3136;
  --good: #6fcf85; --bad: #ff8a8a; --open: #f0b860; --bar: #78b4ea; } }
body { margin: 0; background: var(--back); color: var(--text); font: 16px/1.45 system-ui, sans-serif; }
main { max-width: 78rem; margin: 0 auto; padding: 1rem; }
h1, h2, h3 { line-height: 1.2; overflow-wrap: anywhere; }
h2 { margin-top: 2.2rem; border-bottom: 1px solid var(--line); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
caption { text-align: left; color: var(--soft); }
th, td { text-align: left; vertical-align: top;
  padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
a { color: inherit; }
figure { margin: 0; } figcaption { color: var(--soft); font-size: .9em; }
svg { vertical-align: middle; max-width: 100%; } td svg { min-width: 9rem; }
svg text { fill: var(--text); font: 12px system-ui, sans-serif; }
.track { fill: var(--track); } .under, .bin { fill: var(--bar); } .over { fill: var(--bad); }
.one { stroke: var(--text); stroke-width: 2; }
.verdict { font-weight: 600; white-space: nowrap; }
.passed { color: var(--good); } .failed { color: var(--bad); } .error { color: var(--open); } .skipped { color: var(--soft); }
.problem { border-left: .3rem solid var(--bad); padding-left: .6rem; }
details { margin: .6rem 0; padding: .3rem .6rem; border: 1px solid var(--line); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
code, pre { font-family: ui-monospace, monospace; font-size: .92em; }
code { user-select: all; overflow-wrap: anywhere; } pre { overflow-x: auto; }
@media (max-width: 40rem) { dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { :root { --text: #000000; --back: #ffffff; --soft: #333333; } main { max-width: none; }
  details::details-content { content-visibility: visible; display: block; }
  tr, details { break-inside: avoid; } pre { white-space: pre-wrap; } }
]]
