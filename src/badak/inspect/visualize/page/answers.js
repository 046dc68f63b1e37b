// What the model answers: the likeliest tokens at the chosen place, or the classes of the whole.

import { tag } from "./dom.js";
import { answer, output, record, sequences, token } from "./record.js";
import { percent, short } from "./numbers.js";
import { view, watch } from "./view.js";
import { brief, say, visible } from "./words.js";

export function answers() {
  const all = record.predictions;
  if (!all) return null;
  const place = tag("div", { class: "answers", "aria-live": "polite" });
  watch(["place", "sequence"], () => {
    const at = all.places === "whole" ? 0 : placeOf(all.sequence);
    place.replaceChildren(heading(all, at), likeliest(all, at), ...wanted(all, at));
  });
  return place;
}

/** The chosen place where the chosen token is in this sequence, else the last one. */
export function placeOf(sequence) {
  const last = (sequences[sequence]?.tokens.length ?? 1) - 1;
  return view.sequence === sequence ? Math.min(view.place, last) : last;
}

function heading(all, at) {
  const word = all.places === "whole" ? "answer_whole" : record.model.kind === "bidirectional" ? "answer_here" : "answer_next";
  return tag("h3", {}, say(word, { token: brief(token(all.sequence ?? output, at), 24), place: at + 1 }));
}

function likeliest(all, at) {
  const right = all.labels?.[at] ?? (all.places === "each" ? sequences[all.sequence]?.labels?.[at] : null);
  const rows = (all.top[at] ?? []).map(([id, share, logit]) => tag("tr", { class: id === right ? "right" : null },
    tag("td", { class: "text" }, visible(answer(id)), id === right ? tag("span", { title: say("the_right_one") }, " ✓") : null),
    tag("td", { class: "bar" }, tag("i", { style: `width:${(100 * share).toFixed(2)}%` })),
    tag("td", { class: "number" }, percent(share)),
    tag("td", { class: "number soft" }, short(logit))));
  return tag("table", {}, tag("thead", {}, tag("tr", {}, tag("th", {}, say(all.of === "classes" ? "class" : "token")),
    tag("th", { colspan: 2 }, say("probability")), tag("th", { class: "number" }, say("logit")))), tag("tbody", {}, rows));
}

/** The label of the place, its rank and probability, and how unsure the model is. */
function wanted(all, at) {
  const notes = [];
  const label = all.labels?.[at] ?? sequences[all.sequence]?.labels?.[at];
  const chance = all.wanted?.[at], rank = all.rank?.[at];
  if (chance !== null && chance !== undefined && rank !== null && rank !== undefined) {
    const id = label >= 0 ? label : all.top[at]?.[rank]?.[0];
    const text = id === undefined ? "" : `“${visible(answer(id))}”`;
    notes.push(tag("p", {}, say("wanted", { token: text, rank: rank + 1, share: percent(chance) })));
  }
  if (all.entropy?.[at] !== undefined) notes.push(tag("p", { class: "small" }, say("unsure", { nats: short(all.entropy[at]) })));
  return notes;
}
