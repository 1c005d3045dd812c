// Copyright 2026 The vacl_tf Authors.
// SPDX-License-Identifier: Apache-2.0
// The tasks over time: a slider, a map for each kind, a chosen task.

const SETS = ['target', 'solved', 'active']; // In the order of drawing.
const SET_COLOURS = {active: '#2f7fb8', solved: '#d55e00', target: '#8a8a8a'};
const REACH = 16; // Pixels from a click to a dot.
const FILMED_BONUS = 4; // Pixels that a task with a film seems nearer.
const UNKNOWN = 255; // Of values.
const SNAPSHOT_MS = 900;

function startCurriculum(data) {
  const place = document.querySelector('[data-widget=curriculum]');
  if (place) {
    new Curriculum(place, data).show();
  }
}

function plural(kind) {
  return kind + (kind.endsWith('x') ? 'es' : 's');
}

class Curriculum {
  constructor(place, data) {
    this.data = data;
    this.map = data.curriculum;
    this.snapshots = this.map.snapshots;
    this.index = this.snapshots.length - 1;
    this.chosen = null;
    this.timer = null;
    this.makeControls(place);
    this.makeRooms(place);
    this.makeTask(place);
  }

  makeControls(place) {
    const controls = make(place, 'div', {class: 'controls'});
    this.button = make(controls, 'button', {type: 'button'}, 'Play');
    this.button.addEventListener('click', () => this.run());
    this.slider = make(controls, 'input', {
      type: 'range', min: 0, max: this.snapshots.length - 1,
      'aria-label': 'training time', id: 'time',
    });
    this.slider.value = this.index;
    this.slider.addEventListener('input', () => {
      this.halt();
      this.moveTo(Number(this.slider.value));
    });
    this.told = make(controls, 'output', {for: 'time', id: 'told'});
    const shown = make(place, 'div', {class: 'controls key'});
    this.boxes = {};
    for (const name of [...SETS].reverse()) {
      const label = make(shown, 'label');
      this.boxes[name] = make(label, 'input', {type: 'checkbox', checked: ''});
      this.boxes[name].addEventListener('change', () => this.show());
      make(label, 'span', {
        class: 'dot', style: `--colour: ${SET_COLOURS[name]}`,
      }, ` ${this.map.names[name]}`);
    }
  }

  makeRooms(place) {
    const rooms = make(place, 'div', {class: 'rooms'});
    this.canvases = this.map.kinds.map((kind, index) => {
      const figure = make(rooms, 'figure');
      make(figure, 'h3', {}, `Positions of ${plural(kind)}`);
      const canvas = make(figure, 'canvas', {
        role: 'img',
        'aria-label': `map of the positions of ${plural(kind)}`,
        'data-kind': kind,
      });
      canvas.addEventListener('click', (event) => this.choose(event, index));
      onWidth(figure, () => this.drawRoom(index));
      return canvas;
    });
  }

  makeTask(place) {
    const task = make(place, 'div', {class: 'task', id: 'task'});
    const text = make(task, 'div');
    make(text, 'h3', {}, 'Selected task');
    this.facts = make(text, 'dl', {id: 'facts'});
    const key = make(text, 'p', {class: 'key'});
    for (const [name, colour] of this.map.legend) {
      make(key, 'span', {class: 'dot', style: `--colour: ${colour}`},
        ` ${name} `);
    }
    make(text, 'p', {},
      'Click a dot to select its task. ' +
      'Dots with a dark outline have a film.');
    const next = make(
      text, 'button', {type: 'button', id: 'next'}, 'Next task with a film');
    next.addEventListener('click', () => this.chooseNextFilmed());
    const own = make(task, 'figure');
    this.film = make(own, 'button', {
      type: 'button', class: 'film',
      'aria-label': 'film of the selected task; click to pause or play',
    });
    this.film.addEventListener('click', () => this.pause());
    this.canvas = make(this.film, 'canvas', {id: 'chosen'});
    this.caption = make(own, 'figcaption', {id: 'caption'});
    const parent = make(task, 'figure');
    this.parentCanvas = make(parent, 'canvas', {
      role: 'img', 'aria-label': 'parent task', id: 'parent',
    });
    this.parentCaption = make(parent, 'figcaption');
    this.player = new Player(this.canvas, (film, time) => {
      this.caption.textContent =
        `step ${time}: ${this.data.measure} ${film.progressAt(time)}`;
    });
    onWidth(task, () => this.drawTask());
  }

