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

/** A URI of the crawl: a link where it has a target, http or https and nothing else. */
function pageLink([text, target = text]) {
  const pieces = printable(text).split(/(?<=[/?&=])(?=[^/])/);
  const shown = element("bdi", {}, ...pieces.flatMap((piece, index) => index ? [element("wbr"), piece] : [piece]));
  if (target === null || !/^https?:\/\//i.test(target)) return shown;
  return element("a", { href: target, rel: "noopener nofollow", target: "_blank" }, shown);
}

const COUNT = new Intl.NumberFormat("en");

/** A whole number with commas. */
function count(value) {
  return COUNT.format(value);
}
