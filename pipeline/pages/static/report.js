"use strict";
// Tables of a report that can be searched and ordered, and the buttons that copy.

const DIGITS = { maximumSignificantDigits: 6, useGrouping: false };

/** As Python's "{:.6g}". */
function number(value) {
  if (value === null) return "–";
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -4 || exponent >= 6) {
    const [digits, power] = value.toExponential(5).split("e");
    return `${digits.replace(/\.?0+$/, "")}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }
  return new Intl.NumberFormat("en", DIGITS).format(value);
}

function whole(value) {
  return value === null ? "–" : count(value);
}

function percent(value) {
  if (value > 0 && value < 0.0001) return "<0.01%";
  if (value > 0.9999 && value < 1) return ">99.99%";
  return `${(100 * value).toFixed(2)}%`;
}

function timestamp(value) {
  if (value === null) return "–";
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/.exec(value);
  return parts ? `${parts.slice(1, 4).join("-")} ${parts.slice(4).join(":")}` : printable(value);
}

/** The columns of a row of data.best, in its order; why: [number of the URI, what it gives]. */
const [URI, POSITION, SCORE, CLASS, INLINKS, OUTLINKS, CAPTURES, LAST, WHY] = d3.range(9);

/** A page with the links that give it most: the first one in sight. */
function pageCell(row) {
  const link = pageLink(data.uris[row[URI]]);
  const items = row[WHY].map(([uri, gives]) => element("li", {}, `${number(gives)} from `, pageLink(data.uris[uri])));
  if (!items.length) return link;
  const more = items.length === 1 ? [] : [element("details", {},
    element("summary", {}, `${items.length - 1} more`), element("ul", { class: "why" }, ...items.slice(1)))];
  return element("div", {}, link, element("ul", { class: "why" }, items[0]), ...more);
}

/** A node, as a table would take a string for markup. */
function asNode(shown) {
  return shown instanceof Node ? shown : document.createTextNode(shown);
}

/** What a column shows, and what it is searched and ordered by. */
function column(name, show, options = {}) {
  return {
    data: name,
    className: options.number ? "number" : "",
    type: options.number ? "num" : "string",
    searchable: options.searchable ?? false,
    render: (value, kind) => kind === "display" ? asNode(show(value)) : value ?? (options.number ? -1 : ""),
  };
}

/** The page's own URI is what it is ordered by; its best links are found by a search, too. */
function page(uri, kind, row) {
  if (kind === "display") return pageCell(row);
  const names = kind === "filter" ? [uri, ...row[WHY].map(([source]) => source)] : [uri];
  return names.map((each) => data.uris[each][0]).join(" ");
}

const NUMBER = { number: true };
const tables = {
  "best-pages": {
    rows: data.best,
    columns: [
      column(POSITION, whole, NUMBER),
      { ...column(URI, printable, { searchable: true }), className: "page", render: page },
      column(SCORE, number, NUMBER), column(CLASS, whole, NUMBER), column(INLINKS, whole, NUMBER),
      column(OUTLINKS, whole, NUMBER), column(CAPTURES, whole, NUMBER), column(LAST, timestamp),
    ],
  },
  "all-hosts": {
    rows: data.hosts?.listed,
    columns: [
      column("host", printable, { searchable: true }), column("site", printable, { searchable: true }),
      column("pages", whole, NUMBER), column("captured", whole, NUMBER), column("share", percent, NUMBER),
      column("best", number, NUMBER), column("within", whole, NUMBER), column("incoming", whole, NUMBER),
      column("outgoing", whole, NUMBER),
    ],
  },
};

/** Two tables have two such landmarks. */
function namePaging(region, name) {
  region.querySelector(".dt-paging nav")?.setAttribute("aria-label", `Parts of the table: ${name}`);
}

for (const [id, { rows, columns }] of Object.entries(tables)) {
  const table = document.getElementById(id);
  if (!table || !rows?.length) continue;
  table.tBodies[0].replaceChildren();
  const region = table.closest(".scroll");
  const shown = new DataTable(table, {
    data: rows, columns, order: [], pageLength: 25, autoWidth: false,
    layout: { topStart: "search", topEnd: null, bottomStart: "info", bottomEnd: "paging" },
    language: { search: "Search in this table", info: "_START_ to _END_ of _TOTAL_", infoFiltered: "(of _MAX_ in all)", infoEmpty: "nothing", zeroRecords: "Nothing matches." },
  });
  const name = region.getAttribute("aria-label");
  for (const attribute of ["tabindex", "role", "aria-label", "class"]) region.removeAttribute(attribute);
  shown.on("draw", () => namePaging(region, name));
  namePaging(region, name);
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
