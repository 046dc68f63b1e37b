// The record of one run, and the questions that several parts of the page ask of it.

import { shares } from "./numbers.js";

export const record = JSON.parse(document.getElementById("record").textContent);

export const sequences = record.sequences ?? [];
export const attentions = record.attentions ?? [];
export const boxes = record.boxes ?? [];
export const layers = record.layers ?? [];

/** The sequence whose next tokens are predicted, else the last one: what is looked at first. */
export const output = record.predictions?.sequence ?? Math.max(0, sequences.length - 1);

/** What stands at a place of a sequence; a number where the sequence is unknown. */
export const token = (sequence, place) => sequences[sequence]?.tokens[place] ?? String(place);

/** The text of an id of the vocabulary. */
export const piece = (id) => record.vocabulary?.[id] ?? String(id);

/** The name of an id that is predicted: a token, or a class. */
export function answer(id) {
  return record.predictions?.of === "classes" ? record.predictions.classes?.[id] ?? String(id) : piece(id);
}

/** The weights of one head, T x S one after the other; unpacked when first asked. */
export function weights(attention, head) {
  const one = attentions[attention];
  one.heads[head].all ??= shares(one.heads[head], one);
  return one.heads[head].all;
}

/** [[what, share], ...] of what a head does, the largest first. */
export const scores = (head) => Object.entries(head.scores ?? {}).sort((a, b) => b[1] - a[1]);

/** Attentions of one kind, in one stack, between the same sequences: [{kind, queries, keys, stack, members: [index, ...]}]. */
export const families = [];
attentions.forEach(({ kind, queries, keys, layer }, index) => {
  const stack = layers[layer]?.stack ?? "";
  const same = families.find((one) => one.kind === kind && one.queries === queries && one.keys === keys && one.stack === stack);
  if (same) same.members.push(index);
  else families.push({ kind, queries, keys, stack, members: [index] });
});

/** What is shown first: of a translation how the target looks at the source. */
export const firstAttention = Math.max(0, attentions.findIndex(({ kind, queries, keys }) => kind === "cross" && queries !== keys));

export const family = (attention) => families.find(({ members }) => members.includes(attention));

/** The name of a layer, as a person counts: 1, 2, ...; "–" outside of all layers. */
export const number = (layer) => (layer === null || layer === undefined ? "–" : String(layers[layer].number + 1));

/** The boxes that stand in the same layer and part of the model. */
export function within(layer, part) {
  return boxes.map((box, index) => ({ box, index })).filter(({ box }) => box.layer === layer && box.part === part);
}

/** The boxes that got a gradient, in the order in which the backward visits them. */
export const backward = boxes.map((box, index) => ({ box, index })).filter(({ box }) => box.back)
  .sort((a, b) => a.box.back.order - b.box.back.order).map(({ index }) => index);
