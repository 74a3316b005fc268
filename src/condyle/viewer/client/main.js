// The page: reads its numbers, builds the scene, and joins timeline, keys, plots and lists to it.
import { Vector3 } from 'three';
import { Figure } from './figure.js';
import { Labels } from './labels.js';
import { Live } from './live.js';
import { Recording } from './numbers.js';
import { buildColumns, buildTree } from './panel.js';
import { DASHES, lengthText, number, Plots, unitOf } from './plots.js';
import { csv, download, movie, movies, picture } from './save.js';
import { Stage } from './stage.js';

const $ = (id) => document.getElementById(id);
const head = JSON.parse($('head').textContent);
const options = new URLSearchParams(location.hash.slice(1));
const clear = options.has('clear');
if (clear) document.documentElement.classList.add('clear');
const stage = new Stage($('scene'), head, options.has('plain'), clear);
const recordings = await Promise.all(head.layers.map((layer, i) => Recording.of(layer, i)));
const figures = head.layers.map((layer) => new Figure(layer, head, stage));
const plots = new Plots($('curves'), head.layers.map((layer, i) => ({ layer, recording: recordings[i] })), (t) => seek(t));
const labels = new Labels($('labels'), figures, stage);
stage.ondraw = () => labels.update();
const main = recordings[0];
const framed = parent !== window;                           // inside a report, whose curves have the same cursor
const state = { t: plots.start, frame: -1, playing: false, speed: 1, loop: true, last: 0, arrows: head.arrow_scale, picked: null, told: 0, untold: 0 };

// ---- time --------------------------------------------------------------------------------------------------
function show(frame, t = main.time[frame]) {
  state.frame = frame; state.t = t;
  const before = stage.follow?.middle(new Vector3());
  const said = [];
  figures.forEach((figure, i) => {
    const own = i ? recordings[i].frameAt(t) : frame;
    recordings[i].read(own, figure.values);
    const bad = figure.update(state.arrows) ?? figure.whose(recordings[i].badAt(own));
    if (bad) said.push(`${figures.length > 1 ? `${figure.name}: ` : ''}${bad} is not a number at ${number(t)} s; the last good pose is shown`);
  });
  if (before) stage.followMove(before, stage.follow.middle(new Vector3()));
  stage.touch();
  const now = performance.now();                            // changes of the page's texts cost as much as a picture there
  plots.move(t, false); tellParent();                       // curves and pose are those of one frame
  const late = now - state.told;
  if (stage.slow && state.playing && !said.length && (late < 125 || (++state.untold < 4 && late < 500))) return;
  state.told = now; state.untold = 0;
  tell(said.join('. '));
}

function tellParent() { if (framed) parent.postMessage({ condyle: 'time', t: state.t, playing: state.playing }, '*'); }

/** What the page says of the frame: numbers, cursors, what is picked. */
function tell(bad = '') {
  const { frame, t } = state;
  if ($('bad').textContent !== bad) $('bad').textContent = bad;
  $('timeline').value = frame; $('timeline').setAttribute('aria-valuetext', `${number(t)} seconds, frame ${frame + 1} of ${main.frames}`);
  $('clock').textContent = `${t.toFixed(plots.end - plots.start < 1 ? 3 : 2)} s`;
  plots.move(t);
  describe();
}

function seek(t) { state.t = Math.min(plots.end, Math.max(plots.start, t)); show(main.frameAt(state.t), main.frames > 1 ? state.t : plots.start); }

function pause() { play(false); tell(); tellParent(); }

function step(by) { play(false); show(Math.min(main.frames - 1, Math.max(0, state.frame + by))); }

function play(on) {
  if (main.frames < 2) return;
  if (on && !state.loop && state.t >= plots.end) seek(plots.start);
  state.playing = on; state.last = 0;
  $('play').setAttribute('aria-label', on ? 'pause' : 'play'); $('play').dataset.playing = on;
}

