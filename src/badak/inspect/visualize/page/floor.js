// The floor under a box: formula, shapes, the forward of one row, the backward step by step, the lines of badak, the derivation.

import { tag } from "./dom.js";
import { boxes, number, record, token } from "./record.js";
import { flat, largest, short } from "./numbers.js";
import { boxName } from "./layers.js";
import { markdown } from "./markdown.js";
import { formula, math } from "./math.js";
import { closeFloor, openFloor, stepBack, stepOn, steps, toggle } from "./player.js";
import { change, view, watch } from "./view.js";
import { brief, known, say } from "./words.js";

export function floor() {
  const panel = tag("aside", { id: "floor", tabindex: -1, "aria-label": say("floor") });
  let shown = null, cards = [], controls = null;
  watch(["box", "step", "playing"], () => {
    narrow(view.box !== null);
    panel.hidden = view.box === null;
    if (view.box === null) return void (shown = null);
    if (shown !== view.box) {
      shown = view.box;
      [cards, controls] = fillPanel(panel, boxes[view.box], view.box);
      panel.scrollTop = 0;
    }
    played(cards, controls);
  });
  return panel;
}

/** Make room for the panel, or give it back; what was pressed stays where it is on the screen. */
function narrow(open) {
  const root = document.documentElement;
  if (root.classList.contains("with-floor") === open) return;
  const pressed = document.activeElement.closest("main") ? document.activeElement : null;
  const before = pressed?.getBoundingClientRect().top;
  root.classList.toggle("with-floor", open);
  if (pressed) window.scrollBy(0, pressed.getBoundingClientRect().top - before);
}

function fillPanel(panel, box, index) {
  const kind = record.kinds?.[box.kind] ?? {};
  const row = { sequence: record.row?.sequence, place: record.row?.place ?? null, ...(box.place === undefined ? {} : { place: box.place }) };
  const [player, cards, controls] = backwardOf(box, kind);
  panel.replaceChildren(
    head(box, index, kind),
    section("formula", formulas(kind.formula)),
    section("shapes", shapes(box, kind)),
    section(row.place === null ? "forward" : "forward_of", forward(box), { token: brief(token(row.sequence, row.place), 20), place: row.place + 1 }),
    player, code(kind), derivation(kind));
  fit(panel);
  return [cards, controls];
}

const LETTERS = 10; // pixels of a formula's letters

/** Make the letters of a formula smaller where its line is longer than the panel is wide. */
function fit(panel) {
  for (const line of panel.querySelectorAll(".math > div")) {
    const formulas = [...line.querySelectorAll("math")];
    formulas.forEach((one) => { one.style.fontSize = ""; });
    const wide = line.scrollWidth, room = line.clientWidth;
    if (wide <= room || !room) continue;
    const size = parseFloat(getComputedStyle(formulas[0] ?? line).fontSize);
    formulas.forEach((one) => { one.style.fontSize = `${Math.max(LETTERS, Math.floor(size * room / wide * 10) / 10)}px`; });
  }
}

window.addEventListener("resize", () => document.querySelectorAll("#floor").forEach(fit));

const section = (word, content, holes) => (content ? tag("section", { class: word }, tag("h3", {}, say(word, holes)), content) : "");

const formulas = (list) => (list?.length ? tag("div", { class: "math" }, list.map((line) => tag("div", {}, formula(line)))) : null);

function head(box, index, kind) {
  const where = box.layer === null ? "" : `${say("layer_n", { n: number(box.layer) })} · `;
  const go = (to, sign, word) => tag("button", { disabled: !boxes[to], "aria-label": say(word), title: say(word), onclick: () => openFloor(to) }, sign);
  return tag("header", {},
    tag("div", {}, tag("h2", {}, boxName(box)),
      tag("p", { class: "small" }, `${where}${known(`part_${box.part}`) ? say(`part_${box.part}`) : box.part}`, box.path ? [" · ", tag("code", {}, box.path)] : null)),
    tag("div", { class: "buttons" }, go(index - 1, "↑", "box_before"), go(index + 1, "↓", "box_after"),
      tag("button", { id: "close-floor", "aria-label": say("close"), title: say("close"), onclick: closeFloor }, "✕")));
}

/** Where a value comes from or goes to: another box, a parameter, or the outside; and what moved it on its way. */
function link({ box, parameter, moved, tied }) {
  if (box !== null && box !== undefined && boxes[box]) {
    return [tag("button", { class: "link", onclick: () => openFloor(box) }, `${boxName(boxes[box])} ${boxes[box].path}`),
      moved?.length ? tag("span", { class: "soft" }, ` (${moved.join(", ")})`) : null];
  }
  return parameter ? [tag("code", {}, parameter), tied ? tag("span", { class: "soft" }, ` ${say("tied")}`) : null] : tag("span", { class: "soft" }, say("from_outside"));
}

function shapes(box, kind) {
  const row = (name, from, shape, norm) => tag("tr", {}, tag("td", {}, tag("code", {}, name)), tag("td", {}, from),
    tag("td", { class: "shape" }, shape?.length === 0 ? say("one_number") : (shape ?? []).join(" × ")), tag("td", { class: "number" }, short(norm)));
  const settings = Object.entries(box.settings ?? {}).map(([name, value]) => `${name} = ${value}`).join(", ");
  return [kind.shapes ? tag("p", {}, formula(kind.shapes)) : null,
    tag("table", {}, tag("thead", {}, tag("tr", {}, tag("th", {}, ""), tag("th", {}, say("from")), tag("th", {}, say("shape")), tag("th", { class: "number" }, say("size")))),
      tag("tbody", {}, box.inputs.map((one) => row(one.name, link(one), one.shape, one.norm)),
        row("→", tag("b", {}, say("result")), box.output.shape, box.output.norm))),
    settings ? tag("p", { class: "small" }, settings) : null, box.sums ? tag("p", { class: "small" }, box.sums) : null];
}

