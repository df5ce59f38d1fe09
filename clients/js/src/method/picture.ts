/**
 * The four pictures side by side, on one canvas: people with their answers, noise, the heap that the
 * analyst gets, and its count. At `at` seconds of the animation, or all of it at the end.
 */

import { type Draw, estimate, margin, type Noise, sent } from "./laws.js";

/** How long the whole animation takes, in seconds. */
export const SECONDS = 7;
/** When each picture begins, in seconds; and when the count is corrected. */
export const BEGINS = [0, 0.8, 2.6, 4.6] as const;
const CORRECTS = 6;

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Scene {
  noise: Noise;
  draw: Draw;
  words: { you: string; simulated: string; counted: string; corrected: string; truth: string };
  number: (value: number) => string;
}

interface Place {
  x: number;
  y: number;
}

interface Colours {
  ink: string;
  faint: string;
  yes: string;
  no: string;
  noise: string;
  paper: string;
  font: string;
}

/** What each dot is. */
interface Dot {
  yes: boolean;
  /** Changed or made by the noise, where that can be seen. */
  noise?: boolean;
  dummy?: boolean;
  you?: boolean;
  tag?: boolean;
}

/** Above the people: room for a word; below them for names; beside them for a ring. */
const HEAD = 20;
const FOOT = 18;
const SIDE = 4;

const smooth = (part: number): number => part * part * (3 - 2 * part);
const within = (part: number): number => Math.min(1, Math.max(0, part));

export class Picture {
  private readonly places: Place[][];
  private readonly sizes: number[];
  private readonly said: boolean[];
  private readonly count: number;

  constructor(
    private readonly canvas: CanvasRenderingContext2D,
    private readonly boxes: Box[],
    private readonly scene: Scene,
    private readonly colours: Colours,
  ) {
    const { draw } = scene;
    this.said = sent(draw);
    this.count = this.said.filter(Boolean).length;
    const all = this.said.length;
    const numbers = [draw.answers.length, all, all];
    const made = numbers.map((number, panel) => grid(boxes[panel]!, number));
    this.places = made.map((each) => each.places);
    this.sizes = made.map((each) => each.size);
  }

  /** Everything at this second. */
  paint(at: number): void {
    const { draw } = this.scene;
    const { answers, flipped, order } = draw;
    this.canvas.clearRect(0, 0, this.canvas.canvas.width, this.canvas.canvas.height);
    const people = answers.length;
    const first = answers.map((yes, person): Dot => ({ yes, you: person === 0, tag: true }));
    first.forEach((dot, person) => this.dot(dot, this.places[0]![person]!, this.sizes[0]!, within(at * 3 - (2 * person) / people)));
    const second = this.said.map((yes, one): Dot =>
      one < people
        ? { yes, noise: flipped[one] === true, you: one === 0, tag: true }
        : { yes, noise: true, dummy: true },
    );
    const joins = this.places[1]!.map((place, one) => this.places[0]![one] ?? { x: place.x, y: this.boxes[1]!.top - HEAD });
    this.moves(at, 1, 1.4, second, joins, this.places[1]!, [this.sizes[0]!, this.sizes[1]!]);
    const third = order.map((one): Dot => ({ yes: this.said[one]! }));
    this.moves(at, 2, 1.7, third, order.map((one) => this.places[1]![one]!), this.places[2]!, [this.sizes[1]!, this.sizes[2]!]);
    this.names(within((at - BEGINS[2]) / 1.7));
    this.bars(at);
    this.words(at);
  }

  /** Dots that leave one picture and arrive in the next, one after the other. */
  private moves(at: number, panel: 1 | 2, takes: number, dots: Dot[], from: Place[], to: Place[], sizes: [number, number]): void {
    dots.forEach((dot, one) => {
      const part = within(((at - BEGINS[panel]) / takes) * 2 - one / dots.length);
      if (part === 0) return;
      const moved = smooth(part);
      const place = { x: mix(from[one]!.x, to[one]!.x, moved), y: mix(from[one]!.y, to[one]!.y, moved) };
      this.dot(part < 1 ? { ...dot, tag: false } : dot, place, mix(...sizes, moved), 1);
    });
  }

  private dot({ yes, noise, dummy, you, tag }: Dot, { x, y }: Place, size: number, grown: number): void {
    if (grown <= 0) return;
    const { canvas, colours } = this;
    const radius = size * 0.34 * grown;
    const colour = noise ? colours.noise : yes ? colours.yes : colours.no;
    canvas.beginPath();
    if (dummy) canvas.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    else canvas.arc(x, y, radius, 0, 2 * Math.PI);
    canvas.lineWidth = Math.max(1, size * 0.1);
    canvas.fillStyle = yes ? colour : colours.paper;
    canvas.strokeStyle = colour;
    canvas.fill();
    canvas.stroke();
    if (tag && size > 5.5) {
      canvas.fillStyle = colours.no;
      canvas.fillRect(x - size * 0.3, y + size * 0.43, size * 0.6, Math.max(0.8, size * 0.08));
    }
    if (you) {
      canvas.beginPath();
      canvas.arc(x, y, radius + Math.max(2.5, size * 0.2), 0, 2 * Math.PI);
      canvas.lineWidth = 2;
      canvas.strokeStyle = colours.ink;
      canvas.stroke();
    }
  }

