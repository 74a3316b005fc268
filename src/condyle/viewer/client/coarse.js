// What is drawn while things move where WebGL runs on the processor: few triangles, lit at their corners, all bodies in
// one mesh whose corners are moved here.
import {
  BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry, DynamicDrawUsage, Matrix3, Matrix4, Mesh, ShaderMaterial, SphereGeometry,
} from 'three';

export const FINE = 1, COARSE = 2;                          // layers that the camera sees in one of both pictures alone
const TRIANGLES = 9000;                                     // of all bodies
const SKY = 0.605, SUN = 0.668;                             // the lights of stage.js over pi, as three.js has them

const VERTEX = `
uniform vec3 up, sun, tint;
varying vec3 shade;
void main() {
  vec3 n = normalize(mat3(modelMatrix) * normal), c = tint;
  #ifdef USE_COLOR
  c *= color;
  #endif
  c *= ${SKY} * mix(vec3(0.258, 0.275, 0.319), vec3(1.0), 0.5 + 0.5 * dot(n, up)) + ${SUN} * max(dot(n, sun), 0.0) * vec3(1.0, 0.922, 0.807);
  shade = pow(c, vec3(0.4545));
  gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
}`;
const FRAGMENT = 'uniform float alpha; varying vec3 shade; void main() { gl_FragColor = vec4(shade, alpha); }';

/** Light at corners: a sky and a sun, no shadows. */
export function cheap(color, opacity, vertexColors, up, sun) {
  return new ShaderMaterial({
    vertexShader: VERTEX, fragmentShader: FRAGMENT, vertexColors, transparent: opacity < 1, depthWrite: opacity > 0.6,
    uniforms: { up: { value: up }, sun: { value: sun }, tint: { value: new Color(color) }, alpha: { value: opacity } },
  });
}

/** A geometry of about as many triangles at most: corners in one cell of a grid become one. */
function coarser(geometry, most) {
  const { index, attributes: { position } } = geometry, count = (index ? index.count : position.count) / 3;
  if (count <= most) return geometry;
  geometry.computeBoundingBox();
  const { min, max } = geometry.boundingBox, long = Math.max(max.x - min.x, max.y - min.y, max.z - min.z);
  for (let cells = Math.ceil(Math.sqrt(most)); ; cells = Math.floor(0.8 * cells)) {
    const size = long / cells, ids = new Map(), of = new Int32Array(position.count), places = [], counts = [];
    for (let i = 0; i < position.count; i++) {
      const x = position.getX(i), y = position.getY(i), z = position.getZ(i);
      const key = Math.floor((x - min.x) / size) + 1024 * (Math.floor((y - min.y) / size) + 1024 * Math.floor((z - min.z) / size));
      let id = ids.get(key);
      if (id === undefined) { ids.set(key, id = counts.length); places.push(0, 0, 0); counts.push(0); }
      of[i] = id; places[3 * id] += x; places[3 * id + 1] += y; places[3 * id + 2] += z; counts[id]++;
    }
    const corners = [];
    for (let k = 0; k < 3 * count; k += 3) {
      const [a, b, c] = [0, 1, 2].map((j) => of[index ? index.getX(k + j) : k + j]);
      if (a !== b && b !== c && c !== a) corners.push(a, b, c);
    }
    if (corners.length > 3 * most && cells > 4) continue;
    const out = new BufferGeometry();
    out.setAttribute('position', new BufferAttribute(Float32Array.from(places, (x, i) => x / counts[Math.floor(i / 3)]), 3));
    out.setIndex(corners);
    out.computeVertexNormals();
    return out;
  }
}

/** A geometry whose corners are moved here, in every picture. */
function moving(count, index, names) {
  const g = new BufferGeometry(), attributes = names.map(() => new BufferAttribute(new Float32Array(3 * count), 3).setUsage(DynamicDrawUsage));
  names.forEach((name, i) => g.setAttribute(name, attributes[i]));
  g.setIndex(index);
  return { g, attributes };
}

function rough({ type, parameters: p }) {
  if (type === 'SphereGeometry') return new SphereGeometry(p.radius, 4, 2);
  if (type === 'ConeGeometry') return new ConeGeometry(p.radius, p.height, 6, 1, true);
  return new CylinderGeometry(p.radiusTop, p.radiusBottom, p.height, 4, 1, true);
}

