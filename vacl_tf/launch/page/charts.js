// Copyright 2026 The vacl_tf Authors.
// SPDX-License-Identifier: Apache-2.0
// Draws line charts as SVG at the width that there is.

const HEIGHT = 260;
const MARGIN = {left: 52, right: 14, top: 10, bottom: 42};

function make(parent, name, attributes = {}, text = '') {
  const found = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    found.setAttribute(key, value);
  }
  found.textContent = text;
  parent.append(found);
  return found;
}

function shape(parent, name, attributes, text = '') {
  const space = 'http://www.w3.org/2000/svg';
  const found = document.createElementNS(space, name);
  for (const [key, value] of Object.entries(attributes)) {
    found.setAttribute(key, value);
  }
  found.textContent = text;
  parent.append(found);
  return found;
}

// Calls back whenever the width of an element changes, and once at first.
function onWidth(element, callback) {
  let width = -1;
  new ResizeObserver(() => {
    if (element.clientWidth !== width) {
      width = element.clientWidth;
      callback();
    }
  }).observe(element);
}

// Returns round numbers from low to high, about as many as asked for.
function ticks(low, high, number) {
  const rough = (high - low) / number;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= rough);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high + 1e-9 * step; i++) {
    found.push(i * step);
  }
  return found;
}

// Returns 1, 2 and 5 times powers of ten; the powers alone if those are many,
// and both ends where there are fewer than two.
function logTicks(low, high) {
  const decades = Math.log10(high / low);
  const found = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
    for (const factor of decades > 2.5 ? [1] : [1, 2, 5]) {
      const tick = factor * 10 ** power;
      if (tick >= low && tick <= high) {
        found.push(tick);
      }
    }
  }
  return found.length > 1 ? found : [...new Set([low, high])];
}

function plain(value) {
  const rounded = Number(value.toPrecision(6));
  return rounded.toLocaleString('en', {maximumFractionDigits: 6});
}

function drawChart(figure, chart) {
  const width = Math.max(figure.clientWidth, 240);
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const all = (key) => chart.series.flatMap((line) => line[key] || []);
  const largest = (values) => values.reduce((x, y) => Math.max(x, y), 0) || 1;
  const most = largest(all('x'));
  const least = chart.is_log ?
    all('x').filter((x) => x > 0).reduce((x, y) => Math.min(x, y), most) : 0;
  const top = chart.top || 1.05 * largest([...all('y'), ...all('high')]);
  const at = {
    x: (x) => MARGIN.left + (right - MARGIN.left) * (chart.is_log ?
      Math.log(Math.max(x, least) / least) / (Math.log(most / least) || 1) :
      x / most),
    y: (y) => bottom - Math.min(y / top, 1.05) * (bottom - MARGIN.top),
  };
  figure.replaceChildren();
  make(figure, 'h3', {}, chart.title);
  const svg = shape(figure, 'svg', {
    viewBox: `0 0 ${width} ${HEIGHT}`,
    height: HEIGHT,
    role: 'img',
    'aria-label': chart.title,
  });
  for (const tick of ticks(0, top, 5)) {
    const y = at.y(tick);
    shape(svg, 'line', {
      x1: MARGIN.left, x2: right, y1: y, y2: y, stroke: '#e6e6e6',
    });
    shape(svg, 'text', {
      x: MARGIN.left - 6, y: y + 4, 'text-anchor': 'end',
    }, plain(tick));
  }
  const marks = chart.is_log ?
    logTicks(least, most) : ticks(0, most, width / 90);
  for (const tick of marks) {
    shape(svg, 'text', {
      x: at.x(tick), y: bottom + 18, 'text-anchor': 'middle',
    }, plain(tick));
  }
  shape(svg, 'text', {
    x: (MARGIN.left + right) / 2, y: HEIGHT - 6, 'text-anchor': 'middle',
  }, chart.x);
  for (const line of chart.series) {
    drawLine(svg, line, at);
  }
  drawKey(figure, chart);
}

function drawLine(svg, line, at) {
  const points = (key, order) => order.map(
    (i) => `${at.x(line.x[i]).toFixed(1)},${at.y(line[key][i]).toFixed(1)}`);
  const order = [...line.x.keys()];
  if (line.low) {
    const band = [
      ...points('high', order), ...points('low', [...order].reverse())];
    shape(svg, 'polygon', {
      points: band.join(' '), fill: line.colour, opacity: 0.18,
    });
  }
  shape(svg, 'polyline', {
    points: points('y', order).join(' '),
    fill: 'none',
    stroke: line.colour,
    'stroke-width': line.is_thin ? 0.8 : 2,
    'stroke-dasharray': line.is_dashed ? '6 4' : '',
  });
  if (line.x.length < 15) {
    for (const i of order) {
      shape(svg, 'circle', {
        cx: at.x(line.x[i]), cy: at.y(line.y[i]), r: 3, fill: line.colour,
      });
    }
  }
}

function drawKey(figure, chart) {
  const key = make(figure, 'div', {class: 'key'});
  make(key, 'div', {}, `Vertical axis: ${chart.y}`);
  for (const line of chart.series.filter((x) => x.name)) {
    make(key, 'span', {
      style: `--colour: ${line.colour}`,
      class: line.is_dashed ? 'dashed' : '',
    }, line.name);
  }
}

function startCharts(data) {
  for (const place of document.querySelectorAll('[data-charts]')) {
    for (const chart of data.charts[place.dataset.charts] || []) {
      const figure = make(place, 'figure');
      onWidth(figure, () => drawChart(figure, chart));
    }
  }
}
