"use strict";
// Buttons, lists and keys: what they are set to, and what they do. `app` of watch.js acts.

/** Elements of the page by their ids. */
const the = Object.fromEntries([...document.querySelectorAll("[id]")].map((each) => [each.id, each]));

const KEYS = {
  " ": () => app.toggle(),
  s: () => app.step(),
  "+": () => app.setSpeed(app.player.speed + 1),
  "=": () => app.setSpeed(app.player.speed + 1),
  "-": () => app.setSpeed(app.player.speed - 1),
  _: () => app.setSpeed(app.player.speed - 1),
};

/** Whether a key is for what has the focus, and not for the page. */
function takesKeys(focused, key) {
  if (focused.matches("input[type=text], input[type=number], select, textarea")) return true;
  return key === " " && focused.matches("button, summary, input, a, [role=option]");
}

function listenToKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    if (!the.keys.checked || takesKeys(event.target, event.key)) return;
    const act = KEYS[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

function listenToControls() {
  const clicks = {
    play: () => app.toggle(),
    step: () => app.step(),
    reset: () => app.begin(app.session.graph),
    closer: () => app.gestures.zoomBy(1.4),
    wider: () => app.gestures.zoomBy(1 / 1.4),
    fit: () => app.gestures.reset(),
    copy: () => copyLink(),
    save: () => saveState(),
  };
  for (const [id, act] of Object.entries(clicks)) the[id].addEventListener("click", act);
  const changes = {
    graph: ({ value }) => app.begin(data.graphs.find(({ id }) => id === value)),
    policy: ({ value }) => app.set({ policy: value }),
    ring: ({ value }) => app.set({ ring: value }),
    virtual: ({ value }) => app.change(["virtual", value === "link"]),
    window: ({ value }) => app.setWindow(value),
    parameter: () => app.setWindow(the.window.value, the.parameter.value),
    seed: () => app.setSeed(the.seed.value),
  };
  for (const [id, act] of Object.entries(changes)) the[id].addEventListener("change", () => act(the[id]));
  the.speed.addEventListener("input", () => app.setSpeed(Number(the.speed.value)));
  the.chart.querySelector("details").addEventListener("toggle", () => app.chart.draw(app.session));
  for (const tool of document.querySelectorAll("[name=tool]")) {
    tool.addEventListener("change", () => app.setTool(tool.value));
  }
}

/** Show what the state is. */
function showControls(app_) {
  const { session, player } = app_;
  the.graph.value = session.graph.id;
  the.note.textContent = session.graph.note;
  the.outside.textContent = outsideText(session.graph);
  the.policy.value = app_.policy;
  the.ring.value = app_.ring;
  the.virtual.value = session.opic.linked ? "link" : "part";
  the.window.value = session.window.name;
  the.seed.value = session.seed;
  const { parameter } = WINDOWS[session.window.name];
  the["parameter-field"].hidden = parameter === null;
  the["parameter-name"].textContent = parameter === "k" ? "k, reads of each page" : "T, units of the clock";
  the.parameter.step = parameter === "k" ? "1" : "any";
  the.parameter.value = session.window.parameter ?? "";
  the.play.textContent = player.playing ? "Pause" : "Play";
  the.play.classList.toggle("current", player.playing);
  the.speed.value = player.speed;
  const speed = `${player.perSecond} ${player.perSecond === 1 ? "step" : "steps"} a second`;
  the["speed-text"].textContent = speed;
  the.speed.setAttribute("aria-valuetext", speed);
}

function outsideText({ outside }) {
  if (!outside) return "";
  if (outside.every((links) => links === 0)) return "All links of these pages are shown.";
  const [leaving, coming] = outside.map((links) => count(links));
  return `Left out: ${leaving} links to pages that are not shown, and ${coming} from such pages.`
    + " So importance is that within this picture, not that of the crawl.";
}

async function copyLink() {
  the.link.value = app.link();
  try {
    await navigator.clipboard.writeText(the.link.value);
    app.tell("The link is copied.");
  } catch {
    the.link.select();
    app.tell("The link is selected: copy it with the keys of your system.");
  }
}

function saveState() {
  const state = JSON.stringify(app.exported(), null, 1);
  const url = URL.createObjectURL(new Blob([state], { type: "application/json" }));
  element("a", { href: url, download: `opic-${app.session.graph.id}-${app.session.opic.steps}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
