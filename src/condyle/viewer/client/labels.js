// Names beside things, over the picture.

export class Labels {
  constructor(node, figures, stage) {
    this.node = node; this.figures = figures; this.stage = stage; this.kinds = new Set(); this.items = [];
  }

  toggle(kind, on = !this.kinds.has(kind)) {
    on ? this.kinds.add(kind) : this.kinds.delete(kind);
    this.build();
    return on;
  }

  /** Names of things alone, beside whole kinds: pictures ask for them. */
  only(names) { this.names = new Set(names); this.build(); }

  build() {
    this.items = [];
    for (const figure of this.figures) for (const [kind, names] of Object.entries(figure.kinds())) for (const name of names) {
      if (kind === 'frames' || kind === 'errors' || !(this.kinds.has(kind) || this.names?.has(name))) continue;
      if (!this.kinds.has(kind) && this.items.some((item) => item.name === name && item.figure === figure)) continue;
      const span = document.createElement('span');
      span.textContent = name.replaceAll('_', ' ').trim() || name;
      this.items.push({ figure, kind, name, span });
    }
    this.node.replaceChildren(...this.items.map((item) => item.span));
    this.stage.touch();
  }

  /** After each picture; names that would cover another one give way. */
  update() {
    const taken = [], { left, top, width, height } = this.items.length ? this.node.getBoundingClientRect() : {};
    for (const item of this.items) {
      const p = item.figure.isShown(item.kind, item.name) ? item.figure.where(item.kind, item.name) : null, [x, y, z] = p ? this.stage.spot(p) : [-1, -1, 2];
      item.size ??= [item.span.offsetWidth, item.span.offsetHeight];
      const box = [x - left + 8, y - top - item.size[1] / 2, ...item.size];
      item.at = z < 1 && box[0] > 0 && box[1] > 0 && box[0] < width && box[1] < height && !taken.some((b) => box[0] < b[0] + b[2] && b[0] < box[0] + box[2] && box[1] < b[1] + b[3] && b[1] < box[1] + box[3]) ? box : null;
      if (item.at) taken.push(box);
      item.span.style.visibility = item.at ? 'visible' : 'hidden';
      if (item.at) item.span.style.transform = `translate(${box[0]}px, ${box[1]}px)`;
    }
  }
}
