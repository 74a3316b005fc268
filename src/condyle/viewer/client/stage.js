// Camera, lights, grid, drawing coarse while things move and fine when they rest, and what is under the pointer.
import {
  BufferAttribute, BufferGeometry, Color, DirectionalLight, Group, HemisphereLight, LineBasicMaterial, LineSegments, Mesh,
  MeshLambertMaterial, MeshStandardMaterial, PerspectiveCamera, PlaneGeometry, Quaternion, Raycaster, Scene,
  ShadowMaterial, Vector2, Vector3, WebGLRenderer,
} from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { axes } from './bodies.js';
import { cheap, COARSE, FINE } from './coarse.js';

const ROOM = 1.16;                                          // how much wider a picture is than what is in it
const REST = 180;                                           // ms without a change until the fine picture

/** Whether WebGL runs on the processor: asked on a canvas of its own, since antialiasing is chosen at creation. */
function software() {
  const gl = document.createElement('canvas').getContext('webgl2'), e = gl?.getExtension('WEBGL_debug_renderer_info');
  const name = e ? gl.getParameter(e.UNMASKED_RENDERER_WEBGL) : '';
  gl?.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

/** One that draws nothing where a browser has no WebGL: curves and values are still there. */
function renderer(canvas, options) {
  try { return Object.assign(new WebGLRenderer({ canvas, ...options }), { isWebGLRenderer: true }); } catch {
    return { shadowMap: {}, info: { render: { triangles: 0, calls: 0 } }, setSize() {}, setPixelRatio() {}, getPixelRatio: () => 1, render() {}, getContext: () => ({ isContextLost: () => false }), forceContextLoss() {}, forceContextRestore() {} };
  }
}

export class Stage {
  /** plain: never finer than while things move; clear: nothing behind the things */
  constructor(canvas, head, plain, clear = false) {
    this.head = head; this.canvas = canvas; this.plain = plain; this.clear = clear;
    this.slow = software();
    const parts = head.layers.reduce((n, layer) => n + layer.parts.length, 0);
    this.sides = parts > 400 ? 16 : parts > 120 ? 28 : 48; this.figures = [];
    this.renderer = renderer(canvas, { antialias: !this.slow, alpha: clear || !this.slow });
    this.blind = !this.renderer.isWebGLRenderer;
    this.renderer.shadowMap.enabled = true;
    this.scene = new Scene();
    this.up = new Vector3().fromArray(head.up);
    this.camera = new PerspectiveCamera(36, 1, 0.01 * head.size, 200 * head.size);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.compass = [...document.querySelectorAll('#compass g')];
    this.controls.addEventListener('change', () => { this.touch(); this.orient(); });
    this.raycaster = new Raycaster();
    this.raycaster.layers.enableAll();
    this.raycaster.params.Line.threshold = 0.015 * head.size;
    this.follow = null; this.shown = 0; this.dirty = true; this.changed = 0; this.fine = false;
    if (this.slow) canvas.parentElement.style.background = 'none';       // an opaque canvas hides it, at a price
    this.light(); this.ground();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
    canvas.addEventListener('webglcontextrestored', () => this.touch());
    if (self !== top) new IntersectionObserver((entries) => this.seen(entries.at(-1).isIntersecting)).observe(canvas);
  }

  /** A browser keeps some sixteen scenes alive: those of a long notebook or gallery that are out of sight make room. */
  seen(on) {
    clearTimeout(this.leaving);
    const gl = this.renderer.getContext();
    if (on && this.away) { this.away = false; this.renderer.forceContextRestore(); }
    if (!on) this.leaving = setTimeout(() => { if (!gl.isContextLost()) { this.away = true; this.renderer.forceContextLoss(); } }, 1500);
  }

  /** ghosts are overlaid motions: paler, seen through */
  material(color, opacity, ghost = false, vertexColors = false) {
    const see = ghost ? 0.42 * opacity : opacity;
    const options = { color, transparent: see < 1, opacity: see, vertexColors, depthWrite: see > 0.6 };
    return this.slow ? new MeshLambertMaterial(options) : new MeshStandardMaterial({ ...options, roughness: 0.62, metalness: 0.03 });
  }

  /** A material of the coarse picture. */
  cheap(color, opacity, vertexColors = false) { return cheap(color, opacity, vertexColors, this.up, this.sun.offset.clone().normalize()); }

  light() {
    const s = this.head.size, side = this.side('side'), front = this.side('front');
    const sky = new HemisphereLight('#ffffff', '#8b8f99', 1.9);
    sky.position.copy(this.up);
    this.sun = new DirectionalLight('#fff6e8', 2.1);
    this.sun.offset = new Vector3().addScaledVector(this.up, 3.2).addScaledVector(side, 1.6).addScaledVector(front, 1.2).multiplyScalar(s);
    this.sun.castShadow = !this.slow;
    this.sun.shadow.mapSize.set(2048, 2048); this.sun.shadow.radius = 5; this.sun.shadow.bias = -0.0004; this.sun.shadow.normalBias = 0.004 * s;
    Object.assign(this.sun.shadow.camera, { left: -2 * s, right: 2 * s, top: 2 * s, bottom: -2 * s, near: 0.01 * s, far: 10 * s });
    const fill = new DirectionalLight('#dfe9ff', 0.7);
    fill.position.copy(front).addScaledVector(side, -1.4);
    this.scene.add(sky, this.sun, this.sun.target);
    if (!this.slow) this.scene.add(fill);                   // a third light takes a third of the time
  }

  /** A grid whose lines fade toward its rim, with the spacing that suits the scene, and a plane for shadows. */
  ground() {
    const { size, floor, middle } = this.head, spacing = 10 ** Math.floor(Math.log10(size)) * (size / 10 ** Math.floor(Math.log10(size)) > 4 ? 1 : size / 10 ** Math.floor(Math.log10(size)) > 2 ? 0.5 : 0.2);
    this.spacing = spacing;
    const a = this.side('front'), b = this.side('side'), count = Math.ceil(2.6 * size / spacing), far = count * spacing, n = this.slow ? 8 : 24;
    const at = new Vector3().fromArray(middle), snap = (v) => Math.round(v.dot(at) / spacing) * spacing;
    this.origin = new Vector3().addScaledVector(a, snap(a)).addScaledVector(b, snap(b)).addScaledVector(this.up, floor);
    const places = [], colors = [], p = new Vector3();
    const add = (i, s, along, across) => {
      p.copy(this.origin).addScaledVector(across, i * spacing).addScaledVector(along, s);
      places.push(p.x, p.y, p.z);
      colors.push(1, 1, 1, Math.max(0, 1 - Math.hypot(i * spacing, s) / far) ** 1.5 * (i % 5 ? 0.5 : 1));
    };
    for (const [along, across] of [[a, b], [b, a]]) for (let i = -count; i <= count; i++) for (let k = 0; k < n; k++) { add(i, far * (2 * k / n - 1), along, across); add(i, far * (2 * (k + 1) / n - 1), along, across); }
    const g = new BufferGeometry();
    g.setAttribute('position', new BufferAttribute(new Float32Array(places), 3));
    g.setAttribute('color', new BufferAttribute(new Float32Array(colors), 4));
    this.fineGrid = new LineSegments(g, new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
    this.grid = new Group().add(this.fineGrid);
    if (this.slow) this.coarseGrid(a, b, Math.ceil(0.55 * count), 0.55 * far);
    this.plane = new Mesh(new PlaneGeometry(2 * far, 2 * far), new ShadowMaterial({ opacity: 0.22, depthWrite: false }));
    this.plane.quaternion.copy(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), this.up));
    this.plane.position.copy(this.origin).addScaledVector(this.up, -0.002 * size);
    this.plane.receiveShadow = true; this.plane.visible = !this.slow;
    this.axes = axes(0.22 * size);
    this.scene.add(this.grid, this.plane, this.axes);
  }

  /** The same without blending: lines of two pieces whose colors fade into the ground's. */
  coarseGrid(a, b, count, far) {
    const places = [], p = new Vector3();
    this.fade = [];
    for (const [along, across] of [[a, b], [b, a]]) for (let i = -count; i <= count; i++) for (const s of [-far, 0, 0, far]) {
      p.copy(this.origin).addScaledVector(across, i * this.spacing).addScaledVector(along, s);
      places.push(p.x, p.y, p.z);
      this.fade.push(s ? 0 : Math.max(0, 1 - Math.abs(i) * this.spacing / far) ** 1.5 * (i % 5 ? 0.5 : 1));
    }
    const g = new BufferGeometry();
    g.setAttribute('position', new BufferAttribute(new Float32Array(places), 3));
    g.setAttribute('color', new BufferAttribute(new Float32Array(places.length), 3));
    this.roughGrid = new LineSegments(g, new LineBasicMaterial({ vertexColors: true, depthWrite: false }));
    this.fineGrid.layers.set(FINE); this.roughGrid.layers.set(COARSE); this.roughGrid.renderOrder = -1;
    this.grid.add(this.roughGrid);
  }

  /** Directions of the standard views: x is forward; the other two follow from what is up. */
  side(name) {
    const up = this.up, front = Math.abs(up.x) > 0.5 ? new Vector3(0, 1, 0) : new Vector3(1, 0, 0), side = new Vector3().crossVectors(front, up);
    if (name === 'front') return front;
    if (name === 'back') return front.negate();
    if (name === 'side') return side;
    if (name === 'left') return side.negate();
    if (name === 'top') return up.clone().addScaledVector(front, -0.001);
    return side.multiplyScalar(1).addScaledVector(front, 0.75).addScaledVector(up, 0.42);
  }

  /** Toward the camera of a view: azimuth 0 is the front, 90 the side; elevation above level [degrees]. */
  toward({ azimuth, elevation }, name) {
    const { up } = this, d = this.side(name).normalize(), front = this.side('front'), side = this.side('side'), turn = Math.PI / 180;
    const a = azimuth === null ? Math.atan2(d.dot(side), d.dot(front)) : azimuth * turn, e = elevation === null ? Math.asin(Math.min(1, Math.max(-1, d.dot(up)))) : Math.min(89.95, Math.max(-89.95, elevation)) * turn;
    return new Vector3().addScaledVector(front, Math.cos(a) * Math.cos(e)).addScaledVector(side, Math.sin(a) * Math.cos(e)).addScaledVector(up, Math.sin(e));
  }

  /** Look at the whole, or at one pose where a motion goes far, from a side. */
  view(name, camera = null) {
    const { near, middle, outermost } = this.head, direction = camera && (camera.azimuth !== null || camera.elevation !== null) ? this.toward(camera, name) : this.side(name).normalize();
    const target = this.follow ? this.follow.middle(new Vector3()) : new Vector3().fromArray(middle);
    const tall = Math.tan(this.camera.fov * Math.PI / 360), wide = tall * this.camera.aspect;
    const right = new Vector3().crossVectors(this.up, direction).normalize(), above = new Vector3().crossVectors(direction, right), c = new Vector3();
    let distance = 1.1 * near / Math.sin(Math.atan(Math.min(tall, wide)));
    if (!this.follow) for (let again = 0; again < 4; again++) {  // from the middle of the box to that of the picture
      const seen = outermost.map((p) => { c.fromArray(p).sub(target); return [c.dot(right), c.dot(above), c.dot(direction)]; });
      distance = Math.max(0.2 * near, ...seen.map(([x, y, z]) => z + ROOM * Math.max(Math.abs(x) / wide, Math.abs(y) / tall)));
      for (const [i, axis] of [right, above].entries()) {
        const flat = seen.map((p) => p[i] / (distance - p[2]));
        target.addScaledVector(axis, distance * (Math.min(...flat) + Math.max(...flat)) / 2);
      }
    }
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction, distance / (camera?.zoom ?? 1));
    this.controls.update(); this.touch(); this.orient();
  }

  /** Turn about a point of ground from now on, and see it in the middle. */
  center(p) {
    const d = p.clone().sub(this.controls.target);
    this.controls.target.add(d); this.camera.position.add(d);
    this.controls.update(); this.touch();
  }

  theme(dark) {
    const line = new Color(dark ? '#7f93a8' : '#8b98a8'), back = new Color(dark ? '#232c36' : '#f1f4f6'), c = new Color();
    this.fineGrid.material.color = line;
    if (this.roughGrid) { const { color } = this.roughGrid.geometry.attributes; this.fade.forEach((x, i) => { c.copy(back).lerp(line, 0.7 * x); color.setXYZ(i, c.r, c.g, c.b); }); color.needsUpdate = true; }
    this.plane.material.opacity = dark ? 0.45 : 0.2;
    this.back = back;
    if (this.slow && !this.clear) this.scene.background = back;
    this.touch();
  }

  /** The axes of ground in the corner, as the camera sees them; nearer ones over farther ones. */
  orient() {
    const turn = this.camera.quaternion.clone().invert(), v = new Vector3(), found = [];
    for (const g of this.compass) {
      v.set(...['x', 'y', 'z'].map((k) => +(k === g.dataset.axis))).applyQuaternion(turn);
      const [line, text] = g.children;
      line.setAttribute('x2', 20 * v.x); line.setAttribute('y2', -20 * v.y);
      text.setAttribute('x', 27 * v.x); text.setAttribute('y', -27 * v.y);
      found.push([v.z, g]);
    }
    for (const [, g] of found.sort((a, b) => a[0] - b[0])) g.parentNode.append(g);
  }

  touch() { this.dirty = true; this.changed = performance.now(); }

  resize() {
    const box = this.canvas.parentElement, w = Math.max(box.clientWidth, 1), h = Math.max(box.clientHeight, 1);
    this.renderer.setSize(w, h, false);
    this.canvas.style.width = `${w}px`; this.canvas.style.height = `${h}px`;
    this.camera.aspect = w / h; this.camera.updateProjectionMatrix();
    this.touch(); this.draw(false);
  }

  /** Coarse or fine: on a graphics processor both are the same. */
  draw(fine) {
    if (this.plain) fine = false;
    const sharp = this.slow ? (fine ? 2 : 1) : Math.min(devicePixelRatio, 2);
    if (this.renderer.getPixelRatio() !== sharp) this.renderer.setPixelRatio(sharp);
    if (this.slow) {
      this.sun.castShadow = fine && !this.clear; this.plane.visible = fine && this.grid.visible && !this.clear;
      this.camera.layers.set(0); this.camera.layers.enable(fine ? FINE : COARSE);
    }
    for (const figure of this.figures) figure.form(fine || !this.slow);
    this.sun.target.position.copy(this.controls.target); this.sun.position.copy(this.controls.target).add(this.sun.offset);
    this.renderer.render(this.scene, this.camera);
    this.shown++; this.dirty = false; this.fine = fine || !this.slow;
    this.ondraw?.();
  }

  /** Called once per animation frame. */
  tick(now) {
    if (this.away) return;
    if (this.dirty) this.draw(false);
    else if (!this.fine && !this.plain && now - this.changed > REST) this.draw(true);
  }

  followMove(before, after) {
    const d = after.clone().sub(before);
    if (!Number.isFinite(d.x + d.y + d.z)) return;
    this.controls.target.add(d); this.camera.position.add(d); this.controls.update();
  }

  /** What is at a place of the window: {figure, kind, name}, or null. */
  pick(x, y, figures) {
    const r = this.canvas.getBoundingClientRect();
    this.raycaster.setFromCamera(new Vector2(2 * (x - r.left) / r.width - 1, 1 - 2 * (y - r.top) / r.height), this.camera);
    const hits = this.raycaster.intersectObjects(figures.filter((f) => f.root.visible).map((f) => f.root), true)
      .filter((hit) => hit.object.visible && hit.object.userData.kind && hit.object.userData.kind !== 'frames');
    // what one looks through comes last
    const solid = hits.find((hit) => (hit.object.material.opacity ?? 1) >= 0.9) ?? hits[0];
    if (!solid) return null;
    const { kind, kinds, name, names } = solid.object.userData, figure = figures.find((f) => f.root === rootOf(solid.object));
    if (kind === 'tubes') { const line = figure.tubes.lineAt(solid.face); return { figure, kind: line.muscle ? 'muscles' : 'paths', name: line.name, point: solid.point }; }
    const i = solid.instanceId ?? Math.floor((solid.index ?? 0) / 2);
    return { figure, kind: kinds ? kinds[i] : kind, name: names ? names[i] : name, point: solid.point };
  }

  /** Where a point of ground is in the window. */
  screen(p) { return this.spot(p).slice(0, 2); }

  /** The same with its depth, below 1 before the camera. */
  spot(p) {
    const r = this.canvas.getBoundingClientRect(), v = new Vector3().copy(p).project(this.camera);
    return [r.left + (v.x + 1) / 2 * r.width, r.top + (1 - v.y) / 2 * r.height, v.z];
  }
}

function rootOf(object) {
  while (object.parent.parent) object = object.parent;
  return object;
}
