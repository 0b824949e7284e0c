"use strict";
// The charts of a report: name -> a function of the width that returns an element, or null.

const ACCENT = "var(--accent)", SECOND = "var(--second)", FAINT = "var(--faint)";
const LARGE = new Intl.NumberFormat("en", { notation: "compact" });

/** A plot in letters that can be read. */
function plot(options) {
  return Plot.plot({ ...options, style: { fontSize: "13px" } });
}

/** Text of at most so many letters. */
function cut(text, length) {
  const shown = printable(text), half = Math.floor(length / 2);
  return shown.length <= length ? shown : `${shown.slice(0, half)}…${shown.slice(1 - half)}`;
}

/** How many letters fit a width. */
function letters(width) {
  return Math.max(6, Math.floor((width - 8) / 8));
}

/** Labels of a logarithmic axis: numbers near 1, else powers of ten such as 10⁻⁹. */
function power(value) {
  if (value >= 0.01 && value < 1e6) return LARGE.format(value);
  const exponent = Math.round(Math.log10(value));
  if (Math.abs(value / 10 ** exponent - 1) > 1e-9) return "";
  return `10${[...String(exponent)].map((c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("")}`;
}

/** Bars of rows, one below the other. */
function bars(rows, label, width, unit) {
  const left = Math.min(190, width * 0.45);
  const shown = rows.map((row, index) => ({ index, name: cut(row[label], letters(left)), value: row.count ?? row.value }));
  const most = d3.max(shown, (row) => row.value);
  return plot({
    width, height: 24 * shown.length + 66, marginBottom: 46, marginLeft: left, marginRight: 60,
    x: { label: unit, labelOffset: 40, grid: true, ticks: Math.max(2, width / 120), tickFormat: (d) => LARGE.format(d), domain: [0, most || 1] },
    y: { label: null, domain: shown.map((row) => row.index), tickFormat: (index) => shown[index].name, tickSize: 0 },
    marks: [
      Plot.barX(shown, { x: "value", y: "index", fill: ACCENT }),
      Plot.text(shown, { x: "value", y: "index", text: (row) => unit === "seconds" ? row.value.toFixed(1) : count(row.value), textAnchor: "start", dx: 4 }),
    ],
  });
}

/** Lines of points [x, y] on logarithmic axes. series: name, points, colour and dash of each. */
function curves(series, width, x, y, options = {}) {
  const drawn = series.filter((line) => line.points.length);
  const chart = plot({
    width, height: Math.min(380, Math.max(240, width * 0.5)), marginTop: 32, marginLeft: 60, marginBottom: 46,
    x: { label: x, labelOffset: 40, grid: true, ...(options.x ?? { type: "log", ticks: Math.max(2, width / 130), tickFormat: power }) },
    y: { label: y, grid: true, ...(options.y ?? { type: "log", ticks: 5, tickFormat: power }) },
    marks: [
      ...(options.rules ?? []),
      ...drawn.map((line) => Plot.line(line.points, {
        x: (point) => point[0], y: (point) => point[1], stroke: line.colour, strokeWidth: 2,
        strokeDasharray: line.dash ?? null, marker: line.points.length < (options.curve ? 2 : 40) ? "dot" : null, curve: options.curve,
      })),
    ],
  });
  if (drawn.length < 2) return chart;
  const legend = drawn.map((line) => {
    const key = element("span", line.dash ? { class: "dashed" } : {});
    key.style.borderTopColor = line.colour;
    return element("li", {}, key, line.name);
  });
  return element("div", {}, element("ul", { class: "legend" }, ...legend), chart);
}

/** Counts from rows to columns as shades; 0 is empty. Names are left out where there is no room. */
function heat(cells, names, width, options) {
  const most = d3.max(cells, (cell) => cell.value) || 1;
  const longest = Math.min(22, d3.max(names, (name) => printable(name).length));
  const side = Math.min(24 + 7.5 * longest, width * 0.4), size = (width - side - 20) / names.length;
  const rows = Math.max(16, Math.min(size, 32)), every = Math.ceil(15 / Math.min(size, rows));
  const named = (index) => index % every ? "" : cut(names[index], Math.min(22, letters(side + 16)));
  const below = longest < 4 ? 40 : side;
  const shade = (value) => 0.12 + 0.88 * Math.log1p(value) / Math.log1p(most);
  const chart = plot({
    width, height: rows * names.length + below + 36, marginTop: 36, marginLeft: side + 16, marginBottom: below, marginRight: 4,
    x: { label: options.x, labelAnchor: "left", labelOffset: below - 6, domain: d3.range(names.length), tickFormat: (index) => size < 15 && index % Math.ceil(15 / size) ? "" : cut(names[index], Math.min(22, letters(side))), tickRotate: longest < 4 ? 0 : -60, tickSize: 0 },
    y: { label: options.y, labelAnchor: "top", labelArrow: "none", domain: d3.range(names.length), tickFormat: named, tickSize: 0 },
    marks: [
      Plot.frame({ stroke: FAINT }),
      Plot.cell(cells.filter((cell) => cell.value), { x: "x", y: "y", fill: ACCENT, stroke: ACCENT, strokeWidth: 0.75, inset: 1, fillOpacity: (cell) => shade(cell.value) }),
    ],
  });
  const between = d3.range(1, Math.ceil(Math.log10(most))).map((power) => 10 ** power);
  const values = [...new Set([1, ...between.slice(-3), most])];
  const legend = values.map((value) => {
    const key = element("span", { class: "shade" }), colour = element("span", {});
    colour.style.opacity = shade(value);
    key.append(colour);
    return element("li", {}, key, `${count(value)} ${value === 1 ? options.unit.slice(0, -1) : options.unit}`);
  });
  return element("div", {}, element("ul", { class: "legend" }, ...legend, element("li", {}, element("span", { class: "shade" }), "none")), chart);
}

