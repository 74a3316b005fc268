// A page whose states come from a server: sliders, a run, curves over a coordinate, and a hand that pulls at bodies.
import { Plane, Vector3 } from 'three';
import { number } from './plots.js';

const DEGREE = Math.PI / 180;
const make = (tag, facts = {}, ...children) => { const node = Object.assign(document.createElement(tag), facts); node.append(...children); return node; };

const SECONDS = 10, KEPT = 1200, IDLE = 600, WAITS = [0.5, 1, 2, 4, 8, 15];     // of curves; frames; without a hand [s]; between trials to reconnect [s]

/** The last seconds of what came by messages, as a recording has it. */
class History {
  constructor(columns) { this.shift = 0; this.count = columns; this.clear(0); }

  clear(t) { this.time = [t]; this.rows = [new Float32Array(this.count).fill(NaN)]; this.cache = new Map(); }

  get frames() { return this.time.length; }

  add(t, values) {
    if (t < this.time[this.time.length - 1]) this.clear(t);
    this.time.push(t); this.rows.push(values.slice()); this.cache.clear();
    while (this.time.length > 2 && (this.time[0] < t - SECONDS || this.time.length > KEPT)) { this.time.shift(); this.rows.shift(); }
  }

  column(c) { return this.cache.get(c) ?? this.cache.set(c, this.rows.map((row) => row[c])).get(c); }

  frameAt(t) { let i = this.time.length - 1; while (i > 0 && this.time[i] > t + 1e-9) i--; return i; }

  read() {}

  badAt() { return null; }
}

export class Live {
  constructor(app, info) {
    this.app = app; this.info = info; this.newest = null; this.sliders = new Map(); this.playing = false; this.tries = 0; this.told = 0;
    this.history = new History(app.figures[0].layer.columns.length);
    app.recordings[0].read = () => {};                      // values come by message
    app.plots.layers[0].recording = this.history;
    this.build();
    this.connect();
    this.hand();
    const tick = () => { this.draw(); requestAnimationFrame(tick); };
    requestAnimationFrame(tick);
    document.addEventListener('visibilitychange', () => this.send({ do: document.hidden ? 'hide' : 'see' }));
    const busy = () => { this.touched = performance.now(); };
    for (const name of ['pointerdown', 'pointermove', 'keydown', 'wheel']) addEventListener(name, busy, { passive: true });
    busy();
    setInterval(() => { if (this.playing && performance.now() - this.touched > 1000 * IDLE) { this.send({ do: 'pause' }); this.say(`Paused: nobody touched the page for ${IDLE / 60} minutes.`); } }, 5000);
  }

  // ---- the server ------------------------------------------------------------------------------------------
  connect() {
    clearTimeout(this.waiter);
    this.socket = new WebSocket(`ws://${location.host}${this.info.path}`);
    this.socket.binaryType = 'arraybuffer';
    this.socket.onmessage = (e) => { if (typeof e.data === 'string') this.hear(JSON.parse(e.data)); else this.newest = new Float32Array(e.data); };
    this.socket.onopen = () => {
      document.documentElement.dataset.live = 'open';
      if (this.tries) this.say('The server is back.');
      this.again.hidden = true;
      if (this.q && this.tries) {                            // a new session: what was here is there again
        if (this.q.every(Number.isFinite)) this.send({ do: 'poses', values: this.q });
        for (const name of this.locked ?? []) this.send({ do: 'lock', name, on: true });
        for (const [key, slider] of this.sliders) if (slider.moved) { const [kind, ...name] = key.split(' '); this.send({ do: kind, name: name.join(' '), value: slider.now }); }
      }
      this.tries = 0;
      if (document.hidden) this.send({ do: 'hide' });
    };
    this.socket.onclose = () => {
      document.documentElement.dataset.live = 'closed';
      this.playing = false; this.play.textContent = 'Run'; this.again.hidden = false;
      const wait = WAITS[Math.min(this.tries++, WAITS.length - 1)];
      this.say(`The server has gone: this is the last picture. Trying again in ${wait} s.`);
      if (this.tries < 40) this.waiter = setTimeout(() => this.connect(), 1000 * wait); else this.say('The server has gone: this is the last picture.');
    };
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
    this.q = status.q; this.locked = status.locked;
    for (const slider of this.sliders.values()) if (slider.index !== undefined && !slider.busy()) { slider.set(status.q[slider.index]); slider.lock(status.locked.includes(slider.name)); }
    const facts = [`t = ${status.t.toFixed(2)} s`];
    if (status.playing) facts.push(`real-time factor ${number(status.factor)}`, `${status.missed} frames missed`, `${Math.round(1000 * status.lag)} ms late`);
    if (status.slow) facts.push(`slowed to ${number(status.speed)}× to keep up`);
    this.facts.textContent = facts.join(', ');
    if (status.said !== this.said) this.say(this.said = status.said);
    this.warn(status.loose);
    if (this.curve) this.mark(status);
  }

