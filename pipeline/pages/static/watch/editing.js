"use strict";
// Forms that add and remove pages and links: all that the mouse can do, for the keyboard.

class Editing {
  /** change: called with an event of session.js; it says whether the graph allowed it. */
  constructor(root, change) {
    this.root = root;
    this.change = change;
    this.lists = [...root.querySelectorAll("select")];
    const on = (name, act) => root.querySelector(`[data-act="${name}"]`).addEventListener("click", act);
    root.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.addPage();
    });
    on("link", () => this.change(["link", this.chosen("from"), this.chosen("to")]));
    on("unlink", () => this.change(["unlink", this.chosen("from"), this.chosen("to")]));
    on("gone", () => this.change(["gone", this.chosen("gone")]));
  }

  chosen(name) {
    return this.root.querySelector(`[name="${name}"]`).selectedIndex;
  }

  addPage() {
    const input = this.root.querySelector('[name="new"]');
    const name = input.value.trim() || freeName(this.session.names);
    if (this.change(["page", name.toWellFormed()])) input.value = "";
  }

  /** The lists of pages, which stay on the pages that they are on. */
  draw(session) {
    this.session = session;
    if (this.drawn === String(session.ids) + session.graph.id) return;
    this.drawn = String(session.ids) + session.graph.id;
    for (const list of this.lists) {
      const before = list.value;
      list.replaceChildren(...session.ids.map((id, page) =>
        element("option", { value: id }, shortName(session.names[page], 60))));
      list.value = before;
      if (list.selectedIndex < 0) list.selectedIndex = list.name === "to" && session.ids.length > 1 ? 1 : 0;
    }
  }

  /** Put a page that was picked into the lists. */
  choose(page) {
    const to = this.root.querySelector('[name="to"]');
    this.root.querySelector('[name="from"]').selectedIndex = page;
    this.root.querySelector('[name="gone"]').selectedIndex = page;
    if (to.selectedIndex === page) to.selectedIndex = (page + 1) % to.length;
  }
}

/** `new 1`, or the next that no page has. */
function freeName(names) {
  for (let number = 1; ; number++) {
    if (!names.includes(`new ${number}`)) return `new ${number}`;
  }
}
