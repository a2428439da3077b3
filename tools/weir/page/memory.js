// What is alive at each action, stacked by line; and what is at the peak.

const margin = {left: 64, right: 14, top: 24, bottom: 24};

let memoryPlot = null; // of the entry at hand: {entry, svg, x, y, outline}

// The plots over the actions share their horizontal scale.
function actionScale(width, entry) {
  const inner = width - margin.left - margin.right;
  return action => margin.left + inner * action / Math.max(1, entry.actions.length);
}

function actionAxis(entry, x, y) {
  const axis = svg('g', {class: 'axis'});
  const length = entry.actions.length;
  for (const tick of ticks(length, 8).filter(tick => Number.isInteger(tick) && tick <= length))
    axis.append(svg('line', {x1: x(tick), x2: x(tick), y1: y, y2: y + 4}),
      svg('text', {x: x(tick), y: y + 16, 'text-anchor': tick ? 'middle' : 'start'}, tick ? grouped(tick) : 'action 0'));
  return axis;
}

function bytesAxis(most, y, x0, x1) {
  const axis = svg('g', {class: 'axis'});
  for (const tick of ticks(most, 5).filter(Number.isInteger))
    axis.append(svg('line', {class: 'grid', x1: x0, x2: x1, y1: y(tick), y2: y(tick)}),
      svg('text', {x: x0 - 8, y: y(tick) + 4, 'text-anchor': 'end'}, bytesText(tick)));
  return axis;
}

// The area between two profiles, which keep their bytes for a whole action each.
function area(length, bottom, top, x, y) {
  const round = number => Math.round(number * 10) / 10;
  let path = `M${round(x(0))} ${round(y(top[0]))}`;
  const follow = (profile, from, to, step) => {
    let before = null;
    for (let i = from; i !== to; i += step) {
      const here = round(y(profile[i]));
      if (here !== before)
        path += `H${round(x(step > 0 ? i : i + 1))}V${here}`;
      before = here;
    }
    path += `H${round(x(step > 0 ? length : 0))}`;
  };
  follow(top, 0, length, 1);
  follow(bottom, length - 1, -1, -1);
  return path + 'Z';
}

function drawMemory(entry) {
  const box = empty('memory-plot'), width = box.clientWidth, height = 300, length = entry.actions.length;
  const persistent = facts.memory.persistent, most = Math.max(1, persistent + entry.place.largest_live);
  const x = actionScale(width, entry), bottom = height - margin.bottom;
  const y = bytes => bottom - (bottom - margin.top) * bytes / most;
  const plot = svg('svg', {width, height, tabindex: 0, role: 'img',
    'aria-label': `Bytes alive at each of ${count(length, 'action')}; the peak is ${grouped(most)} bytes. ` +
      'Arrow keys move over the actions.'});
  plot.append(bytesAxis(most, y, margin.left, width - margin.right));

  let base = new Float64Array(length + 1).fill(persistent);
  plot.append(svg('path', {class: 'persistent', d: area(length, new Float64Array(length + 1), base, x, y)}));
  const coloured = entry.series.filter(one => entry.colourOf.has(one.line));
  const rest = entry.series.filter(one => !entry.colourOf.has(one.line));
  const layer = profiles => {
    const top = Float64Array.from(base);
    for (const profile of profiles)
      for (let i = 0; i <= length; ++i)
        top[i] += profile[i];
    const path = svg('path', {d: area(length, base, top, x, y)});
    base = top;
    return path;
  };
  if (length > 0) {
    for (const one of coloured) {
      const path = layer([one.profile]);
      path.classList.add(colourClass(entry, one.line), 'area');
      stand(path, 'line', one.line, {focusable: false});
      plot.append(path);
    }
    if (rest.length) {
      const path = layer(rest.map(one => one.profile));
      path.classList.add('rest', 'area');
      plot.append(path);
    }
  }
  const outline = svg('path', {class: 'outline'});
  plot.append(outline, actionAxis(entry, x, bottom), drawPeak(entry, x, y, margin.top, bottom, width));
  box.append(plot);
  memoryPlot = {entry, x, y, outline};
  followActions(plot, entry, x, width, bottom);
}

function drawPeak(entry, x, y, top, bottom, width) {
  const at = x(entry.peak + 0.5), most = facts.memory.persistent + entry.place.largest_live;
  const anchor = at < width / 3 ? 'start' : at > 2 * width / 3 ? 'end' : 'middle';
  const shift = {start: -4, end: 4, middle: 0}[anchor];
  return svg('g', {class: 'peak'},
    svg('line', {x1: at, x2: at, y1: top - 6, y2: bottom}),
    svg('circle', {cx: at, cy: y(most), r: 3.5}),
    svg('text', {id: 'peak-text', x: at + shift, y: top - 11, 'text-anchor': anchor},
      `peak ${grouped(most)} bytes at action ${grouped(entry.peak)}`));
}

