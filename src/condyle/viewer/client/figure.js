// A layer in the scene: bodies, paths and marks, moved to the values of one time.
import { Group, Vector3 } from 'three';
import { axes, buildBodies, roughSolids } from './bodies.js';
import { COARSE, Copies, Crowd, FINE } from './coarse.js';
import { Marks } from './marks.js';
import { Pressures } from './pressures.js';
import { emptyValues } from './numbers.js';
import { Tubes } from './tubes.js';

export class Figure {
  constructor(layer, head, stage) {
    this.layer = layer; this.name = layer.name;
    this.root = new Group(); this.root.position.fromArray(layer.offset);
    this.values = emptyValues(layer);
    const { nodes, items } = buildBodies(layer, head.meshes, stage.sides, (c, o) => stage.material(c, o, layer.ghost));
    this.nodes = nodes; this.items = items;
    this.root.add(...nodes);
    if (stage.slow) {
      this.crowd = new Crowd(roughSolids(layer, items, head.meshes, 8), stage.cheap('#ffffff', layer.ghost ? 0.42 : 1, true));
      for (const { item } of this.crowd.parts) item.layers.set(FINE);
      this.crowd.mesh.layers.set(COARSE);
      this.root.add(this.crowd.mesh);
    }
    this.frames = nodes.map((node) => { const f = axes(0.16 * head.size); f.visible = false; f.userData = { kind: 'frames', name: node.name }; node.add(f); return f; });
    if (layer.lines.length) {
      const look = this.look = { world: new Float32Array(3 * layer.points), hidden: new Set(), marked: null }, radius = 0.013 * head.size;
      this.levels = [new Tubes(layer, layer.lines.length > 200 ? 9 : 14, 16, radius, stage.material('#ffffff', 1, layer.ghost, true), look)];
      if (stage.slow) this.levels.push(new Tubes(layer, 4, 4, radius, stage.cheap('#ffffff', layer.ghost ? 0.42 : 1, true), look));
      this.tubes = this.levels[0];
      this.root.add(...this.levels.map((tubes) => tubes.mesh));
      this.pointBody = Int32Array.from(layer.lines.flatMap((line) => line.bodies));
    }
    this.marks = new Marks(layer, head.size, (c, o) => stage.material(c, o, layer.ghost), 14);
    if (this.marks.objects.length) this.root.add(...this.marks.objects);
    this.copies = stage.slow ? this.marks.objects.filter((o) => o.material.isMeshLambertMaterial).map((o) => new Copies(o, stage.cheap('#ffffff', layer.ghost ? 0.42 : 1, true))) : [];
    for (const { mesh } of this.copies) this.root.add(mesh);
    this.pressures = new Pressures(layer, nodes);
    this.hiddenNames = {}; this.formed = null;
    stage.scene.add(this.root); stage.figures.push(this);
  }

  /** Move triangles to the values of `update`, of the fine or of the coarse picture. */
  form(fine) {
    if (this.formed === fine) return;
    this.formed = fine;
    if (this.tubes) {
      this.tubes = this.levels[fine || this.levels.length < 2 ? 0 : 1];
      for (const tubes of this.levels) tubes.mesh.visible = tubes === this.tubes;
      this.tubes.update(this.values.paint, this.layer.painted);
    }
    if (fine) return;
    this.crowd?.update(this.nodes);
    for (const c of this.copies) c.update();
  }

  /** Show which path or solids are picked; none without a name. */
  mark(kind, name) {
    if (this.look) this.look.marked = (kind === 'muscles' || kind === 'paths') ? this.layer.lines.find((l) => l.name === name) : null;
    for (const item of this.items) item.material.emissive?.setHex(item.userData.kind === kind && item.userData.name === name ? 0x6a4a00 : 0);
    this.crowd?.paint();
  }