  say(text) { this.words.textContent = text; }

  /** The newest message, once per picture. */
  draw() {
    if (!this.newest) return;
    const x = this.newest, { values } = this.app.figures[0], { plots } = this.app;
    this.newest = null;
    let at = 1;
    for (const kind of ['poses', 'points', 'paint', 'columns', 'arrows', 'patches']) { values[kind].set(x.subarray(at, at + values[kind].length)); at += values[kind].length; }
    if (this.playing || this.history.frames < 2) this.history.add(x[0], values.columns); else this.history.clear(x[0]);
    this.app.show(0, x[0]);
    const now = performance.now();
    if (now - this.told > 100 || !this.playing) {            // curves grow ten times a second
      this.told = now;
      for (const plot of plots.plots.values()) plots.extent(plot);
      plots.retime();
    }
    this.frames = (this.frames ?? 0) + 1;
  }

  // ---- controls --------------------------------------------------------------------------------------------
  build() {
    const panel = make('section', { id: 'live', ariaLabel: 'controls' }), { info } = this;
    this.play = make('button', { textContent: 'Run', className: 'first', onclick: () => { if (!this.playing && !this.ran) this.curves(); this.send({ do: this.playing ? 'pause' : 'play' }); } });
    const reset = make('button', { textContent: 'Reset', onclick: () => { this.say(''); this.send({ do: 'reset' }); } });
    const save = make('button', { textContent: 'Save pose', onclick: () => this.send({ do: 'save' }) });
    this.facts = make('output', { className: 'facts' }); this.words = make('output', { className: 'words' }); this.words.setAttribute('role', 'alert');
    this.again = make('button', { textContent: 'Try now', hidden: true, onclick: () => this.connect() });
    if (info.moves) panel.append(make('p', { className: 'buttons' }, this.play, reset, save), this.facts, this.settings());
    const choose = document.getElementById('choose');
    panel.append(this.words, this.again, this.footing(), choose, document.getElementById('curves'));
    const group = (title, list, kind, open) => {
      if (!list.length) return;
      panel.append(make('details', { open }, make('summary', { textContent: title }), ...list.map((item) => this.slider(item, kind))));
    };
    group('Coordinates', info.coordinates, 'pose', true);
    group('Inputs', info.inputs, 'input', info.inputs.length <= 12);
    group('Parameters', info.parameters, 'parameter', false);
    if (info.paths.length && info.coordinates.length) panel.append(this.chooser());
    const aside = document.getElementById('plots');
    aside.prepend(panel); aside.setAttribute('aria-label', 'controls and plots');
    document.getElementById('zooms').hidden = true;
    choose.querySelector('summary').textContent = 'Curves while it runs';
    choose.hidden = !this.app.figures[0].layer.columns.length;
    document.getElementById('toggle-plots').hidden = false;
    document.body.dataset.controls = 'live';
    this.app.panel('plots', true);
  }

  /** Something to see in curves, when it runs the first time. */
  curves() {
    const { plots } = this.app;
    this.ran = true;
    if (!plots.plots.size) for (const c of plots.columns.filter((x) => x.group === 'Joints').slice(0, 2)) plots.add(c.name);
  }

  /** A model that nothing holds is told so, with what can be done. */
  footing() {
    const { info } = this, who = make('strong');
    const button = (text, title, onclick) => make('button', { textContent: text, title, onclick });
    this.loose = make('div', { className: 'loose', role: 'note', hidden: true },
      make('p', {}, 'Nothing holds ', who, ': it falls when it runs.'),
      make('p', { className: 'buttons' },
        this.holding = button('Hold it', 'its place and turn in ground stay as they are', () => this.send({ do: 'hold', on: true })),
        button('Add a floor', 'below its lowest point; the page is loaded anew', () => { this.say('The floor is made ...'); location.assign(info.floor); }),
        button('Follow', 'the camera falls with it', () => { this.app.follow(true); this.followed = true; this.loose.hidden = true; })));
    this.warn = (names) => {
      this.loose.hidden = !names.length || this.followed;
      who.textContent = names.join(', ').replaceAll('_', ' '); this.holding.textContent = names.length === 1 ? `Hold the ${names[0].replaceAll('_', ' ')}` : 'Hold them';
    };
    this.warn(info.loose ?? []);
    return this.loose;
  }

