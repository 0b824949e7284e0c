"use strict";
// What happens in words: for the eye beside the picture, and for screen readers.

/** What a reader, a change or the start did, in a sentence or two. */
function sentenceOf(session) {
  const { last } = session;
  if (last === null) return `All ${count(session.names.length)} pages hold the same cash. Nothing was read yet.`;
  return last[0] === "read" ? readSentence(session, last[2], last[3]) : changeSentence(last, session);
}

function readSentence(session, page, held) {
  const { opic, names } = session, targets = opic.targets[page];
  const read = `Step ${count(opic.steps)}: ${spoken(names[page])} is read with cash ${amount(held)}.`;
  const gave = amount(opic.virtual.now);
  if (targets.length === 0) return `${read} It has no links: all of it goes to the virtual page.`;
  const each = amount(held * opic.share[page]);
  const shown = targets.slice(0, 4).map((target) => spoken(names[target]));
  if (targets.length > 4) shown.push(`${targets.length - 4} more`);
  const parts_ = targets.length === 1 ? `${each} goes to ${shown[0]}` : `${each} each goes to ${listed(shown)}`;
  return `${read} ${parts_}, ${gave} to the virtual page.`;
}

function changeSentence([kind, first, second], { names }) {
  if (kind === "page") return `${spoken(first)} is new. It begins without cash.`;
  if (kind === "gone") return "The page is gone. All other pages got its cash in equal parts.";
  if (kind === "virtual") {
    return first ? "The virtual page is one more link of every page now."
      : "The virtual page gets 15 % of the cash of a page with links now.";
  }
  const verb = kind === "link" ? "links to" : "no longer links to";
  return `${spoken(names[first])} ${verb} ${spoken(names[second])} now.`;
}

/** A page with its numbers, in words. */
function pageSentence(session, page) {
  const { opic, names } = session, importance = parts(session.estimate)[page];
  const links = opic.targets[page].length, read = opic.reads[page];
  return `${spoken(names[page])}, cash ${amount(opic.cash(page))}, importance ${amount(importance)},`
    + ` exactly ${amount(session.exact[page])}, ${links} link${links === 1 ? "" : "s"},`
    + ` read ${read} time${read === 1 ? "" : "s"}`;
}
