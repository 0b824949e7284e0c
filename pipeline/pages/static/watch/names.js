"use strict";
// Names of pages as text: of URIs, keys, or what a reader typed. Nothing in them is ever markup.

/** Printable, with the middle left out where it is longer than `most` characters. */
function shortName(name, most) {
  if (name.trim() === "") return "(blank)";
  const text = printable(name.slice(0, 400)), rest = name.length > 400 ? "…" : "";
  if (text.length + rest.length <= most) return text + rest;
  const head = Math.ceil(most * 0.4), end = most - head - 1;
  return `${text.slice(0, head)}…${printable(name.slice(-end - 8)).slice(-end)}`;
}

/** As a label in the drawing: of a URI its last part. */
function labelOf(name) {
  const path = /^https?:\/\/[^/]*(\/.*)$/is.exec(name)?.[1];
  return shortName(path && path !== "/" ? path : name.replace(/^https?:\/\//i, ""), 22);
}

/** In a sentence: `page 3`, or the name itself where it is more than a number. */
function spoken(name) {
  return /^[0-9]{1,6}$/.test(name) ? `page ${name}` : shortName(name, 44);
}

function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** A share or an amount of cash. */
function amount(value) {
  if (value === 0) return "0";
  return Math.abs(value) < 0.0005 ? value.toExponential(2) : value.toFixed(value < 10 ? 4 : 1);
}
