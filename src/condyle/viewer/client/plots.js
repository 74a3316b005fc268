// Curves over time beside the scene: small plots below each other, with the cursor of the timeline.

export const INK = ['#3b7dd8', '#d9534a', '#2e9e5b', '#b98a1d', '#8a5bd0', '#1d9aa8'];
export const DASHES = [[], [5, 4], [2, 3], [9, 3, 2, 3]];
const HEIGHT = 108, LEFT = 46, RIGHT = 8, TOP = 6, BOTTOM = 18;

/** About four round numbers between two. */
export function ticks(low, high, about = 4) {
  const raw = (high - low) / about, power = 10 ** Math.floor(Math.log10(raw)), step = [1, 2, 5, 10].find((k) => k * power >= raw) * power, out = [];
  for (let x = Math.ceil(low / step - 1e-9) * step; x <= high + 1e-9 * step; x += step) out.push(Math.abs(x) < step / 1e6 ? 0 : x);
  return out;
}

export const number = (x) => (Number.isNaN(x) ? '–' : x === 0 ? '0' : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(2) : String(+x.toPrecision(4)));

const LENGTHS = [[1, 'm', 0.01], [1e-3, 'mm', 1e-5], [1e-6, 'µm', 1e-8], [1e-9, 'nm', 0]];

/** How lengths of a size are written: [meters of the unit, its name]. */
export const unitOf = (size) => LENGTHS.find((l) => size >= l[2]);

/** A length [m] with two digits and a unit that suits it. */
export const lengthText = (x) => { const [one, unit] = unitOf(x); return `${+(x / one).toPrecision(2)} ${unit}`; };

/** For ticks, which are round. */
const short = (x) => (x !== 0 && (Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3) ? (+x.toPrecision(3)).toExponential() : number(x));

export class Plots {
  /** layers: [{layer, recording}]; seek(t) moves the timeline */
  constructor(node, layers, seek) {
    this.node = node; this.layers = layers; this.seek = seek; this.plots = new Map();
    this.columns = layers[0].layer.columns; this.zoomed = null;
    this.retime();
    new ResizeObserver(() => this.redraw()).observe(node);
  }

  /** From the first to the last frame of all motions, which may be shifted. */
  retime() {
    const all = this.layers.map(({ recording: { time, shift } }) => [time[0] + shift, time[time.length - 1] + shift]);
    this.start = Math.min(...all.map((t) => t[0])); this.end = Math.max(...all.map((t) => t[1]));
    this.redraw();
  }

  /** The part of time that is seen. */
  get seen() { return this.zoomed ?? [this.start, this.end]; }

  /** See a part of time, all of it without one. */
  zoom(from, to) {
    const least = 1e-3 * (this.end - this.start);
    if (from !== undefined && to - from < least) return;
    const all = from === undefined || (from <= this.start && to >= this.end);
    this.zoomed = all ? null : [Math.max(from, this.start), Math.min(to, this.end)];
    for (const plot of this.plots.values()) this.extent(plot);
    this.redraw(); this.onzoom?.(this.zoomed);
  }

  /** Nearer or farther by a factor, about a time. */
  nearer(by, about = this.time ?? this.start) {
    const [a, b] = this.seen, at = Math.min(b, Math.max(a, about));
    this.zoom(at - (at - a) * by, at + (b - at) * by);
  }

  has(name) { return this.plots.has(name); }

  toggle(name) { this.has(name) ? this.remove(name) : this.add(name); }

