"use strict";
// The pages over the picture, to point at and for the keyboard: a list box of which one page takes
// the focus, arrow keys go to the next page in their direction, and labels.

const LABELS = { all: 30, best: 24, below: 24, letter: 6.6, line: 15 }; // pages; pixels

class Pages {
  /** acts: { pick(page), describe(page) }, pick being what a click or Enter does. */
  constructor(svg, drawing, acts) {
    this.drawing = drawing;
    this.acts = acts;
    this.svg = d3.select(svg);
    this.labels = this.svg.append("g").attr("class", "labels").attr("aria-hidden", "true");
    this.list = this.svg.append("g").attr("role", "listbox").attr("aria-label", "Pages of the graph")
      .attr("aria-describedby", "drawing-help");
    this.current = 0; // the page that takes the focus
  }

  draw(session, selected) {
    this.session = session;
    this.current = Math.min(this.current, session.ids.length - 1);
    const { drawing } = this, radius = Math.max(13, Math.min(26, drawing.radius(1 / session.ids.length)));
    this.svg.attr("viewBox", `0 0 ${drawing.width} ${drawing.height}`);
    this.hits = this.list.selectAll("circle").data(session.ids, (id) => id).join((enter) => enter
      .append("circle").attr("class", "hit").attr("role", "option")
      .on("click", (event, id) => this.pick(id))
      .on("focus", (event, id) => this.focused(id))
      .on("keydown", (event, id) => this.pressed(event, id)))
      .attr("r", radius)
      .attr("aria-selected", (id) => String(id === selected))
      .attr("tabindex", (id, page) => (page === this.current ? 0 : -1));
    this.drawLabels(selected);
    this.move();
    this.describe();
  }

  /** To where they are now. */
  move() {
    const { drawing } = this;
    this.hits?.each(function toPoint(id) {
      const [x, y] = drawing.point(id);
      this.setAttribute("cx", x);
      this.setAttribute("cy", y);
    });
    const taken = [];
    this.labels.selectAll("text").each(function toPoint({ id, text }) {
      const [x, middle] = drawing.point(id), y = middle + LABELS.below + (id === VIRTUAL ? 6 : 0);
      const wide = text.length * LABELS.letter;
      const free = taken.every((other) => Math.abs(other.y - y) > LABELS.line
        || Math.abs(other.x - x) > (other.wide + wide) / 2);
      if (free) taken.push({ x, y, wide });
      this.setAttribute("x", x);
      this.setAttribute("y", y);
      this.setAttribute("visibility", free ? "visible" : "hidden");
    });
  }

  /** Names, of a large graph those of the most important pages; one that would cover another is
   * left out. */
  drawLabels(selected) {
    const { ids, names, exact } = this.session;
    const most = ids.length <= LABELS.all ? ids.length : LABELS.best;
    const first = (page) => (ids[page] === selected ? -Infinity : -exact[page]);
    const named = d3.sort(d3.range(ids.length), first).slice(0, most);
    const texts = named.map((page) => ({ id: ids[page], text: labelOf(names[page]) }));
    this.labels.selectAll("text")
      .data([{ id: VIRTUAL, text: "virtual page" }, ...texts], ({ id }) => id)
      .join("text").order()
      .attr("class", ({ id }) => (id === VIRTUAL ? "virtual" : null))
      .text(({ text }) => text);
  }

  /** What a screen reader says of each page; only where somebody may listen. */
  describe() {
    this.hits.attr("aria-label", (id, page) => this.acts.describe(page));
  }

  pageOf(id) {
    return this.session.ids.indexOf(id);
  }

  pick(id) {
    const page = this.pageOf(id);
    if (page >= 0) this.acts.pick(page);
  }

  focused(id) {
    this.current = this.pageOf(id);
    this.hits.attr("tabindex", (each) => (each === id ? 0 : -1));
    this.hits.filter((each) => each === id).attr("aria-label", this.acts.describe(this.current));
  }

  focus(page) {
    this.hits.nodes()[page]?.focus();
  }

  pressed(event, id) {
    const page = this.pageOf(id), n = this.session.ids.length;
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (step && event.shiftKey) this.acts.shift(page, step);
    else if (step) this.focus(this.towards(page, step));
    else if (event.key === "Home") this.focus(0);
    else if (event.key === "End") this.focus(n - 1);
    else if (event.key === "PageDown") this.focus((page + 1) % n);
    else if (event.key === "PageUp") this.focus((page + n - 1) % n);
    else if (event.key === "Enter" || event.key === " ") this.pick(id);
    else if (event.key === "Delete") this.acts.remove(page);
    else return;
    if (!event.target.isConnected) this.focus(Math.min(page, this.session.ids.length - 1));
    event.preventDefault();
    event.stopPropagation();
  }

  /** The nearest page in a direction, those ahead before those aside; the page itself without one. */
  towards(page, [alongX, alongY]) {
    const points = this.session.ids.map((id) => this.drawing.point(id)), [x, y] = points[page];
    const far = points.map(([toX, toY], other) => {
      const ahead = (toX - x) * alongX + (toY - y) * alongY;
      const aside = Math.abs((toX - x) * alongY) + Math.abs((toY - y) * alongX);
      return other !== page && ahead > 0 && aside <= 2 * ahead ? ahead + 2 * aside : Infinity;
    });
    const nearest = d3.minIndex(far);
    return far[nearest] < Infinity ? nearest : page;
  }
}
