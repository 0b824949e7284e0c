"use strict";
// Tables of a report that can be searched and ordered, and the buttons that copy.

const DIGITS = { maximumSignificantDigits: 6, useGrouping: false };

/** As Python's "{:.6g}". */
function number(value) {
  if (value === null) return "–";
  if (value === 0) return "0";
  const [digits, power] = value.toExponential(5).split("e");
  if (power >= -4 && power < 6) return new Intl.NumberFormat("en", DIGITS).format(value);
  return `${digits.replace(/\.?0+$/, "")}e${power[0]}${power.slice(1).padStart(2, "0")}`;
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

/** The columns of a row of data.best, in its order; why: [number of the URI, what it gives]. The last
 * three are absent where none is known. */
const [URI, POSITION, SCORE, CLASS, INLINKS, OUTLINKS, CAPTURES, LAST, WHY, TITLE, REPLAY, CALLED] = d3.range(12);

/** The title of a page, and a link to a replay of its capture, in an element; none without both. */
function described(row) {
  const shown = row[TITLE] ? [element("bdi", {}, printable(row[TITLE]))] : [];
  if (row[REPLAY] && /^https?:\/\//i.test(row[REPLAY])) shown.push(" ", element("a",
    { class: "replay", href: row[REPLAY], rel: "noopener nofollow", target: "_blank" }, "as captured"));
  return shown.length ? [element("span", { class: "described" }, ...shown)] : [];
}

/** What links call a page, in an element; none where that is not known. */
function called(row) {
  return row[CALLED] ? [element("p", { class: "called" }, "called ", element("bdi", {}, printable(row[CALLED])))] : [];
}

/** A page with the links that give it most: the first one in sight. */
function pageCell(row) {
  const link = element("div", {}, pageLink(data.uris[row[URI]]), ...described(row), ...called(row));
  const items = row[WHY].map(([uri, gives]) => element("li", {}, `${number(gives)} from `, pageLink(data.uris[uri])));
  if (!items.length) return link;
  const more = items.length === 1 ? [] : [element("details", {},
    element("summary", {}, `${items.length - 1} more`), element("ul", { class: "why" }, ...items.slice(1)))];
  return element("div", {}, ...link.childNodes, element("ul", { class: "why" }, items[0]), ...more);
}

/** A node, as a table would take a string for markup. */
function asNode(shown) {
  return shown instanceof Node ? shown : document.createTextNode(shown);
}

/** Text to search in: a table reads it as markup, so what would be markup is escaped. */
function asFiltered(text) {
  return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** What a column shows, and what it is searched and ordered by. */
function column(name, show, options = {}) {
  return {
    data: name,
    className: options.number ? "number" : "",
    type: options.number ? "num" : "string",
    searchable: options.searchable ?? false,
    render: (value, kind) => {
      if (kind === "display") return asNode(show(value));
      return kind === "filter" ? asFiltered(value ?? "") : value ?? (options.number ? -1 : "");
    },
  };
}

/** The page's own URI is what it is ordered by; its best links are found by a search, too. */
function page(uri, kind, row) {
  if (kind === "display") return pageCell(row);
  const names = kind === "filter" ? [uri, ...row[WHY].map(([source]) => source)] : [uri];
  const text = [...names.map((each) => data.uris[each][0]), row[TITLE] ?? "", row[CALLED] ?? ""].join(" ");
  return kind === "filter" ? asFiltered(text) : text;
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

/** A table makes its buttons anew, and takes Enter alone for a click. */
function keepFocus(region) {
  let index = null;
  region.addEventListener("keydown", (event) => {
    const button = event.target.closest("thead [role=button], .dt-paging button");
    index = button?.closest(".dt-paging") ? button.dataset.dtIdx : null;
    if (event.key === " " && button?.closest("thead")) {
      event.preventDefault();
      button.click();
    }
  });
  new MutationObserver(() => {
    if (index === null || document.activeElement !== document.body) return;
    const buttons = [...region.querySelectorAll(".dt-paging button:not(:disabled)")];
    (buttons.find((button) => button.dataset.dtIdx === index) ?? buttons[0])?.focus();
  }).observe(region, { childList: true, subtree: true });
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
  namePaging(region, name);
  keepFocus(region);
  shown.on("draw", () => namePaging(region, name));
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  const status = button.nextElementSibling;
  button.addEventListener("click", async () => {
    const text = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(text.textContent);
      status.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      status.textContent = "Selected: copy it with the keyboard";
    }
    setTimeout(() => { status.textContent = ""; }, 4000);
  });
}

// on paper, nothing can be opened
addEventListener("beforeprint", () => {
  for (const numbers of document.querySelectorAll("details.numbers")) numbers.open = true;
});
