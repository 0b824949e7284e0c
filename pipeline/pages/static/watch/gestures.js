"use strict";
// Mouse, pen and fingers on the picture: pages are dragged, links are drawn from page to page, the
// ground takes clicks. Whatever is dragged can be clicked, too, and has a form or a key.

const NEAR = { page: 24, link: 9 }; // pixels

class Gestures {
  /** acts: { tool(), ground(point), drop(id, x, y), joined(from, to), zoomed() }. */
  constructor(svg, drawing, acts) {
    this.svg = d3.select(svg);
    this.drawing = drawing;
    this.acts = acts;
    this.line = this.svg.append("path").attr("class", "drawn-link");
    this.dragging = d3.drag().clickDistance(4)
      .filter((event) => !event.ctrlKey && !event.button && acts.tool() !== "remove")
      .on("start", (event, id) => this.started(id))
      .on("drag", (event, id) => this.dragged(event, id))
      .on("end", (event, id) => this.ended(event, id));
    this.zoom = d3.zoom().scaleExtent([0.5, 8]).clickDistance(4)
      .filter((event) => (event.type === "wheel" ? event.ctrlKey
        : event.type.startsWith("touch") ? event.touches.length > 1
          : !event.button && event.type !== "dblclick"))
      .on("zoom", ({ transform }) => {
        drawing.transform = transform;
        acts.zoomed();
      });
    this.svg.call(this.zoom).on("click.ground", (event) => {
      if (event.target === svg && !event.defaultPrevented) acts.ground(d3.pointer(event, svg));
    });
  }

  started(id) {
    this.from = this.drawing.point(id);
    this.moved = false;
  }

  dragged(event, id) {
    const point = d3.pointer(event, this.svg.node());
    this.moved = true;
    if (this.acts.tool() === "link") this.line.attr("d", `M${this.from}L${point}`);
    else {
      const { width, height } = this.drawing;
      const within = [Math.max(0, Math.min(width, point[0])), Math.max(0, Math.min(height, point[1]))];
      this.acts.drop(id, ...this.drawing.inPlane(within));
    }
  }

  ended(event, id) {
    this.line.attr("d", null);
    if (this.moved && this.acts.tool() === "link") {
      this.acts.joined(id, d3.pointer(event, this.svg.node()));
    }
  }

  zoomBy(factor) {
    this.zoom.scaleBy(this.svg, factor);
  }

  reset() {
    this.svg.call(this.zoom.transform, d3.zoomIdentity);
  }
}

/** The page at a point of the screen, or -1. */
function pageAt(drawing, session, [x, y]) {
  const far = session.ids.map((id) => {
    const [pageX, pageY] = drawing.point(id);
    return Math.hypot(pageX - x, pageY - y);
  });
  const nearest = d3.minIndex(far);
  return far[nearest] <= NEAR.page ? nearest : -1;
}

/** [from, to] of the link at a point of the screen, or null. */
function linkAt(drawing, session, [x, y]) {
  let nearest = null, least = NEAR.link;
  session.opic.targets.forEach((list, from) => list.forEach((to) => {
    const bend = drawing.bend(session, from, to);
    const [fromX, fromY] = drawing.point(session.ids[from]);
    const [toX, toY] = drawing.point(session.ids[to]);
    const middleX = (fromX + toX) / 2 - (toY - fromY) * bend;
    const middleY = (fromY + toY) / 2 + (toX - fromX) * bend;
    for (let t = 0.1; t < 0.95; t += 0.05) {
      const s = 1 - t;
      const atX = s * s * fromX + 2 * s * t * middleX + t * t * toX;
      const atY = s * s * fromY + 2 * s * t * middleY + t * t * toY;
      const far = Math.hypot(atX - x, atY - y);
      if (far < least) [least, nearest] = [far, [from, to]];
    }
  }));
  return nearest;
}
