"use strict";
// The picture: links on a canvas that changes when pages move, cash, rings and light on another one
// that changes with every step. Pages themselves, to point at and for the keyboard, are in pages.js.

const PAPER = { margin: 34, ink: 0.055, least: 2.5, widest: 2.1, rays: 120, light: 0.75 };

class Drawing {
  constructor(frame, layout) {
    this.frame = frame;
    this.layout = layout;
    [this.links, this.cash] = [...frame.querySelectorAll("canvas")];
    this.transform = d3.zoomIdentity;
    this.glow = 0; // from 0 to 1: what the virtual page gives
    this.colours = {};
    this.readColours();
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["ground", "text", "faint", "line", "accent", "second", "third", "mark"]) {
      this.colours[name] = style.getPropertyValue(`--${name}`).trim();
    }
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.frame;
    const density = Math.min(devicePixelRatio || 1, 2);
    Object.assign(this, { width, height });
    for (const canvas of [this.links, this.cash]) {
      canvas.width = width * density;
      canvas.height = height * density;
      canvas.getContext("2d").setTransform(density, 0, 0, density, 0, 0);
    }
    this.fit();
  }

  /** Show all pages: each axis for itself, one stretched at most `widest` times the other. */
  fit() {
    const [[left, top], [right, bottom]] = this.layout.bounds;
    const mean = this.radius(2 / this.layout.nodes.size); // of a page with some more cash
    const margin = Math.min(PAPER.margin + mean, this.width / 8);
    let x = (this.width - 2 * margin) / Math.max(right - left, 1);
    let y = (this.height - 2 * margin) / Math.max(bottom - top, 1);
    x = Math.min(x, y * PAPER.widest, 3);
    y = Math.min(y, x * PAPER.widest, 3);
    this.scale = { x, y, midX: (left + right) / 2, midY: (top + bottom) / 2 };
  }

  /** Whether a page is beyond the frame, but for the reader's own zoom. */
  get overflows() {
    const [[left, top], [right, bottom]] = this.layout.bounds;
    const [x, y] = this.unzoomed(left, top), [toX, toY] = this.unzoomed(right, bottom);
    return x < 0 || y < 0 || toX > this.width || toY > this.height;
  }

  /** On the screen, in pixels of the frame. */
  point(id) {
    const { x, y } = this.layout.at(id);
    return this.onScreen(x, y);
  }

  onScreen(x, y) {
    return this.transform.apply(this.unzoomed(x, y));
  }

  unzoomed(x, y) {
    const { scale } = this;
    return [
      this.width / 2 + (x - scale.midX) * scale.x, this.height / 2 + (y - scale.midY) * scale.y,
    ];
  }

  /** In the plane of the layout. */
  inPlane(point) {
    const [x, y] = this.transform.invert(point), { scale } = this;
    return [
      (x - this.width / 2) / scale.x + scale.midX, (y - this.height / 2) / scale.y + scale.midY,
    ];
  }

  /** The radius of a circle whose area is a part of the ink. */
  radius(part) {
    const area = PAPER.ink * this.width * this.height * Math.min(this.transform.k, 2);
    return Math.sqrt(Math.max(part, 0) * area / Math.PI);
  }

  /** A link, curved more where there is one back; where its arrow stands, and its direction. */
  path(context, [x, y], [toX, toY], bend) {
    const middleX = (x + toX) / 2 - (toY - y) * bend, middleY = (y + toY) / 2 + (toX - x) * bend;
    context.moveTo(x, y);
    context.quadraticCurveTo(middleX, middleY, toX, toY);
    const t = 0.62, s = 1 - t;
    return {
      x: s * s * x + 2 * s * t * middleX + t * t * toX,
      y: s * s * y + 2 * s * t * middleY + t * t * toY,
      angle: Math.atan2(s * (middleY - y) + t * (toY - middleY), s * (middleX - x) + t * (toX - middleX)),
    };
  }

  /** An arrow's head in the middle of a link, where no circle covers it. */
  arrow(context, { x, y, angle }, size) {
    context.moveTo(x + (size / 2) * Math.cos(angle), y + (size / 2) * Math.sin(angle));
    context.lineTo(x - size * Math.cos(angle - 0.45), y - size * Math.sin(angle - 0.45));
    context.lineTo(x - size * Math.cos(angle + 0.45), y - size * Math.sin(angle + 0.45));
    context.closePath();
  }

  bend(session, from, to) {
    return session.opic.targets[to].includes(from) ? 0.12 : 0.04;
  }

  drawLinks(session) {
    const context = this.links.getContext("2d"), { targets } = session.opic;
    const many = targets.reduce((sum, list) => sum + list.length, 0);
    const points = session.ids.map((id) => this.point(id));
    const size = many > 400 ? 4 : 7, ends = [];
    context.clearRect(0, 0, this.width, this.height);
    context.globalAlpha = many > 2000 ? 0.25 : many > 400 ? 0.45 : 0.8;
    context.strokeStyle = context.fillStyle = this.colours.faint;
    context.lineWidth = many > 400 ? 0.6 : 1.1;
    context.beginPath();
    targets.forEach((list, page) => list.forEach((target) => {
      ends.push(this.path(context, points[page], points[target], this.bend(session, page, target)));
    }));
    context.stroke();
    context.beginPath();
    for (const end of ends) this.arrow(context, end, size);
    context.fill();
    context.globalAlpha = 1;
  }

  /** ring: of each page the part that its ring shows, or null. */
  drawCash(session, { ring, selected }) {
    const context = this.cash.getContext("2d");
    const points = session.ids.map((id) => this.point(id));
    context.clearRect(0, 0, this.width, this.height);
    if (this.glow > 0.01) this.drawLight(context, session, points);
    this.drawDiscs(context, session, points);
    if (ring) this.drawRings(context, points, ring);
    this.drawRead(context, session, points);
    this.drawVirtual(context, session);
    const at = session.ids.indexOf(selected);
    if (at >= 0) this.drawSelected(context, points[at], session.opic.cash(at));
  }

  drawDiscs(context, session, points) {
    context.fillStyle = this.colours.accent;
    context.strokeStyle = this.colours.ground;
    context.lineWidth = 1;
    context.beginPath();
    points.forEach(([x, y], page) => {
      const radius = Math.max(this.radius(session.opic.cash(page)), PAPER.least);
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    });
    context.globalAlpha = 0.82;
    context.fill();
    context.globalAlpha = 1;
    context.stroke();
  }

  drawRings(context, points, ring) {
    context.strokeStyle = this.colours.second;
    context.lineWidth = 2;
    context.beginPath();
    points.forEach(([x, y], page) => {
      const radius = Math.max(this.radius(ring[page]), PAPER.least);
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    });
    context.stroke();
  }

  /** All pages in the light of the virtual page, and its rays where they are not too many. */
  drawLight(context, session, points) {
    const [middleX, middleY] = this.point(VIRTUAL), { glow } = this;
    context.globalAlpha = PAPER.light * glow;
    context.strokeStyle = this.colours.third;
    context.lineWidth = 1;
    context.setLineDash([2, 5]);
    context.beginPath();
    for (const [x, y] of points.length <= PAPER.rays ? points : []) {
      context.moveTo(middleX, middleY);
      context.lineTo(x, y);
    }
    context.stroke();
    context.setLineDash([]);
    context.lineWidth = points.length <= PAPER.rays ? 5 : 3;
    context.beginPath();
    points.forEach(([x, y], page) => {
      const radius = Math.max(this.radius(session.opic.cash(page)), PAPER.least) + 4;
      context.moveTo(x + radius, y);
      context.arc(x, y, radius, 0, 2 * Math.PI);
    });
    context.stroke();
    context.globalAlpha = 1;
  }

  /** The page that was read last, with its links. */
  drawRead(context, session, points) {
    if (session.last?.[0] !== "read") return;
    const page = session.last[2], [x, y] = points[page], ends = [];
    const held = this.radius(session.last[3]);
    context.strokeStyle = context.fillStyle = this.colours.accent;
    context.lineWidth = 2.5;
    context.beginPath();
    for (const target of session.opic.targets[page]) {
      ends.push(this.path(context, points[page], points[target], this.bend(session, page, target)));
    }
    context.stroke();
    context.beginPath();
    for (const end of ends) this.arrow(context, end, 9);
    context.fill();
    context.strokeStyle = this.colours.text;
    context.setLineDash([5, 4]);
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x, y, Math.max(held, 7), 0, 2 * Math.PI);
    context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.arc(x, y, 4, 0, 2 * Math.PI);
    context.fillStyle = this.colours.text;
    context.fill();
  }

  /** A diamond, of the size of what it gave in the last step, in one of the size of a hundredth. */
  drawVirtual(context, session) {
    const [x, y] = this.point(VIRTUAL), { colours } = this;
    const diamond = (radius) => {
      context.beginPath();
      context.moveTo(x, y - radius);
      context.lineTo(x + radius, y);
      context.lineTo(x, y + radius);
      context.lineTo(x - radius, y);
      context.closePath();
    };
    diamond(15);
    context.fillStyle = colours.ground;
    context.fill();
    context.strokeStyle = colours.third;
    context.lineWidth = 2;
    context.stroke();
    diamond(Math.sqrt(Math.PI / 2) * this.radius(session.opic.virtual.now));
    context.fillStyle = colours.third;
    context.globalAlpha = 0.85;
    context.fill();
    context.globalAlpha = 1;
  }

  drawSelected(context, [x, y], cash) {
    const radius = Math.max(this.radius(cash), 10) + 6;
    context.strokeStyle = this.colours.text;
    context.lineWidth = 3;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  }
}