  settings() {
    const speed = make('select', { ariaLabel: 'speed', onchange: (e) => this.send({ do: 'speed', value: +e.target.value }) }, ...[0.1, 0.25, 0.5, 1, 2].map((v) => make('option', { value: v, textContent: `${v}×`, selected: v === 1 })));
    const integrator = make('select', { ariaLabel: 'integrator', onchange: (e) => this.send({ do: 'integrator', value: e.target.value }) }, ...this.info.integrators.map((v) => make('option', { value: v, textContent: v, selected: v === 'merson' })));
    const accuracy = make('select', { ariaLabel: 'accuracy', onchange: (e) => this.send({ do: 'accuracy', value: +e.target.value }) }, ...[1e-2, 1e-3, 1e-4, 1e-6].map((v) => make('option', { value: v, textContent: v.toExponential(0), selected: v === 1e-3 })));
    const named = (text, node) => make('label', {}, make('small', { textContent: text }), node);
    return make('p', { className: 'settings' }, named('speed', speed), named('integrator', integrator), named('accuracy', accuracy));
  }

  /** Name, value to type, lock; and a slider as wide as the panel. */
  slider(item, kind) {
    const turn = item.unit === 'rad', unit = turn ? '°' : item.unit ?? '', scale = turn ? DEGREE : 1, text = (v) => String(+(v / scale).toPrecision(4));
    const input = make('input', { type: 'range', min: item.low, max: item.high, step: (item.high - item.low) / 1000 || 0.001, value: item.value, ariaLabel: item.name });
    const typed = make('input', { type: 'number', step: 'any', min: text(item.low), max: text(item.high), ariaLabel: `${item.name}, value${unit ? ` in ${turn ? 'degrees' : unit}` : ''}` });
    const own = { input, name: item.name, now: item.value, busy: () => document.activeElement === typed || (document.activeElement === input && performance.now() - (own.moved ?? -1e9) < 1500) };
    own.set = (v) => { if (v === null) return; own.now = v; input.value = v; if (document.activeElement !== typed) typed.value = text(v); input.setAttribute('aria-valuetext', `${text(v)} ${turn ? 'degrees' : unit}`); };
    const give = (v) => { own.moved = performance.now(); own.set(v); this.send({ do: kind, name: item.name, value: v }); if (this.curve) this.ask(); };
    input.oninput = () => give(+input.value);
    typed.onchange = () => { if (!Number.isFinite(typed.valueAsNumber)) return; const v = Math.min(item.high, Math.max(item.low, typed.valueAsNumber * scale)); typed.value = text(v); give(v); };
    typed.onkeydown = (e) => { if (e.key === 'Enter') typed.onchange(); };
    own.set(item.value);
    const row = [make('span', { textContent: item.name, title: item.name, className: 'name' }), typed, make('span', { textContent: unit, className: 'unit' })];
    if (kind === 'pose') {
      own.index = this.info.names.indexOf(item.name);
      const lock = make('button', { ariaLabel: `lock ${item.name}`, title: 'lock: it stays as it is', className: 'lock', onclick: () => this.send({ do: 'lock', name: item.name, on: lock.ariaPressed !== 'true' }) });
      lock.innerHTML = '<svg viewBox="0 0 20 20" aria-hidden="true"><rect x="4.5" y="9" width="11" height="8" rx="1.5"/><path class="shut" d="M6.8 9V6.5a3.2 3.2 0 0 1 6.4 0V9"/><path class="open" d="M6.8 9V5.5a3.2 3.2 0 0 1 6.2-1"/></svg>';
      own.lock = (on) => { lock.ariaPressed = String(on); };
      own.lock(item.held ?? false);
      row.push(lock);
    } else own.lock = () => {};
    this.sliders.set(`${kind} ${item.name}`, own);
    return make('div', { className: 'slider' }, ...row, input);
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
  /** While it runs, the body that is picked follows the pointer by a spring when it is dragged; a drag elsewhere turns the picture. */
  hand() {
    const { stage, figures, state } = this.app, { canvas } = stage, plane = new Plane(), target = new Vector3();
    let held = null;
    const grip = (e) => {
      if (!this.playing || !state.picked || !stage.pick(e.clientX, e.clientY, figures)) return null;
      const hit = stage.raycaster.intersectObjects(figures[0].items, true).find((h) => h.object.visible && figures[0].nodes.indexOf(nodeOf(h.object)) > 0);
      return hit && [nodeOf(hit.object).name, hit.object.userData.name].includes(state.picked.name) ? hit : null;
    };
    canvas.addEventListener('pointerdown', (e) => {
      const hit = e.button === 0 ? grip(e) : null;
      if (!hit) return;
      const node = nodeOf(hit.object);
      held = { body: node.name, station: node.worldToLocal(hit.point.clone()).toArray() };
      plane.setFromNormalAndCoplanarPoint(stage.camera.getWorldDirection(new Vector3()), hit.point);
      stage.controls.enabled = false; canvas.setPointerCapture(e.pointerId);
      this.send({ do: 'grab', ...held, target: hit.point.toArray() });
    }, true);
    canvas.addEventListener('pointermove', (e) => { if (!held && !e.buttons) canvas.style.cursor = grip(e) ? 'move' : ''; });
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