/** Of degrees; 0 is on no such axis. */
function degrees(curve, label, width) {
  return curves([{ name: label, points: curve.filter((point) => point[0] > 0), colour: ACCENT }], width, label, "share of pages", { curve: "step-before" });
}

const charts = {
  status: (width) => bars(data.input.by_status, "status", width, "captures"),
  type: (width) => bars(data.input.by_type, "type", width, "captures"),
  host: (width) => bars(data.captured_hosts.listed, "host", width, "captures"),
  hop: (width) => bars(data.links.by_hop, "meaning", width, "links"),
  indegrees: (width) => degrees(data.structure.indegrees.curve, "links in", width),
  outdegrees: (width) => degrees(data.structure.outdegrees.curve, "links out", width),
  parts: (width) => bars(data.structure.parts.map((row) => ({ part: row.part, value: row.nodes })), "part", width, "pages"),
  rounds: (width) => curves(
    [{ name: "certificate", points: data.rounds.rounds.filter((r) => r.certificate > 0).map((r) => [r.round, r.certificate]), colour: ACCENT }],
    width, "round", "certificate", { x: { type: "linear", ticks: Math.min(data.rounds.rounds.length, Math.max(2, Math.floor(width / 80))), tickFormat: "d" } }),
  scores: (width) => curves([
    { name: "all pages", points: data.scores.all, colour: ACCENT },
    { name: "captured pages", points: data.scores.of_captured, colour: SECOND, dash: "6 4" },
  ], width, "score", "share of pages", { rules: boundaries(width), curve: "step-before" }),
  classes: (width) => plot({
    width, height: 40 * data.classes.classes.length + 76, marginBottom: 46, marginLeft: 60, marginRight: 60,
    x: { label: "pages", labelOffset: 40, grid: true, ticks: Math.max(2, width / 120), tickFormat: (d) => LARGE.format(d) },
    y: { label: "class", domain: data.classes.classes.map((row) => row.precedence), tickSize: 0 },
    marks: [
      Plot.barX(data.classes.classes, { x: "nodes", y: "precedence", fill: ACCENT, fillOpacity: 0.25, stroke: ACCENT }),
      Plot.barX(data.classes.classes, { x: "nodes_captured", y: "precedence", fill: ACCENT }),
      Plot.text(data.classes.classes, { x: "nodes", y: "precedence", text: (row) => count(row.nodes), textAnchor: "start", dx: 4 }),
    ],
  }),
  "host-links": (width) => {
    const size = data.hosts.linked.length;
    const cells = data.hosts.linked.flatMap((row, y) => row.map((value, x) => ({ x, y, value })));
    return heat(cells, data.hosts.listed.slice(0, size).map((row) => row.host), width, { x: "to", y: "from", unit: "links" });
  },
  opic: (width) => curves(
    [{ name: "certificate", points: data.opic.opic.history.filter((row) => row.certificate > 0).map((row) => [row.visits, row.certificate]), colour: ACCENT }],
    width, "pages read", "certificate", { x: { type: "linear", ticks: Math.max(2, width / 130), tickFormat: (d) => LARGE.format(d) } }),
  changes: (width) => {
    const cells = data.changes.classes.flatMap((row, y) => row.map((value, x) => ({ x, y, value })));
    return heat(cells, data.changes.classes.map((_, index) => String(index + 1)), Math.min(width, 560), { x: "class now", y: "class before", unit: "pages" });
  },
  steps: (width) => bars(data.run.steps.filter((row) => row.seconds !== null).map((row) => ({ step: row.step, value: row.seconds })), "step", width, "seconds"),
};

/** Lines at the lowest score of each class but the last, with the classes where there is room. */
function boundaries(width) {
  const classes = data.classes?.classes.slice(0, -1).filter((row) => row.score_lowest > 0) ?? [];
  if (classes.length > 12) return [];
  const [low, high] = d3.extent([...data.scores.all, ...data.scores.of_captured], (point) => point[0] || undefined);
  const named = [];
  let before = Infinity;
  for (const row of classes) {
    const at = (width - 80) * Math.log(row.score_lowest / low) / Math.log(high / low);
    if (Math.abs(before - at) < 12) continue;
    named.push(row);
    before = at;
  }
  return [
    Plot.ruleX(classes, { x: "score_lowest", stroke: FAINT, strokeDasharray: "2 3" }),
    Plot.text(named, { x: "score_lowest", frameAnchor: "top", text: "precedence", dy: -14, fill: FAINT }),
  ];
}

/** The chart as a picture alone: its caption names it, and its numbers are in the table below. */
function plain(chart) {
  for (const each of chart.querySelectorAll("svg [aria-label]")) each.removeAttribute("aria-label");
  chart.removeAttribute("aria-label");
  if (chart instanceof SVGElement) for (const each of chart.children) each.removeAttribute("aria-label");
  return chart;
}

/** Draw a chart into its element, and anew when its width changes. */
function draw(figure) {
  const make = charts[figure.dataset.chart];
  figure.setAttribute("role", "img");
  figure.setAttribute("aria-labelledby", `caption-${figure.dataset.chart}`);
  const around = figure.parentElement; // a figure that is empty is not shown, and has no width
  let drawn = 0;
  const show = () => {
    const width = Math.floor(around.clientWidth);
    if (!width || width === drawn) return;
    drawn = width;
    const chart = make(Math.min(width, 900));
    figure.replaceChildren(...(chart ? [plain(chart)] : []));
  };
  new ResizeObserver(() => requestAnimationFrame(show)).observe(around);
  show();
}

document.querySelectorAll("[data-chart]").forEach(draw);