function tick(now) {
  if (state.playing) {
    if (state.last) {
      let t = state.t + (now - state.last) / 1000 * state.speed;
      if (t > plots.end) { if (state.loop) t = plots.start; else { t = plots.end; play(false); state.told = 0; state.untold = 9; } }
      const frame = main.frameAt(t);
      if (frame !== state.frame || figures.length > 1) show(frame, t); else state.t = t;
    }
    state.last = now;
  }
  stage.tick(now);
  requestAnimationFrame(tick);
}

// ---- what was picked ---------------------------------------------------------------------------------------
function pick(found) {
  state.picked = found;
  for (const figure of figures) figure === found?.figure ? figure.mark(found.kind, found.name) : figure.mark(null, null);
  tree.mark(found?.kind, found?.name);
  $('card').hidden = !found;
  if (found) card(found);
  show(state.frame, state.t);
}

/** The next or the one before of the kind that is picked, of those that are shown. */
function next(by) {
  const figure = state.picked?.figure ?? figures[0], kind = state.picked?.kind ?? (figure.kinds().bodies ? 'bodies' : Object.keys(figure.kinds())[0]);
  const names = (figure.kinds()[kind] ?? []).filter((name) => figure.isShown(kind, name)), i = names.indexOf(state.picked?.name);
  if (names.length) pick({ figure, kind, name: names[(i < 0 ? (by > 0 ? 0 : names.length - 1) : i + by + names.length) % names.length] });
}

function center() {
  const place = state.picked?.figure.where(state.picked.kind, state.picked.name);
  if (place) stage.center(place);
}

/** What is picked, with what it is fixed to, and nothing else; again: all as it was. */
function isolate() {
  if (tree.isolated) tree.isolate(null);
  else if (state.picked) tree.isolate(state.picked.figure.family(state.picked.kind, state.picked.name));
  $('card-isolate').setAttribute('aria-pressed', tree.isolated);
}

function card({ figure, kind, name }) {
  const rows = figure.layer.columns.map((c, i) => ({ ...c, i })).filter((c) => c.of === name || c.name === name);
  const line = figure.layer.lines.find((l) => l.name === name), facts = [];
  if (figures.length > 1) facts.push(figure.name);
  facts.push({ bodies: 'body', joints: 'joint of', inertias: 'inertia of body', muscles: 'muscle', paths: 'path', surfaces: 'wrap surface', markers: "model's marker", measured: 'measured marker', errors: 'marker error', forces: 'force', pushes: 'contact force', patches: 'contact', pressures: 'pressure on a mesh', contacts: 'contact surface', constraints: 'constraint', springs: 'spring' }[kind] ?? kind);
  if (line?.strength) facts.push(`${number(line.strength)} N at most`);
  $('card-name').textContent = name; $('card-kind').textContent = facts.join(', ');
  const table = $('card-values');
  table.replaceChildren();
  state.readers = [];
  const add = (label, read, column) => {
    const row = table.insertRow(), value = document.createElement('output');
    const th = document.createElement('th'); th.scope = 'row'; th.textContent = label; row.append(th);
    row.insertCell().append(value);
    const cell = row.insertCell();
    if (column) { const b = document.createElement('button'); b.textContent = 'plot'; b.setAttribute('aria-label', `plot ${column}`); b.onclick = () => { plots.toggle(column); panel('plots', true); }; cell.append(b); }
    state.readers.push(() => { value.textContent = read(); });
  };
  const node = figure.nodes.findIndex((n) => n.name === name);
  const [meters, unit] = unitOf(0.05 * head.size);
  if (node > 0) add(`origin [${unit}]`, () => figure.nodes[node].position.toArray().map((x) => (x / meters).toFixed(meters === 1 ? 3 : 2)).join(', '));
  for (const c of rows) add(c.name.startsWith(`${name}.`) ? c.name.slice(name.length + 1) + (c.unit ? ` [${c.unit}]` : '') : c.name + (c.unit ? ` [${c.unit}]` : ''), () => number(figure.values.columns[c.i]), figure === figures[0] ? c.name : null);
  const arrow = figure.layer.arrows.findIndex((a) => a.name === name);
  if (arrow >= 0) add(`size [${figure.layer.arrows[arrow].unit}]`, () => number(Math.hypot(...figure.values.arrows.subarray(6 * arrow + 3, 6 * arrow + 6))));
  const patch = figure.layer.patches.indexOf(name);
  if (patch >= 0) add('patch, half axes [mm]', () => [3, 6].map((o) => number(1000 * Math.hypot(...figure.values.patches.subarray(9 * patch + o, 9 * patch + o + 3)))).join(', '));
}

