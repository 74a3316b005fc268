// Markers with their errors, lines between stations, force arrows.
import {
  CircleGeometry, Color, ConeGeometry, CylinderGeometry, DoubleSide, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, SphereGeometry, Vector3,
} from 'three';

const MODEL = '#e0569b', SEEN = '#2f9df0', ERROR = '#f0a030', ARROWS = { forces: '#2fa84f', pushes: '#e8731a' }, PATCH = '#ff7a1a';
const LINKS = { constraints: '#8a5bd0', springs: '#d08a2f', joints: '#8a97a5' };
const Y = new Vector3(0, 1, 0), ONE = new Vector3(1, 1, 1), NONE = new Vector3(0, 0, 0);

/** Thin rods between pairs of points, one color. */
class Rods {
  constructor(count, radius, color, material) {
    this.object = new InstancedMesh(new CylinderGeometry(radius, radius, 1, 6, 1, true), material(color, 1), count);
    this.object.frustumCulled = false;
    this.matrix = new Matrix4(); this.turn = new Quaternion(); this.along = new Vector3(); this.middle = new Vector3(); this.size = new Vector3();
  }

  set(i, a, b) {
    const length = this.along.subVectors(b, a).length();
    if (!(length > 0)) { this.object.setMatrixAt(i, this.matrix.makeScale(0, 0, 0)); return; }
    this.turn.setFromUnitVectors(Y, this.along.divideScalar(length));
    this.object.setMatrixAt(i, this.matrix.compose(this.middle.addVectors(a, b).multiplyScalar(0.5), this.turn, this.size.set(1, length, 1)));
  }

  done() { this.object.instanceMatrix.needsUpdate = true; this.object.boundingSphere = null; }
}

/** Balls at points; those that are hidden or not known have no size. */
class Balls {
  constructor(kind, names, radius, color, material, sides) {
    this.names = names; this.hidden = new Set();
    this.object = new InstancedMesh(new SphereGeometry(radius, sides, sides >> 1), material(color, 1), names.length);
    this.object.frustumCulled = false; this.object.userData = { kind, names };
    this.matrix = new Matrix4(); this.still = new Quaternion();
  }

  set(i, place, shown) {
    this.object.setMatrixAt(i, this.matrix.compose(place, this.still, shown && !this.hidden.has(this.names[i]) ? ONE : NONE));
  }

  done() { this.object.instanceMatrix.needsUpdate = true; this.object.boundingSphere = null; }
}

/** Where surfaces touch: ellipses that are seen through what is before them, no smaller than a dot. */
class Patches {
  constructor(names, least) {
    this.names = names; this.least = least; this.hidden = new Set();
    this.object = new InstancedMesh(new CircleGeometry(1, 24), new MeshBasicMaterial({ color: PATCH, transparent: true, opacity: 0.8, side: DoubleSide, depthTest: false }), names.length);
    this.object.frustumCulled = false; this.object.renderOrder = 5; this.object.userData = { kind: 'patches', names };
  }

  update(x) {
    const p = new Vector3(), a = new Vector3(), b = new Vector3(), n = new Vector3(), m = new Matrix4();
    this.names.forEach((name, i) => {
      p.fromArray(x, 9 * i); a.fromArray(x, 9 * i + 3); b.fromArray(x, 9 * i + 6);
      const la = a.length(), lb = b.length();
      if (!(la > 0 && lb > 0) || Number.isNaN(p.x + p.y + p.z) || this.hidden.has(name)) { this.object.setMatrixAt(i, m.makeScale(0, 0, 0)); return; }
      n.crossVectors(a, b).normalize();
      this.object.setMatrixAt(i, m.makeBasis(a.multiplyScalar(Math.max(1, this.least / la)), b.multiplyScalar(Math.max(1, this.least / lb)), n).setPosition(p));
    });
    this.object.instanceMatrix.needsUpdate = true; this.object.boundingSphere = null;
  }
}