  /** Names fall off, and stay behind as a heap below the second picture. */
  private names(part: number): void {
    const { canvas, colours, scene } = this;
    const [{ left, top, width, height }, size] = [this.boxes[2]!, Math.min(12, this.sizes[1]!)];
    const all = scene.draw.answers.length;
    canvas.fillStyle = colours.no;
    for (let one = 0; one < all; one++) {
      const fallen = within(part * 2 - one / all);
      if (fallen === 0) continue;
      const [seed, high] = [scattered(one), scattered(one + 0.5)];
      const heap = 2 * seed - 1;
      const rest = top + height - 2 - high * (FOOT - 4) * (1 - heap * heap);
      const y = mix(top + HEAD, rest, fallen * fallen);
      canvas.globalAlpha = 0.3 + 0.7 * fallen;
      canvas.fillRect(left + width * (0.12 + 0.76 * seed), y, size * 0.6, Math.max(0.8, size * 0.08));
    }
    canvas.globalAlpha = 1;
  }

  /** The bar that counts, and the one that is corrected, with its margin; the truth across both. */
  private bars(at: number): void {
    const { canvas, colours, boxes, scene, count } = this;
    const { left, top, width, height } = boxes[3]!;
    const [true_, found, most] = [scene.draw.answers.filter(Boolean).length, estimate(scene.noise, count), margin(scene.noise)];
    const bottom = top + height - FOOT;
    const scale = (height - FOOT - HEAD) / Math.max(count, found + most, true_);
    const up = (value: number): number => bottom - Math.max(0, value) * scale;
    const [counted, corrected] = [within((at - BEGINS[3]) / (CORRECTS - BEGINS[3])), smooth(within((at - CORRECTS) / 0.7))];
    const [x1, x2, wide] = [left + width * 0.02, left + width * 0.44, width * 0.26];
    canvas.fillStyle = colours.faint;
    canvas.fillRect(left, bottom, width, 1);
    const height1 = count * counted;
    canvas.fillStyle = colours.no;
    canvas.fillRect(x1, up(height1), wide, bottom - up(height1));
    if (counted > 0) this.text(scene.number(Math.round(height1)), x1 + wide / 2, up(height1) - 5, colours.ink, "center", 600);
    this.text(scene.words.counted, x1 + wide / 2, bottom + 14, colours.faint);
    this.text(scene.words.corrected, x2 + wide / 2, bottom + 14, colours.faint);
    if (corrected === 0) return;
    const now = mix(count, found, corrected);
    canvas.fillStyle = colours.yes;
    canvas.fillRect(x2, up(now), wide, bottom - up(now));
    this.line([[x1 + wide, up(count)], [x2, up(now)]], colours.faint, 1, [2, 3]);
    if (corrected < 1) return;
    const middle = x2 + wide / 2;
    this.line([[middle, up(found + most)], [middle, up(found - most)]], colours.ink, 2);
    for (const end of [found + most, found - most]) this.line([[middle - 5, up(end)], [middle + 5, up(end)]], colours.ink, 2);
    this.text(scene.number(Math.round(found)), middle, up(found + most) - 6, colours.ink, "center", 600);
    const words = `${scene.words.truth} ${scene.number(true_)}`;
    const room = Math.max(width * 0.26, canvas.measureText(words).width + 4);
    this.line([[left, up(true_)], [left + width - room, up(true_)]], colours.noise, 1.5, [4, 3]);
    this.text(words, left + width, up(true_) + 4, colours.noise, "right");
  }

  private words(at: number): void {
    const { scene, boxes, colours } = this;
    for (const panel of [0, 1] as const) {
      if (at < BEGINS[panel]! + (panel ? 0.9 : 0.3)) continue;
      this.text(scene.words.you, boxes[panel]!.left, boxes[panel]!.top + 12, colours.ink, "left", 600);
    }
    const { left, top, width } = boxes[0]!;
    this.text(scene.words.simulated, left + width, top + 12, colours.faint, "right");
  }

  private text(text: string, x: number, y: number, colour: string, align: CanvasTextAlign = "center", weight = 400): void {
    this.canvas.font = `${weight} 12px ${this.colours.font}`;
    this.canvas.fillStyle = colour;
    this.canvas.textAlign = align;
    this.canvas.fillText(text, x, y);
  }

  private line(points: [number, number][], colour: string, width: number, dashes: number[] = []): void {
    const { canvas } = this;
    canvas.beginPath();
    points.forEach(([x, y]) => canvas.lineTo(x, y));
    canvas.lineWidth = width;
    canvas.strokeStyle = colour;
    canvas.setLineDash(dashes);
    canvas.stroke();
    canvas.setLineDash([]);
  }
}

const mix = (from: number, to: number, part: number): number => from + (to - from) * part;

/** A number from 0 to 1 that looks random, and is the same in every frame. */
const scattered = (one: number): number => Math.abs(Math.sin((one + 1) * 12.9898) * 43758.5453) % 1;

/** Rows of equal cells that fill a box below its words. */
function grid(box: Box, number: number): { places: Place[]; size: number } {
  const [width, height] = [box.width - 2 * SIDE, box.height - HEAD - FOOT];
  let size = Math.sqrt((width * height) / number);
  while (Math.floor(width / size) * Math.floor(height / size) < number) size *= 0.99;
  const columns = Math.floor(width / size);
  const [step, down] = [width / columns, height / Math.ceil(number / columns)];
  const places = Array.from({ length: number }, (_, one) => ({
    x: box.left + SIDE + ((one % columns) + 0.5) * step,
    y: box.top + HEAD + (Math.floor(one / columns) + 0.5) * Math.min(down, step * 1.15),
  }));
  return { places, size };
}