/** Balls, rods or arrows as one mesh: instances cost a draw call each where WebGL runs on the processor. */
export class Copies {
  /** instanced: what they are copies of; material: cheap, with colors of corners */
  constructor(instanced, material) {
    const one = this.one = rough(instanced.geometry), n = one.attributes.position.count, index = [];
    for (let k = 0; k < instanced.count; k++) for (const i of one.index.array) index.push(i + k * n);
    const { g, attributes } = moving(n * instanced.count, index, ['position', 'normal', 'color']), c = new Color();
    for (let k = 0; k < instanced.count; k++) {
      instanced.instanceColor ? instanced.getColorAt(k, c) : c.copy(instanced.material.color);
      for (let i = 0; i < n; i++) attributes[2].setXYZ(k * n + i, c.r, c.g, c.b);
    }
    this.of = instanced; this.attributes = attributes;
    this.mesh = new Mesh(g, material);
    this.mesh.frustumCulled = false; this.mesh.raycast = () => {};
    this.mesh.layers.set(COARSE); instanced.layers.set(FINE);
  }

  update() {
    this.mesh.visible = this.of.visible;
    if (!this.of.visible) return;
    const [to, turned] = this.attributes.map((a) => a.array), { position: { array: p, count }, normal: { array: w } } = this.one.attributes, X = this.of.instanceMatrix.array;
    for (let k = 0, o = 0; k < this.of.count; k++) {
      const m = 16 * k;
      for (let i = 0; i < 3 * count; i += 3, o += 3) for (let j = 0; j < 3; j++) {
        to[o + j] = X[m + j] * p[i] + X[m + 4 + j] * p[i + 1] + X[m + 8 + j] * p[i + 2] + X[m + 12 + j];
        turned[o + j] = X[m + j] * w[i] + X[m + 4 + j] * w[i + 1] + X[m + 8 + j] * w[i + 2];
      }
    }
    this.attributes[0].needsUpdate = true; this.attributes[1].needsUpdate = true;
  }
}

/** All opaque solids of a figure as one mesh. */
export class Crowd {
  /** solids: [{item, body, geometry}], each geometry in its own frame; material: cheap, with colors of corners */
  constructor(solids, material) {
    const own = ({ index: i, attributes: { position } }) => (i ? i.count : position.count) / 3, index = [];
    const share = TRIANGLES / Math.max(solids.reduce((n, { geometry }) => n + own(geometry), 0), 1);   // what has many keeps many: ribs stay ribs
    let count = 0;
    this.parts = solids.map(({ item, body, geometry }) => {
      const g = coarser(geometry, share >= 1 ? Infinity : Math.max(share * own(geometry), 60)), X = new Matrix4().compose(item.position, item.quaternion, item.scale), N = new Matrix3().setFromMatrix4(X);
      const position = g.attributes.position.clone().applyMatrix4(X).array, normal = g.attributes.normal.clone().applyNormalMatrix(N).array;
      const part = { item, body, position, normal, first: count, n: position.length / 3 };
      const corners = g.index ? g.index.array : Array.from({ length: part.n }, (_, i) => i);
      for (const k of corners) index.push(k + count);
      count += part.n;
      return part;
    });
    const { g, attributes } = moving(count, index, ['position', 'normal', 'color']);
    this.attributes = attributes;
    this.mesh = new Mesh(g, material);
    this.mesh.frustumCulled = false; this.mesh.raycast = () => {};   // the solids themselves are picked
    this.paint();
  }

  /** Colors of the solids, brighter where one is picked. */
  paint() {
    const { array } = this.attributes[2], c = new Color();
    for (const { item, first, n } of this.parts) {
      c.copy(item.material.color).add(item.material.emissive ?? c.clone().setHex(0));
      for (let i = 3 * first; i < 3 * (first + n); i += 3) { array[i] = c.r; array[i + 1] = c.g; array[i + 2] = c.b; }
    }
    this.attributes[2].needsUpdate = true;
  }

  /** Move all corners with their bodies; those of hidden solids to one point. */
  update(nodes) {
    const [to, turned] = this.attributes.map((a) => a.array), m = new Matrix4();
    for (const { item, body, position, normal, first, n } of this.parts) {
      const o = 3 * first;
      if (!item.visible) { to.fill(0, o, o + 3 * n); continue; }
      const e = m.makeRotationFromQuaternion(nodes[body].quaternion).elements, { x, y, z } = nodes[body].position;
      for (let i = 0; i < 3 * n; i += 3) {
        const a = position[i], b = position[i + 1], c = position[i + 2], u = normal[i], v = normal[i + 1], w = normal[i + 2];
        to[o + i] = e[0] * a + e[4] * b + e[8] * c + x; to[o + i + 1] = e[1] * a + e[5] * b + e[9] * c + y; to[o + i + 2] = e[2] * a + e[6] * b + e[10] * c + z;
        turned[o + i] = e[0] * u + e[4] * v + e[8] * w; turned[o + i + 1] = e[1] * u + e[5] * v + e[9] * w; turned[o + i + 2] = e[2] * u + e[6] * v + e[10] * w;
      }
    }
    this.attributes[0].needsUpdate = true; this.attributes[1].needsUpdate = true;
  }
}
