// The interactive figures of the guide. Their numbers come from badak (docs/_ext/figures.py); nothing is fetched.
"use strict";

function softmax(scores) {
  const largest = Math.max(...scores);
  if (largest === -Infinity) return scores.map(() => 0);
  const e = scores.map((s) => Math.exp(s - largest)), sum = e.reduce((a, b) => a + b, 0);
  return e.map((x) => x / sum);
}

function attentionOf(points, scale) {
  return points.map((q) => softmax(points.map((k) => (q[0] * k[0] + q[1] * k[1]) * scale)));
}

function maskedWeights(scores, keep) {
  return scores.map((row, i) => softmax(row.map((s, j) => (keep[i][j] ? s : -Infinity))));
}

function tempered(logits, temperature) {
  return softmax(logits.map((x) => x / temperature));
}

(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const make = (name, at = {}, text) => {
    const node = document.createElementNS(SVG, name);
    for (const key in at) node.setAttribute(key, at[key]);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const html = (name, at = {}, text) => {
    const node = Object.assign(document.createElement(name), at);
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const canvas = (width, height) => make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img" });

  function table(weights, { rows = [], columns = [], signed = false, hidden = null } = {}) {
    const n = weights[0].length, left = rows.length ? 90 : 6, top = columns.length ? 24 : 6, w = Math.min(56, 480 / n), h = 30;
    const svg = canvas(left + n * w + 6, top + weights.length * h + 6);
    svg.style.maxWidth = `${left + n * w + 6}px`;
    const most = signed ? Math.max(1e-12, ...weights.flat().map(Math.abs)) : 1;
    columns.forEach((word, j) => svg.append(make("text", { x: left + (j + 0.5) * w, y: 16, "text-anchor": "middle" }, word)));
    weights.forEach((row, i) => {
      if (rows[i]) svg.append(make("text", { x: left - 6, y: top + i * h + 20, "text-anchor": "end" }, rows[i]));
      row.forEach((x, j) => {
        const share = Math.min(1, Math.abs(x) / most), off = hidden && !hidden[i][j];
        const square = make("rect", { x: left + j * w, y: top + i * h, width: w - 2, height: h - 2, rx: 3,
          class: off ? "off" : x < 0 ? "minus" : "plus", "fill-opacity": off ? 1 : 0.06 + 0.94 * share, "data-at": `${i},${j}` });
        const number = x !== 0 && signed && Math.abs(x) < 0.005 ? x.toExponential(0) : x.toFixed(2);
        svg.append(square, make("text", { x: left + (j + 0.5) * w - 1, y: top + i * h + 19, "text-anchor": "middle",
          class: !off && share > 0.6 ? "number on" : "number" }, number));
      });
    });
    return svg;
  }

  function bars(values, { names = [], low = 0, high = 1 } = {}) {
    const svg = canvas(520, 170), w = 508 / values.length, y = (v) => 10 + 130 * (1 - (v - low) / (high - low));
    values.forEach((v, i) => {
      svg.append(make("rect", { x: 6 + i * w, y: Math.min(y(v), y(Math.max(low, 0))), width: Math.max(1, Math.min(w - 2, 70)),
        height: Math.abs(y(v) - y(Math.max(low, 0))), class: v < 0 ? "minus" : "plus" }));
      const middle = 6 + i * w + Math.min(w - 2, 70) / 2;
      if (names[i]) svg.append(make("text", { x: middle, y: 162, "text-anchor": "middle" }, names[i]),
        make("text", { x: middle, y: Math.min(y(v) - 3, 136), "text-anchor": "middle", class: v > 0.9 ? "number on" : "number" }, v.toFixed(2)));
      else if (i % 4 === 0) svg.append(make("text", { x: middle, y: 162, "text-anchor": "middle" }, i));
    });
    return svg;
  }

  function line(values, { low = 0, high = 1 }) {
    const svg = canvas(520, 190), x = (i) => 40 + (i * 470) / (values.length - 1);
    const y = (v) => 10 + 150 * (1 - (Math.min(v, high) - low) / (high - low));
    for (const v of [low, (low + high) / 2, high]) svg.append(make("line", { x1: 40, x2: 510, y1: y(v), y2: y(v), class: "grid" }),
      make("text", { x: 34, y: y(v) + 4, "text-anchor": "end" }, v.toFixed(2)));
    svg.append(make("polyline", { points: values.map((v, i) => `${x(i)},${y(v)}`).join(" "), class: "curve" }));
    svg.append(make("text", { x: 510, y: 182, "text-anchor": "end" }, `${values.at(-1) > 1e4 ? "→ ∞" : values.at(-1).toFixed(3)}`));
    return svg;
  }

  function slider(figure, { count, at, label, play }) {
    const row = html("div", { className: "controls" }), range = html("input", { type: "range", min: 0, max: count - 1, step: 1, value: at });
    const said = html("output");
    range.setAttribute("aria-label", figure.querySelector("figcaption").textContent);
    row.append(range, said);
    let timer = null;
    const show = () => (said.textContent = label(+range.value));
    if (play) {
      const button = html("button", { type: "button" }, "▶");
      const stop = () => { clearInterval(timer); timer = null; button.textContent = "▶"; };
      button.onclick = () => {
        if (timer) return stop();
        if (+range.value === count - 1) range.value = -1;
        button.textContent = "❚❚";
        timer = setInterval(() => {
          range.value = Math.min(+range.value + 1, count - 1);
          show();
          if (+range.value === count - 1) stop();
        }, 900);
      };
      row.prepend(button);
    }
    range.oninput = show;
    figure.append(row);
    show();
  }

  const KINDS = {
    states(figure, data) {
      const box = figure.appendChild(html("div"));
      slider(figure, { count: data.states.length, at: data.at, play: true, label: (i) => {
        const s = data.states[i];
        box.replaceChildren(s.table ? table(s.table, s) : s.line ? line(s.line, s) : bars(s.bars, s));
        return s.label;
      } });
    },
    temperature(figure, data) {
      const box = figure.appendChild(html("div"));
      slider(figure, { count: 40, at: 9, label: (i) => {
        const t = (i + 1) / 10;
        box.replaceChildren(bars(tempered(data.logits, t), { names: data.words }));
        return `T = ${t.toFixed(1)}`;
      } });
    },
    paint(figure, data) {
      const n = data.words.length, keep = data.scores.map((row, i) => row.map((_, j) => j <= i)), box = figure.appendChild(html("div"));
      let brush = null;
      const draw = () => box.replaceChildren(table(maskedWeights(data.scores, keep), { rows: data.words, columns: data.words, hidden: keep }));
      const touch = (event) => {
        const square = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-at]");
        if (!square || !figure.contains(square)) return;
        const [i, j] = square.dataset.at.split(",").map(Number);
        if (brush === null) brush = !keep[i][j];
        if (keep[i][j] !== brush) { keep[i][j] = brush; draw(); }
      };
      box.className = "paint";
      box.onpointerdown = (event) => { event.preventDefault(); brush = null; touch(event); };
      box.onpointermove = (event) => { if (event.buttons && brush !== null) touch(event); };
      addEventListener("pointerup", () => (brush = null));
      draw();
    },
    points(figure, data) {
      const svg = canvas(340, 240), box = figure.appendChild(html("div", { className: "beside" })), own = html("div");
      const points = data.points.map((p) => [...p]), px = (p) => [170 + p[0] * 60, 120 - p[1] * 60];
      box.append(svg, own);
      let held = null;
      const draw = () => {
        const weights = attentionOf(points, data.scale);
        svg.replaceChildren(make("line", { x1: 0, x2: 340, y1: 120, y2: 120, class: "grid" }), make("line", { x1: 170, x2: 170, y1: 0, y2: 240, class: "grid" }));
        points.forEach((p, i) => {
          const [x, y] = px(p);
          svg.append(make("line", { x1: 170, y1: 120, x2: x, y2: y, class: "curve" }),
            make("circle", { cx: x, cy: y, r: 9, class: "plus handle", "data-word": i }),
            make("text", { x, y: y - 13, "text-anchor": "middle" }, data.words[i]));
        });
        own.replaceChildren(table(weights, { rows: data.words, columns: data.words }));
      };
      svg.onpointerdown = (event) => {
        const word = event.target.dataset.word;
        if (word !== undefined) { held = +word; svg.setPointerCapture(event.pointerId); event.preventDefault(); }
      };
      svg.onpointermove = (event) => {
        if (held === null) return;
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
        points[held] = [Math.max(-2.4, Math.min(2.4, (at.x - 170) / 60)), Math.max(-1.6, Math.min(1.6, (120 - at.y) / 60))];
        draw();
      };
      svg.onpointerup = () => (held = null);
      draw();
    },
  };
  for (const figure of document.querySelectorAll("figure.live")) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    KINDS[data.kind](figure, data);
  }
})();
