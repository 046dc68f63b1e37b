// What is being looked at: one object, changed in one place; whoever draws a part of the page watches the words it depends on.

export const view = {
  language: document.documentElement.lang,
  theme: "auto", // "auto", "light", "dark"
  sequence: 0, // whose token is chosen
  place: 0, // the chosen token
  pinned: false, // whether the pictures show the chosen token alone
  over: null, // {sequence, place, side}: the token under the mouse; side "query" or "key" where it is in a picture of attention
  attention: 0, // which attention, an index into record.attentions
  head: 0,
  other: null, // the second head of a comparison: {attention, head}
  comparing: false, // the next head that is chosen becomes the second one
  box: null, // the box whose floor is open, an index into record.boxes
  step: 0, // how many steps of its backward are shown
  playing: false,
};

let watchers = [];

/** Call `draw` now and whenever one of these words of the view has changed. */
export function watch(words, draw) {
  watchers.push({ words, draw });
  draw();
}

/** The page is built anew: nobody watches any more. */
export function forget() {
  watchers = [];
}

/** Change the view, and draw what depends on it. */
export function change(part) {
  const changed = Object.keys(part).filter((word) => view[word] !== part[word]);
  Object.assign(view, part);
  for (const { words, draw } of watchers) {
    if (words.some((word) => changed.includes(word))) draw();
  }
}

/** Choose a token, so that all pictures speak of it alone; the same one once more lets go. */
export function pin(sequence, place) {
  const again = view.pinned && view.sequence === sequence && view.place === place;
  change({ sequence, place, pinned: !again });
}

/** The token of a sequence that the pictures speak of alone: the one under the mouse, else the chosen one; null for all. */
export function spoken(sequence, side = null) {
  const over = view.over;
  if (over) return over.sequence === sequence && (!side || !over.side || over.side === side) ? over.place : null;
  return view.pinned && view.sequence === sequence && side !== "key" ? view.place : null;
}