  // The sets of the present snapshot; the target tasks stay the same.
  get sets() {
    return {...this.snapshots[this.index].sets, target: this.map.target};
  }

  moveTo(index) {
    this.index = index;
    this.slider.value = index;
    if (this.chosen && this.chosen.name !== 'target') {
      this.chosen = null;
    }
    this.show();
  }

  run() {
    if (this.timer) {
      this.halt();
      return;
    }
    this.button.textContent = 'Pause';
    const last = this.snapshots.length - 1;
    this.moveTo(this.index === last ? 0 : this.index);
    this.timer = setInterval(() => {
      if (this.index === last) {
        this.halt();
      } else {
        this.moveTo(this.index + 1);
      }
    }, SNAPSHOT_MS);
  }

  halt() {
    clearInterval(this.timer);
    this.timer = null;
    this.button.textContent = 'Play';
  }

  show() {
    const {iteration, steps} = this.snapshots[this.index];
    this.told.textContent =
      `iteration ${iteration}, ` +
      `${(steps / 1e6).toFixed(2)} M environment steps`;
    this.slider.setAttribute('aria-valuetext', this.told.textContent);
    this.canvases.forEach((_, index) => this.drawRoom(index));
    if (this.drawn !== this.chosen) {
      this.drawTask(); // Anew, a film would begin again.
    }
  }

  // Returns pixels of a metre and of the left and upper edge of a canvas.
  frame(width) {
    const [left, right, bottom, top] = this.map.box;
    const scale = width / (right - left);
    return {
      x: (x) => scale * (x - left),
      y: (y) => scale * (top - y),
      scale,
      ratio: (right - left) / (top - bottom),
    };
  }

  // Returns the points [metres] of a kind in a row of packed tasks.
  points(set, row, kind, packed = set.points) {
    set.unpacked = set.unpacked || new Map();
    if (!set.unpacked.has(packed)) {
      set.unpacked.set(packed, unpack(packed, Int16Array));
    }
    const all = set.unpacked.get(packed);
    const number = set.counts.reduce((x, y) => x + y, 0);
    const first = set.counts.slice(0, kind).reduce((x, y) => x + y, 0);
    const {box, unit} = this.map;
    const found = [];
    for (let i = first; i < first + set.counts[kind]; i++) {
      const at = 2 * (row * number + i);
      found.push([box[0] + all[at] * unit, box[2] + all[at + 1] * unit]);
    }
    return found;
  }

  drawWalls(context, {x, y, scale}) {
    context.fillStyle = '#cdc8be';
    for (const [left, right, bottom, top] of this.map.walls) {
      context.fillRect(
        x(left), y(top), scale * (right - left), scale * (top - bottom));
    }
  }

  drawRoom(kind) {
    const canvas = this.canvases[kind];
    const {context, width} = prepare(canvas, this.frame(1).ratio);
    const frame = this.frame(width);
    this.drawWalls(context, frame);
    for (const name of SETS.filter((x) => this.boxes[x].checked)) {
      const set = this.sets[name];
      context.fillStyle = `${SET_COLOURS[name]}66`;
      context.strokeStyle = '#222';
      context.lineWidth = 1;
      for (let row = 0; row < set.rows; row++) {
        for (const [x, y] of this.points(set, row, kind)) {
          disc(context, frame.x(x), frame.y(y), 2.6);
          context.fill();
          if (row in set.films) {
            context.stroke();
          }
        }
      }
    }
    if (this.chosen) {
      this.drawChosen(context, frame, kind);
    }
  }

  drawChosen(context, frame, kind) {
    const {name, row} = this.chosen;
    const set = this.sets[name];
    const parents = this.hasParent(set, row) ?
      this.points(set, set.parent_rows[row], kind, set.parents) : [];
    this.points(set, row, kind).forEach(([x, y], i) => {
      if (parents.length) {
        const [fromX, fromY] = parents[i];
        context.beginPath();
        context.moveTo(frame.x(fromX), frame.y(fromY));
        context.lineTo(frame.x(x), frame.y(y));
        context.strokeStyle = '#222';
        context.lineWidth = 1.5;
        context.stroke();
        disc(context, frame.x(fromX), frame.y(fromY), 5);
        context.fillStyle = '#fff';
        context.fill();
        context.stroke();
      }
      disc(context, frame.x(x), frame.y(y), 7);
      context.fillStyle = SET_COLOURS[name];
      context.fill();
      context.strokeStyle = '#111';
      context.lineWidth = 2;
      context.stroke();
    });
  }

