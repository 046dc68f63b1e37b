// Formulas as MathML, which browsers draw themselves: page.py gives each text its tree, [element.class, ...children].

import { tag } from "./dom.js";
import { known, say } from "./words.js";

const MATHML = "http://www.w3.org/1998/Math/MathML";
const TREES = JSON.parse(document.getElementById("math").textContent);

/** A formula; its text stays there for who reads by ear, searches or copies, and where there is no tree of it. */
export function math(text) {
  if (!TREES[text]) return tag("code", {}, text);
  const root = document.createElementNS(MATHML, "math");
  root.setAttribute("alttext", text);
  root.setAttribute("displaystyle", "true");
  root.append(grown(TREES[text]));
  return tag("span", { class: "formula-of", title: text, role: "math", "aria-label": text }, root);
}

/** One of the lines that say what an operation computes, in the language of the page. */
export const formula = (text) => math(known(text) ? say(text) : text);

/** A line of formulas beside each other, three blanks apart. */
export const side = (line) => line.trim().split(/ {3,}/).map((part) => math(part));

function grown([name, ...children]) {
  const [element, kind] = name.split(".");
  const made = document.createElementNS(MATHML, element);
  if (kind) made.setAttribute("class", kind);
  if (element === "mspace") made.setAttribute("width", kind === "wide" ? "1.4em" : "0.17em");
  made.append(...children.map((child) => (typeof child === "string" ? child : grown(child))));
  return made;
}
