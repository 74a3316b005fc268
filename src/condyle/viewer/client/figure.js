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

  isShown(kind, name) { return this.root.visible && !this.hiddenNames[kind]?.has(name); }

  /** The middle of something as it is drawn, in ground; null if it has none now. */
  where(kind, name) {
    const out = new Vector3(), { layer, values } = this, shift = this.root.position;
    const line = layer.lines.findIndex((l) => l.name === name);
    if ((kind === 'muscles' || kind === 'paths') && line >= 0) {
      const first = layer.lines.slice(0, line).reduce((n, l) => n + l.bodies.length, 0), n = layer.lines[line].bodies.length, at = (i) => new Vector3().fromArray(this.look.world, 3 * (first + i));
      let length = 0;
      for (let i = 1; i < n; i++) length += at(i).distanceTo(at(i - 1));
      for (let i = 1, left = length / 2; i < n; i++) { const d = at(i).distanceTo(at(i - 1)); if (d >= left && d > 0) return at(i - 1).lerp(at(i), left / d).add(shift); left -= d; }
      return at(0).add(shift);
    }
    const given = (x, k, size) => { out.fromArray(x, size * k).add(shift); return Number.isFinite(out.x + out.y + out.z) ? out : null; };
    if (kind === 'markers') return out.copy(this.marks.places[layer.markers.findIndex((m) => m.name === name)]).add(shift);
    if (kind === 'measured' || kind === 'errors') return given(values.measured, layer.measured.indexOf(name), 3);
    if (kind === 'forces' || kind === 'pushes') { const k = layer.arrows.findIndex((a) => a.name === name); return Math.hypot(...values.arrows.subarray(6 * k + 3, 6 * k + 6)) > 0 ? given(values.arrows, k, 6) : null; }
    if (kind === 'patches') { const k = layer.patches.indexOf(name); return values.patches[9 * k + 3] || values.patches[9 * k + 4] || values.patches[9 * k + 5] ? given(values.patches, k, 9) : null; }
    const own = this.items.filter((item) => item.userData.kind === kind && item.userData.name === name), v = new Vector3();
    for (const item of own) { const { geometry: g } = item; if (!g.boundingBox) g.computeBoundingBox(); const node = this.nodes[item.userData.body]; out.add(g.boundingBox.getCenter(v).applyQuaternion(item.quaternion).add(item.position).applyQuaternion(node.quaternion).add(node.position)); }
    if (own.length) return out.divideScalar(own.length).add(shift);
    const link = layer.links.find((l) => l.kind === kind && l.name === name);
    if (link) { for (const [body, p] of [[link.a, link.p_a], [link.b, link.p_b]]) out.add(v.fromArray(p).applyQuaternion(this.nodes[body].quaternion).add(this.nodes[body].position)); return out.multiplyScalar(0.5).add(shift); }
    return this.place(kind, name);
  }

  /** What stays when something is alone: itself, and what it is fixed to or moves; {kind: names}. */
  family(kind, name) {
    const { layer } = this, keep = { [kind]: [name] };
    if (kind === 'bodies') {
      const parts = layer.parts.filter((p) => p.kind === 'bodies' && p.name === name), i = parts.length ? parts[0].body : layer.bodies.indexOf(name), on = (l) => l.on.includes(i);
      keep.bodies = layer.parts.filter((p) => p.kind === 'bodies' && p.body === i).map((p) => p.name);
      keep.joints = [layer.bodies[i]]; keep.markers = layer.markers.filter((m) => m.body === i).map((m) => m.name); keep.measured = keep.errors = keep.markers;
      keep.muscles = layer.lines.filter((l) => l.muscle && on(l)).map((l) => l.name); keep.paths = layer.lines.filter((l) => !l.muscle && on(l)).map((l) => l.name);
    } else if (kind === 'muscles' || kind === 'paths') {
      const on = new Set(layer.lines.find((l) => l.name === name).on);
      keep.bodies = layer.parts.filter((p) => p.kind === 'bodies' && on.has(p.body)).map((p) => p.name);
    } else keep.bodies = null;
    return keep;
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

