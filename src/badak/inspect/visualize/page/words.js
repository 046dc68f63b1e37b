// What the page says, in the language of the person: the table is words.json.

import { view } from "./view.js";

const WORDS = JSON.parse(document.getElementById("words").textContent);

/** The words of a key, with {holes} filled. */
export function say(key, holes = {}) {
  const texts = WORDS[key];
  if (!texts) throw new Error(`words.json lacks ${key}`);
  return texts[view.language].replace(/\{(\w+)\}/g, (_, hole) => holes[hole]);
}

/** Whether the table has a key. */
export const known = (key) => Object.hasOwn(WORDS, key);

const MARKS = { "\n": "⏎", "\t": "⇥", "\r": "␍" };

/** A token as it can be seen: blanks at its ends as ·, control characters by a mark or their number, nothing as ∅. */
export function visible(token) {
  if (token === "") return "∅";
  const ends = token.replace(/^ +| +$/g, (blanks) => "·".repeat(blanks.length));
  return ends.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu, (letter) =>
    letter === "\u200d" ? letter : (MARKS[letter] ?? `⟨${letter.codePointAt(0).toString(16).toUpperCase()}⟩`));
}

/** The first letters of a long token. */
export function brief(token, most = 14) {
  const letters = [...visible(token)];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : letters.join("");
}
