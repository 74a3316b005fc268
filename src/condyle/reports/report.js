(() => {
  const all = (text, node = document) => [...node.querySelectorAll(text)];
  const make = (tag, options) => Object.assign(document.createElement(tag), options);
  document.documentElement.classList.add('scripted');

  // ---- tabs: one part at a time; arrows go from one to the next
  for (const list of all('[role=tablist]')) {
    const tabs = all('[role=tab]', list);
    const choose = (tab) => tabs.forEach((other) => {
      other.setAttribute('aria-selected', other === tab);
      other.tabIndex = other === tab ? 0 : -1;
      document.getElementById(other.getAttribute('aria-controls')).hidden = other !== tab;
    });
    tabs.forEach((tab, k) => {
      tab.onclick = () => choose(tab);
      tab.onkeydown = (e) => {
        const by = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (by) { const next = tabs[(k + by + tabs.length) % tabs.length]; choose(next); next.focus(); }
      };
    });
    choose(tabs[0]);
  }

  // ---- contents: where one is
  const links = all('nav a');
  const mark = () => {
    let now = links[0];
    for (const link of links) if (document.querySelector(link.hash)?.getBoundingClientRect().top < innerHeight / 3) now = link;
    for (const link of links) link === now ? link.setAttribute('aria-current', 'true') : link.removeAttribute('aria-current');
  };
  addEventListener('scroll', () => requestAnimationFrame(mark), { passive: true });
  mark();

  // ---- time: one cursor in all curves and in the scene
  const numbers = (text) => text.split(' ').map(Number);
  const panels = all('svg[data-time]').map((svg) => ({ svg, line: svg.querySelector('.cursor'), time: numbers(svg.dataset.time), values: numbers(svg.dataset.values) }));
  if (!panels.length) return;
  const start = Math.min(...panels.map((p) => p.time[2])), end = Math.max(...panels.map((p) => p.time[3])), frame = document.querySelector('iframe');
  const clock = make('div', { id: 'clock' }), slider = make('input', { type: 'range', min: start, max: end, step: (end - start) / 1000 || 1, value: start });
  const output = make('output'), tip = make('div', { id: 'tip', hidden: true });
  slider.setAttribute('aria-label', 'time of the scene and of all curves');
  clock.append(slider, output);
  document.body.append(clock, tip);
  const move = (t) => {
    document.body.classList.add('timed');
    for (const { line, time: [x0, x1, t0, t1] } of panels) line.setAttribute('transform', `translate(${x0 + (t - t0) / (t1 - t0) * (x1 - x0)} 0)`);
    slider.value = t; output.textContent = `${t.toFixed(end - start < 10 ? 3 : 2)} s`;
    slider.setAttribute('aria-valuetext', output.textContent);
  };
  const seek = (t) => { const to = Math.min(end, Math.max(start, t)); move(to); frame?.contentWindow.postMessage({ condyle: 'seek', t: to }, '*'); };
  slider.oninput = () => seek(+slider.value);
  addEventListener('message', (e) => { if (e.source === frame?.contentWindow && e.data?.condyle === 'time') move(e.data.t); });
  move(start);

  // ---- values below the pointer; a press or a drag moves the time
  const points = new WeakMap();
  const curves = (svg) => {
    if (!points.has(svg)) points.set(svg, all('[data-curve]', svg).map((g) => ({ name: g.dataset.curve, at: (g.querySelector('path')?.getAttribute('d') ?? '').match(/[ML] ?-?[\d.]+ -?[\d.]+/g)?.map((p) => [p[0] === 'M', ...p.slice(1).trim().split(' ').map(Number)]) ?? [] })));
    return points.get(svg);
  };
  const valueAt = (at, x) => {
    for (let i = 1; i < at.length; i++) if (!at[i][0] && at[i - 1][1] <= x && x <= at[i][1]) return at[i - 1][2] + (x - at[i - 1][1]) / (at[i][1] - at[i - 1][1] || 1) * (at[i][2] - at[i - 1][2]);
    return NaN;
  };
  const hide = () => { tip.hidden = true; };
  for (const { svg, time: [x0, x1, t0, t1], values: [y0, y1, v0, v1] } of panels) {
    const point = (e) => {
      const r = svg.getBoundingClientRect(), x = (e.clientX - r.left) / r.width * svg.viewBox.baseVal.width;
      const t = t0 + (Math.min(x1, Math.max(x0, x)) - x0) / (x1 - x0) * (t1 - t0);
      if (e.buttons) seek(t);
      const lines = curves(svg).map(({ name, at }) => [name, v0 + (valueAt(at, x) - y0) / (y1 - y0) * (v1 - v0)]).filter(([, v]) => Number.isFinite(v));
      tip.textContent = [`${t.toFixed(3)} s`, ...lines.map(([name, v]) => `${name}  ${+v.toPrecision(3)}`)].join('\n');
      tip.hidden = !lines.length;
      tip.style.left = `${Math.min(e.clientX + 14, innerWidth - tip.offsetWidth - 6)}px`;
      tip.style.top = `${Math.max(6, Math.min(e.clientY + 14, innerHeight - tip.offsetHeight - 60))}px`;
    };
    svg.addEventListener('pointerdown', (e) => { if (e.pointerType === 'mouse') svg.setPointerCapture(e.pointerId); point(e); });
    svg.addEventListener('pointermove', point);
    svg.addEventListener('pointerleave', hide);
  }
  addEventListener('scroll', hide, { passive: true });
})();
