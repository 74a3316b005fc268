// Curves over time beside the scene: small plots below each other, with the cursor of the timeline.

const INK = ['#3b7dd8', '#d9534a', '#2e9e5b', '#b98a1d', '#8a5bd0', '#1d9aa8'];
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
    this.columns = layers[0].layer.columns;
    this.retime();
    new ResizeObserver(() => this.redraw()).observe(node);
  }

  /** From the first to the last frame of all motions, which may be shifted. */
  retime() {
    const all = this.layers.map(({ recording: { time, shift } }) => [time[0] + shift, time[time.length - 1] + shift]);
    this.start = Math.min(...all.map((t) => t[0])); this.end = Math.max(...all.map((t) => t[1]));
    this.redraw();
  }

  has(name) { return this.plots.has(name); }

  toggle(name) { this.has(name) ? this.remove(name) : this.add(name); }

  add(name) {
    const column = this.columns.find((c) => c.name === name);
    if (!column || this.has(name)) return;
    const figure = document.createElement('figure'), caption = document.createElement('figcaption'), value = document.createElement('output');
    const label = document.createElement('span'), close = document.createElement('button'), curves = document.createElement('canvas'), cursor = document.createElement('div'), line = document.createElement('i'), dot = document.createElement('b');
    label.textContent = column.unit ? `${name} [${column.unit}]` : name;
    close.textContent = '×'; close.setAttribute('aria-label', `remove the plot of ${name}`); close.onclick = () => this.remove(name);
    caption.append(label, value, close);
    curves.setAttribute('role', 'img'); cursor.className = 'cursor'; cursor.append(line, dot);
    figure.append(caption, curves, cursor);
    const data = this.layers.map(({ layer, recording }) => {
      const c = layer.columns.findIndex((x) => x.name === name);
      return c < 0 ? null : { recording, time: recording.time, y: recording.column(c) };
    });
    const plot = { figure, value, curves, cursor, line, dot, data, color: INK[this.plots.size % INK.length] };
    this.extent(plot);
    curves.setAttribute('aria-label', `${label.textContent} over time, from ${number(plot.low)} to ${number(plot.high)}`);
    this.plots.set(name, plot);
    this.drag(cursor);
    this.node.append(figure);
    this.draw(plot); this.onchange?.();
  }

  remove(name) { this.plots.get(name).figure.remove(); this.plots.delete(name); this.onchange?.(); }

  extent(plot) {
    let low = Infinity, high = -Infinity;
    for (const d of plot.data) if (d) for (const y of d.y) if (Number.isFinite(y)) { if (y < low) low = y; if (y > high) high = y; }
    if (!(low <= high)) [low, high] = [0, 1];
    plot.low = low; plot.high = high;
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    plot.from = low - room; plot.to = high + room;
  }

  /** Where a time is on a canvas of some width. */
  x(t, width) { return LEFT + (t - this.start) / (this.end - this.start || 1) * (width - LEFT - RIGHT); }

  drag(canvas) {
    const move = (e) => {
      const r = canvas.getBoundingClientRect(), part = (e.clientX - r.left - LEFT) / (r.width - LEFT - RIGHT);
      this.seek(this.start + Math.min(1, Math.max(0, part)) * (this.end - this.start));
    };
    canvas.addEventListener('pointerdown', (e) => { canvas.setPointerCapture(e.pointerId); move(e); });
    canvas.addEventListener('pointermove', (e) => { if (e.buttons) move(e); });
  }

  redraw() { for (const plot of this.plots.values()) this.draw(plot); }

  draw(plot) {
    const w = this.node.clientWidth - 16, h = HEIGHT, d = devicePixelRatio;
    if (w < 60) return;
    for (const c of [plot.curves, plot.cursor]) { c.style.width = `${w}px`; c.style.height = `${h}px`; }
    plot.curves.width = w * d; plot.curves.height = h * d; plot.width = w; plot.dot.style.background = plot.color;
    const g = plot.curves.getContext('2d'), style = getComputedStyle(this.node), y = (v) => TOP + (plot.to - v) / (plot.to - plot.from) * (h - TOP - BOTTOM);
    g.scale(d, d); g.font = `11px ${style.fontFamily}`; g.lineWidth = 1;
    g.strokeStyle = style.getPropertyValue('--line'); g.fillStyle = style.getPropertyValue('--soft');
    g.textAlign = 'right'; g.textBaseline = 'middle';
    for (const v of ticks(plot.from, plot.to, 3)) { g.beginPath(); g.moveTo(LEFT, y(v)); g.lineTo(w - RIGHT, y(v)); g.stroke(); g.fillText(short(v), LEFT - 5, y(v)); }
    g.textAlign = 'center'; g.textBaseline = 'top';
    if (this.end > this.start) for (const t of ticks(this.start, this.end, 4)) g.fillText(`${number(t)} s`, Math.min(this.x(t, w), w - 16), h - BOTTOM + 4);
    plot.data.forEach((data, k) => { if (data) this.curve(g, data, w, y, plot.color, k > 0); });
    this.move(this.time ?? this.start);
  }

  /** A curve; where there are more frames than pixels, from the least to the most of each pixel. */
  curve(g, { recording, time, y: values }, w, y, color, dashed) {
    g.strokeStyle = color; g.lineWidth = 1.7; g.globalAlpha = dashed ? 0.7 : 1; g.setLineDash(dashed ? [5, 4] : []); g.lineJoin = 'round';
    g.beginPath();
    let pixel = null, low = 0, high = 0, pen = false;
    const flush = () => { if (pixel === null) return; pen ? g.lineTo(pixel, y(low)) : g.moveTo(pixel, y(low)); if (high !== low) g.lineTo(pixel, y(high)); pen = true; };
    const many = values.length > 2 * w;
    for (let i = 0; i < values.length; i++) {
      const v = values[i];
      if (!Number.isFinite(v)) { flush(); pixel = null; pen = false; continue; }
      const at = this.x(time[i] + recording.shift, w), x = many ? Math.round(at) : at;
      if (x === pixel) { low = Math.min(low, v); high = Math.max(high, v); } else { flush(); pixel = x; low = high = v; }
    }
    flush(); g.stroke(); g.setLineDash([]); g.globalAlpha = 1;
  }

  /** The cursor at a time: moved, not drawn, since it moves in every frame. */
  move(t) {
    this.time = t;
    for (const plot of this.plots.values()) {
      const own = plot.data[0], v = own ? own.y[this.layers[0].recording.frameAt(t)] : NaN, x = this.x(t, plot.width ?? 0);
      const y = TOP + (plot.to - v) / (plot.to - plot.from) * (HEIGHT - TOP - BOTTOM);
      plot.line.style.transform = `translateX(${x}px)`;
      plot.dot.style.transform = Number.isFinite(v) ? `translate(${x - 4}px, ${y - 4}px)` : 'scale(0)';
      plot.value.textContent = number(v);
    }
  }
}
