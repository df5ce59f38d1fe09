/** The look of the method, beyond what all pictures share. */
export const STYLE = `
h1 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 1rem; }
.strip { position: relative; display: grid; grid-template-columns: 1fr 1fr; gap: 1.25rem 1rem; }
canvas { position: absolute; inset: 0; inline-size: 100%; block-size: 100%; pointer-events: none; }
.box { block-size: 8.75rem; }
.panel { transition: opacity .4s; }
.panel.coming { opacity: .2; }
.panel strong { display: block; font-size: .9375rem; line-height: 1.3; margin-block: .4rem .15rem; }
.panel p { font-size: .875rem; line-height: 1.45; color: var(--faint); }
.controls { display: grid; gap: .9rem 1.5rem; align-items: end; margin-block: 1.25rem 0; padding-block: 1rem;
  border-block: 1px solid var(--grid); }
button { min-block-size: 2.75rem; padding: .3rem 1.1rem; border: 0; border-radius: .5rem; background: var(--yes);
  color: var(--paper); font-weight: 600; cursor: pointer; }
input { accent-color: var(--yes); }
label output { font-weight: 600; }
.slider { display: grid; }
.ends { display: flex; justify-content: space-between; font-size: .8125rem; color: var(--faint); }
input[type=range] { inline-size: 100%; min-block-size: 2rem; margin: 0; cursor: pointer; }
.change { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; margin-block: 1.25rem .75rem; }
.change legend { font-weight: 600; }
.histogram { display: block; inline-size: 100%; overflow: visible; }
.histogram .yes { fill: var(--yes); opacity: .45; }
.histogram .no { fill: none; stroke: var(--ink); stroke-width: 1.5; }
.histogram .seen { stroke: var(--noise); stroke-width: 1.5; stroke-dasharray: 4 3; }
.histogram .axis { stroke: var(--faint); }
.histogram text { fill: var(--faint); font-size: 12px; }
.histogram .seen-word { fill: var(--noise); font-weight: 600; }
.key { display: flex; flex-wrap: wrap; gap: .2rem 1.25rem; font-size: .875rem; color: var(--faint); }
.key i { display: inline-block; inline-size: .9rem; block-size: .9rem; margin-inline-end: .35rem; vertical-align: -.1rem; }
.key .filled { background: var(--yes); opacity: .45; }
.key .hollow { border: 1.5px solid var(--ink); }
.promise { margin-block-start: 1.25rem; padding-block-start: 1rem; border-block-start: 1px solid var(--grid); }
.told { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@container (min-width: 30rem) {
  .controls { grid-template-columns: 1fr 1fr; }
  .controls button { justify-self: start; }
}
@container (min-width: 42rem) {
  .strip { grid-template-columns: repeat(4, 1fr); gap: 1.25rem; }
}
@media (prefers-reduced-motion: reduce) { .panel { transition: none; } }
@media print { .controls button { display: none; } }
`;
