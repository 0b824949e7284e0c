"use strict";
// Every number of every page: the table of the picture. A heading sorts by its column.

const COLUMNS = [
  { key: "name", title: "Page" },
  { key: "cash", title: "Cash", hint: "what the page holds" },
  { key: "history", title: "History", hint: "all cash that it had when it was read" },
  { key: "importance", title: "Importance", hint: "as the window estimates it" },
  { key: "exact", title: "Exact", hint: "importance without error" },
  { key: "reads", title: "Reads", hint: "how often it was read" },
];

class Table {
  /** pick: called with a page whose name was clicked. */
  constructor(table, pick) {
    this.body = d3.select(table).select("tbody");
    this.sorted = { key: null, down: false };
    const heads = d3.select(table).select("thead tr").selectAll("th").data(COLUMNS).join("th")
      .attr("scope", "col");
    this.heads = heads;
    heads.append("button").attr("type", "button").attr("title", ({ hint }) => hint ?? null)
      .text(({ title }) => title)
      .on("click", (event, column) => this.sortBy(column.key));
    this.pick = pick;
    this.scroll = table.parentElement;
  }

  sortBy(key) {
    const { sorted } = this;
    this.sorted = { key, down: sorted.key === key ? !sorted.down : key !== "name" };
    this.heads.attr("aria-sort", (column) =>
      (column.key !== key ? null : this.sorted.down ? "descending" : "ascending"));
    if (this.session) this.draw(this.session, this.selected);
  }

  rows(session) {
    const { opic } = session, importance = parts(session.estimate);
    return session.ids.map((id, page) => ({
      row: `${session.graph.id} ${id}`, id, name: session.names[page], cash: opic.cash(page), history: opic.recorded[page],
      importance: importance[page], exact: session.exact[page], reads: opic.reads[page],
    }));
  }

  draw(session, selected) {
    Object.assign(this, { session, selected });
    const { key, down } = this.sorted, rows = this.rows(session);
    const collator = new Intl.Collator("en", { numeric: true });
    if (key === "name") rows.sort((a, b) => collator.compare(a.name, b.name));
    else if (key) rows.sort((a, b) => a[key] - b[key]);
    if (down) rows.reverse();
    const lines = this.body.selectAll("tr").data(rows, ({ row }) => row)
      .join((enter) => this.newRow(enter)).order()
      .classed("selected", ({ id }) => id === selected);
    lines.each((row, at, all) => fill(all[at], row));
  }

  /** While it plays fast: the rows that are in sight, where the order stays. */
  drawSeen(session, selected) {
    const lines = this.body.node().rows, { key } = this.sorted;
    const changes = key !== null && key !== "name" && key !== "exact";
    if (changes || lines.length !== session.ids.length) {
      this.draw(session, selected);
      return;
    }
    const { scrollTop, clientHeight, scrollHeight } = this.scroll;
    const rows = new Map(this.rows(session).map((row) => [row.row, row]));
    const perPixel = lines.length / scrollHeight, more = 8; // rows of long names are higher
    const first = Math.max(0, Math.floor(scrollTop * perPixel) - more);
    const end = Math.min(lines.length, Math.ceil((scrollTop + clientHeight) * perPixel) + more);
    for (let at = first; at < end; at++) fill(lines[at], rows.get(d3.select(lines[at]).datum().row));
  }

  newRow(enter) {
    const line = enter.append("tr");
    line.append("th").attr("scope", "row").append("button").attr("type", "button")
      .on("click", (event, { id }) => this.pick(id))
      .append("bdi").text(({ name }) => shortName(name, 48));
    for (let at = 1; at < COLUMNS.length; at++) line.append("td");
    return line;
  }
}

function fill({ cells }, row) {
  [row.cash, row.history, row.importance, row.exact].forEach((value, at) => {
    setText(cells[at + 1], amount(value));
  });
  setText(cells[5], count(row.reads));
}

/** Text of an element, touched only where it is another one. */
function setText(element_, text) {
  if (element_.textContent !== text) element_.textContent = text;
}