function describe() { if (state.picked) for (const read of state.readers) read(); }

// ---- controls ----------------------------------------------------------------------------------------------
const tree = buildTree($('tree'), figures, stage, labels, () => show(state.frame, state.t), pick), { toggles } = tree;
buildColumns($('choose'), plots);

function panel(name, open = document.body.dataset[name] !== 'open') {
  if (open && matchMedia('(max-width: 800px)').matches) for (const other of ['things', 'plots']) if (other !== name) panel(other, false);
  document.body.dataset[name] = open ? 'open' : 'closed';
  $(`toggle-${name}`).setAttribute('aria-expanded', open);
}

function theme(dark) {
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  state.dark = dark; stage.theme(dark); plots.redraw();
}

function follow(on) {
  stage.follow = on ? figures[0] : null;
  $('follow').setAttribute('aria-pressed', on);
}

function full() {
  if (document.fullscreenElement) document.exitFullscreen(); else document.documentElement.requestFullscreen?.();
}

// ---- files -------------------------------------------------------------------------------------------------
const fileName = head.title.replace(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^_+|_+$/g, '') || 'scene';

const SAVES = {
  picture: async () => download(await picture(stage, labels), `${fileName}.png`),
  movie: async () => {
    const { loop, t, playing } = state, was = stage.scene.background, now = performance.now();
    stage.scene.background = stage.back; state.loop = false;
    const { blob, ending } = await movie(stage, () => new Promise((done) => {
      seek(plots.start); play(true);
      const watch = setInterval(() => {
        $('saving').textContent = `recording: ${Math.round(100 * (state.t - plots.start) / (plots.end - plots.start || 1))} %`;
        if (!state.playing) { clearInterval(watch); setTimeout(done, 100); }
      }, 100);
    }));
    stage.scene.background = was; state.loop = loop; $('saving').textContent = '';
    download(blob, `${fileName}.${ending}`);
    seek(t); play(playing);
    return performance.now() - now;
  },
  curves: () => download(csv(plots.layers, [...plots.plots.keys()]), `${fileName}.csv`),
  columns: () => download(csv(plots.layers, plots.columns.map((c) => c.name)), `${fileName}_all.csv`),
};
for (const button of document.querySelectorAll('[data-save]')) button.onclick = () => { $('save-menu').hidePopover?.(); SAVES[button.dataset.save](); };

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4];
function speed(by) { state.speed = SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(state.speed) + by))]; $('speed').value = state.speed; }

