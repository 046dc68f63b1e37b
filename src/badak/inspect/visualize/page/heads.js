// Every head of every layer as a small matrix; one is chosen, a second one may be compared with it.

import { canvas, styled, tag } from "./dom.js";
import { attentions, families, family, layers, number, scores, sequences, weights } from "./record.js";
import { percent } from "./numbers.js";
import { change, view, watch } from "./view.js";
import { say } from "./words.js";
import { compare, roving } from "./keys.js";

/** A sign for each thing that a head can mostly do, so that nothing is said by colour alone. */
export const SIGNS = { previous: "←", next: "→", first: "⇤", last: "⇥", itself: "•", same: "=", aligned: "∥", broad: "≋", mixed: "·" };

/** Paint T x S shares into a rectangle, the darker the more. */
export function paint(context, all, T, S, x, y, width, height, colour) {
  const [red, green, blue] = colour.match(/\w\w/g).map((two) => parseInt(two, 16));
  const image = new ImageData(S, T);
  for (let i = 0; i < T * S; i++) {
    image.data.set([red, green, blue, Math.round(255 * Math.sqrt(Math.min(1, all[i])))], 4 * i);
  }
  const small = document.createElement("canvas");
  [small.width, small.height] = [S, T];
  small.getContext("2d").putImageData(image, 0, 0);
  context.imageSmoothingEnabled = S > width || T > height;
  context.drawImage(small, x, y, width, height);
}

/** The name of a head: layer 3, head 5. */
export function named({ attention, head }) {
  const { layer } = attentions[attention];
  return layer === null ? say("head_alone", { head: head + 1 }) : say("head_name", { layer: number(layer), head: head + 1 });
}

/** The tabs: the text looks at itself, the target at the source, ... */
export function tabs() {
  if (families.length < 2) return null;
  const buttons = families.map((one) => tag("button", {
    onclick: () => change({ attention: one.members[0], head: 0, other: null, comparing: false }),
  }, familyName(one)));
  watch(["attention"], () => buttons.forEach((button, i) =>
    button.setAttribute("aria-pressed", String(families[i] === family(view.attention)))));
  return tag("div", { class: "tabs", role: "group", "aria-label": say("kinds_of_attention") }, buttons);
}

function familyName({ kind, queries, keys, stack }) {
  if (kind === "cross" && queries === keys) return say("looks_at", { who: say("decoder"), at: say("encoder") });
  if (stack && kind === "self") return say("looks_at_itself", { who: say(stack) });
  const name = (sequence) => say(`sequence_${sequences[sequence]?.name ?? "text"}`);
  return kind === "self" ? say("looks_at_itself", { who: name(queries) }) : say("looks_at", { who: name(queries), at: name(keys) });
}

/** The table of thumbnails of a family. */
export function grid() {
  const place = tag("div", { class: "heads" });
  let shown = null, cells = [];
  watch(["attention", "head", "other"], () => {
    const one = family(view.attention);
    if (one !== shown) {
      cells = fillGrid(place, one);
      shown = one;
    }
    for (const { button, attention, head } of cells) {
      const is = (at) => at && at.attention === attention && at.head === head;
      button.classList.toggle("a", view.attention === attention && view.head === head);
      button.classList.toggle("b", Boolean(is(view.other)));
      button.setAttribute("aria-pressed", String(button.classList.contains("a") || button.classList.contains("b")));
    }
  });
  return place;
}

function fillGrid(place, { members }) {
  const most = Math.max(...members.map((index) => attentions[index].heads.length));
  const size = most > 8 ? 36 : most > 4 ? 46 : 58;
  const cells = [];
  const rows = members.map((attention) => tag("div", { class: "row" },
    tag("span", { class: "name", title: attentions[attention].path }, number(attentions[attention].layer)),
    attentions[attention].heads.map((head, index) => {
      const button = thumbnail(attention, index, size);
      cells.push({ button, attention, head: index });
      return button;
    })));
  place.replaceChildren(tag("div", { class: "row top" }, tag("span", { class: "name" }, say("layer")),
    Array.from({ length: most }, (_, i) => tag("span", { style: `width:${size + 8}px` }, String(i + 1)))), ...rows);
  const chosen = cells.findIndex(({ attention, head }) => attention === view.attention && head === view.head);
  roving(place, cells.map(({ button }) => button), most, chosen);
  return cells;
}

function thumbnail(attention, head, size) {
  const { T, S, heads } = attentions[attention];
  const picture = canvas(size, size, (context) => paint(context, weights(attention, head), T, S, 0, 0, size, size, styled("--a")));
  const does = heads[head].does;
  return tag("button", { class: "thumbnail", title: `${named({ attention, head })}: ${say(`does_${does}`)}`,
    "aria-label": `${named({ attention, head })}: ${say(`does_${does}`)}`, onclick: (event) => choose(attention, head, event.shiftKey) },
  picture, tag("small", {}, `${SIGNS[does] ?? "·"}${share(heads[head], does)}`));
}

const share = (head, does) => (does in (head.scores ?? {}) ? ` ${Math.round(100 * head.scores[does])}` : "");

export function choose(attention, head, second = false) {
  if (!second && !view.comparing) return change({ attention, head });
  const same = view.attention === attention && view.head === head;
  return change({ other: same ? null : { attention, head }, comparing: false });
}

/** What the chosen head does, by numbers, and the one compared with it. */
export function cards() {
  const place = tag("div", { class: "cards" });
  watch(["attention", "head", "other", "comparing"], () => {
    const chosen = { attention: view.attention, head: view.head };
    place.replaceChildren(...[card(chosen, "a"), view.other && card(view.other, "b"), difference(chosen, view.other),
      tag("button", { id: "compare", "aria-pressed": String(view.comparing || Boolean(view.other)), onclick: compare },
        say(view.comparing ? "choose_second" : view.other ? "compare_end" : "compare"))].filter(Boolean));
  });
  return place;
}

function card(at, letter) {
  const one = attentions[at.attention], head = one.heads[at.head];
  const bars = scores(head).map(([what, share]) => tag("tr", {},
    tag("td", {}, `${SIGNS[what]} ${say(`does_${what}`)}`),
    tag("td", { class: "bar" }, tag("i", { style: `width:${(100 * share).toFixed(1)}%` })),
    tag("td", { class: "number" }, percent(share))));
  return tag("div", { class: `card ${letter}` },
    tag("h3", {}, named(at), tag("small", {}, layers[one.layer]?.name ?? one.path ?? "")),
    tag("p", {}, say("mostly", { what: say(`does_${head.does}`) })),
    tag("table", {}, bars), tag("p", { class: "small" }, say("entropy", { nats: head.entropy })));
}

/** How far two heads are apart: half the sum of the differences of a row, mean of the rows. */
function difference(a, b) {
  const sizes = b && [attentions[a.attention], attentions[b.attention]];
  if (!b || sizes[0].T !== sizes[1].T || sizes[0].S !== sizes[1].S) return null;
  const [one, two] = [weights(a.attention, a.head), weights(b.attention, b.head)];
  const apart = one.reduce((sum, share, i) => sum + Math.abs(share - two[i]), 0) / 2 / sizes[0].T;
  return tag("p", { class: "apart" }, say("apart", { share: percent(apart) }));
}
