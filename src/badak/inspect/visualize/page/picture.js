// A picture whose rows or patches are the tokens: whole, with the attention over it, and cut in parts.

import { canvas, styled, svg, tag } from "./dom.js";
import { attentions, sequences, token, weights } from "./record.js";
import { change, pin, spoken, view, watch } from "./view.js";
import { percent } from "./numbers.js";
import { brief, say } from "./words.js";

const PICTURE = 280; // CSS pixels of the whole picture
const cache = new Map();

/** The picture of a sequence as a canvas of its own pixels; null where it has none. */
function pixels(sequence) {
  if (cache.has(sequence)) return cache.get(sequence);
  const picture = sequences[sequence]?.picture;
  if (!picture) return null;
  const { width, height, channels } = picture;
  const bytes = Uint8Array.from(atob(picture.pixels), (letter) => letter.charCodeAt(0));
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = bytes[i * channels + Math.min(c, channels - 1)];
    image.data[4 * i + 3] = 255;
  }
  const whole = document.createElement("canvas");
  [whole.width, whole.height] = [width, height];
  whole.getContext("2d").putImageData(image, 0, 0);
  cache.set(sequence, whole);
  return whole;
}

/** The part of the picture that a token is, as a canvas at most `most` pixels wide; null for a token that is no part. */
export function crop(sequence, place, most = 42) {
  const part = sequences[sequence]?.picture?.boxes?.[place];
  if (!part) return null;
  const [x, y, w, h] = part;
  const scale = most / Math.max(w, h);
  return canvas(w * scale, Math.max(6, h * scale), (context) => {
    context.imageSmoothingEnabled = false;
    context.drawImage(pixels(sequence), x, y, w, h, 0, 0, w * scale, Math.max(6, h * scale));
  }, { class: "crop" });
}

/** The same as an address for an SVG image: {href, width, height}. */
export function cropAddress(sequence, place, most) {
  const part = crop(sequence, place, most);
  return part && { href: part.toDataURL(), width: parseFloat(part.style.width), height: parseFloat(part.style.height) };
}

/** The whole picture; its parts can be hovered and chosen, and the chosen head's attention lies over it. */
export function picture(sequence) {
  const one = sequences[sequence].picture;
  const scale = PICTURE / one.width;
  const caption = tag("figcaption", { "aria-live": "polite" });
  const marks = one.boxes.map((part, place) => part && svg("rect", {
    x: part[0] * scale, y: part[1] * scale, width: part[2] * scale, height: part[3] * scale,
    onpointerenter: () => change({ over: { sequence, place, side: "key" } }),
    onpointerleave: () => change({ over: null }),
    onclick: () => pin(sequence, place),
  }));
  const height = one.height * scale;
  const whole = canvas(PICTURE, height, (context) => {
    context.imageSmoothingEnabled = false;
    context.drawImage(pixels(sequence), 0, 0, PICTURE, height);
  });
  watch(["attention", "head", "sequence", "place", "over", "pinned"], () => {
    const at = attentions[view.attention];
    const query = at?.keys === sequence ? (spoken(at.queries, "query") ?? (view.sequence === at.queries ? view.place : null)) : null;
    const all = query === null ? null : weights(view.attention, view.head).subarray(query * at.S, (query + 1) * at.S);
    const most = all ? Math.max(...all, 1e-9) : 1;
    marks.forEach((mark, place) => {
      mark?.setAttribute("fill", styled("--a"));
      mark?.setAttribute("fill-opacity", all ? 0.75 * (all[place] / most) : 0);
      mark?.classList.toggle("chosen", query === place);
    });
    caption.textContent = all
      ? say("picture_of", { token: brief(token(at.queries, query)), share: percent(most) }) : say("picture_none");
  });
  return tag("figure", { class: "picture" },
    tag("div", { class: "stack" }, whole, svg("svg", { width: PICTURE, height, viewBox: `0 0 ${PICTURE} ${height}` }, marks)), caption);
}
