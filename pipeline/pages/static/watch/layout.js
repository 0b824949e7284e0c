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
      .force("collide", d3.forceCollide((node) => (node.id === VIRTUAL ? 46 : 24)))
      .force("x", d3.forceX(0).strength(0.06))
      .force("y", d3.forceY(0).strength(0.09))
      .force("link", d3.forceLink([]).id((node) => node.id).distance(70))
      .on("tick", moved);
  }

  /** Take the pages and links of a session. Pages that are known stay where they are; with `anew`
   * all are laid out from the start. at: where new pages appear, if given. */
  take(session, { anew = false, at = null } = {}) {
    const before = anew ? new Map() : this.nodes;
    const first = before.size === 0;
    const nodes = [VIRTUAL, ...session.ids].map((id) => before.get(id) ?? { id, ...(at ?? {}) });
    this.nodes = new Map(nodes.map((node) => [node.id, node]));
    const { targets } = session.opic;
    const links = targets.flatMap((list, page) =>
      list.map((target) => ({ source: session.ids[page], target: session.ids[target] })));
    this.force.randomSource(d3.randomLcg(0.5)).nodes(nodes);
    this.force.force("link").links(links)
      .strength((link) => 0.6 / Math.min(link.source.degree ?? 1, link.target.degree ?? 1));
    for (const node of nodes) node.degree = 0;
    for (const link of links) {
      link.source.degree += 1;
      link.target.degree += 1;
    }
    this.force.force("link").strength(this.force.force("link").strength());
    if (first) this.force.alpha(1).tick(nodes.length > 150 ? 200 : 300);
    else this.stir(0.15);
    this.moved();
  }

  /** Let the forces move the pages for a while; without motion, at once. */
  stir(alpha) {
    this.force.alpha(alpha);
    if (this.calm.matches) {
      this.force.tick(60);
      this.moved();
    } else this.force.restart();
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
