// The page, from above to below.

import { tag } from "./dom.js";
import { answer, attentions, firstAttention, output, record, sequences } from "./record.js";
import { grouped, percent, short } from "./numbers.js";
import { answers } from "./answers.js";
import { floor } from "./floor.js";
import { gradients } from "./gradients.js";
import { cards, grid, tabs } from "./heads.js";
import { dark, help, listen } from "./keys.js";
import { lens } from "./lens.js";
import { lines } from "./lines.js";
import { matrices } from "./matrix.js";
import { model } from "./layers.js";
import { picture } from "./picture.js";
import { strip } from "./strip.js";
import { change, forget, view, watch } from "./view.js";
import { known, say, visible } from "./words.js";

function build() {
  forget();
  const focused = document.activeElement?.id;
  document.documentElement.lang = view.language;
  document.documentElement.dataset.theme = dark() ? "dark" : "light";
  document.body.replaceChildren(
    tag("a", { class: "skip", href: "#content" }, say("skip")),
    header(), tag("main", { id: "content" }, input(), attention(),
      part("model", model()), part("lens", lens()), part("gradients", gradients())),
    tag("footer", {}, tag("p", {}, say("made_by", { version: record.badak ?? "" }))), floor());
  if (focused) document.getElementById(focused)?.focus();
  watch(["language", "theme"], again());
}

/** Builds the page anew, but not when it is asked for the first time. */
function again() {
  let first = true;
  return () => (first ? (first = false) : build());
}

function header() {
  const { name, kind, parameters, dtype, sizes } = record.model;
  const facts = [known(`kind_${kind}`) ? say(`kind_${kind}`) : "", say("weights", { n: grouped(parameters) }), dtype,
    ...(sizes ?? []).map(([letter, , n]) => `${letter} = ${grouped(n)}`)].filter(Boolean);
  const button = (id, sign, word, act) => tag("button", { id, title: say(word), "aria-label": say(word), onclick: act }, sign);
  return tag("header", { class: "page" },
    tag("div", {}, tag("h1", {}, record.title || name), tag("p", { class: "facts" }, facts.map((fact) => tag("span", {}, fact)))),
    tag("div", { class: "buttons" },
      button("language", view.language === "ko" ? "English" : "한국어", "to_language", () => change({ language: view.language === "ko" ? "en" : "ko" })),
      button("theme", dark() ? "☀" : "☾", "to_theme", () => change({ theme: dark() ? "light" : "dark" })),
      button("print", say("print_short"), "print", () => window.print()), button("open-help", "?", "help", help)));
}

/** What went in and what came out. */
function input() {
  const pictures = sequences.map((one, index) => (one.picture ? picture(index) : null)).filter(Boolean);
  const loss = record.loss ? tag("p", { class: "the-loss" }, say(`loss_${record.loss.of}`, { loss: short(record.loss.value) })) : null;
  const notes = (record.words ?? []).map(({ code, text, values }) =>
    tag("li", {}, known(`note_${code}`) ? say(`note_${code}`, readable(values ?? {})) : text));
  return tag("section", { class: "input" }, tag("div", { class: "in" },
    tag("h2", {}, say("went_in")), sequences.map((_, index) => strip(index)), pictures, loss,
    notes.length ? tag("ul", { class: "notes" }, notes) : null),
  record.predictions ? tag("div", { class: "out" }, tag("h2", {}, say("came_out")), answers()) : null);
}

/** The values of a note as a person reads them. */
function readable({ name, token, word, place, probability, ...rest }) {
  return { ...rest, name: known(`sequence_${name}`) ? say(`sequence_${name}`) : name, token: visible(word ?? answer(token)),
    place: (place ?? 0) + 1, probability: percent(probability) };
}

function attention() {
  if (!attentions.length) return "";
  return part("attention", [tabs(), tag("div", { class: "choose" },
    tag("div", { class: "of-head" }, grid(), cards()), tag("div", { class: "pictures" }, lines(), matrices()))]);
}

const part = (word, content) => (content
  ? tag("section", { class: `of-${word}` }, tag("h2", {}, say(`title_${word}`)), tag("p", { class: "lead" }, say(`lead_${word}`)), content) : "");

// There is one token that the whole page speaks of. What writes is asked first what it would write next; of all others the place
// of the boxes is looked at. Where a floor is opened, it is that one, too.
const writes = ["causal", "encoder-decoder"].includes(record.model.kind) && record.predictions?.places === "each";
change({ attention: firstAttention, sequence: writes ? output : record.row?.sequence ?? output,
  place: writes ? Math.max(0, (sequences[output]?.tokens.length ?? 0) - 1) : record.row?.place ?? 0 });
listen();
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => view.theme === "auto" && build());

let onScreen = view.theme, folded = []; // on paper it is light, whatever it was on the screen
window.addEventListener("beforeprint", () => {
  onScreen = view.theme;
  change({ theme: "light" });
  folded = [...document.querySelectorAll("details:not([open])")]; // paper cannot be clicked
  folded.forEach((one) => { one.open = true; });
});
window.addEventListener("afterprint", () => {
  change({ theme: onScreen });
  folded.forEach((one) => { one.open = false; });
});
build();