  /** Move everything to `this.values`; returns what has no number there, or null. */
  update(arrowScale) {
    const { poses, points } = this.values;
    let bad = null;
    this.nodes.forEach((node, i) => {
      const o = 7 * i;
      if (Number.isNaN(poses[o] + poses[o + 1] + poses[o + 2] + poses[o + 3] + poses[o + 4] + poses[o + 5] + poses[o + 6])) { bad ??= node.name; return; }
      node.position.set(poses[o], poses[o + 1], poses[o + 2]);
      node.quaternion.set(poses[o + 4], poses[o + 5], poses[o + 6], poses[o + 3]).normalize();
    });
    if (this.tubes) {
      const v = new Vector3(), { world } = this.look;
      for (let p = 0; p < this.pointBody.length; p++) {
        v.set(points[3 * p], points[3 * p + 1], points[3 * p + 2]);
        if (Number.isNaN(v.x + v.y + v.z)) { bad ??= 'a path'; continue; }
        const node = this.nodes[this.pointBody[p]];
        v.applyQuaternion(node.quaternion).add(node.position).toArray(world, 3 * p);
      }
    }
    this.pressures.update(this.values.pressures);
    this.marks.update(this.values, (i) => this.nodes[i], arrowScale);
    this.formed = null;
    return bad;
  }

  /** The name of what a channel is of: that of a body or a path. */
  whose(bad) {
    if (!bad) return null;
    if (bad.kind === 'poses') return this.layer.bodies[Math.floor(bad.channel / 7)];
    let left = Math.floor(bad.channel / 3);
    return this.layer.lines.find((line) => (left -= line.bodies.length) < 0).name;
  }

  /** Names of each kind, in order, for the list. */
  kinds() {
    const out = {}, add = (kind, name) => { const names = (out[kind] ??= []); if (!names.includes(name)) names.push(name); };
    for (const part of this.layer.parts) add(part.kind, part.name);
    for (const line of this.layer.lines) add(line.muscle ? 'muscles' : 'paths', line.name);
    for (const link of this.layer.links) add(link.kind, link.name);
    for (const m of this.layer.markers) add('markers', m.name);
    for (const name of this.layer.measured) add('measured', name);
    for (const name of this.layer.measured) if (this.layer.markers.some((m) => m.name === name)) add('errors', name);
    for (const a of this.layer.arrows) add(a.kind, a.name);
    for (const name of this.layer.patches) add('patches', name);
    for (const p of this.layer.pressures) add('pressures', p.name);
    for (const node of this.nodes) add('frames', node.name);
    return out;
  }

  show(kind, name, shown) {
    const hidden = (this.hiddenNames[kind] ??= new Set());
    for (const n of name === null ? this.kinds()[kind] ?? [] : [name]) shown ? hidden.delete(n) : hidden.add(n);
    for (const object of [...this.items, ...this.frames]) if (object.userData.kind === kind) object.visible = !hidden.has(object.userData.name);
    if (kind === 'muscles' || kind === 'paths') { this.look.hidden = new Set(['muscles', 'paths'].flatMap((k) => [...(this.hiddenNames[k] ?? [])])); }
    if (kind === 'markers' && this.marks.model) this.marks.model.hidden = hidden;
    if (kind === 'measured' && this.marks.seen) this.marks.seen.hidden = hidden;
    if (kind === 'errors' && this.marks.errors) this.marks.errors.object.visible = hidden.size === 0;
    if (['constraints', 'springs', 'joints'].includes(kind)) this.marks.hidden = new Set(['constraints', 'springs', 'joints'].flatMap((k) => [...(this.hiddenNames[k] ?? [])]));
    if (kind === 'forces' || kind === 'pushes') this.marks.hiddenArrows[kind] = hidden;
    if (kind === 'pressures') this.pressures.hidden = hidden;
    if (kind === 'patches' && this.marks.patches) this.marks.patches.hidden = hidden;
  }

  /** Where something is, in ground; null if it has no place of its own. */
  place(kind, name) {
    const node = this.nodes.find((n) => n.name === name);
    return node ? new Vector3().copy(node.position).add(this.root.position) : null;
  }

  /** The middle of all bodies but ground. */
  middle(out) {
    out.set(0, 0, 0);
    for (let i = 1; i < this.nodes.length; i++) out.add(this.nodes[i].position);
    return out.divideScalar(Math.max(this.nodes.length - 1, 1)).add(this.root.position);
  }
}

