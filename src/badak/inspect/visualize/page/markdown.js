// The little Markdown that the derivations are written in, as elements: headings, paragraphs, indented and fenced code, `code`, **strong**.

import { tag } from "./dom.js";
import { side } from "./math.js";

export function markdown(text) {
  const blocks = [];
  const lines = text.split("\n");
  for (let i = 0; i < lines.length;) {
    const start = i;
    if (!lines[i].trim()) i++;
    else if (lines[i].startsWith("```")) {
      for (i++; i < lines.length && !lines[i].startsWith("```");) i++;
      blocks.push(tag("pre", {}, lines.slice(start + 1, i++).join("\n")));
    } else if (lines[i].startsWith("    ")) {
      while (i < lines.length && (lines[i].startsWith("    ") || (!lines[i].trim() && lines[i + 1]?.startsWith("    ")))) i++;
      blocks.push(tag("div", { class: "math" }, lines.slice(start, i).filter((line) => line.trim()).map((line) => tag("div", {}, side(line)))));
    } else if (/^#+ /.test(lines[i])) {
      blocks.push(tag(lines[i].startsWith("# ") ? "h3" : "h4", {}, inline(lines[i++].replace(/^#+ /, ""))));
    } else {
      while (i < lines.length && lines[i].trim() && !/^(```|    |#+ )/.test(lines[i])) i++;
      blocks.push(tag("p", {}, inline(lines.slice(start, i).join(" "))));
    }
  }
  return blocks;
}

function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map((part) => {
    if (part.startsWith("`")) return tag("code", {}, part.slice(1, -1));
    if (part.startsWith("**")) return tag("strong", {}, part.slice(2, -2));
    const link = part.match(/^\[([^\]]+)\]\([^)]+\)$/); // the page stands alone: what a link leads to is not in it
    return link ? link[1] : part;
  });
}
