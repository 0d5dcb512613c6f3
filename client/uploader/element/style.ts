/** The style sheet of the element. `light-dark()` follows the `color-scheme` of the page. */
export const STYLE = `
:host {
  --accent: var(--sluice-accent, light-dark(#2456d6, #8fb2ff));
  --on-accent: var(--sluice-on-accent, light-dark(#fff, #10192e));
  --background: var(--sluice-background, light-dark(#fff, #16181d));
  --surface: var(--sluice-surface, light-dark(#f6f7f9, #1f2229));
  --text: var(--sluice-text, light-dark(#16181d, #f1f3f6));
  --muted: var(--sluice-muted, light-dark(#5b6270, #a3abba));
  --border: var(--sluice-border, light-dark(#d9dde4, #363b46));
  --error: var(--sluice-error, light-dark(#b42318, #ff9b90));
  --success: var(--sluice-success, light-dark(#0e7a4b, #5fd39b));
  --radius: var(--sluice-radius, 14px);
  display: block;
  container-type: inline-size;
  contain-intrinsic-inline-size: 320px;
  color: var(--text);
  font: var(--sluice-font, 400 15px/1.45 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif);
  text-align: start;
}
:host([hidden]), [hidden] { display: none !important; }
*, ::before { box-sizing: border-box; }
p, ul { margin: 0; padding: 0; list-style: none; }
svg { width: 20px; height: 20px; flex: none; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
.box { position: relative; background: var(--background); border: 1px solid var(--border); border-radius: var(--radius); }
.zone { display: flex; flex-direction: column; align-items: center; gap: 6px; margin: 8px; padding: 32px 20px; text-align: center;
  border: 1.5px dashed color-mix(in srgb, var(--muted) 50%, transparent); border-radius: calc(var(--radius) - 6px); transition: background .15s, border-color .15s; }
.badge { display: grid; place-items: center; width: 48px; height: 48px; margin-bottom: 8px; border-radius: 50%; color: var(--accent);
  background: color-mix(in srgb, var(--accent) 12%, transparent); transition: transform .15s; }
.badge svg { width: 24px; height: 24px; }
.title { font-size: 1.1em; font-weight: 600; }
.hint { color: var(--muted); font-size: .87em; }
.buttons { display: flex; flex-wrap: wrap; justify-content: center; gap: 8px; }
.zone .buttons { margin-top: 14px; }
.over .zone { border-color: var(--accent); background: color-mix(in srgb, var(--accent) 8%, transparent); }
.over .badge { transform: translateY(-3px); }
button { display: inline-flex; align-items: center; justify-content: center; gap: 8px; min-height: 40px; padding: 0 16px; font: inherit;
  font-weight: 550; color: var(--text); background: var(--background); border: 1px solid var(--border); border-radius: 10px; cursor: pointer;
  transition: background .15s, border-color .15s; }
button:hover { background: var(--surface); }
button.primary { color: var(--on-accent); background: var(--accent); border-color: transparent; }
button.primary:hover { background: color-mix(in srgb, var(--accent) 88%, var(--text)); }
button.icon { width: 36px; min-height: 36px; padding: 0; border-color: transparent; background: none; color: var(--muted); }
button.icon:hover { color: var(--text); background: color-mix(in srgb, var(--text) 8%, transparent); }
button.link { min-height: 36px; padding: 0 10px; border-color: transparent; background: none; font-size: .9em; color: var(--accent); }
button.link:hover { background: color-mix(in srgb, var(--accent) 10%, transparent); }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
button:disabled { opacity: .5; cursor: not-allowed; }
:host([disabled]) .zone { opacity: .6; }
.list { max-height: var(--sluice-list-height, 420px); overflow-y: auto; scrollbar-width: thin; scrollbar-color: var(--border) transparent; border-top: 1px solid var(--border); }
.row { display: grid; grid-template-columns: 44px minmax(0, 1fr) auto; align-items: center; gap: 12px; padding: 10px 10px 10px 14px; }
.row + .row { border-top: 1px solid color-mix(in srgb, var(--border) 60%, transparent); }
.thumb { position: relative; display: grid; place-items: center; width: 44px; height: 44px; border-radius: 9px; color: var(--muted);
  background: var(--surface) center / cover; font-size: 10.5px; font-weight: 700; letter-spacing: .02em; text-transform: uppercase; }
.thumb img { position: absolute; width: 100%; height: 100%; object-fit: cover; border-radius: inherit; }
.mark { position: absolute; right: -5px; bottom: -5px; display: none; place-items: center; width: 20px; height: 20px; border-radius: 50%;
  color: var(--background); border: 2px solid var(--background); }
.mark svg { width: 12px; height: 12px; stroke-width: 3.5; }
[data-status=done] .mark { display: grid; background: var(--success); }
[data-status=failed] .mark { display: grid; background: var(--error); }
.name { display: flex; min-width: 0; font-weight: 550; }
.name span { overflow: hidden; text-overflow: ellipsis; white-space: pre; }
.name .end { flex: none; }
.status { color: var(--muted); font-size: .87em; font-variant-numeric: tabular-nums; }
[data-status=failed] .status { color: var(--error); }
[data-status=done] .status { color: var(--success); }
.progress { height: 4px; margin-top: 6px; overflow: hidden; border-radius: 2px; background: color-mix(in srgb, var(--text) 12%, transparent); }
.bar { width: 100%; height: 100%; border-radius: inherit; background: var(--accent); transform-origin: 0 50%; transition: transform .2s linear; }
:host(:dir(rtl)) .bar { transform-origin: 100% 50%; }
[data-status=paused] .bar { background: var(--muted); }
.actions { display: flex; }
.foot { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 4px 12px; padding: 8px 8px 8px 16px;
  border-top: 1px solid var(--border); font-size: .93em; }
.foot .summary { color: var(--muted); font-variant-numeric: tabular-nums; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
dialog { width: min(720px, calc(100vw - 32px)); padding: 12px; color: var(--text); background: var(--background); border: 1px solid var(--border); border-radius: var(--radius); }
dialog::backdrop { background: rgb(0 0 0 / .6); }
video { display: block; width: 100%; aspect-ratio: 4 / 3; margin-bottom: 12px; object-fit: contain; background: #000; border-radius: calc(var(--radius) - 6px); }
dialog p { padding: 8px 4px 16px; }
.has-files .more { width: 40px; padding: 0; gap: 0; }
.has-files .more span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@container (min-width: 560px) {
  .has-files .zone { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: 0 14px; padding: 14px 16px; text-align: start; }
  .has-files .badge { grid-row: 1 / 3; width: 40px; height: 40px; margin: 0; }
  .has-files .title { font-size: 1em; align-self: end; }
  .has-files .hint { align-self: start; grid-column: 2; }
  .has-files .buttons { grid-area: 1 / 3 / 3 / 4; margin: 0; }
  .has-files .title.alone { grid-row: 1 / 3; align-self: center; }
}
@container (max-width: 559px) {
  .has-files .zone { padding: 14px; }
  .has-files .badge { display: none; }
  .has-files .zone .buttons { flex-wrap: nowrap; align-self: stretch; margin-top: 8px; }
  .has-files .primary { flex: 1; }
}
@container (max-width: 400px) {
  .box:not(.has-files) .zone .buttons { align-self: stretch; flex-direction: column; }
}
@media (pointer: coarse) {
  button { min-height: 44px; }
  button.icon { width: 44px; min-height: 44px; }
  button.link { min-height: 44px; }
}
@media (prefers-reduced-motion: reduce) {
  *, ::before { transition: none !important; }
}
@media (forced-colors: active) {
  .bar { background: Highlight; }
  .progress { border: 1px solid; }
}
`
