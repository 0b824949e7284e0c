"use strict";
// Time: steps a second, one after another while they can be followed, several a frame beyond that.

const SPEEDS = [0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 1000, 3000];
const LONGEST = 0.1; // seconds a frame that count: a tab that slept does not catch up

class Player {
  /** step(count): called with the steps that are due in a frame. */
  constructor(step) {
    this.step = step;
    this.speed = 2;
    this.playing = false;
    this.due = 0;
    this.frames = []; // milliseconds between the last frames
  }

  get perSecond() {
    return SPEEDS[this.speed];
  }

  /** Whether steps follow each other too fast to be told or to flash. */
  get fast() {
    return this.playing && this.perSecond > 2;
  }

  play() {
    if (this.playing) return;
    this.playing = true;
    this.due = 1;
    this.before = null;
    this.frames = [];
    requestAnimationFrame((now) => this.frame(now));
  }

  pause() {
    this.playing = false;
  }

  frame(now) {
    if (!this.playing) return;
    if (this.before !== null) {
      const passed = now - this.before;
      this.frames.push(passed);
      if (this.frames.length > 600) this.frames.shift();
      this.due += Math.min(passed / 1000, LONGEST) * this.perSecond;
    }
    this.before = now;
    const steps = Math.floor(this.due);
    this.due -= steps;
    if (steps > 0) this.step(steps);
    requestAnimationFrame((next) => this.frame(next));
  }
}