// The bytes of a line that has no colour, from where the persistent ones end; null takes it away.
function outlineLine(line) {
  if (!memoryPlot)
    return;
  const {entry, x, y, outline} = memoryPlot;
  const profile = entry.profiles.get(line);
  if (line === null || !profile || entry.colourOf.has(line)) {
    outline.removeAttribute('d');
    return;
  }
  const length = entry.actions.length;
  const base = new Float64Array(length + 1).fill(facts.memory.persistent);
  outline.setAttribute('d', area(length, base, base.map((bytes, i) => bytes + profile[i]), x, y));
}

// A cursor that says what is done at an action, and what is alive.
function followActions(plot, entry, x, width, bottom) {
  const cursor = svg('line', {class: 'cursor', y1: margin.top, y2: bottom, visibility: 'hidden'});
  plot.append(cursor);
  let at = entry.peak;
  const move = (action, left, top) => {
    at = Math.max(0, Math.min(entry.actions.length - 1, action));
    cursor.setAttribute('x1', x(at + 0.5));
    cursor.setAttribute('x2', x(at + 0.5));
    cursor.setAttribute('visibility', 'visible');
    const box = plot.getBoundingClientRect();
    showTip(actionDetails(entry, at), left ?? box.left + x(at + 0.5), top ?? box.top + margin.top + 20);
  };
  const leave = () => {
    cursor.setAttribute('visibility', 'hidden');
    hideTip();
  };
  if (!entry.actions.length)
    return;
  const inner = width - margin.left - margin.right;
  plot.addEventListener('pointermove', event => {
    const offset = event.clientX - plot.getBoundingClientRect().left - margin.left;
    move(Math.floor(entry.actions.length * offset / inner), event.clientX, event.clientY);
  });
  plot.addEventListener('pointerleave', leave);
  plot.addEventListener('blur', leave);
  plot.addEventListener('keydown', event => {
    const page = Math.max(10, Math.round(entry.actions.length / 20));
    const steps = {ArrowRight: 1, ArrowLeft: -1, PageDown: page, PageUp: -page,
      Home: -at, End: entry.actions.length - 1 - at};
    if (!(event.key in steps))
      return;
    event.preventDefault();
    move(at + steps[event.key]);
  });
}

function actionDetails(entry, id) {
  const action = entry.actions[id];
  const list = html('dl');
  const row = (name, text) => list.append(html('dt', {}, name), html('dd', {}, text));
  list.append(html('dt', {className: 'head'}, `action ${grouped(id)}: ${actionName(entry, id)}`));
  row('alive', `${grouped(facts.memory.persistent + entry.total[id])} bytes`);
  if (action.times > 1)
    row('runs', `${grouped(action.times)} in loops`);
  if (action.again >= 0)
    row('recomputes', `action ${grouped(action.again)}`);
  if (action.lines.length)
    row('lines', linesText(action.lines));
  for (const {line, profile} of [...entry.series].sort((a, b) => b.profile[id] - a.profile[id]).slice(0, 5))
    if (profile[id] > 0)
      row(bytesText(profile[id]), `${lineName(line)}  ${shortened(lineText(line), 60)}`);
  return list;
}

function drawMemoryLegend(entry) {
  const legend = empty('memory-legend');
  for (const [line, colour] of entry.colourOf) {
    const item = html('button', {type: 'button', className: 'key'}, html('i', {className: `s${colour}`}),
      html('b', {}, lineName(line)), html('span', {}, lineText(line)));
    stand(item, 'line', line, {focusable: false});
    legend.append(item);
  }
  const others = entry.series.length - entry.colourOf.size;
  if (others > 0)
    legend.append(html('span', {className: 'key'}, html('i', {className: 'rest'}), count(others, 'other line')));
  legend.append(html('span', {className: 'key'}, html('i', {className: 'persistent'}),
    'persistent: parameters and state'));
}

// Equal buffers of a line are one row.
function drawAtPeak(entry) {
  const alive = entry.scratch.filter(one => one.first <= entry.peak && entry.peak <= one.last);
  const rows = new Map();
  for (const buffer of alive) {
    const key = [buffer.bytes, buffer.label, buffer.type, buffer.line].join();
    if (!rows.has(key))
      rows.set(key, {buffer, times: 0});
    ++rows.get(key).times;
  }
  byId('peak-title').textContent = alive.length
    ? `Alive at the peak, besides ${bytesText(facts.memory.persistent)} of parameters and state: ${count(alive.length, 'buffer')}`
    : 'Only parameters and state are alive at the peak';
  const heads = [{text: 'bytes', number: true}, {text: 'times', number: true},
    ...['what', 'type', 'line', 'code'].map(text => ({text}))];
  const list = [...rows.values()].sort((a, b) => b.buffer.bytes * b.times - a.buffer.bytes * a.times)
    .map(({buffer, times}) => ({buffer, cells: [grouped(buffer.bytes), grouped(times), buffer.label, buffer.type,
      html('span', {className: 'whole'},
        html('i', {className: `dot ${colourClass(entry, buffer.line)}`}), lineName(buffer.line)),
      html('span', {className: 'code'}, lineText(buffer.line))]}));
  const box = empty('peak');
  if (list.length)
    box.append(table(heads, list, 8, (row, {buffer}) => {
      if (buffer.line >= 0)
        stand(row, 'line', buffer.line);
      else
        stand(row, 'buffer', buffer.id);
    }));
}
