// Shapes on bodies.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, CylinderGeometry, Group, LineBasicMaterial, LineSegments,
  Line, Mesh, SphereGeometry,
} from 'three';
import { bytesOf } from './numbers.js';

/** Triangles from the page: places as 16 bits within a box, corners as differences. */
export function meshGeometry(mesh) {
  const q = new Uint16Array(bytesOf(mesh.vertices).buffer), d = new Int32Array(bytesOf(mesh.triangles).buffer);
  const position = new Float32Array(q.length), index = new Uint32Array(d.length);
  for (let i = 0; i < q.length; i++) position[i] = mesh.low[i % 3] + mesh.step[i % 3] * q[i];
  for (let i = 0, k = 0; i < d.length; i++) index[i] = k += d[i];
  const g = new BufferGeometry();
  g.setAttribute('position', new BufferAttribute(position, 3));
  g.setIndex(new BufferAttribute(index, 1));
  g.computeVertexNormals();
  return g;
}

/** Three arrows as lines, red, green and blue. */
export function axes(length) {
  const g = new BufferGeometry(), o = [0, 0, 0], e = (k) => o.map((_, j) => (j === k ? length : 0));
  g.setAttribute('position', new BufferAttribute(new Float32Array([...o, ...e(0), ...o, ...e(1), ...o, ...e(2)]), 3));
  const c = [[0.85, 0.1, 0.08], [0.1, 0.55, 0.12], [0.08, 0.2, 0.9]];
  g.setAttribute('color', new BufferAttribute(new Float32Array(c.flatMap((x) => [...x, ...x])), 3));
  return new LineSegments(g, new LineBasicMaterial({ vertexColors: true }));
}

/** The triangles of a part; `sides` says into how many pieces a circle goes. */
function geometryOf(part, meshes, sides) {
  const s = part.size;
  if (part.shape === 'box') return new BoxGeometry(2 * s[0], 2 * s[1], 2 * s[2]);
  if (part.shape === 'cylinder') return new CylinderGeometry(s[0], s[0], 2 * s[1], sides).rotateX(Math.PI / 2);
  if (part.shape === 'capsule') return new CapsuleGeometry(s[0], 2 * s[1], Math.max(2, sides >> 2), sides).rotateX(Math.PI / 2);
  if (part.shape === 'mesh') return meshGeometry(meshes[part.mesh]);
  const g = new SphereGeometry(1, sides, sides >> 1);
  g.scale(...(s.length === 3 ? s : [s[0], s[0], s[0]]));
  return g;
}

/** The three.js object of a part. */
function solid(part, meshes, sides, material) {
  const s = part.size, opaque = part.opacity >= 1;
  if (part.shape === 'frame') return axes(s[0]);
  if (part.shape === 'line') {
    const g = new BufferGeometry();
    g.setAttribute('position', new BufferAttribute(new Float32Array(s), 3));
    return new Line(g, new LineBasicMaterial({ color: part.color, transparent: !opaque, opacity: part.opacity }));
  }
  const mesh = new Mesh(geometryOf(part, meshes, sides), material(part.color, part.opacity));
  mesh.castShadow = opaque; mesh.receiveShadow = opaque;
  if (!opaque) mesh.renderOrder = 1;
  return mesh;
}

/** Opaque solids with fewer triangles, for a crowd: [{item, body, geometry}]. */
export function roughSolids(layer, items, meshes, sides) {
  return layer.parts.map((part, i) => ({ part, item: items[i], body: part.body })).filter(({ part, item }) => item.isMesh && part.opacity >= 1)
    .map(({ part, item, body }) => ({ item, body, geometry: part.shape === 'mesh' ? item.geometry : geometryOf(part, meshes, part.kind === 'joints' ? 6 : sides) }));
}

/** One group per body; every object in it knows its kind and name. */
export function buildBodies(layer, meshes, sides, material) {
  const nodes = layer.bodies.map((name) => { const node = new Group(); node.name = name; return node; });
  const items = layer.parts.map((part) => {
    const object = solid(part, meshes, part.kind === 'joints' ? Math.min(sides, 16) : sides, material);
    object.position.fromArray(part.p); object.quaternion.fromArray(part.q);
    object.userData = { kind: part.kind, name: part.name, body: part.body };
    nodes[part.body].add(object);
    return object;
  });
  return { nodes, items };
}
