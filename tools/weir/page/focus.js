// What is pointed at, and what was chosen: a line, a buffer or a work. Every view says which of its
// elements stand for what, and they are lit together.

const focusState = {entry: null, views: [], lit: [], chosen: null};

// kind: 'line', 'buffer' or 'work'.
const keyOf = (kind, id) => `${kind} ${id}`;

function show(element, kind, id) {
  const key = keyOf(kind, id);
  if (!focusState.views.has(key))
    focusState.views.set(key, []);
  focusState.views.get(key).push(element);
}

// The element answers the pointer and the keyboard for what it stands for.
function stand(element, kind, id, {focusable = true} = {}) {
  show(element, kind, id);
  element.dataset.kind = kind;
  element.dataset.id = id;
  if (focusable) {
    element.dataset.row = '';
    element.tabIndex = -1;
  }
}

// What belongs to a line, a buffer or a work, itself included.
function relatives(kind, id) {
  const entry = focusState.entry;
  const keys = [keyOf(kind, id)];
  if (kind === 'line') {
    keys.push(...entry.buffers.filter(buffer => buffer.line === id).map(buffer => keyOf('buffer', buffer.id)));
    keys.push(...entry.used.filter(work => work.lines.includes(id)).map(work => keyOf('work', work.id)));
  } else if (kind === 'buffer') {
    const buffer = entry.buffers[id];
    keys.push(keyOf('line', buffer.line));
    keys.push(...buffer.writers.filter(action => entry.actions[action].work >= 0)
      .map(action => keyOf('work', entry.actions[action].work)));
  } else {
    const work = entry.works[id];
    keys.push(...work.lines.map(line => keyOf('line', line)));
    for (const action of work.actions)
      keys.push(...entry.actions[action].writes.filter(place => place >= 0).map(place => keyOf('buffer', place)));
  }
  return new Set(keys);
}

function light(kind, id) {
  darken();
  for (const key of relatives(kind, id))
    for (const element of focusState.views.get(key) || []) {
      element.classList.add('lit');
      focusState.lit.push(element);
    }
  document.body.classList.add('lighting');
  if (kind === 'line')
    outlineLine(id);
}

function darken() {
  for (const element of focusState.lit)
    element.classList.remove('lit');
  focusState.lit = [];
  document.body.classList.remove('lighting');
  outlineLine(null);
}

// Back to what was chosen, if anything was.
function settle() {
  hideTip();
  if (focusState.chosen)
    light(focusState.chosen.kind, focusState.chosen.id);
  else
    darken();
}

function choose(kind, id) {
  focusState.chosen = {kind, id};
  light(kind, id);
  byId('details').replaceChildren(details(kind, id));
  const row = byId('source').querySelector('.lit');
  if (row && kind !== 'line')
    keepInSight(row);
}

// Scrolls the text of the model alone, not the page.
function keepInSight(row) {
  const box = byId('source'), top = row.offsetTop - box.offsetTop;
  if (top < box.scrollTop || top > box.scrollTop + box.clientHeight - row.offsetHeight)
    box.scrollTop = top - box.clientHeight / 3;
}

function letGo() {
  focusState.chosen = null;
  byId('details').replaceChildren(html('p', {className: 'about'},
    'Point at a line, a rectangle, a dot or a row to highlight what belongs to it. Click, or press Enter, to keep it selected. ' +
    'Arrow keys move within the focused part. Escape releases the selection.'));
  settle();
}

