// Numbers of the page: base64, inflate, undo the second differences. encode.py writes them and says how.

export function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const s = atob(text), out = new Uint8Array(s.length);
  for (let i = 0; i < s.length; i++) out[i] = s.charCodeAt(i);
  return out;
}

/** The bytes of a block of the page; an empty array if it is not there. */
export async function block(id) {
  const node = document.getElementById(id);
  if (!node) return new Uint8Array(0);
  const packed = bytesOf(node.textContent.trim());
  node.remove();                                            // let the text be collected
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const NONE = -32768;

/** Channels over frames. */
export class Channels {
  /** bytes: offsets, scales, then low and high bytes of the zigzag second differences of what moves; held: a gap has
   *  the value before it, or the first one, and `bad` has its channel, -1 for frames without a gap */
  constructor(bytes, frames, count, held = false) {
    const head = new Float64Array(bytes.slice(0, 16 * count).buffer);
    this.frames = frames; this.count = count; this.bad = null;
    this.offset = head.subarray(0, count);
    this.row = new Int32Array(count).fill(-1);
    const moving = [];
    for (let c = 0; c < count; c++) if (head[count + c] !== 0) { this.row[c] = moving.length; moving.push(c); }
    const n = moving.length * frames, low = 16 * count, high = low + n;
    this.data = new Float32Array(n);
    moving.forEach((c, r) => {
      const offset = head[c], scale = head[count + c];
      let k = 0, d = 0;
      for (let f = 0, i = r * frames; f < frames; f++, i++) {
        const z = bytes[low + i] | (bytes[high + i] << 8), e = (z >>> 1) ^ -(z & 1);
        if (e === NONE) {
          d = 0; this.data[i] = held ? offset + scale * k : NaN;
          if (held && (this.bad ??= new Int32Array(frames).fill(-1))[f] < 0) this.bad[f] = c;
        } else { d += e; k += d; this.data[i] = offset + scale * k; }
      }
    });
  }

  /** All channels at one frame, into `out`. */
  read(frame, out) {
    const { row, offset, data, frames } = this;
    for (let c = 0; c < this.count; c++) out[c] = row[c] < 0 ? offset[c] : data[row[c] * frames + frame];
  }

  /** One channel over all frames. */
  column(c) {
    const r = this.row[c];
    return r < 0 ? ((this.still ??= new Map()).get(c) ?? this.still.set(c, new Float32Array(this.frames).fill(this.offset[c])).get(c)) : this.data.subarray(r * this.frames, (r + 1) * this.frames);
  }
}

/** Places of a layer's numbers at one time: what a figure draws. A recording fills them, or a live message. */
export function emptyValues(layer) {
  return {
    poses: new Float32Array(7 * layer.bodies.length), points: new Float32Array(3 * layer.points),
    paint: new Float32Array(layer.lines.length), measured: new Float32Array(3 * layer.measured.length),
    arrows: new Float32Array(6 * layer.arrows.length), patches: new Float32Array(9 * layer.patches.length),
    pressures: new Float32Array(layer.pressures.reduce((n, p) => n + p.faces, 0)), columns: new Float32Array(layer.columns.length),
  };
}

/** A layer that was recorded: its numbers at every frame. */
export class Recording {
  static async of(layer, i) {
    const self = new Recording(), empty = emptyValues(layer), kinds = Object.keys(empty);
    self.frames = layer.frames; self.shift = layer.shift ?? 0;
    const [time, ...parts] = await Promise.all(['time', ...kinds].map((kind) => block(`layer${i}-${kind}`)));
    self.time = new Float64Array(time.buffer);
    self.parts = Object.fromEntries(kinds.map((kind, k) => [kind, new Channels(parts[k], self.frames, parts[k].length ? empty[kind].length : 0, kind === 'poses' || kind === 'points')]));
    return self;
  }

  read(frame, values) { for (const kind in this.parts) this.parts[kind].read(frame, values[kind]); }

  column(c) { return this.parts.columns.column(c); }

  /** What is wrong with a frame: {kind, channel}, or null. */
  badAt(frame) {
    for (const kind of ['poses', 'points']) { const channel = this.parts[kind].bad?.[frame] ?? -1; if (channel >= 0) return { kind, channel }; }
    return null;
  }

  /** The last frame that is not later than t; a recording may be shifted in time. */
  frameAt(t) {
    t -= this.shift;
    let low = 0, high = this.frames - 1;
    while (low < high) { const mid = (low + high + 1) >> 1; if (this.time[mid] <= t + 1e-9) low = mid; else high = mid - 1; }
    return low;
  }
}