  choose(event, kind) {
    const box = this.canvases[kind].getBoundingClientRect();
    const frame = this.frame(box.width);
    let best = null;
    let nearest = REACH;
    for (const name of SETS.filter((x) => this.boxes[x].checked)) {
      const set = this.sets[name];
      for (let row = 0; row < set.rows; row++) {
        for (const [x, y] of this.points(set, row, kind)) {
          const far = Math.hypot(
            frame.x(x) - (event.clientX - box.left),
            frame.y(y) - (event.clientY - box.top),
          ) - (row in set.films ? FILMED_BONUS : 0);
          if (far < nearest) {
            nearest = far;
            best = {name, row};
          }
        }
      }
    }
    if (best) {
      this.chosen = best;
      this.show();
    }
  }

  // Stops the film of the chosen task where it is, or plays it again.
  pause() {
    if (this.player.isPlaying) {
      this.player.stop();
    } else if (this.player.film) {
      this.player.play(this.player.film);
    }
  }

  chooseNextFilmed() {
    const all = [...SETS].reverse().flatMap((name) =>
      Object.keys(this.sets[name].films).map((row) => ({name, row: +row})));
    const at = all.findIndex((x) => this.chosen &&
      x.name === this.chosen.name && x.row === this.chosen.row);
    if (all.length) {
      this.chosen = all[(at + 1) % all.length];
      this.show();
    }
  }

  hasParent(set, row) {
    return Boolean(set.parents) && row in set.parent_rows;
  }

  drawTask() {
    this.drawn = this.chosen;
    this.player.stop();
    this.player.film = null;
    this.caption.textContent = this.parentCaption.textContent = '';
    this.parentCanvas.hidden = this.film.hidden = !this.chosen;
    this.facts.replaceChildren();
    if (!this.chosen) {
      return;
    }
    const {name, row} = this.chosen;
    const set = this.sets[name];
    for (const [term, told] of this.describe(name, set, row)) {
      make(this.facts, 'dt', {}, term);
      make(this.facts, 'dd', {}, told);
    }
    if (row in set.films) {
      const packed = this.data.films.items[set.films[row]];
      this.player.play(new Film(packed, this.data.films.shared));
      if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
        this.player.stop(); // A click plays it.
      }
    } else {
      this.drawStill(this.canvas, set, row, set.points);
      this.caption.textContent = 'This report has no film of this task.';
    }
    this.parentCanvas.hidden = !this.hasParent(set, row);
    if (!this.parentCanvas.hidden) {
      this.drawStill(
        this.parentCanvas, set, set.parent_rows[row], set.parents);
      this.parentCaption.textContent =
        'parent task at the start of the episode';
    }
  }

  describe(name, set, row) {
    const found = [['set', this.map.names[name]]];
    const values = set.values && unpack(set.values, Uint8Array);
    if (values) {
      const value = values[row] === UNKNOWN ?
        'not played yet' : (values[row] / (UNKNOWN - 1)).toFixed(2);
      found.push(['value', value]);
    }
    if (set.ages) {
      const age = set.ages[row];
      found.push(['age', `${age} iteration${age === 1 ? '' : 's'}`]);
    }
    if (set.generations) {
      found.push(['generation', String(set.generations[row])]);
    }
    if (name !== 'target' && this.map.has_sets) {
      let told = 'not recorded';
      if (set.generations && set.generations[row] === 0) {
        told = 'none (an easy task)';
      } else if (this.hasParent(set, row)) {
        told = 'shown beside this task';
      } else if (set.parents) {
        told = 'not included in this report, ' +
          'which has the parents of only some tasks';
      }
      found.push(['parent', told]);
    }
    return found;
  }

  // Draws where a task puts its entities at the start.
  drawStill(canvas, set, row, packed) {
    const {context, width} = prepare(canvas, this.frame(1).ratio);
    const frame = this.frame(width);
    this.drawWalls(context, frame);
    const colours = Object.fromEntries(this.map.legend);
    [...this.map.kinds.keys()].reverse().forEach((kind) => {
      for (const [x, y] of this.points(set, row, kind, packed)) {
        disc(context, frame.x(x), frame.y(y), width / 50);
        context.fillStyle = colours[this.map.kinds[kind]];
        context.fill();
      }
    });
  }
}
