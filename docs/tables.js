// keys can scroll tables that are wider than the page; the theme wraps them when it has loaded
addEventListener("load", () => {
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (wide.scrollWidth > wide.clientWidth) Object.assign(wide, { tabIndex: 0, role: "region", ariaLabel: "table" });
  }
});
