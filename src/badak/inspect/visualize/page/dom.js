// Elements by hand. Text only ever becomes a text node, so that nothing in a record can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** An element: attributes by name, `on…` listeners as functions, then children (nodes, texts, lists of them; null is left out). */
export function tag(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** A canvas of so many CSS pixels, sharp on every screen: `paint(context)` draws in CSS pixels. */
export function canvas(width, height, paint, attributes = {}) {
  const element = tag("canvas", attributes);
  const ratio = Math.max(2, window.devicePixelRatio || 1); // 2 at least: it may be printed
  element.width = Math.ceil(width * ratio);
  element.height = Math.ceil(height * ratio);
  element.style.width = `${width}px`;
  element.style.height = `${height}px`;
  const context = element.getContext("2d");
  context.scale(ratio, ratio);
  paint(context);
  return element;
}

/** The value of a colour or length that style.css gives a name. */
export const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Elements that say what they are about: only texts that a mouse hovers, never markup. */
export const about = (text) => ({ title: text, "aria-label": text });
