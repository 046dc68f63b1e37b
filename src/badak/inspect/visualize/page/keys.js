// What the keyboard does: one table for the keys and for the help that shows them.

import { tag } from "./dom.js";
import { attentions, family, sequences } from "./record.js";
import { change, view } from "./view.js";
import { say } from "./words.js";
import { closeFloor, openFloor, stepBack, stepOn, toggle } from "./player.js";

/** [keys as shown, word of the help, codes (of the key, whatever letters it has), what to do]. */
const TABLE = [
  ["← →", "key_token", ["ArrowLeft", "ArrowRight"], (event) => move(event.code === "ArrowLeft" ? -1 : 1)],
  ["Enter", "key_pin", [], null],
  [", .", "key_head", ["Comma", "Period"], (event) => turn(event.code === "Comma" ? -1 : 1, event.shiftKey)],
  ["S", "key_kind", ["KeyS"], () => otherFamily()],
  ["C", "key_compare", ["KeyC"], () => compare()],
  ["F", "key_floor", ["KeyF"], () => floorOfHead()],
  ["Space", "key_play", ["Space"], () => view.box !== null && toggle()],
  ["N B", "key_steps", ["KeyN", "KeyB"], (event) => view.box !== null && (event.code === "KeyN" ? stepOn() : stepBack())],
  ["L", "key_language", ["KeyL"], () => change({ language: view.language === "ko" ? "en" : "ko" })],
  ["D", "key_theme", ["KeyD"], () => change({ theme: dark() ? "light" : "dark" })],
  ["P", "key_print", ["KeyP"], () => window.print()],
  ["Esc", "key_escape", ["Escape"], () => escape()],
  ["?", "key_help", ["Slash"], () => help()],
];

/** Whether the page is dark now. */
export function dark() {
  return view.theme === "dark" || (view.theme === "auto" && window.matchMedia("(prefers-color-scheme: dark)").matches);
}

export function listen() {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (event.target.closest?.("dialog")) return; // Escape closes a dialog by itself
    if (event.code === "Space" && event.target.closest?.("button, summary, [tabindex='0']")) return; // a button is pressed by it
    const code = event.key === "?" ? "Slash" : event.code; // where a keyboard has it on another key
    const row = TABLE.find(([, , codes]) => codes.includes(code));
    if (!row || (code === "Slash" && event.key !== "?")) return;
    event.preventDefault();
    row[3](event);
  });
}

function move(by) {
  const length = sequences[view.sequence]?.tokens.length ?? 0;
  const place = view.place + by;
  if (place >= 0 && place < length) change({ place, pinned: true, over: null });
}

/** The head beside, or (with shift) the same head a layer on, among the attentions of one family. */
function turn(by, layer) {
  if (!attentions.length) return;
  const { members } = family(view.attention);
  const next = members[members.indexOf(view.attention) + by];
  const heads = attentions[view.attention].heads.length;
  if (!layer && view.head + by >= 0 && view.head + by < heads) return change({ head: view.head + by });
  if (next === undefined) return;
  const last = attentions[next].heads.length - 1;
  change({ attention: next, head: layer ? Math.min(view.head, last) : by > 0 ? 0 : last });
}

export function otherFamily() {
  if (!attentions.length) return;
  const kinds = [...new Map(attentions.map((one, index) => [family(index), index])).entries()];
  const now = kinds.findIndex(([one]) => one === family(view.attention));
  change({ attention: kinds[(now + 1) % kinds.length][1], head: 0, other: null, comparing: false });
}

export function compare() {
  if (view.other || view.comparing) change({ other: null, comparing: false });
  else change({ comparing: true });
}

function floorOfHead() {
  const box = attentions[view.attention]?.box;
  if (box !== null && box !== undefined) openFloor(box);
}

function escape() {
  if (view.box !== null) closeFloor();
  else if (view.comparing || view.other) change({ comparing: false, other: null });
  else change({ pinned: false, over: null });
}

export function help() {
  const old = document.getElementById("help");
  if (old) return old.close();
  const rows = TABLE.map(([keys, word]) =>
    tag("tr", {}, tag("td", {}, keys.split(" ").map((key) => tag("kbd", {}, key))), tag("td", {}, say(word))));
  const dialog = tag("dialog", { id: "help", "aria-label": say("help"), onclose: () => dialog.remove() },
    tag("h2", {}, say("help")), tag("table", {}, rows), tag("p", {}, say("help_mouse")),
    tag("button", { onclick: () => dialog.close() }, say("close")));
  document.body.append(dialog);
  dialog.showModal();
}

/** Arrow keys go from element to element of a grid; only one of them is reached by Tab. */
export function roving(container, elements, columns, chosen = 0) {
  elements.forEach((element, index) => { element.tabIndex = index === Math.max(0, chosen) ? 0 : -1; });
  container.addEventListener("keydown", (event) => {
    const at = elements.indexOf(event.target.closest("[tabindex]"));
    const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.code];
    if (at < 0 || by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = elements[at + by];
    if (!next) return;
    elements[at].tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
}
