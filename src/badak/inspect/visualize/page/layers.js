// The model from below to above: what each part adds to the residual stream, and every box, behind which its floor stands.

import { tag } from "./dom.js";
import { boxes, layers, number, output, record, token } from "./record.js";
import { largest, mean, short } from "./numbers.js";
import { openFloor, startBackward } from "./player.js";
import { placeOf } from "./answers.js";
import { view, watch } from "./view.js";
import { brief, known, say } from "./words.js";

/** What is measured of a state: [its name in the record, its colour or "" for a number without a bar, its width]. */
const COLUMNS = [["added", "a", "108px"], ["angle", "", "52px"], ["norm", "n", "108px"], ["gradient", "b", "108px"]];

/** Boxes that ran one after the other in the same layer and part, with the state of the stream that they left. */
function groups() {
  const states = (record.streams ?? []).flatMap((stream, index) => stream.states.map((state) => ({ ...state, stream: index })));
  const result = [];
  boxes.forEach((box, index) => {
    const last = result.at(-1);
    const state = states.find((one) => one.box === index) ?? null;
    const same = last && last.layer === box.layer && (last.part === box.part || box.part === "other" || last.part === "other");
    const open = same && !(last.state && (state || last.part !== box.part));
    const group = open ? last : { layer: box.layer, part: box.part, indices: [], state: null };
    if (!open) result.push(group);
    group.indices.push(index);
    group.state ??= state;
    group.part = group.state?.part ?? (group.part === "other" ? box.part : group.part);
  });
  return result.length ? result : states.map((state) => ({ layer: state.layer, part: state.part, indices: [], state }));
}

export function model() {
  const all = groups();
  if (!all.length) return null;
  const there = (name) => (record.streams ?? []).some(({ states }) => states.some((state) => state[name]));
  const columns = COLUMNS.filter(([name]) => there(name));
  const rows = all.map((group) => row(group, columns));
  const title = tag("p", { class: "small", "aria-live": "polite" });
  watch(["sequence", "place", "pinned"], () => {
    const { sequence, place } = view;
    title.textContent = record.streams?.length ? say("norms_at", { token: brief(token(sequence, place), 20), place: place + 1 }) : "";
    columns.forEach(([name]) => measure(rows, name));
  });
  const chips = rows.flatMap(({ chips }) => chips);
  watch(["box", "step"], () => chips.forEach(({ button, index }) => state(button, index)));
  const play = boxes.some((box) => box.back) ? tag("button", { class: "play", onclick: startBackward }, `▶ ${say("play_all")}`) : null;
  return [tag("div", { class: "bar-line" }, title, play),
    tag("div", { class: "stack-of-parts", role: "table", style: `--columns:${columns.map(([, , width]) => width).join(" ")};--many:${columns.length}` },
      tag("div", { class: "part head", role: "row" }, tag("span", { role: "columnheader" }, say("part")), tag("span", { role: "columnheader" }, say("boxes")),
        columns.map(([name]) => tag("span", { role: "columnheader", title: say(`${name}_long`) }, say(name)))),
      rows.map(({ element }) => element))];
}

function row(group, columns) {
  const chips = group.indices.map((index) => ({ index, button: chip(index) }));
  const bars = columns.map(([name, letter]) => {
    const values = group.state?.[name];
    const fill = tag("i"), text = tag("span", { class: "number" }, "");
    return { name, values, fill, text, stream: group.state?.stream,
      element: tag("span", { role: "cell", class: `measure ${letter}`, "data-name": say(name), title: say(`${name}_long`) },
        values ? [letter ? tag("span", { class: "bar" }, fill) : null, text] : "") };
  });
  const element = tag("div", { class: `part ${group.part}`, role: "row" },
    tag("span", { class: "name", role: "rowheader" }, partName(group)),
    tag("span", { class: "chips", role: "cell" }, chips.map(({ button }) => button)), bars.map(({ element: one }) => one));
  return { element, chips, bars };
}

function partName({ layer, part, state }) {
  const stack = record.streams?.[state?.stream]?.name;
  const where = layer === null ? [stack ? say(stack) : null] : [layers[layer].stack ? say(layers[layer].stack) : null, say("layer_n", { n: number(layer) })];
  return [tag("b", {}, where.filter(Boolean).join(" ")), " ", known(`part_${part}`) ? say(`part_${part}`) : part];
}

function chip(index) {
  const box = boxes[index], last = box.path.split(".").at(-1);
  return tag("button", { class: `chip ${box.role}`, title: box.path, "data-box": index, onclick: () => openFloor(index) },
    boxName(box), last && !/^\d+$/.test(last) ? tag("small", {}, last) : null);
}

/** What a box is, in the language of the page where its role has a word, else by its kind. */
/** What a box is called: by its part in the model, else by its operation. */
export function boxName(box) {
  if (known(`role_${box.role}`)) return say(`role_${box.role}`);
  return known(`op_${box.kind}`) ? say(`op_${box.kind}`) : record.kinds?.[box.kind]?.title ?? box.kind;
}

/** Which chip is open, and which the backward has been through. */
function state(button, index) {
  const now = boxes[view.box]?.back, its = boxes[index].back;
  button.classList.toggle("now", view.box === index);
  button.classList.toggle("been", Boolean(view.box !== null && view.step > 0 && now && its && its.order < now.order));
}

/** Bars of one column for that token, the longest one full. */
function measure(rows, name) {
  const bars = rows.flatMap((row) => row.bars).filter((bar) => bar.name === name && bar.values);
  const at = (bar) => {
    const { sequence } = record.streams[bar.stream];
    if (sequence === view.sequence) return bar.values[view.place];
    return sequence === output ? bar.values[placeOf(sequence)] : mean(bar.values);
  };
  const most = largest(bars.map(at));
  for (const bar of bars) {
    bar.fill.hidden = !at(bar);
    bar.fill.style.width = most ? `${(100 * (at(bar) ?? 0)) / most}%` : "0";
    bar.text.textContent = name === "angle" ? (at(bar) ?? NaN).toFixed(2).replace("-", "−").replace("NaN", "—") : short(at(bar));
  }
}
