// Copyright 2026 The vacl_tf Authors.
// SPDX-License-Identifier: Apache-2.0
// Unpacks films (see report_packing.py) and plays them on a canvas.

const FRAME_MS = 90;
const REST_FRAMES = 12; // At the end, before a film begins again.
const TRAIL = 12; // Steps.
const LEAST_DISC = 1 / 50, LEAST_RING = 1 / 28; // Of the width.

function unpack(text, Type) {
  const bytes = Uint8Array.from(atob(text), (x) => x.charCodeAt(0));
  return new Type(bytes.buffer);
}

// Sizes a canvas to its place; returns its context, in CSS pixels.
function prepare(canvas, ratio) {
  const width = canvas.clientWidth || 200;
  const height = Math.round(width / ratio);
  const density = window.devicePixelRatio || 1;
  canvas.width = width * density;
  canvas.height = height * density;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d');
  context.setTransform(density, 0, 0, density, 0, 0);
  context.fillStyle = '#fafaf8';
  context.fillRect(0, 0, width, height);
  context.strokeStyle = '#bbb';
  context.lineWidth = 1;
  context.strokeRect(0.5, 0.5, width - 1, height - 1);
  return {context, width, height};
}

function disc(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
}

class Film {
  constructor(packed, shared) {
    this.times = packed.times;
    this.stage = shared.stages[packed.stage];
    this.colours = shared.colours;
    this.levels = shared.levels;
    this.discs = packed.discs;
    this.still = packed.still;
    this.looks = packed.looks;
    this.moving = unpack(packed.moving, Int16Array);
    this.numMoving = this.moving.length / (2 * this.times);
    this.progress = unpack(packed.progress, Uint8Array);
    this.polygons = packed.polygons;
    if (this.polygons) {
      this.corners = unpack(this.polygons.corners, Int16Array);
      this.begins = [0];
      for (let time = 0; time < this.times; time++) {
        const kinds = this.at(this.polygons.kinds, time);
        const number = kinds.reduce((sum, kind) => sum + kind[1], 0);
        this.begins.push(this.begins[time] + 2 * number);
      }
    }
  }

  // Returns which of numbered values holds at a time.
  at(numbered, time) {
    const begun = numbered.starts.filter(([start]) => start <= time);
    const [, index] = begun[begun.length - 1];
    return numbered.values[index];
  }

  // Returns where a track is, in levels.
  place(track, time) {
    if (track >= this.numMoving) {
      return this.still[track - this.numMoving];
    }
    const at = 2 * (time * this.numMoving + track);
    return [this.moving[at], this.moving[at + 1]];
  }

  // Draws a time with trails of so many steps.
  draw(canvas, time, trail = TRAIL) {
    const {half_width: halfWidth, half_height: halfHeight} = this.stage;
    const {context, width, height} = prepare(canvas, halfWidth / halfHeight);
    const scale = width / 2 / halfWidth; // Pixels a metre.
    const unit = width / 2 / this.levels;
    const side = Math.sqrt(width * height);
    const x = (level) => width / 2 + unit * level;
    const y = (level) => height / 2 - unit * level;
    context.fillStyle = '#cdc8be';
    for (const [left, low, right, high] of this.stage.slabs) {
      context.fillRect(
        width / 2 + scale * left, height / 2 - scale * high,
        scale * (right - left), scale * (high - low));
    }
    const look = this.at(this.looks, time);
    this.discs.forEach(([track, radius, isFilled], index) => {
      if (!isFilled) {
        const [atX, atY] = this.place(track, time);
        const size = Math.max(scale * radius, LEAST_RING * side);
        disc(context, x(atX), y(atY), size);
        context.fillStyle = `${this.colours[look[index]]}2e`;
        context.fill();
        context.strokeStyle = this.colours[look[index]];
        context.lineWidth = 1.5;
        context.stroke();
      }
    });
    this.drawPolygons(context, time, x, y);
    const filled = [...this.discs.entries()].filter(([, kind]) => kind[2]);
    for (const [index, [track]] of filled) {
      if (track < this.numMoving) {
        context.beginPath();
        for (let past = Math.max(0, time - trail); past <= time; past++) {
          const [atX, atY] = this.place(track, past);
          context.lineTo(x(atX), y(atY));
        }
        context.strokeStyle = `${this.colours[look[index]]}73`;
        context.lineWidth = side / 90;
        context.stroke();
      }
    }
    for (const [index, [track, radius]] of filled) {
      const [atX, atY] = this.place(track, time);
      const size = Math.max(scale * radius, LEAST_DISC * side);
      disc(context, x(atX), y(atY), size);
      context.fillStyle = this.colours[look[index]];
      context.fill();
    }
  }

  drawPolygons(context, time, x, y) {
    if (!this.polygons) {
      return;
    }
    let at = this.begins[time];
    for (const [colour, number] of this.at(this.polygons.kinds, time)) {
      context.beginPath();
      for (let corner = 0; corner < number; corner++, at += 2) {
        context.lineTo(x(this.corners[at]), y(this.corners[at + 1]));
      }
      context.fillStyle = this.colours[colour];
      context.fill();
    }
  }

  // Returns the progress at a time; nothing is known of the start.
  progressAt(time) {
    return time ? (this.progress[time - 1] / 255).toFixed(2) : '–';
  }
}

// Plays a film again and again until it is stopped.
class Player {
  constructor(canvas, told) {
    this.canvas = canvas;
    this.told = told;
    this.timer = null;
    this.film = null;
  }

  play(film) {
    this.stop();
    this.film = film;
    let frame = 0;
    const show = () => {
      const time = Math.min(frame, film.times - 1);
      film.draw(this.canvas, time);
      this.told(film, time);
      frame = (frame + 1) % (film.times + REST_FRAMES);
    };
    show();
    this.timer = setInterval(show, FRAME_MS);
  }

  get isPlaying() {
    return this.timer !== null;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
  }
}

function startFailures(data) {
  const place = document.querySelector('[data-widget=failures]');
  if (!place) {
    return;
  }
  const grid = make(place, 'div', {class: 'failures'});
  for (const failure of data.failures) {
    const figure = make(grid, 'figure');
    const name = `value ${failure.value.toFixed(2)}`;
    const button = make(figure, 'button', {
      type: 'button', class: 'film',
      'aria-label': `film of a task with ${name}`,
    });
    const canvas = make(button, 'canvas');
    const caption = make(figure, 'figcaption', {}, name);
    const film = new Film(data.films.items[failure.film], data.films.shared);
    const player = new Player(canvas, (film, time) => {
      caption.textContent =
        `step ${time}: ${data.measure} ${film.progressAt(time)}`;
    });
    const rest = () => {
      film.draw(canvas, film.times - 1, film.times);
      caption.textContent = name;
    };
    button.addEventListener('click', () => {
      if (player.isPlaying) {
        player.stop();
        rest();
      } else {
        player.play(film);
      }
    });
    onWidth(figure, () => player.isPlaying || rest());
  }
}