  add(name) {
    const column = this.columns.find((c) => c.name === name);
    if (!column || this.has(name)) return;
    const figure = document.createElement('figure'), caption = document.createElement('figcaption'), value = document.createElement('output');
    const label = document.createElement('span'), close = document.createElement('button'), curves = document.createElement('canvas'), cursor = document.createElement('div');
    const [line, dot, hair, tip, part] = ['i', 'b', 'i', 'span', 'u'].map((tag) => document.createElement(tag));
    label.textContent = column.unit ? `${name} [${column.unit}]` : name;
    close.textContent = '×'; close.setAttribute('aria-label', `remove the plot of ${name}`); close.onclick = () => this.remove(name);
    caption.append(label, value, close);
    curves.setAttribute('role', 'img'); cursor.className = 'cursor'; hair.className = 'hair'; hair.hidden = tip.hidden = part.hidden = true;
    cursor.append(part, line, dot, hair, tip);
    figure.append(caption, curves, cursor);
    const data = this.layers.map(({ layer, recording }) => {
      const c = layer.columns.findIndex((x) => x.name === name);
      return c < 0 ? null : { recording, name: layer.name, y: () => recording.column(c) };
    });
    const plot = { figure, value, curves, cursor, line, dot, hair, tip, part, data, unit: column.unit, color: INK[this.plots.size % INK.length] };
    this.extent(plot);
    curves.setAttribute('aria-label', `${label.textContent} over time, from ${number(plot.low)} to ${number(plot.high)}`);
    this.plots.set(name, plot);
    this.point(plot);
    this.node.append(figure);
    this.draw(plot); this.onchange?.();
  }

  remove(name) { this.plots.get(name).figure.remove(); this.plots.delete(name); this.onchange?.(); }

  /** Least and greatest value of what is seen. */
  extent(plot) {
    let low = Infinity, high = -Infinity;
    const [from, to] = this.seen;
    for (const d of plot.data) if (d) {
      const y = d.y(), { time, shift } = d.recording;
      for (let i = 0; i < y.length; i++) if (Number.isFinite(y[i]) && time[i] + shift >= from - 1e-9 && time[i] + shift <= to + 1e-9) { if (y[i] < low) low = y[i]; if (y[i] > high) high = y[i]; }
    }
    if (!(low <= high)) [low, high] = [0, 1];
    plot.low = low; plot.high = high;
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    plot.from = low - room; plot.to = high + room;
  }

  /** Where a time is on a canvas of some width. */
  x(t, width) { const [a, b] = this.seen; return LEFT + (t - a) / (b - a || 1) * (width - LEFT - RIGHT); }

  /** The pointer: drag moves in time, with shift it chooses a part of it; over a curve it reads values. */
  point(plot) {
    const { cursor } = plot;
    let from = null;
    const at = (e) => { const r = cursor.getBoundingClientRect(), [a, b] = this.seen; return a + Math.min(1, Math.max(0, (e.clientX - r.left - LEFT) / (r.width - LEFT - RIGHT))) * (b - a); };
    cursor.addEventListener('pointerdown', (e) => { cursor.setPointerCapture(e.pointerId); if (e.shiftKey) from = at(e); else this.seek(at(e)); });
    cursor.addEventListener('pointermove', (e) => {
      const t = at(e);
      if (e.buttons && from === null) this.seek(t);
      if (from !== null) for (const p of this.plots.values()) { const [a, b] = [this.x(from, p.width), this.x(t, p.width)]; p.part.hidden = false; p.part.style.left = `${Math.min(a, b)}px`; p.part.style.width = `${Math.abs(b - a)}px`; }
      this.hover(t, plot);
    });
    const end = (e) => {
      for (const p of this.plots.values()) p.part.hidden = true;
      if (from !== null && e.type === 'pointerup') { const t = at(e); this.zoom(Math.min(from, t), Math.max(from, t)); }
      from = null;
    };
    cursor.addEventListener('pointerup', end); cursor.addEventListener('pointercancel', end);
    cursor.addEventListener('pointerleave', () => this.hover(null));
    cursor.addEventListener('dblclick', () => this.zoom());
    cursor.addEventListener('wheel', (e) => { if (!e.ctrlKey && !e.shiftKey) return; e.preventDefault(); this.nearer((e.deltaY || e.deltaX) > 0 ? 1.25 : 0.8, at(e)); }, { passive: false });
  }

  /** Values at a time, in all plots; the one below the pointer has the time too. */
  hover(t, own) {
    for (const plot of this.plots.values()) {
      plot.hair.hidden = plot.tip.hidden = t === null;
      if (t === null) continue;
      const x = this.x(t, plot.width ?? 0), read = plot.data.filter(Boolean).map((d) => [d.name, d.y()[d.recording.frameAt(t)]]);
      plot.hair.style.transform = `translateX(${x}px)`;
      plot.tip.textContent = `${plot === own ? `${number(t)} s: ` : ''}${read.map(([name, v]) => (read.length > 1 ? `${name} ${number(v)}` : `${number(v)} ${plot.unit}`)).join(', ')}`;
      plot.tip.style.transform = `translateX(${x}px) translateX(${x > 0.6 * plot.width ? 'calc(-100% - 6px)' : '6px'})`;
    }
  }

