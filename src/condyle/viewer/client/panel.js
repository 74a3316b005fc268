// Lists at the side: what is shown, and which columns are plotted. Plain elements, so that keys and readers work.

const TITLES = {
  bodies: 'Bodies', joints: 'Joints', inertias: 'Ellipsoids of inertia', muscles: 'Muscles', paths: 'Ligaments and springs', surfaces: 'Wrap surfaces',
  markers: "Model's markers", measured: 'Measured markers', errors: 'Marker errors', forces: 'Forces', pushes: 'Contact forces', patches: 'Contact patches', pressures: 'Pressure', contacts: 'Contact surfaces', constraints: 'Constraints', springs: 'Springs', frames: 'Body frames',
};
const make = (tag, facts = {}, ...children) => { const node = Object.assign(document.createElement(tag), facts); node.append(...children); return node; };

function checkbox(text, checked, change) {
  const box = make('input', { type: 'checkbox', checked });
  box.onchange = () => change(box.checked);
  return { label: make('label', {}, box, text), box };
}

/** Lists of kinds and names; changed() is called after each change, pick({figure, kind, name}) when a name is pressed. */
export function buildTree(node, figures, stage, labels, changed, pick) {
  const toggles = {}, OFF = new Set(figures[0].layer.hidden), lists = {}, kinds = {}, names = {};
  for (const figure of figures) for (const [kind, own] of Object.entries(figure.kinds())) for (const name of own) if (!(kinds[kind] ??= []).includes(name)) kinds[kind].push(name);
  const filter = make('input', { type: 'search', placeholder: 'find a name', ariaLabel: 'find a name in the list' });
  node.append(filter);
  if (figures.length > 1) {
    node.append(make('details', { open: true }, make('summary', { textContent: 'Motions' }), ...figures.map((figure) => make('div', { className: 'item' }, checkbox(figure.name, true, (on) => { figure.root.visible = on; changed(); }).label))));
  }
  for (const kind of Object.keys(TITLES).filter((k) => kinds[k])) {
    const boxes = lists[kind] = new Map(), has = (name) => figures.filter((figure) => figure.kinds()[kind]?.includes(name));
    const set = (name, on) => { for (const figure of has(name)) figure.show(kind, name, on); };
    const all = checkbox(TITLES[kind], !OFF.has(kind), (on) => { for (const box of boxes.values()) box.checked = on; for (const figure of figures) figure.show(kind, null, on); changed(); });
    const group = make('details', {}, make('summary', { ariaLabel: `${TITLES[kind]}, ${kinds[kind].length}` }, make('span', { textContent: '', ariaHidden: 'true' }))), head = make('div', { className: 'kind' }, all.label, make('small', { textContent: kinds[kind].length }));
    if (kind !== 'frames' && kind !== 'errors') {
      const button = names[kind] = make('button', { textContent: 'Aa', title: `names of ${TITLES[kind].toLowerCase()}`, ariaLabel: `show the names of ${TITLES[kind].toLowerCase()}`, ariaPressed: 'false' });
      button.onclick = () => { button.ariaPressed = String(labels.toggle(kind)); changed(); };
      head.append(button);
    }
    for (const name of kinds[kind]) {
      const box = make('input', { type: 'checkbox', checked: !OFF.has(kind), ariaLabel: `show ${name}` });
      const sync = () => { all.box.checked = [...boxes.values()].some((b) => b.checked); };
      box.onchange = () => { set(name, box.checked); sync(); changed(); };
      boxes.set(name, box);
      const choose = make('button', { textContent: name, title: name, onclick: () => pick({ figure: has(name)[0], kind, name }) }), item = make('div', { className: 'item' }, box, choose);
      item.dataset.name = name.toLowerCase(); item.dataset.kind = kind; item.dataset.own = name;
      group.append(item);
    }
    if (OFF.has(kind)) for (const figure of figures) if (figure.kinds()[kind]) figure.show(kind, null, false);
    toggles[kind] = () => all.box.click();
    node.append(make('section', {}, head, group));
  }
  const grid = checkbox('Grid and axes', true, (on) => { stage.grid.visible = stage.axes.visible = on; stage.plane.visible = on && !stage.slow; changed(); });
  grid.label.className = 'alone';
  node.append(grid.label);
  toggles.grid = () => grid.box.click();
  filter.oninput = () => {
    const text = filter.value.toLowerCase();
    for (const group of node.querySelectorAll('details')) {
      let any = false;
      for (const item of group.querySelectorAll('.item')) { item.hidden = !(item.dataset.name ?? '').includes(text); any ||= !item.hidden; }
      (group.closest('section') ?? group).hidden = !any && text !== ''; if (text) group.open = any;
    }
  };
  let before = null;
  return {
    toggles, kinds,
    names: (kind) => names[kind]?.click(),
    /** Show only what is in keep, {kind: names}; kinds without an entry are hidden, null keeps a kind as it is. Without keep: as it was. */
    isolate(keep) {
      const state = before ?? Object.fromEntries(Object.entries(lists).map(([kind, boxes]) => [kind, new Map([...boxes].map(([name, box]) => [name, box.checked]))]));
      for (const [kind, boxes] of Object.entries(lists)) for (const [name, box] of boxes) {
        const was = state[kind].get(name), on = !keep || keep[kind] === null ? was : Boolean(keep[kind]?.includes(name));
        if (box.checked !== on) { box.checked = on; box.onchange(); }
      }
      before = keep ? state : null;
    },
    get isolated() { return before !== null; },
    /** Mark the name that is picked. */
    mark(kind, name) { for (const item of node.querySelectorAll('.item')) item.classList.toggle('picked', item.dataset.kind === kind && item.dataset.own === name); },
  };
}

/** The list of columns by groups, with a box each that plots it. */
export function buildColumns(node, plots) {
  const filter = make('input', { type: 'search', placeholder: `find one of ${plots.columns.length} columns`, ariaLabel: 'find a column to plot' }), list = make('div', { className: 'columns', tabIndex: 0, role: 'group', ariaLabel: 'columns' }), boxes = [];
  let group = null;
  for (const column of plots.columns) {
    if (column.group && column.group !== group) list.append(make('h3', { textContent: group = column.group }));
    const item = checkbox(column.name, false, () => plots.toggle(column.name));
    item.label.append(make('small', { textContent: column.unit }));
    item.name = column.name; boxes.push(item); list.append(item.label);
  }
  filter.oninput = () => {
    for (const item of boxes) item.label.hidden = !item.name.toLowerCase().includes(filter.value.toLowerCase());
    for (const title of list.querySelectorAll('h3')) title.hidden = filter.value !== '';
  };
  plots.onchange = () => { for (const item of boxes) item.box.checked = plots.has(item.name); };
  node.append(filter, list);
}
