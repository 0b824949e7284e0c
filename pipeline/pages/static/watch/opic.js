"use strict";
// OPIC, one read after another: the equations, and the order of all sums, of Python's simulation
// (pipeline/lab/simulation.py and pipeline/ranking/opic.py), so that both give the same numbers.
//
// All pages together hold cash 1. A page that is read records its cash and gives it away: to each of
// its d targets and to the virtual page, which pays it at once to all pages in equal parts. With
// PageRank's virtual page a target gets (1 - base)/d of the cash; with the paper's, which is one more
// link of every page, 1/(d + 1). A page without targets gives all to the virtual page. The clock is
// all cash that was read so far.

/** What Python's equation says; see pipeline/lab/watch.py. */
const { base: BASE, damping: DAMPING } = data.equation;

class Opic {
  /** targets: of each page the numbers of its targets, ascending. linked: whether the virtual page
   * is one more link of every page. seed: of the policy random. */
  constructor(targets, linked, seed) {
    const n = targets.length;
    this.stored = new Array(n).fill(1 / n); // cash, less what the virtual page gave since a read
    this.given = 0; // to each page by the virtual page, in this run of reads of one policy
    this.recorded = new Array(n).fill(0);
    this.reads = new Array(n).fill(0);
    this.born = new Array(n).fill(-1);
    this.prior = this.stored.slice();
    this.log = { pages: [], cash: [], clock: [] };
    this.random = new Random(seed);
    this.next = 0;
    this.policy = null;
    this.clock = this.begun = this.since = 0; // begun: the clock at the first read of this run
    this.virtual = { now: 0, total: 0 };
    this.steps = 0;
    this.connect(targets, linked);
  }

  get nodes() {
    return this.stored.length;
  }

  /** Cash of a page. */
  cash(page) {
    return this.stored[page] + this.given;
  }

  /** One read by a policy; the page. */
  step(policy) {
    if (policy !== this.policy) this.settle();
    this.policy = policy;
    const page = this.chosen(policy);
    this.read(page);
    return page;
  }

  chosen(policy) {
    const n = this.nodes;
    if (policy === "random") return this.random.below(n);
    if (policy === "cycle") {
      const page = this.next % n;
      this.next = (page + 1) % n;
      return page;
    }
    let richest = 0; // of equal ones the first; gifts of the virtual page change no order
    for (let page = 1; page < n; page++) {
      if (this.stored[page] > this.stored[richest]) richest = page;
    }
    return richest;
  }

  read(page) {
    const n = this.nodes, held = this.stored[page] + this.given, targets = this.targets[page];
    this.stored[page] = -this.given;
    this.recorded[page] += held;
    this.reads[page] += 1;
    this.since += held;
    this.clock = this.begun + this.since;
    this.log.pages.push(page);
    this.log.cash.push(held);
    this.log.clock.push(this.clock);
    const part = held * this.share[page];
    for (const target of targets) this.stored[target] += part;
    const each = targets.length === 0 ? 1 / n
      : this.linked ? (1 / n) * this.share[page] : BASE / n;
    this.given += held * each;
    this.virtual.now = held * this.rest(page);
    this.virtual.total += this.virtual.now;
    this.steps += 1;
  }

  /** The part of its cash that a page gives to the virtual page. */
  rest(page) {
    if (this.targets[page].length === 0) return 1;
    return this.linked ? this.share[page] : BASE;
  }

  /** End a run of reads: add what the virtual page has given to all cash. */
  settle() {
    this.stored = this.stored.map((cash) => cash + this.given);
    this.given = this.since = 0;
    this.begun = this.clock;
  }

  connect(targets, linked) {
    this.targets = targets;
    this.linked = linked;
    this.share = targets.map(({ length }) =>
      length === 0 ? 0 : linked ? 1 / (length + 1) : DAMPING / length);
  }

  /** Continue with other links, and with more pages where there are more targets. A new page has no
   * cash, and until it is read the mean importance of pages that are at most one unit of the clock
   * old, or of all pages. */
  replace(targets, linked = this.linked) {
    this.settle();
    const importance = WINDOWS.whole.estimate(this), n = this.nodes;
    let newest = importance.filter((_, page) => this.born[page] > this.clock - 1);
    if (newest.length === 0) newest = importance;
    const mean = newest.reduce((sum, value) => sum + value, 0) / newest.length;
    for (let page = n; page < targets.length; page++) {
      this.stored.push(0);
      this.recorded.push(0);
      this.reads.push(0);
      this.born.push(this.clock);
      this.prior.push(mean);
    }
    this.connect(targets, linked);
  }

  /** Continue without a page: its cash goes to all others in equal parts, its history is forgotten. */
  remove(page) {
    this.settle();
    const cash = this.stored[page], others = this.nodes - 1;
    for (const list of [this.stored, this.recorded, this.reads, this.born, this.prior]) list.splice(page, 1);
    this.stored = this.stored.map((held) => held + cash / others);
    const kept = this.log.pages.map((each) => each !== page);
    this.log = {
      pages: this.log.pages.filter((_, at) => kept[at]).map((each) => each - (each > page ? 1 : 0)),
      cash: this.log.cash.filter((_, at) => kept[at]),
      clock: this.log.clock.filter((_, at) => kept[at]),
    };
    if (this.next > page) this.next -= 1;
    this.next %= others;
    const targets = this.targets.filter((_, each) => each !== page).map((list) =>
      list.filter((each) => each !== page).map((each) => each - (each > page ? 1 : 0)));
    this.connect(targets, this.linked);
  }
}

/** The exact importance: x = A x + g for the same gift g to all pages, scaled to sum 1. Gauss without
 * a choice of pivots, as the diagonal of I - A dominates its columns. */
function exactImportance(opic) {
  const n = opic.nodes;
  const rows = Array.from({ length: n }, (_, at) => {
    const row = new Float64Array(n + 1);
    row[at] = row[n] = 1;
    return row;
  });
  opic.targets.forEach((targets, page) => {
    for (const target of targets) rows[target][page] -= opic.share[page];
  });
  for (let column = 0; column < n; column++) {
    const pivot = rows[column];
    for (let at = column + 1; at < n; at++) {
      const factor = rows[at][column] / pivot[column];
      if (factor === 0) continue;
      for (let k = column; k <= n; k++) rows[at][k] -= factor * pivot[k];
    }
  }
  const x = new Array(n);
  for (let at = n - 1; at >= 0; at--) {
    let value = rows[at][n];
    for (let k = at + 1; k < n; k++) value -= rows[at][k] * x[k];
    x[at] = value / rows[at][at];
  }
  const total = x.reduce((sum, value) => sum + value, 0);
  return x.map((value) => value / total);
}
