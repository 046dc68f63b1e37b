// The tokens of a sequence in a row: words, or the parts of a picture. Hover one, or choose one.

import { tag } from "./dom.js";
import { sequences } from "./record.js";
import { crop } from "./picture.js";
import { change, pin, view, watch } from "./view.js";
import { visible, say } from "./words.js";
import { roving } from "./keys.js";

export function strip(sequence) {
  const one = sequences[sequence];
  const buttons = one.tokens.map((text, place) => tag("button", {
    class: "token", "aria-label": say("token_at", { token: visible(text), place: place + 1 }),
    onclick: () => pin(sequence, place),
    onpointerenter: () => change({ over: { sequence, place } }),
    onpointerleave: () => change({ over: null }),
  }, crop(sequence, place) ?? visible(text), tag("small", {}, String(place + 1))));
  const row = tag("div", { class: "strip", role: "group", "aria-label": say(`sequence_${one.name}`) }, buttons);
  roving(row, buttons, buttons.length, view.sequence === sequence ? view.place : 0);
  watch(["sequence", "place", "over", "pinned"], () => buttons.forEach((button, place) => {
    const chosen = view.sequence === sequence && view.place === place;
    button.setAttribute("aria-pressed", String(chosen));
    button.classList.toggle("pinned", chosen && view.pinned);
    button.classList.toggle("over", view.over?.sequence === sequence && view.over.place === place);
  }));
  const cut = one.of > one.tokens.length ? say("of_tokens", { kept: one.tokens.length, of: one.of }) : say("tokens", { n: one.of });
  return tag("div", { class: "sequence" },
    tag("h3", {}, say(`sequence_${one.name}`), tag("small", {}, cut)), row);
}
