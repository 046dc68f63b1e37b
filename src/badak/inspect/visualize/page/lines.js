// Attention as lines between words: those who look at the left, what they look at on the right.

import { svg, tag } from "./dom.js";
import { attentions, output, token, weights } from "./record.js";
import { percent } from "./numbers.js";
import { cropAddress } from "./picture.js";
import { change, pin, spoken, view, watch } from "./view.js";
import { brief, say } from "./words.js";

const LEAST = 0.02; // the share of the thinnest line that is drawn
let WIDTH = 400, WORD = 104; // of the picture, of a column of words: less on a narrow screen

export function lines() {
  const place = tag("figure", { class: "lines", "aria-label": say("lines") });
  let picture = null;
  watch(["attention", "head", "other"], () => {
    picture = drawLines();
    place.replaceChildren(tag("figcaption", {}, tag("b", {}, say("looks")), tag("b", {}, say("looked_at"))), picture.element);
  });
  watch(["over", "sequence", "place", "pinned"], () => picture.speak());
  return place;
}

function drawLines() {
  [WIDTH, WORD] = window.innerWidth < 560 ? [330, 92] : [400, 104];
  const one = attentions[view.attention];
  const rows = Math.max(one.T, one.S);
  const step = rows > 40 ? 16 : rows > 24 ? 19 : 23;
  const height = rows * step + 4;
  const heads = [{ attention: view.attention, head: view.head, letter: "a" }];
  if (view.other && sameShape(one, attentions[view.other.attention])) heads.push({ ...view.other, letter: "b" });
  const all = heads.flatMap((head) => threads(head, one, step));
  const queries = words(one.queries, one.T, step, "query"), keys = words(one.keys, one.S, step, "key");
  const element = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": say("lines") },
    all.map(({ path }) => path), queries.map(({ group }) => group), keys.map(({ group }) => group));
  return { element, speak: () => speak(one, all, queries, keys) };
}

export const sameShape = (a, b) => a.T === b.T && a.S === b.S && a.queries === b.queries && a.keys === b.keys;

/** The lines of a head: [{query, key, share, path}], none for what is not worth one. */
function threads({ attention, head, letter }, { T, S }, step) {
  const all = weights(attention, head), result = [];
  const shift = letter === "b" ? 2.5 : 0;
  for (let query = 0; query < T; query++) {
    for (let key = 0; key < S; key++) {
      const share = all[query * S + key];
      if (share < LEAST) continue;
      const [from, to] = [(query + 0.5) * step + shift, (key + 0.5) * step + shift];
      const bend = (WIDTH - 2 * WORD) * 0.4;
      const path = svg("path", { class: letter, d: `M${WORD} ${from}C${WORD + bend} ${from} ${WIDTH - WORD - bend} ${to} ${WIDTH - WORD} ${to}`,
        "stroke-width": (0.6 + 4.4 * share).toFixed(2), "stroke-opacity": (0.12 + 0.8 * share).toFixed(2) });
      result.push({ query, key, share, path, letter });
    }
  }
  return result;
}

/** A column of words: [{group, note, text}]; each can be hovered and chosen. */
function words(sequence, length, step, side) {
  return Array.from({ length }, (_, place) => {
    const y = (place + 0.5) * step, left = side === "query";
    const note = svg("text", { class: "note", x: left ? 2 : WIDTH - 2, y, "text-anchor": left ? "start" : "end" });
    const image = sequence === null ? null : cropAddress(sequence, place, step > 20 ? 44 : 30);
    const name = image
      ? svg("image", { href: image.href, width: image.width, height: Math.min(image.height, step - 3), preserveAspectRatio: "none",
        x: left ? WORD - 8 - image.width : WIDTH - WORD + 8, y: y - Math.min(image.height, step - 3) / 2 })
      : svg("text", { x: left ? WORD - 8 : WIDTH - WORD + 8, y, "text-anchor": left ? "end" : "start" },
        brief(token(sequence, place), Math.floor(WORD / 8.2) - 2));
    const group = svg("g", { class: `word ${side}`,
      onpointerenter: () => change({ over: { sequence, place, side } }),
      onpointerleave: () => change({ over: null }),
      onclick: () => pin(sequence ?? output, place),
    }, svg("rect", { x: left ? 0 : WIDTH - WORD, y: y - step / 2, width: WORD, height: step }), name, note);
    return { group, note };
  });
}

/** Show only the lines of the word that is spoken of, with their shares beside the words at the other end. */
function speak(one, all, queries, keys) {
  const query = spoken(one.queries, "query");
  const key = query === null || view.over?.side === "key" ? spoken(one.keys, "key") : null;
  const from = view.over?.side === "key" ? null : query;
  const alone = from !== null || key !== null;
  for (const { path, ...line } of all) {
    const is = line.query === from || line.key === key;
    path.classList.toggle("away", alone && !is);
    path.classList.toggle("spoken", alone && is);
  }
  const shares = { query: new Map(), key: new Map() };
  const a = weights(view.attention, view.head);
  for (let i = 0; from !== null && i < one.S; i++) shares.key.set(i, a[from * one.S + i]);
  for (let i = 0; from === null && key !== null && i < one.T; i++) shares.query.set(i, a[i * one.S + key]);
  mark(queries, shares.query, from);
  mark(keys, shares.key, key);
}

function mark(column, shares, chosen) {
  column.forEach(({ group, note }, place) => {
    const share = shares.get(place);
    note.textContent = share >= LEAST / 2 ? percent(share) : "";
    group.classList.toggle("chosen", place === chosen);
    group.classList.toggle("seen", share >= 0.1);
  });
}
