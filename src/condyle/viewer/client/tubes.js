// Paths as tubes: one geometry for all of them, whose rings move in place.
import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, Mesh, Vector3 } from 'three';

const REST = new Color('#3f6fc4'), FULL = new Color('#d8231c'), PLAIN = new Color('#b23a35'), TENDON = new Color('#e9e1d3');
const LIGAMENT = new Color('#c8a94a'), MARKED = new Color('#ffd84a');

export class Tubes {
  /** rough: the least number of pieces of a tube; look: what levels of detail share, {world, hidden, marked} */
  constructor(layer, sides, rough, radius, material, look) {
    this.lines = layer.lines; this.sides = sides; this.look = look;
    // every piece between points is cut, so that bellies are round; starts are of points and of rings
    let points = 0, rings = 0;
    this.plan = layer.lines.map((line) => {
      const n = line.bodies.length, cuts = Math.max(1, Math.ceil(rough / Math.max(n - 1, 1)));
      const plan = { point: points, ring: rings, n, cuts, rings: (n - 1) * cuts + 1, radius: radius * line.width };
      points += n; rings += plan.rings;
      return plan;
    });
    this.ringLine = new Int32Array(rings);
    this.plan.forEach((plan, k) => this.ringLine.fill(k, plan.ring, plan.ring + plan.rings));
    this.build(rings, material);
  }

  build(rings, material) {
    const K = this.sides, index = [];
    for (const plan of this.plan) for (let i = 0; i < plan.rings - 1; i++) for (let k = 0; k < K; k++) {
      const a = (plan.ring + i) * K + k, b = (plan.ring + i) * K + (k + 1) % K;
      index.push(a, b, a + K, b, b + K, a + K);
    }
    const g = this.geometry = new BufferGeometry();
    this.attributes = ['position', 'normal', 'color'].map((name) => {
      const a = new BufferAttribute(new Float32Array(3 * rings * K), 3).setUsage(DynamicDrawUsage);
      g.setAttribute(name, a);
      return a;
    });
    g.setIndex(index);
    this.turn = Array.from({ length: K }, (_, k) => [Math.cos(2 * Math.PI * k / K), Math.sin(2 * Math.PI * k / K)]);
    this.mesh = new Mesh(g, material);
    this.mesh.frustumCulled = false; this.mesh.castShadow = true;
    this.mesh.userData = { kind: 'tubes' };
  }

  lineAt(face) { return this.lines[this.ringLine[Math.floor(face.a / this.sides)]]; }

  get world() { return this.look.world; }

  color(k, paint, out) {
    const line = this.lines[k];
    if (line === this.look.marked) return out.copy(MARKED);
    if (!line.muscle) return out.copy(LIGAMENT);
    return Number.isNaN(paint) ? out.copy(PLAIN) : out.copy(REST).lerp(FULL, paint);
  }

  /** New places of all points (in `this.world`) and new colors. */
  update(paint, painted) {
    const [position, normal, color] = this.attributes.map((a) => a.array), { world, sides: K, turn } = this;
    const t = new Vector3(), n = new Vector3(), b = new Vector3(), last = new Vector3(), c = new Color();
    this.plan.forEach((plan, k) => {
      const shown = !this.look.hidden.has(this.lines[k].name), full = shown ? plan.radius : 0, muscle = this.lines[k].muscle;
      this.color(k, painted ? paint[k] : NaN, c);
      let length = 0;
      for (let i = 3 * plan.point; i < 3 * (plan.point + plan.n - 1); i += 3) length += Math.hypot(world[i + 3] - world[i], world[i + 4] - world[i + 1], world[i + 5] - world[i + 2]);
      n.set(0.31, 0.22, 0.92); last.set(0, 0, 0);
      let along = 0;
      for (let i = 0; i < plan.rings; i++) {
        const piece = Math.min(Math.floor(i / plan.cuts), plan.n - 2), part = i / plan.cuts - piece, o = 3 * (plan.point + piece);
        const dx = world[o + 3] - world[o], dy = world[o + 4] - world[o + 1], dz = world[o + 5] - world[o + 2];
        const x = world[o] + part * dx, y = world[o + 1] + part * dy, z = world[o + 2] + part * dz;
        if (i) along += Math.hypot(x - last.x, y - last.y, z - last.z);
        last.set(x, y, z);
        t.set(dx, dy, dz);
        if (part === 0 && piece) { t.normalize(); this.bend(t, o); }
        if (t.lengthSq() > 0) { t.normalize(); n.addScaledVector(t, -n.dot(t)); }
        if (n.lengthSq() < 1e-12) n.set(t.y, t.z, t.x).addScaledVector(t, -(t.x * t.y + t.y * t.z + t.z * t.x));
        n.normalize(); b.crossVectors(t, n);
        // a belly in the middle, tendons at the ends
        const s = length > 0 ? along / length : 0, belly = muscle ? Math.min(1, Math.max(0, 2.6 * Math.sin(Math.PI * s) - 0.35)) : 0.35;
        const r = full * (0.38 + 0.62 * belly), mix = muscle ? 0.75 * (1 - belly) : 0;
        const red = c.r + mix * (TENDON.r - c.r), green = c.g + mix * (TENDON.g - c.g), blue = c.b + mix * (TENDON.b - c.b);
        for (let k2 = 0, v = 3 * (plan.ring + i) * K; k2 < K; k2++, v += 3) {
          const cs = turn[k2][0], sn = turn[k2][1], nx = n.x * cs + b.x * sn, ny = n.y * cs + b.y * sn, nz = n.z * cs + b.z * sn;
          normal[v] = nx; normal[v + 1] = ny; normal[v + 2] = nz;
          position[v] = x + r * nx; position[v + 1] = y + r * ny; position[v + 2] = z + r * nz;
          color[v] = red; color[v + 1] = green; color[v + 2] = blue;
        }
      }
    });
    for (const a of this.attributes) a.needsUpdate = true;
    this.geometry.boundingSphere = null;                    // or picking would use the first frame's
  }

  /** At a corner a ring lies between the pieces before and after it. */
  bend(t, o) {
    const { world } = this, x = world[o] - world[o - 3], y = world[o + 1] - world[o - 2], z = world[o + 2] - world[o - 1];
    const l = Math.hypot(x, y, z);
    if (l > 0) { t.x += x / l; t.y += y / l; t.z += z / l; }
  }
}