const KEYS = {
  ' ': () => (state.playing ? pause() : play(true)), ArrowLeft: (e) => step(e.shiftKey ? -10 : -1), ArrowRight: (e) => step(e.shiftKey ? 10 : 1),
  Home: () => step(-main.frames), End: () => step(main.frames), ArrowUp: () => speed(1), ArrowDown: () => speed(-1),
  1: () => stage.view('any'), 2: () => stage.view('front'), 3: () => stage.view('side'), 4: () => stage.view('top'),
  b: () => toggles.bodies?.(), m: () => toggles.muscles?.(), w: () => toggles.surfaces?.(), k: () => toggles.markers?.(), x: () => toggles.frames?.(), g: () => toggles.grid(),
  f: () => follow(!stage.follow), d: () => theme(!state.dark), l: () => panel('things'), p: () => panel('plots'),
  n: () => next(1), N: () => next(-1), c: center, i: isolate, t: () => tree.names(state.picked?.kind ?? 'bodies'), F: full, s: () => SAVES.picture(),
  '+': () => plots.nearer(0.6), '-': () => plots.nearer(1 / 0.6), 0: () => plots.zoom(),
  Escape: () => { if (tree.isolated) isolate(); pick(null); }, '?': () => $('help').showModal(),
};
addEventListener('keydown', (e) => {
  const typing = e.target.matches?.('input[type=search], input[type=number], input[type=text], select') || $('help').open;
  const own = e.target.matches?.('button, summary, input[type=checkbox]') && (e.key === ' ' || e.key === 'Enter');
  const sliding = e.target.matches?.('input[type=range]:not(#timeline)') && /^(Arrow|Home|End)/.test(e.key);
  if (typing || own || sliding || e.ctrlKey || e.metaKey || e.altKey || !KEYS[e.key]) return;
  e.preventDefault(); KEYS[e.key](e);
});
$('play').onclick = KEYS[' '];
$('back').onclick = () => step(-1); $('next').onclick = () => step(1);
$('speed').onchange = (e) => { state.speed = +e.target.value; };
$('loop').onclick = () => { state.loop = !state.loop; $('loop').setAttribute('aria-pressed', state.loop); };
$('follow').onclick = () => follow(!stage.follow);
$('timeline').oninput = (e) => { const frame = +e.target.value; play(false); show(frame); };
$('theme').onclick = () => theme(!state.dark);
$('toggle-things').onclick = () => panel('things'); $('toggle-plots').onclick = () => panel('plots');
$('help-open').onclick = () => $('help').showModal();
$('card-close').onclick = () => pick(null);
$('card-center').onclick = center; $('card-isolate').onclick = isolate;
$('full').hidden = !document.fullscreenEnabled; $('full').onclick = full;
$('zoom-in').onclick = KEYS['+']; $('zoom-out').onclick = KEYS['-']; $('zoom-all').onclick = KEYS[0];
plots.onzoom = (zoomed) => { $('zoom-all').disabled = $('zoom-out').disabled = !zoomed; };
for (const button of document.querySelectorAll('[data-view]')) button.onclick = () => stage.view(button.dataset.view);
let down = null;
$('scene').addEventListener('pointerdown', (e) => { down = [e.clientX, e.clientY]; });
$('scene').addEventListener('dblclick', (e) => { const found = stage.pick(e.clientX, e.clientY, figures); if (found) stage.center(found.point); else stage.view(head.view, head.camera); });
$('scene').addEventListener('pointerup', (e) => { if (down && Math.hypot(e.clientX - down[0], e.clientY - down[1]) < 5) pick(stage.pick(e.clientX, e.clientY, figures)); });

