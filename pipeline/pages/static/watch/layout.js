"use strict";
// Where pages are drawn: d3-force from fixed positions and with a fixed seed, so that equal graphs
// look alike. Positions are those of a plane of its own; drawing.js brings them onto the screen.

const VIRTUAL = "virtual"; // the id of the virtual page, a node without links

class Layout {
  /** moved: called after every move. */
  constructor(moved) {
    this.moved = moved;
    this.nodes = new Map();
    this.calm = matchMedia("(prefers-reduced-motion: reduce)");
    this.force = d3.forceSimulation([])
      .stop()
      .force("charge", d3.forceManyBody().strength((node) => (node.id === VIRTUAL ? -160 : -220)))
      .force("collide", d3.forceCollide((node) => node.room))
      .force("x", d3.forceX(0).strength((node) => (node.id === VIRTUAL ? 0.3 : 0.06)))
      .force("y", d3.forceY(0).strength((node) => (node.id === VIRTUAL ? 0.3 : 0.09)))
      .force("link", d3.forceLink([]).id((node) => node.id).distance(70))
      .on("tick", moved);
  }

  /** Take the pages and links of a session. Pages that are known stay about where they
   * are; with `anew` all are laid out from the start. Nothing is drawn yet. at: where new pages appear, if given. */
  take(session, { anew = false, at = null } = {}) {
    const before = anew ? new Map() : this.nodes;
    const first = before.size === 0;
    const nodes = [VIRTUAL, ...session.ids].map((id) => before.get(id) ?? { id, ...at });
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    const { targets } = session.opic, { exact } = session;
    nodes.forEach((node, at) => { // pages that will hold much cash need room
      node.room = at === 0 ? 46 : Math.min(16 + 10 * Math.sqrt(exact[at - 1] * exact.length), 60);
    });
    const links = targets.flatMap((list, page) =>
      list.map((target) => ({ source: session.ids[page], target: session.ids[target] })));
    this.force.randomSource(d3.randomLcg(0.5)).nodes(nodes);
    this.force.force("link").links(links);
    if (first) this.force.alpha(1).tick(nodes.length > 150 ? 200 : 300);
    else if (this.calm.matches) this.force.alpha(0.15).tick(60);
    else this.force.alpha(0.15).restart();
  }

  /** Hold a page at a position. */
  hold(id, x, y) {
    const node = this.nodes.get(id);
    Object.assign(node, { x, y, fx: x, fy: y });
    this.moved();
  }

  at(id) {
    return this.nodes.get(id);
  }

  /** [[left, top], [right, bottom]] of all. */
  get bounds() {
    const all = [...this.nodes.values()];
    return [
      [d3.min(all, (node) => node.x), d3.min(all, (node) => node.y)],
      [d3.max(all, (node) => node.x), d3.max(all, (node) => node.y)],
    ];
  }
}
