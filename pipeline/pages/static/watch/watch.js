"use strict";
// The page itself: one session, what is set beside it, and what changes when something happens.

const PAUSES = { table: 200, link: 700 }; // milliseconds between changes while it plays

class App {
  constructor() {
    Object.assign(this, { policy: "random", ring: "importance", selected: null, source: null, tool: "look" });
    this.layout = new Layout(() => this.moved());
    this.drawing = new Drawing(the.drawing, this.layout);
    this.player = new Player((steps) => this.advance(steps));
    this.pages = new Pages(the.pages, this.drawing, {
      pick: (page) => this.pick(page),
      remove: (page) => this.change(["gone", page]),
      shift: (page, step) => this.shift(page, step),
      describe: (page) => pageSentence(this.session, page),
    });
    this.gestures = new Gestures(the.pages, this.drawing, {
      tool: () => this.tool,
      ground: (point) => this.ground(point),
      drop: (id, x, y) => this.drop(id, x, y),
      joined: (id, point) => this.joined(id, point),
      zoomed: () => this.moved(),
    });
    this.chart = new Chart(the.chart);
    this.table = new Table(the.table, (id) => this.pick(this.session.ids.indexOf(id), "look"));
    this.editing = new Editing(the.editing, (event) => this.change(event));
  }

  begin(graph, { session = null, policy = this.policy, ring = this.ring } = {}) {
    this.player.pause();
    this.gestures.reset();
    const { seed = 1, window = { name: "whole", parameter: null } } = this.session ?? {};
    this.session = session ?? new Session(graph, seed, window);
    Object.assign(this, { policy, ring, selected: null, source: null });
    if (this.session.graph.start !== null && !session) this.selected = this.session.ids[this.session.graph.start];
    this.layout.take(this.session, { anew: true });
    this.drawing.glow = 0;
    this.drawing.resize();
    this.show();
    this.tell(sentenceOf(this.session));
  }

  /** Steps that are due while it plays. */
  advance(steps) {
    const allowed = Math.min(steps, LIMITS.steps - this.session.opic.steps);
    if (allowed > 0) this.session.apply(["read", this.policy, allowed]);
    this.light();
    if (this.session.finished) {
      this.pause();
      this.tell(`Stopped after ${count(LIMITS.steps)} steps.`);
    } else this.show({ quick: this.player.fast });
    if (this.player.perSecond <= 1) this.tell(sentenceOf(this.session));
  }

  step() {
    this.pause();
    if (this.session.finished) return;
    this.session.apply(["read", this.policy, 1]);
    this.light();
    this.show();
    this.tell(sentenceOf(this.session));
  }

  /** The light of the virtual page, in proportion to the largest gift of late. While steps follow
   * fast it is their mean, so that nothing flashes; without motion it stays off then. */
  light() {
    const { now } = this.session.opic.virtual;
    this.brightest = Math.max(now, (this.brightest ?? 0) * 0.99);
    const glow = Math.min(1, now / this.brightest);
    const { fast } = this.player, calm = this.layout.calm.matches;
    this.drawing.glow = !fast ? glow : calm ? 0 : this.drawing.glow * 0.96 + glow * 0.04;
  }

  toggle() {
    if (this.player.playing) {
      this.pause();
      this.tell(`Paused. ${sentenceOf(this.session)}`);
    } else if (!this.session.finished) {
      this.player.play();
      this.tell("Playing.");
      showControls(this);
    }
  }

  pause() {
    this.player.pause();
    this.show();
  }

  setSpeed(speed) {
    this.player.speed = Math.max(0, Math.min(SPEEDS.length - 1, speed));
    showControls(this);
  }

  set(values) {
    Object.assign(this, values);
    this.show();
  }

  setTool(tool) {
    this.tool = tool;
    this.source = null;
    the.drawing.dataset.tool = tool;
    the["tool-help"].textContent = TOOLS[tool];
  }

  setWindow(name, number) {
    try {
      this.session = this.session.withWindow(windowOf(number === undefined ? name : `${name}:${number}`));
    } catch {
      this.tell("The parameter of the window is a number above 0; k is a whole one.");
    }
    this.show();
  }

  setSeed(text) {
    const seed = Number(text);
    if (!(text !== "" && Number.isInteger(seed) && seed >= 0 && seed < LIMITS.seed)) {
      this.tell("The seed is a whole number from 0 up.");
      showControls(this);
      return;
    }
    const { graph, window } = this.session;
    this.begin(graph, { session: new Session(graph, seed, window) });
  }

  /** A change of the graph; whether it was allowed. at: where a new page appears. */
  change(event, at = null) {
    try {
      this.session.apply(event);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.tell(`Not possible: ${error.message}.`);
      return false;
    }
    if (event[0] === "gone" && !this.session.ids.includes(this.selected)) this.selected = null;
    this.source = null;
    this.layout.take(this.session, { at });
    if (this.drawing.overflows) this.drawing.fit();
    this.show();
    this.tell(sentenceOf(this.session));
    return true;
  }

  /** A page was clicked, or chosen by a key. */
  pick(page, tool = this.tool) {
    const { ids, names } = this.session;
    if (tool === "remove") {
      this.change(["gone", page]);
    } else if (tool === "link" && this.source !== null && this.source !== ids[page]) {
      const from = ids.indexOf(this.source);
      this.source = null;
      this.change(["link", from, page]);
    } else {
      this.selected = ids[page];
      this.source = tool === "link" ? ids[page] : null;
      this.editing.choose(page);
      this.show();
      this.tell(tool === "link" ? `From ${spoken(names[page])}: now choose the page that it links to.`
        : `${pageSentence(this.session, page)}.`);
    }
  }