// ---- what there is, and what not ---------------------------------------------------------------------------
$('timeline').max = main.frames - 1;
$('bar').hidden = main.frames < 2;
if (stage.blind) head.notes.unshift('This browser has no WebGL, so that there is no picture: switch on hardware acceleration, or use another browser. Curves, values and files are there.');
const more = head.notes.length > 1 ? ` (and ${head.notes.length - 1} more)` : '';
$('notes').firstElementChild.textContent = head.notes.length ? head.notes[0] + more : '';
$('notes').append(...head.notes.slice(1).map((text) => { const p = document.createElement('p'); p.textContent = text; return p; }));
$('notes').hidden = !head.notes.length;
document.querySelector('[data-save=movie]').hidden = main.frames < 2 || !movies();
for (const name of ['curves', 'columns']) document.querySelector(`[data-save=${name}]`).hidden = !head.layers[0].columns.length;
if (figures.length > 1) for (const [k, figure] of figures.entries()) {
  const row = document.createElement('span'), svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.innerHTML = `<line x1="1" y1="5" x2="27" y2="5" stroke-dasharray="${DASHES[k % DASHES.length].join(' ')}" stroke-linecap="butt"/>`; svg.setAttribute('viewBox', '0 0 28 10');
  row.append(svg, figure.name); $('motions').append(row);
}
$('toggle-plots').hidden = main.frames < 2 || !head.layers[0].columns.length;
$('paint').hidden = !head.layers.some((l) => l.painted);
$('paint-label').textContent = head.paint.label; $('paint-high').textContent = `${number(head.paint.high)}${head.paint.unit ? ` ${head.paint.unit}` : ''}`;
$('pressure').hidden = !head.pressure;
const mega = head.pressure >= 1e5;
$('pressure-high').textContent = `${number(head.pressure / (mega ? 1e6 : 1e3))} ${mega ? 'MPa' : 'kPa'}`;
$('scale').textContent = `grid ${lengthText(stage.spacing)}`;
const arrowed = head.layers.some((l) => l.arrows.length);
$('arrows').hidden = !arrowed;
function arrowScale(factor) {
  state.arrows = head.arrow_scale * factor;
  const unit = head.layers.find((l) => l.arrows.length)?.arrows[0].unit ?? '', length = 0.5 * head.size, size = 10 ** Math.round(Math.log10(length / state.arrows));
  $('arrow-text').textContent = `${number(size)} ${unit} = ${lengthText(size * state.arrows)}`;
}
arrowScale(1);
$('arrow-scale').oninput = (e) => { arrowScale(10 ** +e.target.value); show(state.frame, state.t); };
if (head.layers.length > 1) {
  $('apart').hidden = $('later').hidden = false;
  $('later-by').value = +(head.layers[1].shift ?? 0).toFixed(3);
  $('later-by').oninput = (e) => { if (!Number.isFinite(e.target.valueAsNumber)) return; recordings.slice(1).forEach((r) => { r.shift = e.target.valueAsNumber; }); plots.retime(); show(state.frame, state.t); };
  const reach = 1.2 * head.size, side = stage.side(head.apart ?? 'front');
  $('apart-by').oninput = (e) => { figures.forEach((f, i) => f.root.position.fromArray(f.layer.offset).addScaledVector(side, i * reach * +e.target.value)); show(state.frame, state.t); };
}

if (head.bare) document.body.classList.add('bare');
follow(head.follow);
theme(options.has('dark') ? options.get('dark') === '1' : matchMedia('(prefers-color-scheme: dark)').matches);
const small = matchMedia('(max-width: 800px)').matches;
panel('things', !small && head.panels && innerWidth > 900); panel('plots', !small && head.panels && innerWidth > 700 && !$('toggle-plots').hidden);
for (const name of head.plotted) plots.add(name);
if (head.labels) { for (const kind of head.labels.kinds) tree.names(kind); labels.only(head.labels.names); }
if (clear) toggles.grid();
stage.resize(); show(0); stage.view(options.get('view') ?? head.view, head.camera); stage.draw(true);
if (head.play && !options.has('still') && !matchMedia('(prefers-reduced-motion: reduce)').matches) play(true);
requestAnimationFrame(tick);

addEventListener('message', (e) => { if (framed && e.source === parent && e.data?.condyle === 'seek' && Number.isFinite(e.data.t)) { play(false); seek(e.data.t); } });

// What tests, movies and a live source use.
window.condyle = {
  head, stage, figures, recordings, plots, state, show, seek, play, pick, theme, panel, follow, toggles, tree, labels, next, center, isolate, saves: SAVES,
  /** Draw one frame at once, finely. */
  draw(frame) { show(frame); stage.draw(true); },
  at: (x, y) => { const found = stage.pick(x, y, figures); return found && { kind: found.kind, name: found.name, layer: found.figure.name }; },
  screen: (name, layer = 0) => stage.screen(figures[layer].place('bodies', name)),
};
if (head.live) window.live = new Live(window.condyle, head.live);
document.documentElement.dataset.ready = 'yes';             // tests wait for html[data-ready]
