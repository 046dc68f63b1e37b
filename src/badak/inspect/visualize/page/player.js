// The backward, step by step: which box is open, and how much of its backward has been played.

import { backward, boxes, record } from "./record.js";
import { change, view } from "./view.js";

const PAUSE = 1400; // milliseconds from step to step
let clock = null, opener = null;

/** Steps of a box: what came from above, each formula, and each gradient that goes on. */
export const steps = (box) => (box?.back ? 1 + box.back.steps.length + box.back.goes.length : 0);

/** Open the floor of a box; nothing of its backward is played yet. */
export function openFloor(index, step = 0) {
  if (view.box === null) opener = document.activeElement;
  const row = record.row ?? view, its = boxes[index]?.place; // the numbers of a box are those of one token: the page speaks of it, too
  const at = its === null ? {} : { sequence: row.sequence, place: its ?? row.place };
  const moved = at.place !== undefined && (at.place !== view.place || at.sequence !== view.sequence);
  change({ box: index, step, playing: false, ...at, pinned: view.pinned && !moved });
  document.getElementById("floor")?.focus();
}

export function closeFloor() {
  change({ box: null, step: 0, playing: false });
  opener?.focus();
}

/** Play from the loss down to the first box. */
export function startBackward() {
  openFloor(backward[0], 1);
  toggle();
}

/** One step on; after the last one of a box, the next box that the backward visits. False at the end of all. */
export function stepOn() {
  if (view.step < steps(boxes[view.box])) return change({ step: view.step + 1 }), true;
  const next = backward[backward.indexOf(view.box) + 1];
  if (next === undefined || backward.indexOf(view.box) < 0) return change({ playing: false }), false;
  change({ box: next, step: 1 });
  return true;
}

/** One step back; before the first one of a box, the end of the box before. */
export function stepBack() {
  if (view.step > 1) return change({ step: view.step - 1 });
  const before = backward[backward.indexOf(view.box) - 1];
  if (before === undefined) return change({ step: 0 });
  return change({ box: before, step: steps(boxes[before]) });
}

/** Play, or stop. */
export function toggle() {
  change({ playing: !view.playing && steps(boxes[view.box]) > 0 });
  clearTimeout(clock);
  if (view.playing) tick();
}

function tick() {
  clock = setTimeout(() => {
    if (view.playing && view.box !== null && stepOn()) tick();
  }, PAUSE);
}
