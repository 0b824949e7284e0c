"use strict";
// What all pages share: their data, and text and links of what came from an archive.

const data = JSON.parse(document.getElementById("data").textContent);

/** Text with controls, marks of direction and odd blanks as visible escapes. */
function printable(text) {
  return String(text).replace(/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu,
    (c) => `\\u{${c.codePointAt(0).toString(16)}}`);
}

/** An element. Children are nodes, or strings that become text. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** A link to a page of the crawl; plain text for what is not http or https. */
function pageLink(uri) {
  const text = printable(uri);
  if (!/^https?:\/\//i.test(uri)) return element("bdi", {}, text);
  const href = uri.replace(/[\p{C}\p{Z}]/gu, (c) => encodeURIComponent(c.isWellFormed() ? c : "\uFFFD"));
  return element("a", { href, rel: "noopener nofollow", target: "_blank" }, element("bdi", {}, text));
}

const formats = { count: new Intl.NumberFormat("en"), digits: new Map() };

/** A whole number with commas. */
function count(value) {
  return formats.count.format(value);
}
