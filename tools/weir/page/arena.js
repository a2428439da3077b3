// The arena: each buffer a rectangle of its bytes and its actions. Below it, what each action is.

const stripKinds = ['kernel', 'call', 'other', 'again'];

function drawArena(entry) {
  const box = empty('arena-plot'), width = box.clientWidth;
  const height = entry.scratch.length ? 360 : 90;
  const persistent = facts.memory.persistent;
  const most = Math.max(1, entry.place.scratch);
  const x = actionScale(width, entry), band = 14, strip = 10, top = 8;
  const bottom = height - margin.bottom - strip - 16 - band;
  const y = offset => bottom - (bottom - top) * (offset - persistent) / most;
  const plot = svg('svg', {width, height, tabindex: 0, role: 'img', class: 'arena',
    'aria-label': `${count(entry.scratch.length, 'buffer')} in ${grouped(most)} bytes of the arena. ` +
      'Arrow keys move over the buffers.'});
  if (entry.scratch.length)
    plot.append(bytesAxis(most, offset => y(persistent + offset), margin.left, width - margin.right));
  const across = width - margin.left - margin.right;
  plot.append(svg('rect', {class: 'persistent', x: margin.left, y: bottom + 1, width: across, height: band}),
    svg('text', {class: 'band', x: margin.left + 6, y: bottom + 11}, `${bytesText(persistent)} of parameters and state, not to scale`));

  // The small ones last, to be pointed at.
  for (const buffer of [...entry.scratch].sort((a, b) => b.bytes - a.bytes)) {
    const left = x(buffer.first), wide = Math.max(0.7, x(buffer.last + 1) - left);
    const high = y(buffer.offset + buffer.bytes), tall = Math.max(0.7, y(buffer.offset) - high);
    const edge = Math.min(wide, tall) < 4 ? ' thin' : '';
    const rect = svg('rect', {class: `buffer ${colourClass(entry, buffer.line)}${edge}`,
      x: left.toFixed(1), y: high.toFixed(1), width: wide.toFixed(1), height: tall.toFixed(1)});
    stand(rect, 'buffer', buffer.id, {focusable: false});
    plot.append(rect);
  }
  plot.append(drawBufferNames(entry, x, y));
  const at = x(entry.peak + 0.5);
  plot.append(svg('g', {class: 'peak'}, svg('line', {x1: at, x2: at, y1: top, y2: bottom})));
  plot.append(drawStrip(entry, x, bottom + band + 6, strip), actionAxis(entry, x, bottom + band + strip + 8));
  box.append(plot);
  const byTime = [...entry.scratch].sort((a, b) => a.first - b.first || a.offset - b.offset);
  walkByKeys(plot, byTime.map(buffer => ['buffer', buffer.id]));
}

// In those that are large enough for it.
function drawBufferNames(entry, x, y) {
  const names = svg('g', {class: 'names'});
  const character = 6.3;
  for (const buffer of entry.scratch) {
    const wide = x(buffer.last + 1) - x(buffer.first) - 10, top = y(buffer.offset + buffer.bytes);
    const high = y(buffer.offset) - top;
    const text = `${buffer.label}${buffer.line < 0 ? '' : ` :${lines[buffer.line].line}`}`;
    if (high >= 14 && wide >= character * text.length)
      names.append(svg('text', {x: x(buffer.first) + 5, y: top + Math.min(high / 2 + 4, 14)}, text));
  }
  return names;
}

function stripKind(entry, action) {
  if (action.again >= 0)
    return 'again';
  if (action.work < 0)
    return 'other';
  return entry.works[action.work].isCall ? 'call' : 'kernel';
}

// One path a kind: thousands of actions are no elements of their own.
function drawStrip(entry, x, y, height) {
  const group = svg('g', {class: 'strip'});
  const paths = Object.fromEntries(stripKinds.map(kind => [kind, '']));
  const gap = x(1) - x(0) > 4 ? 1 : 0;
  for (const action of entry.actions)
    paths[stripKind(entry, action)] +=
      `M${x(action.id).toFixed(1)} ${y}h${Math.max(0.5, x(1) - x(0) - gap).toFixed(1)}v${height}H${x(action.id).toFixed(1)}Z`;
  for (const kind of stripKinds)
    if (paths[kind])
      group.append(svg('path', {class: kind, d: paths[kind]}));
  for (const loop of entry.loops)
    group.append(drawLoop(entry, loop, x, y + height + 3));
  return group;
}

function drawLoop(entry, loop, x, y) {
  let last = loop.id;
  const isInside = action => action.loop === loop.id || (action.loop >= 0 && isInside(entry.actions[action.loop]));
  for (const action of entry.actions)
    if (isInside(action))
      last = action.id;
  const inner = entry.actions[loop.id + 1], rounds = inner ? inner.times / loop.times : 0;
  const line = svg('line', {class: 'loop', x1: x(loop.id), x2: x(last + 1), y1: y, y2: y});
  line.append(svg('title', {}, `a loop of ${rounds} rounds: actions ${loop.id} to ${last}`));
  return line;
}

function drawStripLegend(entry) {
  const legend = empty('strip-legend');
  const names = {kernel: 'kernels', call: 'library calls', other: 'copies, loops and events',
    again: 'recomputed, from the same values'};
  const counts = new Map();
  for (const action of entry.actions) {
    const kind = stripKind(entry, action);
    counts.set(kind, (counts.get(kind) || 0) + 1);
  }
  legend.append(html('span', {className: 'key'}, 'Actions:'));
  for (const kind of stripKinds)
    if (counts.has(kind))
      legend.append(html('span', {className: 'key'}, html('i', {className: `strip-${kind}`}),
        `${grouped(counts.get(kind))} ${names[kind]}`));
  if (entry.loops.length)
    legend.append(html('span', {className: 'key'}, html('i', {className: 'bar-of-loop'}), 'a loop'));
}

// Arrow keys go over what a plot shows, Enter chooses.
function walkByKeys(plot, items) {
  let at = -1;
  plot.addEventListener('keydown', event => {
    const steps = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10,
      Home: -items.length, End: items.length};
    if (!items.length || !(event.key in steps || event.key === 'Enter'))
      return;
    event.preventDefault();
    if (event.key === 'Enter') {
      if (at >= 0)
        choose(...items[at]);
      return;
    }
    at = Math.max(0, Math.min(items.length - 1, at + steps[event.key]));
    light(...items[at]);
    const element = focusState.views.get(keyOf(...items[at])).find(one => plot.contains(one));
    const box = element.getBoundingClientRect();
    showTip(details(...items[at]), Math.min(box.right, innerWidth - 20), box.top);
  });
  plot.addEventListener('blur', settle);
}