  redraw() { for (const plot of this.plots.values()) this.draw(plot); }

  draw(plot) {
    const w = this.node.clientWidth, h = HEIGHT, d = devicePixelRatio;
    if (w < 60) return;
    for (const c of [plot.curves, plot.cursor]) { c.style.width = `${w}px`; c.style.height = `${h}px`; }
    plot.curves.width = w * d; plot.curves.height = h * d; plot.width = w; plot.dot.style.background = plot.color;
    const g = plot.curves.getContext('2d'), style = getComputedStyle(this.node), y = (v) => TOP + (plot.to - v) / (plot.to - plot.from) * (h - TOP - BOTTOM), [from, to] = this.seen;
    g.scale(d, d); g.font = `11px ${style.fontFamily}`; g.lineWidth = 1;
    g.strokeStyle = style.getPropertyValue('--line'); g.fillStyle = style.getPropertyValue('--soft');
    g.textAlign = 'right'; g.textBaseline = 'middle';
    for (const v of ticks(plot.from, plot.to, 3)) { g.beginPath(); g.moveTo(LEFT, y(v)); g.lineTo(w - RIGHT, y(v)); g.stroke(); g.fillText(short(v), LEFT - 5, y(v)); }
    g.textAlign = 'center'; g.textBaseline = 'top';
    if (to > from) for (const t of ticks(from, to, 4)) g.fillText(`${number(t)} s`, Math.min(this.x(t, w), w - 16), h - BOTTOM + 4);
    g.save(); g.beginPath(); g.rect(LEFT - 1, 0, w - LEFT - RIGHT + 2, h - BOTTOM + 2); g.clip();
    plot.data.forEach((data, k) => { if (data) this.curve(g, data, w, y, plot.color, k); });
    g.restore();
    this.move(this.time ?? this.start);
  }

  /** A curve; where there are more frames than pixels, from the least to the most of each pixel. */
  curve(g, data, w, y, color, k) {
    const { recording } = data, { time } = recording, values = data.y();
    g.strokeStyle = color; g.lineWidth = 1.7; g.globalAlpha = k ? 0.75 : 1; g.setLineDash(DASHES[k % DASHES.length]); g.lineJoin = 'round';
    g.beginPath();
    let pixel = null, low = 0, high = 0, pen = false;
    const flush = () => { if (pixel === null) return; pen ? g.lineTo(pixel, y(low)) : g.moveTo(pixel, y(low)); if (high !== low) g.lineTo(pixel, y(high)); pen = true; };
    const many = values.length * (this.end - this.start) / (this.seen[1] - this.seen[0] || 1) > 2 * w && !this.zoomed;
    for (let i = 0; i < values.length; i++) {
      const v = values[i];
      if (!Number.isFinite(v)) { flush(); pixel = null; pen = false; continue; }
      const at = this.x(time[i] + recording.shift, w), x = many ? Math.round(at) : at;
      if (x === pixel) { low = Math.min(low, v); high = Math.max(high, v); } else { flush(); pixel = x; low = high = v; }
    }
    flush(); g.stroke(); g.setLineDash([]); g.globalAlpha = 1;
  }

  /** The cursor at a time: moved, not drawn, since it moves in every frame; its number where that is said. */
  move(t, say = true) {
    this.time = t;
    const [from, to] = this.seen, within = t >= from - 1e-9 && t <= to + 1e-9;
    for (const plot of this.plots.values()) {
      const own = plot.data[0], v = own ? own.y()[this.layers[0].recording.frameAt(t)] : NaN, x = this.x(t, plot.width ?? 0);
      const y = TOP + (plot.to - v) / (plot.to - plot.from) * (HEIGHT - TOP - BOTTOM);
      plot.line.style.transform = within ? `translateX(${x}px)` : 'scale(0)';
      plot.dot.style.transform = within && Number.isFinite(v) ? `translate(${x - 4}px, ${y - 4}px)` : 'scale(0)';
      if (say) plot.value.textContent = number(v);
    }
  }
}