// Details and tips are the same rows of a name and a text.
function rowsOf(kind, id) {
  const entry = focusState.entry;
  if (kind === 'buffer') {
    const buffer = entry.buffers[id];
    const life = `action ${grouped(buffer.first)} to ${grouped(buffer.last)} of ${grouped(entry.actions.length)}`;
    return [['', buffer.label + (buffer.type ? `, ${buffer.type}` : '')],
      ['bytes', grouped(buffer.bytes)],
      ['at', buffer.offset < 0 ? 'pinned memory of the host' : `${grouped(buffer.offset)} of the arena`],
      ['alive', life],
      ['written by', actionsText(buffer.writers)], ['read by', actionsText(buffer.readers)],
      ['line', lineName(buffer.line)], ['code', lineText(buffer.line)]];
  }
  if (kind === 'line') {
    const buffers = entry.scratch.filter(buffer => buffer.line === id);
    const alive = buffers.filter(buffer => buffer.first <= entry.peak && entry.peak <= buffer.last);
    const works = entry.used.filter(work => work.lines.includes(id));
    const sum = list => list.reduce((bytes, buffer) => bytes + buffer.bytes, 0);
    return [['', lineName(id)], ['code', lineText(id)],
      ['buffers', buffers.length ? `${grouped(buffers.length)}, ${bytesText(sum(alive))} alive at the peak` : 'none'],
      ['work', works.slice(0, 6).map(work => `${work.name} ${percent(work.share)}`).join('\n') +
        (works.length > 6 ? `\nand ${works.length - 6} more` : '')]];
  }
  const work = entry.works[id];
  return [['', work.name], ['kind', work.isCall ? `library call, ${work.kind}` : `kernel, ${work.kind}`],
    ['share', `${percent(work.share)} of the cost, estimated`],
    ['runs', grouped(work.runs) + (work.again ? `, of which ${grouped(work.again)} recomputed` : '')],
    ['a run', `${flopsText(work.flops)}, ${bytesText(work.bytes)}, ${intensityText(work)}`],
    ['types', typesText(work.types)],
    ['ops', work.isCall ? '' : opsText(work.facts.ops)],
    ['tasks', work.isCall ? '' : grouped(work.facts.tasks)],
    ['lines', work.lines.map(line => lineName(line)).join(', ')]];
}

function actionsText(ids) {
  const entry = focusState.entry;
  const shown = ids.slice(0, 4).map(id => `${grouped(id)}: ${actionName(entry, id)}`);
  return shown.join('\n') + (ids.length > 4 ? `\nand ${ids.length - 4} more` : '');
}

// "mul*4, add"
function opsText(ops) {
  const times = new Map();
  for (const op of ops)
    times.set(op.replace('weir.', ''), (times.get(op.replace('weir.', '')) || 0) + 1);
  return [...times].map(([op, often]) => often > 1 ? `${op}*${often}` : op).join(', ');
}

function intensityText(work) {
  return work.bytes ? `${digits(work.flops / work.bytes)} FLOP/B` : 'no bytes';
}

function details(kind, id) {
  const list = html('dl');
  for (const [name, text] of rowsOf(kind, id))
    if (text && name === '')
      list.append(html('dt', {className: 'head'}, text));
    else if (text)
      list.append(html('dt', {}, name), html('dd', {className: name === 'code' ? 'code' : ''}, text));
  return list;
}

function showTip(content, x, y) {
  const tip = byId('tip');
  tip.replaceChildren(content);
  tip.hidden = false;
  const {offsetWidth, offsetHeight} = tip;
  const left = x + 14 + offsetWidth > innerWidth ? Math.max(4, x - 14 - offsetWidth) : x + 14;
  const top = y + 14 + offsetHeight > innerHeight ? Math.max(4, y - 14 - offsetHeight) : y + 14;
  tip.style.transform = `translate(${left}px, ${top}px)`;
}

function hideTip() {
  byId('tip').hidden = true;
}

// Lines have their text beside them: a tip there would hide it.
const hasTip = element => !element.closest('#source, #selected');

function listen() {
  const target = event => event.target.closest && event.target.closest('[data-kind]');
  let last = null;
  addEventListener('pointermove', event => {
    const element = target(event);
    if (element) {
      const {kind, id} = element.dataset;
      if (element !== last)
        light(kind, Number(id));
      if (hasTip(element))
        showTip(details(kind, Number(id)), event.clientX, event.clientY);
    } else if (last) {
      settle();
    }
    last = element;
  });
  document.documentElement.addEventListener('pointerleave', settle);
  addEventListener('click', event => {
    const element = target(event);
    if (element)
      choose(element.dataset.kind, Number(element.dataset.id));
  });
  addEventListener('focusin', event => {
    const element = target(event);
    if (element && element.matches(':focus-visible'))
      light(element.dataset.kind, Number(element.dataset.id));
  });
  addEventListener('keydown', event => {
    const element = target(event);
    if (event.key === 'Escape')
      letGo();
    else if (element && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      choose(element.dataset.kind, Number(element.dataset.id));
    }
  });
}
