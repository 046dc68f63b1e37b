// The prediction read at every layer, as if the model ended there (logit lens): layers down, places across.

import { tag } from "./dom.js";
import { answer, number, record, sequences } from "./record.js";
import { percent } from "./numbers.js";
import { placeOf } from "./answers.js";
import { change, pin, view, watch } from "./view.js";
import { brief, say, visible } from "./words.js";
import { roving } from "./keys.js";

export function lens() {
  const all = record.lens;
  if (!all?.layers?.length) return null;
  const whole = all.places === "whole";
  const places = whole ? [0] : sequences[all.sequence].tokens.map((_, place) => place);
  const detail = tag("div", { class: "detail", "aria-live": "polite" });
  const cells = all.layers.map((layer, row) => places.map((place) => cell(layer, row, place, all, detail)));
  const heads = places.map((place) => tag("th", { scope: "col" }, whole ? say("answer") : brief(sequences[all.sequence].tokens[place], 8)));
  const longest = Math.max(...all.layers.flatMap(({ top }) => top.map(([first]) => (first ? brief(answer(first[0]), 8).length : 1))));
  const table = tag("table", { class: "lens", style: `--cell:${Math.max(34, 14 + 8 * longest)}px` },
    tag("thead", {}, tag("tr", {}, tag("th", {}, say("after")), heads)),
    tag("tbody", {}, all.layers.map((layer, row) => tag("tr", {},
      tag("th", { scope: "row", title: layer.name }, stateName(layer)), cells[row].map((button) => tag("td", {}, button))))));
  roving(table, cells.flat(), places.length, cells.flat().length - 1);
  const scroll = tag("div", { class: "scroll" }, table);
  watch(["sequence", "place"], () => requestAnimationFrame(() => {
    const head = heads[whole ? 0 : placeOf(all.sequence)];
    const [left, right] = [head.offsetLeft - 200, head.offsetLeft + head.offsetWidth - scroll.clientWidth];
    if (scroll.scrollLeft < right || scroll.scrollLeft > left) scroll.scrollLeft = Math.max(0, right);
  }));
  watch(["sequence", "place", "over"], () => {
    const at = whole ? 0 : view.over?.sequence === all.sequence ? view.over.place : placeOf(all.sequence);
    heads.forEach((head, i) => head.classList.toggle("chosen", !whole && i === at));
    cells.forEach((row) => row.forEach((button, i) => button.classList.toggle("chosen", !whole && i === at)));
    detail.replaceChildren(course(all, at));
  });
  return [scroll, tag("div", { class: "scroll" }, detail), through(all)];
}

function cell(layer, row, place, all) {
  const [id, share] = layer.top[place]?.[0] ?? [null, 0];
  const others = (layer.top[place] ?? []).map(([one, p]) => `${visible(answer(one))} ${percent(p)}`).join("\n");
  return tag("button", { style: `--p:${share ?? 0}`, title: others, "data-row": row, "data-place": place,
    "aria-label": `${stateName(layer)}: ${visible(answer(id))} ${percent(share)}`,
    onclick: () => all.places === "each" && pin(all.sequence, place),
    onpointerenter: () => all.places === "each" && change({ over: { sequence: all.sequence, place } }),
    onpointerleave: () => change({ over: null }) }, brief(answer(id), 8));
}

/** How the probability of the final answer, and of the label, grows from layer to layer at one place. */
function course(all, at) {
  const rows = all.layers.map((layer) => tag("tr", {},
    tag("th", { scope: "row" }, stateName(layer)),
    tag("td", { class: "text" }, (layer.top[at] ?? []).slice(0, 3).map(([id, p]) => `${visible(answer(id))} ${percent(p)}`).join("  ")),
    tag("td", { class: "bar" }, tag("i", { style: `width:${100 * (layer.answer?.[at] ?? 0)}%` })),
    tag("td", { class: "number" }, percent(layer.answer?.[at])),
    layer.wanted ? tag("td", { class: "number soft" }, percent(layer.wanted[at])) : null));
  return tag("table", { class: "course" }, tag("thead", {}, tag("tr", {}, tag("th", {}, say("after")), tag("th", {}, say("likeliest")),
    tag("th", { colspan: 2 }, say("its_answer")), all.layers[0].wanted ? tag("th", { class: "number" }, say("its_label")) : null)),
  tag("tbody", {}, rows));
}

/** The layer after which is read; what stands before all layers is the embedding. */
function stateName({ state, name }) {
  const one = record.streams?.[record.lens.stream]?.states[state];
  return one?.part === "embedding" ? say("part_embedding") : one?.layer !== null && one ? say("layer_n", { n: number(one.layer) }) : name;
}

const through = (all) => (all.through?.length ? tag("p", { class: "small" }, say("read_through", { boxes: all.through.join(", ") })) : null);
