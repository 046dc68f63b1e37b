// Numbers as the record packs them, and as a person reads them.

/** The shares of a head's attention, T x S one row after the other, from base64 of small integers. */
export function shares(head, { code, packed, T, S }) {
  const bytes = Uint8Array.from(atob(head.data), (letter) => letter.charCodeAt(0));
  const read = code === "root8"
    ? (i) => (bytes[i] / 255) ** 2
    : (i) => (bytes[2 * i] + 256 * bytes[2 * i + 1]) / 65535;
  const all = new Float32Array(T * S);
  let next = 0;
  for (let row = 0; row < T; row++) {
    const seen = packed === "lower" ? Math.max(0, Math.min(S, row + 1 + S - T)) : S;
    for (let column = 0; column < seen; column++) all[row * S + column] = read(next++);
  }
  return all;
}

/** Three digits that count: 0.0123, 12.3, 1.2e−9; a number that is not finite comes as null. */
export function short(x) {
  if (x === null || x === undefined) return "—";
  const size = Math.abs(x);
  if (size === 0) return "0";
  const text = size >= 1e5 || size < 1e-4 ? x.toExponential(1) : String(Number(x.toPrecision(3)));
  return text.replace(/-/g, "−").replace("e+", "e");
}

/** A share as percent: 43 %, 0.4 %, <0.1 %. */
export function percent(x) {
  if (x === null || x === undefined) return "—";
  const hundred = 100 * x;
  if (hundred > 0 && hundred < 0.1) return "<0.1 %";
  return `${hundred < 9.95 ? Number(hundred.toFixed(1)) : Math.round(hundred)} %`;
}

/** 1326720 as 1,326,720. */
export const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** The largest of a list, without what is no number; 0 of none. */
export const largest = (list) => list.reduce((most, x) => (x > most ? x : most), 0);

/** The mean of what is a number in a list; null of none. */
export function mean(list) {
  const there = list.filter((x) => x !== null);
  return there.length ? there.reduce((sum, x) => sum + x, 0) / there.length : null;
}

/** The numbers of a list, or of a list of lists, one after the other. */
export const flat = (values) => [values ?? []].flat(Infinity);
