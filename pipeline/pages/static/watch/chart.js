"use strict";
// The error against the exact importance, step by step: a curve on a logarithmic scale, its table,
// and its last value.

const ROWS = 20; // of the table, at most
const LEAST = 1e-16; // what is below is drawn there

class Chart {
  constructor(frame) {
    this.svg = d3.select(frame).select("svg");
    this.frame = frame;
    this.rows = d3.select(frame).select("tbody");
    this.parts = Object.fromEntries(["across", "up", "line", "changes", "last"].map((name) =>
      [name, this.svg.append("g").attr("class", name)]));
    this.curve = this.parts.line.append("path");
  }

  draw(session) {
    session.refresh();
    const width = this.frame.clientWidth, height = width < 400 ? 190 : 220;
    const points = session.curve.map(({ step, error }) => ({ step, error: Math.max(error, LEAST) }));
    const { steps } = session.opic;
    const last = { step: steps, error: Math.max(session.errorOf(parts(session.estimate)), LEAST) };
    if (points.at(-1).step < steps) points.push(last);
    const x = d3.scaleLinear([0, Math.max(20, steps)], [56, width - 14]);
    // in a regular graph equal parts are right until something is read: no reason for 16 decades
    const least = d3.min(points.slice(points.length > 1 ? 1 : 0), ({ error }) => error);
    const y = d3.scaleLog([10 ** Math.floor(Math.log10(least) - 0.01), 2], [height - 28, 10]).clamp(true);
    this.svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height);
    const ticks = Math.max(2, Math.floor(width / 110));
    this.parts.across.attr("transform", `translate(0 ${height - 28})`)
      .call(d3.axisBottom(x).ticks(ticks, "~s").tickSizeOuter(0));
    const decades = Math.round(Math.log10(y.domain()[1] / y.domain()[0]));
    this.parts.up.attr("transform", "translate(56 0)")
      .call(d3.axisLeft(y).ticks(Math.min(decades, 5), "~g").tickSize(-(width - 70)));
    this.curve.attr("d", d3.line(({ step }) => x(step), ({ error }) => y(error))(points));
    this.parts.last.selectAll("circle").data([last]).join("circle").attr("r", 4)
      .attr("cx", x(last.step)).attr("cy", y(last.error));
    this.drawChanges(session, x, height);
    this.svg.attr("aria-label", `Error by step, ${amount(last.error)} after ${count(steps)} steps.`
      + " Its table is below.");
    this.drawRows(points);
  }

  /** A mark at every change of the graph, where the exact importance is another from then on. */
  drawChanges(session, x, height) {
    let step = 0;
    const at = [];
    for (const event of session.events) {
      if (event[0] === "read") step += event[2];
      else at.push(step);
    }
    this.parts.changes.selectAll("path").data([...new Set(at)]).join("path")
      .attr("d", (each) => `M${x(each)},10V${height - 28}`);
  }

  drawRows(points) {
    if (!this.frame.querySelector("details").open) return;
    const every = Math.ceil(points.length / ROWS);
    const chosen = points.filter((_, at) => at % every === 0 || at === points.length - 1);
    this.rows.selectAll("tr").data(chosen).join("tr").selectAll("td")
      .data(({ step, error }) => [count(step), amount(error)]).join("td").text((text) => text);
  }
}
