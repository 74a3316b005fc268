// Files that the page writes: a picture, a movie, numbers.

const TYPES = ['video/mp4;codecs=avc1.42E01E', 'video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'];

export function download(blob, name) {
  const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** The scene as it is seen, with its names, as a PNG file. */
export function picture(stage, labels) {
  stage.draw(true); labels.update();
  const { canvas } = stage, out = document.createElement('canvas'), g = out.getContext('2d'), scale = canvas.width / canvas.clientWidth, style = getComputedStyle(document.documentElement);
  out.width = canvas.width; out.height = canvas.height;
  g.fillStyle = style.getPropertyValue('--back'); g.fillRect(0, 0, out.width, out.height);
  g.drawImage(canvas, 0, 0);
  g.font = `${12 * scale}px ${getComputedStyle(document.body).fontFamily}`; g.textBaseline = 'middle';
  for (const { at, span } of labels.items) if (at) {
    const x = (at[0] + 5) * scale, y = (at[1] + at[3] / 2) * scale;
    g.strokeStyle = g.fillStyle = style.getPropertyValue('--back'); g.lineWidth = 4 * scale; g.lineJoin = 'round'; g.strokeText(span.textContent, x, y);
    g.fillStyle = style.getPropertyValue('--ink'); g.fillText(span.textContent, x, y);
  }
  return new Promise((done) => out.toBlob(done, 'image/png'));
}

export const movies = () => typeof MediaRecorder !== 'undefined' && Boolean(HTMLCanvasElement.prototype.captureStream);

/** Record the canvas while `run` goes on; resolves with {blob, ending}. */
export async function movie(stage, run) {
  const type = TYPES.find((t) => MediaRecorder.isTypeSupported(t)), stream = stage.canvas.captureStream(30), parts = [];
  const recorder = new MediaRecorder(stream, { mimeType: type, videoBitsPerSecond: 12e6 });
  recorder.ondataavailable = (e) => { if (e.data.size) parts.push(e.data); };
  const ended = new Promise((done) => { recorder.onstop = done; });
  recorder.start();
  try { await run(); } finally { recorder.stop(); for (const track of stream.getTracks()) track.stop(); }
  await ended;
  return { blob: new Blob(parts, { type: type.split(';')[0] }), ending: type.startsWith('video/mp4') ? 'mp4' : 'webm' };
}

const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Columns over time as text; with several motions each row begins with the name of its own. */
export function csv(layers, names) {
  const several = layers.length > 1, columns = names.map((name) => layers[0].layer.columns.find((c) => c.name === name));
  const rows = [[...(several ? ['motion'] : []), 'time [s]', ...columns.map((c) => (c.unit ? `${c.name} [${c.unit}]` : c.name))].map(cell).join(',')];
  for (const { layer, recording } of layers) {
    const own = columns.map((c) => { const k = layer.columns.findIndex((x) => x.name === c.name); return k < 0 ? null : recording.column(k); });
    for (let f = 0; f < recording.frames; f++) rows.push([...(several ? [cell(layer.name)] : []), +recording.time[f].toPrecision(10), ...own.map((y) => (y && Number.isFinite(y[f]) ? +y[f].toPrecision(6) : ''))].join(','));
  }
  return new Blob([rows.join('\n') + '\n'], { type: 'text/csv' });
}
