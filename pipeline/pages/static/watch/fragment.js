"use strict";
// A state in the fragment of the URL: #graph=six&of=1a2b3c4d&seed=1&window=fixed:4&do=r120;c40;p-new
//
// `of` is a digest of the graph, as two files may each have a graph of their own. Events, between
// semicolons: r, g, c and a count for reads by random, greedy, cycle; p-name; x-page; l-from-to;
// d-from-to (a link dropped); v-1, v-0. Whatever else is there makes the fragment invalid.

const POLICIES = { r: "random", g: "greedy", c: "cycle" };
const LETTERS = Object.fromEntries(Object.entries(POLICIES).map(([letter, name]) => [name, letter]));

/** FNV-1a of the names and links of a graph, 8 hexadecimal digits. */
function digestOf(graph) {
  let digest = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify([graph.names, graph.targets]))) {
    digest = Math.imul(digest ^ byte, 0x01000193) >>> 0;
  }
  return digest.toString(16).padStart(8, "0");
}

function eventText([kind, ...values]) {
  if (kind === "read") return LETTERS[values[0]] + values[1];
  if (kind === "page") return `p-${encodeURIComponent(values[0].toWellFormed())}`;
  if (kind === "virtual") return `v-${values[0] ? 1 : 0}`;
  return `${{ gone: "x", link: "l", unlink: "d" }[kind]}-${values.join("-")}`;
}

function eventOf(text) {
  const reads = /^([rgc])([1-9][0-9]{0,6})$/.exec(text);
  if (reads) return ["read", POLICIES[reads[1]], Number(reads[2])];
  const [letter, ...values] = text.split(/-(.*)/s, 2).flatMap((part, at) =>
    (at === 0 ? [part] : text.startsWith("p") ? [decodeURIComponent(part)] : part.split("-")));
  const numbers = values.map((value) => (/^[0-9]{1,4}$/.test(value) ? Number(value) : NaN));
  if (letter === "p" && values.length === 1) return ["page", values[0]];
  if (letter === "x" && values.length === 1) return ["gone", ...numbers];
  if (letter === "l" && values.length === 2) return ["link", ...numbers];
  if (letter === "d" && values.length === 2) return ["unlink", ...numbers];
  if (letter === "v" && numbers.length === 1 && numbers[0] <= 1) return ["virtual", numbers[0] === 1];
  throw new RangeError(text);
}

function windowText({ name, parameter }) {
  return parameter === null ? name : `${name}:${parameter}`;
}

/** Throws RangeError for what is no window. */
function windowOf(text) {
  const [name, number] = text.split(":");
  if (!Object.hasOwn(WINDOWS, name)) throw new RangeError(name);
  if (WINDOWS[name].parameter === null) return { name, parameter: null };
  const parameter = number === undefined ? WINDOWS[name].first : Number(number);
  const whole = WINDOWS[name].parameter !== "k" || Number.isInteger(parameter);
  if (!(parameter > 0 && parameter <= 1e6 && whole)) throw new RangeError(text);
  return { name, parameter };
}

function fragmentOf(session, { policy, ring }) {
  const values = {
    graph: session.graph.id,
    of: digestOf(session.graph),
    seed: session.seed,
    policy,
    window: windowText(session.window),
    ring,
    do: session.events.map(eventText).join(";"),
  };
  return `#${Object.entries(values).map(([name, value]) => `${name}=${value}`).join("&")}`;
}

/** { session, policy, ring } of a fragment, or null for an empty one. Throws RangeError or URIError
 * for one that is not of this page. */
function stateOf(fragment) {
  const text = fragment.replace(/^#/, "");
  if (text === "" || text === "main") return null;
  const values = Object.fromEntries(text.split("&").map((part) => part.split(/=(.*)/s, 2)));
  const graph = data.graphs.find(({ id }) => id === values.graph);
  if (!graph || digestOf(graph) !== values.of) throw new RangeError("it belongs to another graph");
  const seed = Number(values.seed ?? 0);
  if (!(Number.isInteger(seed) && seed >= 0 && seed < LIMITS.seed)) throw new RangeError("its seed");
  const policy = values.policy ?? "random", ring = values.ring ?? "importance";
  if (!Object.hasOwn(LETTERS, policy) || !RINGS.includes(ring)) throw new RangeError("its options");
  const events = (values.do ?? "").split(";").filter((event) => event !== "").map(eventOf);
  const session = Session.of(graph, seed, windowOf(values.window ?? "whole"), events);
  return { session, policy, ring };
}

const RINGS = ["importance", "history", "exact", "none"];
