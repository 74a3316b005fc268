// Scenes of the gallery come when they are near and go when they are far: a browser keeps some sixteen alive, and
// loading="lazy" does nothing for pages that are opened from a folder.
const place = (node) => {
  if (node.firstElementChild) return;
  const frame = document.createElement("iframe");
  frame.src = node.dataset.scene;
  frame.title = `${node.dataset.name}: the scene`;
  node.append(frame);
};
const near = new IntersectionObserver((all) => all.forEach((e) => { if (e.isIntersecting) place(e.target); }), { rootMargin: "150px" });
const far = new IntersectionObserver((all) => all.forEach((e) => { if (!e.isIntersecting) e.target.replaceChildren(); }), { rootMargin: "2000px" });
for (const node of document.querySelectorAll(".scene")) { near.observe(node); far.observe(node); }
