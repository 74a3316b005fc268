// The page beside which benchmarks/frames.py measures: muscles as new TubeGeometries in every picture.
import * as THREE from 'three';
const data = JSON.parse(document.getElementById('data').textContent), canvas = document.getElementById('scene');
const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
renderer.setSize(innerWidth, innerHeight, false);
const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(36, innerWidth / innerHeight, 0.01, 100);
scene.background = new THREE.Color('#f1f4f6');
camera.position.fromArray(data.eye); camera.lookAt(new THREE.Vector3(...data.middle));
scene.add(new THREE.HemisphereLight('#ffffff', '#8b8f99', 1.9));
const sun = new THREE.DirectionalLight('#fff6e8', 2.1); sun.position.set(1, 3, 2); scene.add(sun);
scene.add(new THREE.GridHelper(4, 20));
const bone = new THREE.MeshStandardMaterial({ color: '#e9e1d3' });
const bodies = data.poses[0].map(() => scene.add(new THREE.Mesh(new THREE.SphereGeometry(0.04), bone)).children.at(-1));
const muscles = data.counts.map(() => scene.add(new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshStandardMaterial())).children.at(-1));
const low = new THREE.Color('#3f6fc4'), high = new THREE.Color('#d8231c');
window.peer = { shown: 0, script: 0 };
let begin = null;
requestAnimationFrame(function tick(now) {
  begin ??= now;
  const frame = Math.floor((now - begin) / 10) % data.poses.length, at = performance.now();
  bodies.forEach((b, i) => b.position.fromArray(data.poses[frame][i]));
  let o = 0;
  muscles.forEach((m, i) => {
    const points = [];
    for (let k = 0; k < data.counts[i]; k++, o += 3) {
      const p = new THREE.Vector3(data.points[frame][o], data.points[frame][o + 1], data.points[frame][o + 2]);
      if (!points.length || points.at(-1).distanceTo(p) > 1e-6) points.push(p);
    }
    m.geometry.dispose();
    m.geometry = new THREE.TubeGeometry(new THREE.CatmullRomCurve3(points), 16, 0.012, 8);
    m.material.color.lerpColors(low, high, data.paint[frame][i]);
  });
  peer.script += performance.now() - at;
  renderer.render(scene, camera); peer.shown++;
  requestAnimationFrame(tick);
});
document.documentElement.dataset.ready = 'yes';