function forward(box) {
  if (!box.steps?.length) return null;
  return box.steps.map((step) => tag("div", { class: step.formula ? "value formula" : "value" },
    tag("div", { class: "what" }, math(equation(step)), tag("span", { class: "why" }, reason(step))),
    cells(step.values, step.of > flat(step.values).length)));
}

/** Numbers as coloured cells: blue above 0, orange below, the stronger the larger. */
function cells(row, more) {
  const list = flat(row), most = largest(list.map(Math.abs)) || 1;
  return tag("span", { class: "numbers" }, list.map((x) =>
    tag("span", { class: x < 0 ? "below" : "above", style: `--s:${x === null ? 0 : (Math.abs(x) / most).toFixed(3)}` }, short(x))), more ? "…" : null);
}

/** The backward as cards that come one after the other, and the buttons that play them. */
function backwardOf(box, kind) {
  if (!box.back) {
    return [section("backward", tag("p", {}, say("no_backward"))), [], null];
  }
  const { came, steps: middle, goes } = box.back;
  const cards = [
    stepCard("above", "dy", [say("came"), senders(boxes.indexOf(box))], came.row, came.norm),
    ...middle.map((step) => stepCard("step", equation(step), reason(step), step.values, undefined, step.of)),
    ...goes.map((one) => stepCard("down", `d${one.to}`, [say("goes_on"), " ", link(one)], one.row, one.norm)),
  ];
  const button = (id, sign, word, act) => tag("button", { id, title: say(word), "aria-label": say(word), onclick: act }, sign);
  const controls = { play: button("play", "▶", "play", toggle), count: tag("span", { class: "count", "aria-live": "polite" }) };
  const player = tag("section", { class: "backward" }, tag("h3", {}, say("backward")), formulas(kind.backward),
    tag("div", { class: "player" }, button("restart", "↺", "restart", () => change({ step: 0, playing: false })),
      button("step-back", "◀", "step_back", stepBack), controls.play, button("step-on", "▶▏", "step_on", stepOn), controls.count,
      button("show-all", say("show_all"), "show_all", () => change({ step: steps(box), playing: false }))),
    tag("ol", { class: "cards-of-steps" }, cards));
  return [player, cards, controls];
}

/** The boxes whose gradient came to this one, at most three of them. */
const senders = (index) => boxes.map((one, i) => ({ one, i })).filter(({ one }) => one.back?.goes.some((to) => to.box === index)).slice(0, 3)
  .map(({ i }) => [" ", link({ box: i })]);

/** g = w dy */
const equation = ({ name, formula }) => [name, formula].filter(Boolean).join(" = ");

/** Why a step is made, in the language of the page. */
const reason = ({ why }) => (known(why) ? say(why) : why ?? "");

function stepCard(kind, text, why, row, norm, of) {
  return tag("li", { class: kind, "data-makes": made(text), "data-formula": text }, tag("div", { class: "what" }, math(text), tag("span", { class: "why" }, why)),
    cells(row, of > flat(row).length), norm === undefined ? null : tag("span", { class: "size" }, say("norm_is", { norm: short(norm) })));
}

/** The name that a formula gives a value to: "g" of "g = w dy", "mean(g)" of "mean(g) = ...". */
const made = (text) => text.split(" = ")[0];

/** Whether a formula names a value, not only a part of a longer name. */
const names = (text, value) => new RegExp(`(?<![\\w(])${value.replace(/[^\w ]/g, "\\$&")}(?!\\w)`).test(text.replace(/\(/g, "( "));

/** Show as many cards as were played; the last one is the present one, and those that its formula names are marked. */
function played(cards, controls) {
  if (!controls) return;
  cards.forEach((one, i) => {
    one.classList.toggle("hidden", i >= view.step);
    one.classList.toggle("now", i === view.step - 1);
    one.classList.remove("used");
  });
  const right = cards[view.step - 1]?.dataset.formula.split(" = ").slice(1).join(" = ") ?? "";
  cards.slice(0, Math.max(0, view.step - 1)).forEach((one) => one.classList.toggle("used", names(right, one.dataset.makes)));
  controls.count.textContent = say("step_of", { step: view.step, of: cards.length });
  controls.play.textContent = view.playing ? "⏸" : "▶";
  controls.play.setAttribute("aria-label", say(view.playing ? "stop" : "play"));
  if (view.step) cards[view.step - 1].scrollIntoView({ block: "nearest" });
}

/** The lines of badak, one floor after the other; pieces come as [class, text] from page.py. */
function code({ places }) {
  if (!places?.length) return "";
  return section("code", places.map((place, i) => tag("details", { open: i === 0 },
    tag("summary", {}, tag("b", {}, known(`floor_${place.floor}`) ? say(`floor_${place.floor}`) : place.floor), " ", place.name,
      tag("small", {}, `${place.file}:${place.line}`)),
    tag("pre", {}, typeof place.code === "string" ? place.code : place.code.map(([kind, text]) => (kind ? tag("span", { class: kind }, text) : text))))));
}

function derivation(kind) {
  const one = record.derivations?.[kind.derivation];
  if (!one) return "";
  return section("derivation", tag("details", {}, tag("summary", {}, one.title), tag("div", { class: "prose", lang: "en" }, markdown(one.text))));
}
