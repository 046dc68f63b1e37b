// Attention as a matrix: a row for each word that looks, a column for each that is looked at.

import { canvas, styled, svg, tag } from "./dom.js";
import { attentions, token, weights } from "./record.js";
import { percent } from "./numbers.js";
import { paint, named } from "./heads.js";
import { sameShape } from "./lines.js";
import { change, pin, spoken, view, watch } from "./view.js";
import { brief, say, visible } from "./words.js";

const SIDE = 460, LABEL = 78; // of the square of cells at most; of the words beside it at most

export function matrices() {
  const place = tag("div", { class: "matrices" });
  let shown = [];
  watch(["attention", "head", "other"], () => {
    const heads = [{ attention: view.attention, head: view.head, letter: "a" }];
    if (view.other && sameShape(attentions[view.attention], attentions[view.other.attention])) heads.push({ ...view.other, letter: "b" });
    shown = heads.map((head) => matrix(head, heads.length));
    place.replaceChildren(...shown.map(({ element }) => element));
  });
  watch(["over", "sequence", "place", "pinned"], () => shown.forEach(({ speak }) => speak()));
  return place;
}

function matrix({ attention, head, letter }, many) {
  const one = attentions[attention], all = weights(attention, head);
  const cell = Math.min((many > 1 ? 0.62 : 1) * SIDE / Math.max(one.T, one.S), 44);
  const label = cell >= 9 ? room(one) : 6;
  const [width, height] = [label + cell * one.S, label + cell * one.T];
  const caption = tag("figcaption", { "aria-live": "polite" }, say("matrix_hint"));
  const rows = svg("rect", { class: "crosshair", visibility: "hidden" }), columns = svg("rect", { class: "crosshair", visibility: "hidden" });
  const over = svg("svg", { viewBox: `0 0 ${width} ${height}` }, rows, columns);
  const picture = canvas(width, height, (context) => {
    paint(context, all, one.T, one.S, label, label, cell * one.S, cell * one.T, styled(`--${letter}`));
    frame(context, one, cell, label);
    if (cell >= 9) write(context, one, cell, label);
  });
  const at = { row: null, column: null };
  const go = (row, column) => {
    if (row < 0 || column < 0 || row >= one.T || column >= one.S) return;
    Object.assign(at, { row, column });
    show(rows, { x: 0, y: label + row * cell, width, height: cell });
    show(columns, { x: label + column * cell, y: 0, width: cell, height });
    caption.textContent = told(one, row, column);
  };
  const find = (event) => {
    const box = over.getBoundingClientRect(), scale = width / box.width;
    return [event.clientY - box.top, event.clientX - box.left].map((x) => Math.floor((x * scale - label) / cell));
  };
  const stack = tag("div", { class: "stack", tabindex: 0, role: "application", "aria-label": `${say("matrix")}: ${named({ attention, head })}`,
    onpointermove: (event) => { const [row, column] = find(event); go(row, column); if (row >= 0 && row < one.T) change({ over: hovered(one, row) }); },
    onpointerleave: () => { hide(rows); hide(columns); change({ over: null }); },
    onclick: (event) => { const [row] = find(event); if (row >= 0 && row < one.T && one.queries !== null) pin(one.queries, row); },
    onkeydown: (event) => arrows(event, at, go, one),
  }, picture, over);
  stack.style.maxWidth = `${width}px`;
  const speak = () => {
    const row = spoken(one.queries, "query"), column = view.over?.side === "key" ? spoken(one.keys, "key") : null;
    if (row !== null && at.row !== row) show(rows, { x: 0, y: label + row * cell, width, height: cell });
    if (column !== null) show(columns, { x: label + column * cell, y: 0, width: cell, height });
    if (row === null) hide(rows);
    if (column === null && !stack.matches(":hover, :focus")) hide(columns);
  };
  return { element: tag("figure", { class: `matrix ${letter}` }, tag("h3", {}, named({ attention, head })), stack, caption), speak };
}

const hovered = (one, row) =>
  (view.over?.sequence === one.queries && view.over.place === row && view.over.side === "query"
    ? view.over : { sequence: one.queries, place: row, side: "query" });

/** “cat” looks at “the” with 43 %, and with the second head 2 %. */
function told(one, row, column) {
  const share = (attention, head) => percent(weights(attention, head)[row * one.S + column]);
  const holes = { query: visible(token(one.queries, row)), key: visible(token(one.keys, column)), share: share(view.attention, view.head) };
  if (view.other && sameShape(one, attentions[view.other.attention])) {
    return say("matrix_both", { ...holes, other: share(view.other.attention, view.other.head) });
  }
  return say("matrix_one", holes);
}

function arrows(event, at, go, one) {
  const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.code];
  if (event.code === "Enter" && at.row !== null && one.queries !== null) pin(one.queries, at.row);
  if (!by || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (at.row === null) go(Math.max(0, spoken(one.queries, "query") ?? 0), 0);
  else go(at.row + by[0], at.column + by[1]);
}

function show(rect, place) {
  for (const [name, value] of Object.entries(place)) rect.setAttribute(name, value);
  rect.setAttribute("visibility", "visible");
}

const hide = (rect) => rect.setAttribute("visibility", "hidden");

/** A hair around all cells, and between them where there is room. */
function frame(context, { T, S }, cell, label) {
  context.strokeStyle = styled("--line");
  context.lineWidth = 1;
  if (cell >= 12) {
    context.beginPath();
    for (let i = 1; i < T; i++) { context.moveTo(label, label + i * cell); context.lineTo(label + S * cell, label + i * cell); }
    for (let i = 1; i < S; i++) { context.moveTo(label + i * cell, label); context.lineTo(label + i * cell, label + T * cell); }
    context.globalAlpha = 0.6;
    context.stroke();
    context.globalAlpha = 1;
  }
  context.strokeRect(label + 0.5, label + 0.5, S * cell - 1, T * cell - 1);
}

/** How much room the longest word needs. */
function room({ T, S, queries, keys }) {
  const length = (sequence, n) => Math.max(...Array.from({ length: n }, (_, i) => brief(token(sequence, i), 10).length));
  return Math.min(LABEL, 14 + 8 * Math.max(length(queries, T), length(keys, S)));
}

/** The words beside the rows and, upright, over the columns. */
function write(context, one, cell, label) {
  context.fillStyle = styled("--soft");
  context.font = `${Math.min(12, cell + 1)}px ${styled("--sans")}`;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (let i = 0; i < one.T; i++) context.fillText(brief(token(one.queries, i), 10), label - 6, label + (i + 0.5) * cell, label - 8);
  context.textAlign = "left";
  for (let i = 0; i < one.S; i++) {
    context.save();
    context.translate(label + (i + 0.5) * cell, label - 6);
    context.rotate(-Math.PI / 2);
    context.fillText(brief(token(one.keys, i), 10), 0, 0, label - 8);
    context.restore();
  }
}