export class Marks {
  constructor(layer, size, material, sides) {
    this.layer = layer;
    this.links = layer.links.map((link) => ({ ...link, line: null }));
    this.byKind = {};
    for (const kind of Object.keys(LINKS)) {
      const own = this.links.filter((link) => link.kind === kind);
      if (own.length) this.byKind[kind] = { own, lines: new Rods(own.length, 0.0045 * size, LINKS[kind], material) };
    }
    const ball = 0.012 * size;
    this.model = layer.markers.length ? new Balls('markers', layer.markers.map((m) => m.name), ball, MODEL, material, sides) : null;
    this.seen = layer.measured.length ? new Balls('measured', layer.measured, ball, SEEN, material, sides) : null;
    this.pairs = layer.measured.map((name, i) => [i, layer.markers.findIndex((m) => m.name === name)]).filter((p) => p[1] >= 0);
    this.errors = this.pairs.length ? new Rods(this.pairs.length, 0.003 * size, ERROR, material) : null;
    this.places = layer.markers.map(() => new Vector3());
    this.hidden = new Set(); this.hiddenArrows = {};
    if (layer.arrows.length) this.buildArrows(layer.arrows, size, material);
    if (layer.patches.length) this.patches = new Patches(layer.patches, 0.006 * size);
    this.objects = [...Object.values(this.byKind).map((k) => k.lines.object), ...[this.model, this.seen, this.errors].filter(Boolean).map((x) => x.object), ...(this.arrows ?? []), ...(this.patches ? [this.patches.object] : [])];
    Object.entries(this.byKind).forEach(([kind, k]) => { k.lines.object.userData = { kind, names: k.own.map((l) => l.name) }; });
    if (this.errors) this.errors.object.userData = { kind: 'errors', names: this.pairs.map((p) => layer.measured[p[0]]) };
  }

  buildArrows(arrows, size, material) {
    const r = 0.008 * size;
    this.shaft = new InstancedMesh(new CylinderGeometry(r, r, 1, 10), material('#ffffff', 1), arrows.length);
    this.tip = new InstancedMesh(new ConeGeometry(2.6 * r, 7 * r, 14), material('#ffffff', 1), arrows.length);
    this.tipLength = 7 * r;
    this.arrows = [this.shaft, this.tip];
    for (const object of this.arrows) { object.frustumCulled = false; object.castShadow = true; object.userData = { kind: 'forces', kinds: arrows.map((a) => a.kind), names: arrows.map((a) => a.name) }; arrows.forEach((a, i) => object.setColorAt(i, new Color(ARROWS[a.kind]))); }
  }

  /** node(i): the group of body i. */
  update(values, node, scale) {
    const a = new Vector3(), b = new Vector3();
    const world = (body, p, out) => out.fromArray(p).applyQuaternion(node(body).quaternion).add(node(body).position);
    for (const { own, lines } of Object.values(this.byKind)) {
      own.forEach((link, i) => {
        world(link.a, link.p_a, a); world(link.b, link.p_b, b);
        lines.set(i, a, this.hidden.has(link.name) ? a : b);
      });
      lines.done();
    }
    if (this.model) { this.layer.markers.forEach((m, i) => this.model.set(i, world(m.body, m.station, this.places[i]), true)); this.model.done(); }
    if (this.seen) {
      this.layer.measured.forEach((_, i) => { a.fromArray(values.measured, 3 * i); const known = !Number.isNaN(a.x + a.y + a.z); this.seen.set(i, known ? a : NONE, known); });
      this.seen.done();
    }
    if (this.errors) {
      this.pairs.forEach(([i, j], k) => { a.fromArray(values.measured, 3 * i); this.errors.set(k, Number.isNaN(a.x + a.y + a.z) ? this.places[j] : a, this.places[j]); });
      this.errors.done();
    }
    if (this.arrows) this.updateArrows(values.arrows, scale);
    this.patches?.update(values.patches);
  }

  updateArrows(x, scale) {
    const p = new Vector3(), v = new Vector3(), q = new Quaternion(), m = new Matrix4(), s = new Vector3(), at = new Vector3();
    this.layer.arrows.forEach((arrow, i) => {
      p.fromArray(x, 6 * i); v.fromArray(x, 6 * i + 3).multiplyScalar(scale);
      const length = v.length(), shown = length > 0 && Number.isFinite(p.x + p.y + p.z + length) && !this.hiddenArrows[arrow.kind]?.has(arrow.name);
      if (!shown) { m.compose(NONE, q.identity(), NONE); this.shaft.setMatrixAt(i, m); this.tip.setMatrixAt(i, m); return; }
      v.divideScalar(length); q.setFromUnitVectors(Y, v);
      const tip = Math.min(this.tipLength, 0.6 * length), shaft = length - tip;
      this.shaft.setMatrixAt(i, m.compose(at.copy(p).addScaledVector(v, shaft / 2), q, s.set(1, shaft, 1)));
      this.tip.setMatrixAt(i, m.compose(at.copy(p).addScaledVector(v, shaft + tip / 2), q, s.setScalar(tip / this.tipLength)));
    });
    for (const object of this.arrows) { object.instanceMatrix.needsUpdate = true; object.boundingSphere = null; }
  }
}