  /** The ground of the picture was clicked. */
  ground(point) {
    const [x, y] = this.drawing.inPlane(point);
    if (this.tool === "add") {
      this.change(["page", freeName(this.session.names)], { x, y, fx: x, fy: y });
    } else if (this.tool === "move" && this.selected !== null) {
      this.drop(this.selected, x, y);
    } else if (this.tool === "remove") {
      const link = linkAt(this.drawing, this.session, point);
      if (link) this.change(["unlink", ...link]);
    } else if (this.tool === "look") {
      this.set({ selected: null });
    }
  }

  joined(id, point) {
    const to = pageAt(this.drawing, this.session, point), from = this.session.ids.indexOf(id);
    if (to >= 0 && from >= 0 && to !== from) this.change(["link", from, to]);
  }

  drop(id, x, y) {
    this.layout.hold(id, x, y);
  }

  shift(page, [x, y]) {
    const id = this.session.ids[page], [fromX, fromY] = this.drawing.point(id);
    this.drop(id, ...this.drawing.inPlane([fromX + 12 * x, fromY + 12 * y]));
  }

  /** Pages are elsewhere. */
  moved() {
    if (!this.session || !this.drawing.scale) return;
    if (this.drawing.overflows) this.drawing.fit();
    this.drawing.drawLinks(this.session);
    this.drawing.drawCash(this.session, { ring: this.ringParts, selected: this.selected });
    this.pages.move();
  }

  get ringParts() {
    const { session } = this;
    if (this.ring === "importance") return parts(session.estimate);
    if (this.ring === "history") return parts(session.opic.recorded);
    return this.ring === "exact" ? session.exact : null;
  }

  /** Bring the page up to date. quick: only what changes with every step, the rest now and then. */
  show({ quick = false } = {}) {
    const { session, drawing, selected } = this, now = performance.now();
    drawing.drawCash(session, { ring: this.ringParts, selected });
    if (quick && now < (this.shown ?? 0) + PAUSES.table) return;
    this.shown = now;
    this.showNumbers();
    this.chart.draw(session);
    if (quick) {
      this.table.drawSeen(session, selected);
      return;
    }
    this.table.draw(session, selected);
    drawing.drawLinks(session);
    this.pages.draw(session, selected);
    this.pages.hits.call(this.gestures.dragging);
    this.editing.draw(session);
    showControls(this);
    this.showSelected();
    this.noteLink();
  }

  showNumbers() {
    const { opic } = this.session;
    const texts = {
      steps: count(opic.steps),
      error: amount(this.session.errorOf(parts(this.session.estimate))),
      clock: amount(opic.clock),
      "gave-now": amount(opic.virtual.now),
      "gave-total": amount(opic.virtual.total),
      sentence: sentenceOf(this.session),
    };
    for (const [id, text] of Object.entries(texts)) setText(the[id], text);
  }

  showSelected() {
    const page = this.session.ids.indexOf(this.selected);
    the.selected.hidden = page < 0;
    if (page < 0) return;
    the["selected-name"].replaceChildren(pageLink(this.session.names[page]));
    the["selected-text"].textContent = `${pageSentence(this.session, page)}.`;
  }

  /** For screen readers; the eye has the sentence beside the picture. */
  tell(text) {
    the.live.textContent = text;
  }

  link() {
    return location.href.replace(/#.*/s, "") + fragmentOf(this.session, this);
  }

  /** The state into the address, not more often than browsers like. */
  noteLink() {
    clearTimeout(this.noting);
    this.noting = setTimeout(() => {
      const link = this.link();
      the.link.value = link;
      this.own = link;
      history.replaceState(null, "", link);
    }, PAUSES.link);
  }

  exported() {
    const { session } = this;
    return {
      schema: "crawlrank-watch-state/1", version: data.version, link: fragmentOf(session, this),
      graph: session.graph.id, seed: session.seed, policy: this.policy, window: session.window,
      steps: session.opic.steps, clock: session.opic.clock, virtual: session.opic.virtual,
      events: session.events, curve: session.curve, estimate: session.estimate,
      pages: session.ids.map((id, page) => ({
        name: session.names[page], links: session.opic.targets[page], cash: session.opic.cash(page),
        history: session.opic.recorded[page], importance: parts(session.estimate)[page],
        exact: session.exact[page], reads: session.opic.reads[page],
      })),
    };
  }

  /** The state of the address, or the first graph. */
  open() {
    let state = null;
    the.problem.hidden = true;
    try {
      state = stateOf(location.hash);
    } catch (error) {
      if (!(error instanceof RangeError || error instanceof URIError)) throw error;
      the.problem.hidden = false;
      the.problem.textContent = "The link to this page has a state that cannot be shown here: it may"
        + " belong to another file, or be cut. The page begins anew.";
    }
    this.begin(data.graphs[0], state ?? {});
  }
}

const TOOLS = {
  look: "Click a page to see its numbers. Drag it to move it.",
  move: "Click a page, then the place where it shall be.",
  add: "Click where a page shall be.",
  link: "Click a page, then the one that it links to; or drag from page to page.",
  remove: "Click a page or a link that shall go.",
};

const app = new App();
listenToKeys();
listenToControls();
app.setTool("look");
app.open();
new ResizeObserver(() => {
  app.drawing.resize();
  app.show();
}).observe(the.drawing);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  app.drawing.readColours();
  app.show();
});
addEventListener("hashchange", () => {
  if (location.href !== app.own && location.hash !== "#main") app.open();
});
