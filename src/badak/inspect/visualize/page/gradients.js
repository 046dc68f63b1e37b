// The gradient of every layer, and of every parameter, beside the size of the weights that it would change.

import { tag } from "./dom.js";
import { record } from "./record.js";
import { largest, short } from "./numbers.js";
import { say } from "./words.js";

export function gradients() {
  const all = record.gradients;
  if (!all) return null;
  return [gradientTable(all.layers), all.parameters.length
    ? tag("details", {}, tag("summary", {}, say("parameters", { n: all.parameters.length })), gradientTable(all.parameters)) : null];
}

function gradientTable(rows) {
  const most = largest(rows.map(({ norm }) => norm));
  const shapes = rows.some(({ shape }) => shape);
  return tag("div", { class: "scroll" }, tag("table", { class: "gradients" },
    tag("thead", {}, tag("tr", {}, tag("th", {}, say("where")), shapes ? tag("th", {}, say("shape")) : null,
      tag("th", { colspan: 2 }, say("gradient_norm")), tag("th", { class: "number" }, say("weight_norm")), tag("th", { class: "number" }, say("ratio")))),
    tag("tbody", {}, rows.map(({ name, shape, norm, weight }) => tag("tr", {}, tag("td", { class: "text" }, name),
      shapes ? tag("td", {}, shape.join(" × ")) : null,
      tag("td", { class: "bar b" }, tag("i", { style: `width:${most ? (100 * norm) / most : 0}%` })),
      tag("td", { class: "number" }, short(norm)), tag("td", { class: "number" }, short(weight)),
      tag("td", { class: "number" }, weight ? short(norm / weight) : "—"))))));
}
