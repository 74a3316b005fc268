// Pressure on triangles of meshes: colors that are seen through what is before them.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Mesh, MeshBasicMaterial } from 'three';
import { meshGeometry } from './bodies.js';

const LIGHT = new Color('#ffd75e'), HEAVY = new Color('#8e0b3a');

export class Pressures {
  /** layer.pressures: triangles of one mesh each; nodes: groups of bodies */
  constructor(layer, nodes) {
    let first = 0;
    this.hidden = new Set();
    this.maps = layer.pressures.map((p) => {
      const rest = meshGeometry(p.mesh).attributes.position.array, n = 3 * p.faces, g = new BufferGeometry();
      const place = new BufferAttribute(new Float32Array(3 * n), 3).setUsage(DynamicDrawUsage), color = new BufferAttribute(new Float32Array(3 * n), 3).setUsage(DynamicDrawUsage);
      g.setAttribute('position', place); g.setAttribute('color', color);
      const mesh = new Mesh(g, new MeshBasicMaterial({ vertexColors: true, side: DoubleSide, transparent: true, opacity: layer.ghost ? 0.45 : 0.92, depthTest: false, depthWrite: false }));
      mesh.frustumCulled = false; mesh.renderOrder = 4; mesh.userData = { kind: 'pressures', name: p.name };
      nodes[p.body].add(mesh);
      const map = { ...p, first, rest, place, color, mesh };
      first += p.faces;
      return map;
    });
  }

  /** x: from 0 to 1, one per triangle of all maps; triangles without pressure have no size */
  update(x) {
    const c = new Color();
    for (const { name, faces, first, rest, place, color, mesh } of this.maps) {
      mesh.visible = !this.hidden.has(name);
      for (let k = 0; k < faces; k++) {
        const v = x[first + k], o = 9 * k;
        if (!(v > 0)) { for (let j = 0; j < 9; j++) place.array[o + j] = rest[o + j % 3]; continue; }
        c.copy(LIGHT).lerp(HEAVY, v);
        for (let j = 0; j < 9; j += 3) { color.array[o + j] = c.r; color.array[o + j + 1] = c.g; color.array[o + j + 2] = c.b; }
        for (let j = 0; j < 9; j++) place.array[o + j] = rest[o + j];
      }
      place.needsUpdate = color.needsUpdate = true; mesh.geometry.boundingSphere = null;
    }
  }
}
