// A page whose states come from a server: sliders, a run, curves over a coordinate, and a hand that pulls at bodies.
import { Plane, Vector3 } from 'three';
import { number } from './plots.js';

const DEGREE = Math.PI / 180;
const make = (tag, facts = {}, ...children) => { const node = Object.assign(document.createElement(tag), facts); node.append(...children); return node; };

export class Live {
  constructor(app, info) {
    this.app = app; this.info = info; this.newest = null; this.sliders = new Map(); this.playing = false;
    app.recordings[0].read = () => {};                      // values come by message
    this.build();
    this.connect();
    this.hand();
    const tick = () => { this.draw(); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
  }

  // ---- the server ------------------------------------------------------------------------------------------
  connect() {
    this.socket = new WebSocket(`ws://${location.host}${this.info.path}`);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = (e) => { if (typeof e.data === 'string') this.hear(JSON.parse(e.data)); else this.newest = new Float32Array(e.data); };
    this.socket.onopen = () => { document.documentElement.dataset.live = 'open'; };
    this.socket.onclose = () => { document.documentElement.dataset.live = 'closed'; this.say('The server has gone: this is the last picture.'); };
  }

  send(message) { if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message)); }

  hear({ status, curve, saved, error }) {
    if (error) this.say(error);
    if (curve) this.plot(curve);
    if (saved) this.download(saved);
    if (!status) return;
    this.playing = status.playing;
    this.play.textContent = status.playing ? 'Pause' : 'Run';
    this.play.setAttribute('aria-pressed', status.playing);
    for (const [name, slider] of this.sliders) if (slider.index !== undefined && document.activeElement !== slider.input) slider.set(status.q[slider.index]);
    const facts = [`t = ${status.t.toFixed(2)} s`];
    if (status.playing) facts.push(`real-time factor ${number(status.factor)}`, `${status.missed} frames missed`, `${Math.round(1000 * status.lag)} ms late`);
    if (status.slow) facts.push(`slowed to ${number(status.speed)}× to keep up`);
    this.facts.textContent = facts.join(', ');
    if (status.said !== this.said) this.say(this.said = status.said);
    if (this.curve) this.mark(status);
  }

  say(text) { this.words.textContent = text; }

  /** The newest message, once per picture. */
  draw() {
    if (!this.newest) return;
    const x = this.newest, { values } = this.app.figures[0];
    this.newest = null;
    let at = 1;
    for (const kind of ['poses', 'points', 'paint', 'columns', 'arrows', 'patches']) { values[kind].set(x.subarray(at, at + values[kind].length)); at += values[kind].length; }
    this.app.show(0, x[0]);
    this.frames = (this.frames ?? 0) + 1;
  }

  // ---- controls --------------------------------------------------------------------------------------------
  build() {
    const panel = make('section', { id: 'live' }), { info } = this;
    this.play = make('button', { textContent: 'Run', className: 'first', onclick: () => this.send({ do: this.playing ? 'pause' : 'play' }) });
    const reset = make('button', { textContent: 'Reset', onclick: () => { this.say(''); this.send({ do: 'reset' }); } });
    const save = make('button', { textContent: 'Save pose', onclick: () => this.send({ do: 'save' }) });
    this.facts = make('output', { className: 'facts' }); this.words = make('output', { className: 'words' }); this.words.setAttribute('role', 'alert');
    if (info.moves) panel.append(make('p', { className: 'buttons' }, this.play, reset, save), this.facts, this.settings());
    panel.append(this.words);
    const group = (title, list, kind, open) => {
      if (!list.length) return;
      panel.append(make('details', { open }, make('summary', { textContent: title }), ...list.map((item) => this.slider(item, kind))));
    };
    group('Coordinates', info.coordinates, 'pose', true);
    group('Inputs', info.inputs, 'input', info.inputs.length <= 12);
    group('Parameters', info.parameters, 'parameter', false);
    if (info.paths.length && info.coordinates.length) panel.append(this.chooser());
    const aside = document.getElementById('plots');
    aside.prepend(panel); aside.setAttribute('aria-label', 'controls');
    document.getElementById('choose').hidden = true;
    document.getElementById('toggle-plots').hidden = false;
    this.app.panel('plots', true);
  }

  settings() {
    const speed = make('select', { ariaLabel: 'speed', onchange: (e) => this.send({ do: 'speed', value: +e.target.value }) }, ...[0.1, 0.25, 0.5, 1, 2].map((v) => make('option', { value: v, textContent: `${v}×`, selected: v === 1 })));
    const integrator = make('select', { ariaLabel: 'integrator', onchange: (e) => this.send({ do: 'integrator', value: e.target.value }) }, ...this.info.integrators.map((v) => make('option', { value: v, textContent: v, selected: v === 'merson' })));
    const accuracy = make('select', { ariaLabel: 'accuracy', onchange: (e) => this.send({ do: 'accuracy', value: +e.target.value }) }, ...[1e-2, 1e-3, 1e-4, 1e-6].map((v) => make('option', { value: v, textContent: v.toExponential(0), selected: v === 1e-3 })));
    const named = (text, node) => make('label', {}, make('small', { textContent: text }), node);
    return make('p', { className: 'settings' }, named('speed', speed), named('integrator', integrator), named('accuracy', accuracy));
  }

  slider(item, kind) {
    const unit = item.unit === 'rad' ? '°' : item.unit ? ` ${item.unit}` : '', scale = item.unit === 'rad' ? DEGREE : 1;
    const input = make('input', { type: 'range', min: item.low, max: item.high, step: (item.high - item.low) / 1000 || 0.001, value: item.value, disabled: item.held ?? false, ariaLabel: item.name });
    const value = make('output'), set = (v) => { if (v === null) return; input.value = v; value.textContent = `${number(v / scale)}${unit}`; input.setAttribute('aria-valuetext', value.textContent); };
    input.oninput = () => { set(+input.value); this.send({ do: kind, name: item.name, value: +input.value }); if (this.curve) this.ask(); };
    set(item.value);
    const index = kind === 'pose' ? this.info.names.indexOf(item.name) : undefined;
    this.sliders.set(`${kind} ${item.name}`, { input, set, index });
    return make('label', { className: 'slider' }, make('span', { textContent: item.name }), input, value);
  }

  // ---- lengths and moment arms over a coordinate -----------------------------------------------------------
  chooser() {
    const path = make('select', { ariaLabel: 'path' }, ...this.info.paths.map((n) => make('option', { value: n, textContent: n })));
    const over = make('select', { ariaLabel: 'coordinate' }, ...this.info.coordinates.map((c) => make('option', { value: c.name, textContent: c.name })));
    this.ask = () => this.send({ do: 'curve', path: path.value, coordinate: over.value });
    const wait = make('small', { textContent: 'The first curve compiles ...' });
    this.waiting = wait;
    path.onchange = over.onchange = this.ask;
    this.canvas = make('canvas', { width: 600, height: 420, className: 'curve' });
    this.canvas.setAttribute('role', 'img');
    const details = make('details', {}, make('summary', { textContent: 'Length and moment arm' }), make('p', { className: 'settings' }, path, over), wait, this.canvas);
    details.ontoggle = () => { if (details.open) this.ask(); else this.curve = null; };
    return details;
  }

  plot(curve) {
    this.curve = curve; this.waiting.hidden = true;
    const g = this.canvas.getContext('2d'), style = getComputedStyle(this.canvas), { width: w, height: h } = this.canvas;
    const own = this.info.coordinates.find((c) => c.name === curve.coordinate), scale = own.unit === 'rad' ? DEGREE : 1;
    g.clearRect(0, 0, w, h);
    g.font = '22px sans-serif';
    const low = curve.x[0], high = curve.x[curve.x.length - 1], X = (x) => 20 + (x - low) / (high - low || 1) * (w - 40);
    [['length', 1000, 'mm', '#3b7dd8', 0], ['arm', 1000, 'mm', '#d9534a', h / 2]].forEach(([name, factor, unit, color, top]) => {
      const y = curve[name], known = y.filter((v) => v !== null), a = Math.min(...known), b = Math.max(...known);
      const Y = (v) => top + h / 2 - 24 - (v - a) / (b - a || 1) * (h / 2 - 70);
      g.strokeStyle = color; g.lineWidth = 3; g.beginPath();
      y.forEach((v, i) => { if (v !== null) (i && y[i - 1] !== null ? g.lineTo(X(curve.x[i]), Y(v)) : g.moveTo(X(curve.x[i]), Y(v))); });
      g.stroke();
      g.fillStyle = style.color;
      g.fillText(`${name === 'arm' ? 'moment arm' : 'length'} ${number(a * factor)} to ${number(b * factor)} ${unit}`, 20, top + 24);
    });
    g.fillText(`${curve.coordinate} ${number(low / scale)} to ${number(high / scale)}${own.unit === 'rad' ? '°' : ' m'}`, 20, h - 2);
    this.drawn = g.getImageData(0, 0, w, h); this.X = X;
    this.canvas.setAttribute('aria-label', `length and moment arm of ${curve.path} over ${curve.coordinate}`);
  }

  /** The coordinate's value on the curve. */
  mark(status) {
    const k = this.info.names.indexOf(this.curve.coordinate), g = this.canvas.getContext('2d'), x = this.X(status.q[k]);
    g.putImageData(this.drawn, 0, 0);
    g.strokeStyle = getComputedStyle(this.canvas).getPropertyValue('--accent'); g.lineWidth = 2;
    g.beginPath(); g.moveTo(x, 30); g.lineTo(x, this.canvas.height - 26); g.stroke();
  }

  download(pose) {
    const link = make('a', { href: URL.createObjectURL(new Blob([JSON.stringify(pose, null, 1)], { type: 'application/json' })), download: 'pose.json' });
    link.click(); URL.revokeObjectURL(link.href);
    this.say('The pose is saved: pose.json, and view.saved in Python.');
  }

  // ---- the hand --------------------------------------------------------------------------------------------
  /** While it runs, a body that is dragged follows the pointer by a spring. */
  hand() {
    const { stage, figures } = this.app, { canvas } = stage, plane = new Plane(), target = new Vector3();
    let held = null;
    canvas.addEventListener('pointerdown', (e) => {
      if (!this.playing || e.button !== 0 || !stage.pick(e.clientX, e.clientY, figures)) return;
      const hit = stage.raycaster.intersectObjects(figures[0].items, true).find((h) => figures[0].nodes.indexOf(nodeOf(h.object)) > 0);
      if (!hit) return;
      const node = nodeOf(hit.object);
      held = { body: node.name, station: node.worldToLocal(hit.point.clone()).toArray() };
      plane.setFromNormalAndCoplanarPoint(stage.camera.getWorldDirection(new Vector3()), hit.point);
      stage.controls.enabled = false; canvas.setPointerCapture(e.pointerId);
      this.send({ do: 'grab', ...held, target: hit.point.toArray() });
    }, true);
    canvas.addEventListener('pointermove', (e) => {
      if (!held) return;
      stage.pick(e.clientX, e.clientY, []);                  // points the ray
      if (stage.raycaster.ray.intersectPlane(plane, target)) this.send({ do: 'grab', ...held, target: target.toArray() });
    });
    const release = () => { if (held) { held = null; stage.controls.enabled = true; this.send({ do: 'release' }); } };
    for (const name of ['pointerup', 'pointercancel', 'lostpointercapture']) canvas.addEventListener(name, release);
  }
}

function nodeOf(object) {
  while (object && !object.parent?.parent?.isScene) { if (!object.parent) return null; object = object.parent; }
  return object;
}
