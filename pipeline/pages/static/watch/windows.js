"use strict";
// Importance estimated from reads, by the windows of Adaptive OPIC. Definitions, starts and order of
// sums are those of pipeline/lab/simulation.py. Estimates need not sum to 1.

/** All history: (H + C) / (clock + total). */
function wholeWindow(opic) {
  let total = 0;
  for (let page = 0; page < opic.nodes; page++) total += opic.cash(page);
  return opic.recorded.map((history, page) => (history + opic.cash(page)) / (opic.clock + total));
}

/** The first read after a moment of the clock. */
function firstAfter(clock, moment) {
  let low = 0, high = clock.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (clock[middle] > moment) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The last T of the clock: the cash of its reads / T. measures: how many reads of each page. */
function fixedWindow(opic, time) {
  const { pages, cash, clock } = opic.log;
  const sums = new Array(opic.nodes).fill(0), measures = sums.slice();
  for (let at = firstAfter(clock, opic.clock - time); at < pages.length; at++) {
    sums[pages[at]] += cash[at];
    measures[pages[at]] += 1;
  }
  const importance = sums.map((sum, page) => {
    const passed = Math.min(time, opic.clock - opic.born[page]);
    return passed > 0 ? sum / passed : 0;
  });
  return { importance, measures };
}

/** The last k reads of each page: their cash / the clock between the last and the one before them. */
function variableWindow(opic, visits) {
  const { pages, cash, clock } = opic.log, n = opic.nodes;
  const sums = new Array(n).fill(0), counts = sums.slice(), ends = sums.slice();
  const starts = opic.born.slice();
  let open = n; // pages whose start is not known yet
  for (let at = pages.length - 1; at >= 0 && open > 0; at--) {
    const page = pages[at];
    if (counts[page] < visits) {
      if (counts[page] === 0) ends[page] = clock[at];
      sums[page] += cash[at];
      counts[page] += 1;
    } else if (counts[page] === visits) {
      starts[page] = clock[at];
      counts[page] += 1;
      open -= 1;
    }
  }
  return sums.map((sum, page) => counts[page] > 0 && ends[page] > starts[page]
    ? sum / (ends[page] - starts[page]) : opic.prior[page]);
}

/** The last T of the clock, but at least 3 reads of each page. */
function improvedWindow(opic, time) {
  const recent = fixedWindow(opic, time), last = variableWindow(opic, data.least);
  return recent.importance.map((value, page) =>
    recent.measures[page] < data.least ? last[page] : value);
}

/** One number of history a page, which fades as the clock passes. */
function interpolatedWindow(opic, time) {
  const { pages, cash, clock } = opic.log;
  const history = opic.prior.map((value) => value * time), last = opic.born.slice();
  for (let at = 0; at < pages.length; at++) {
    const page = pages[at], since = clock[at] - last[page];
    history[page] = since < time ? (history[page] * (time - since)) / time + cash[at]
      : (cash[at] * time) / since;
    last[page] = clock[at];
  }
  return history.map((value) => value / time);
}

/** Each window: its parameter, null without one; what it takes at first; its estimate. */
const WINDOWS = {
  whole: { parameter: null, estimate: wholeWindow },
  fixed: { parameter: "T", first: 4, estimate: (opic, time) => fixedWindow(opic, time).importance },
  improved: { parameter: "T", first: 4, estimate: improvedWindow },
  variable: { parameter: "k", first: 8, estimate: variableWindow },
  interpolation: { parameter: "T", first: 4, estimate: interpolatedWindow },
};

/** Parts of the sum of a list, or equal parts where it is 0. */
function parts(values) {
  const total = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => (total > 0 ? value / total : 1 / values.length));
}
