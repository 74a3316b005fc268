// Lists at the side: what is shown, and which columns are plotted. Plain elements, so that keys and readers work.

const TITLES = {
  bodies: 'Bodies', joints: 'Joints', inertias: 'Ellipsoids of inertia', muscles: 'Muscles', paths: 'Ligaments and springs', surfaces: 'Wrap surfaces',
  markers: "Model's markers", measured: 'Measured markers', errors: 'Marker errors', forces: 'Forces', pushes: 'Contact forces', patches: 'Contact patches', pressures: 'Pressure', contacts: 'Contact surfaces', constraints: 'Constraints', springs: 'Springs', frames: 'Body frames',
};

function checkbox(text, checked, change) {
  const label = document.createElement('label'), box = document.createElement('input');
  box.type = 'checkbox'; box.checked = checked; box.onchange = () => change(box.checked);
  label.append(box, text);
  return { label, box };
}

/** Lists of kinds and names; changed() is called after each change. */
export function buildTree(node, figures, stage, changed) {
  const toggles = {}, OFF = new Set(figures[0].layer.hidden);
  const kinds = {};
  for (const figure of figures) for (const [kind, names] of Object.entries(figure.kinds())) for (const name of names) if (!(kinds[kind] ??= []).includes(name)) kinds[kind].push(name);
  const filter = document.createElement('input');
  filter.type = 'search'; filter.placeholder = 'find a name'; filter.setAttribute('aria-label', 'find a name in the list');
  node.append(filter);
  if (figures.length > 1) {
    const group = document.createElement('details'), summary = document.createElement('summary');
    group.open = true; summary.textContent = 'Motions'; group.append(summary);
    for (const figure of figures) group.append(checkbox(figure.name, true, (on) => { figure.root.visible = on; changed(); }).label);
    node.append(group);
  }
  for (const kind of Object.keys(TITLES).filter((k) => kinds[k])) {
    const group = document.createElement('details'), summary = document.createElement('summary'), boxes = [];
    const set = (name, on) => { for (const figure of figures) if (figure.kinds()[kind]?.includes(name)) figure.show(kind, name, on); };
    const all = checkbox(TITLES[kind], !OFF.has(kind), (on) => { for (const b of boxes) b.box.checked = on; for (const figure of figures) figure.show(kind, null, on); changed(); });
    const count = document.createElement('small');
    count.textContent = kinds[kind].length;
    summary.append(all.label, count);
    group.append(summary);
    for (const name of kinds[kind]) {
      const item = checkbox(name, !OFF.has(kind), (on) => { set(name, on); all.box.checked = boxes.some((b) => b.box.checked); changed(); });
      item.label.dataset.name = name.toLowerCase();
      boxes.push(item); group.append(item.label);
    }
    if (OFF.has(kind)) for (const figure of figures) if (figure.kinds()[kind]) figure.show(kind, null, false);
    toggles[kind] = () => all.box.click();
    node.append(group);
  }
  const grid = checkbox('Grid and axes', true, (on) => { stage.grid.visible = stage.axes.visible = on; stage.plane.visible = on && !stage.slow; changed(); });
  node.append(grid.label);
  toggles.grid = () => grid.box.click();
  filter.oninput = () => {
    const text = filter.value.toLowerCase();
    for (const group of node.querySelectorAll('details')) {
      let any = false;
      for (const label of group.querySelectorAll(':scope > label')) { label.hidden = !(label.dataset.name ?? '').includes(text); any ||= !label.hidden; }
      group.hidden = !any && text !== ''; if (text) group.open = any;
    }
  };
  return toggles;
}

/** The list of columns, with a box each that plots it. */
export function buildColumns(node, plots) {
  const filter = document.createElement('input'), list = document.createElement('div'), boxes = [];
  filter.type = 'search'; filter.placeholder = `find one of ${plots.columns.length} columns`; filter.setAttribute('aria-label', 'find a column to plot');
  list.className = 'columns';
  for (const column of plots.columns) {
    const item = checkbox(column.name, false, () => plots.toggle(column.name)), unit = document.createElement('small');
    unit.textContent = column.unit; item.label.append(unit);
    item.name = column.name; boxes.push(item); list.append(item.label);
  }
  filter.oninput = () => { for (const item of boxes) item.label.hidden = !item.name.toLowerCase().includes(filter.value.toLowerCase()); };
  plots.onchange = () => { for (const item of boxes) item.box.checked = plots.has(item.name); };
  node.append(filter, list);
}
