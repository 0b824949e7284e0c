"use strict";
// What was done since the start, so that it can be done again: runs of reads, and changes of the
// graph. The same events on the same graph with the same seed give the same numbers.
//
// Events: ["read", policy, count], ["page", name], ["gone", page], ["link", from, to],
// ["unlink", from, to], ["virtual", whether it is one more link of every page].

const LIMITS = { steps: 1_000_000, events: 1000, pages: data.most + 100, name: 200, seed: 2 ** 53 };
const POINTS = 400; // of the curve of errors, at most; then every second is dropped

class Session {
  /** window: { name, parameter }. */
  constructor(graph, seed, window) {
    this.graph = graph;
    this.seed = seed;
    this.window = window;
    this.names = graph.names.slice();
    this.ids = graph.names.map((_, page) => page); // stay with a page when others go
    this.newest = this.ids.length;
    this.opic = new Opic(graph.targets.map((list) => list.slice()), false, seed);
    this.events = [];
    this.last = null; // what happened last, for sentences
    this.curve = [];
    this.stride = 1;
    this.solved = null;
    this.changed = false; // since the last error was taken
    this.note();
  }

  /** The same again, with another window: its curve needs all errors anew. */
  withWindow(window) {
    return Session.of(this.graph, this.seed, window, this.events);
  }

  /** Throws RangeError for events that the graph does not allow. */
  static of(graph, seed, window, events) {
    const session = new Session(graph, seed, window);
    for (const event of events) session.apply(event);
    return session;
  }

  get exact() {
    this.solved ??= exactImportance(this.opic);
    return this.solved;
  }

  /** As the window has it; need not sum to 1. */
  get estimate() {
    return WINDOWS[this.window.name].estimate(this.opic, this.window.parameter);
  }

  /** L1: the sum of all differences of importance, scaled to sum 1, from the exact one. */
  errorOf(importance) {
    return importance.reduce((sum, value, page) => sum + Math.abs(value - this.exact[page]), 0);
  }

  note() {
    const { steps } = this.opic;
    if (steps % this.stride !== 0) return;
    const point = { step: steps, error: this.errorOf(parts(this.estimate)) };
    if (this.curve.at(-1)?.step === steps) this.curve.pop();
    this.curve.push(point);
    if (this.curve.length > POINTS) {
      this.stride *= 2;
      this.curve = this.curve.filter(({ step }) => step % this.stride === 0);
    }
  }

  apply(event) {
    const [kind, ...values] = event;
    this.require(this.events.length < LIMITS.events, "that many changes");
    if (kind === "read") this.read(...values);
    else {
      this[kind](...values);
      this.solved = null;
      this.events.push(event);
      this.last = event;
      this.changed = true;
    }
  }

  /** Take the error anew after changes of the graph: once, as the exact importance has to be solved. */
  refresh() {
    if (this.changed) this.note();
    this.changed = false;
  }

  require(true_, what) {
    if (!true_) throw new RangeError(what);
  }

  requirePage(page) {
    this.require(Number.isInteger(page) && page >= 0 && page < this.names.length, "no such page");
  }

  get finished() {
    return this.opic.steps >= LIMITS.steps;
  }

  read(policy, count) {
    this.require(this.opic.steps + count <= LIMITS.steps, "that many steps");
    this.refresh();
    const before = this.events.at(-1);
    if (before?.[0] === "read" && before[1] === policy) before[2] += count;
    else this.events.push(["read", policy, count]);
    for (let done = 0; done < count; done++) {
      const page = this.opic.step(policy);
      this.last = ["read", policy, page, this.opic.log.cash.at(-1)];
      this.note();
    }
  }

  page(name) {
    this.require(this.names.length < LIMITS.pages, `more than ${LIMITS.pages} pages`);
    this.require(name.trim() !== "" && name.length <= LIMITS.name, "no such name");
    this.names.push(name);
    this.ids.push(this.newest);
    this.newest += 1;
    this.opic.replace([...this.opic.targets, []]);
  }

  gone(page) {
    this.requirePage(page);
    this.require(this.names.length > 1, "the last page");
    this.names.splice(page, 1);
    this.ids.splice(page, 1);
    this.opic.remove(page);
  }

  link(from, to) {
    this.relink(from, to, true);
  }

  unlink(from, to) {
    this.relink(from, to, false);
  }

  relink(from, to, wanted) {
    this.requirePage(from);
    this.requirePage(to);
    this.require(from !== to, "a link of a page to itself");
    this.require(this.opic.targets[from].includes(to) !== wanted, "that link twice");
    const targets = this.opic.targets.map((list) => list.slice());
    targets[from] = wanted ? [...targets[from], to].sort((a, b) => a - b)
      : targets[from].filter((target) => target !== to);
    this.opic.replace(targets);
  }

  virtual(linked) {
    this.opic.replace(this.opic.targets, linked);
  }
}
