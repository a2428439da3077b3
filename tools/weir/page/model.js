// The facts of the page (tools/weir/page/PageFacts.h says what they are), given names.

const page = JSON.parse(byId('facts').textContent);
const facts = page.facts;
const named = 8; // as many lines have a colour

const lines = page.lines.map(([file, line], id) => ({id, file, line}));

const lineName = id => {
  if (id < 0)
    return 'no line';
  const {file, line} = lines[id];
  return `${page.files[file].name.split('/').pop()}:${line}`;
};

const lineText = id => {
  if (id < 0)
    return '';
  const {file, line} = lines[id];
  return (page.files[file].text.split('\n')[line - 1] || '').trim();
};

// Kernels, then calls. Those of no entry at hand have no actions.
function readWorks() {
  const works = facts.kernels.map((kernel, i) => ({
    id: i, isCall: false, name: kernel.symbol, kind: kernel.shape, flops: kernel.flops, bytes: kernel.bytes, facts: kernel,
    types: page.elements[i],
  }));
  for (const call of facts.calls)
    works.push({
      id: works.length, isCall: true, name: call.what, kind: call.kind, flops: call.flops, bytes: call.bytes, facts: call,
      types: typesOfCall(call),
    });
  return works;
}

function typesOfCall(call) {
  const {factors, right, result} = call.fields;
  if (!factors)
    return {reads: [], stores: [], computes: []};
  return {reads: right && right !== 'same' ? [factors, right] : [factors], stores: [result], computes: ['f32']};
}

const distinct = list => [...new Set(list)].filter(one => one !== '');

function typesText({reads, stores, computes}) {
  const [from, to] = [reads, stores].map(list => distinct(list).join(', '));
  const within = distinct(computes).filter(type => ![...reads, ...stores].includes(type)).join(', ');
  if (!from && !to)
    return '';
  const ends = from === to || !to || !from ? from || to : `${from} → ${to}`;
  return within ? `${ends}, in ${within}` : ends;
}

// One entry, with what follows from its actions.
function readEntry(entry) {
  const works = readWorks();
  const buffers = entry.buffers.map(([offset, bytes, first, last, label, line, type], id) => ({
    id, offset, bytes, first, last, label: page.strings[label], line, type: type < 0 ? '' : page.strings[type],
    writers: [], readers: [],
  }));
  const actions = entry.actions.map(([work, set, loop, times, again, reads, writes], id) => ({
    id, work, lines: page.line_sets[set], loop, times, again, reads, writes,
  }));
  for (const work of works)
    Object.assign(work, {actions: [], runs: 0, again: 0, lines: []});
  for (const action of actions) {
    for (const place of action.reads)
      if (place >= 0)
        buffers[place].readers.push(action.id);
    for (const place of action.writes)
      if (place >= 0)
        buffers[place].writers.push(action.id);
    if (action.work < 0)
      continue;
    const work = works[action.work];
    work.actions.push(action.id);
    work.runs += action.times;
    work.again += action.again >= 0 ? action.times : 0;
    work.lines.push(...action.lines);
  }
  const used = works.filter(work => work.actions.length);
  let total = 0;
  for (const work of used) {
    work.lines = [...new Set(work.lines)].sort((a, b) => lines[a].file - lines[b].file || lines[a].line - lines[b].line);
    // As `weir inspect` counts: the larger of FLOPs and eight times the bytes.
    work.cost = work.runs * Math.max(work.flops, 8 * work.bytes);
    total += work.cost;
  }
  for (const work of used)
    work.share = total ? work.cost / total : 0;
  used.sort((a, b) => b.share - a.share);
  const place = facts.memory.entries.find(one => one.entry === entry.name);
  const loops = [...new Set(actions.map(action => action.loop))].filter(id => id >= 0).map(id => actions[id]);
  return {name: entry.name, loops, buffers, scratch: buffers.filter(one => one.offset >= 0), actions, works, used, place,
    peak: place.peak_action, pinned: entry.pinned, ...readMemory(buffers, actions.length)};
}

// Bytes alive at each action: of each line, the largest ones first, and of all.
function readMemory(buffers, length) {
  const profiles = new Map();
  const total = new Float64Array(length + 1);
  for (const {offset, bytes, first, last, line} of buffers) {
    if (offset < 0)
      continue;
    if (!profiles.has(line))
      profiles.set(line, new Float64Array(length + 1));
    for (const profile of [profiles.get(line), total]) {
      profile[first] += bytes;
      profile[last + 1] -= bytes;
    }
  }
  for (const profile of [...profiles.values(), total])
    for (let i = 1; i <= length; ++i)
      profile[i] += profile[i - 1];
  const largest = profile => profile.reduce((most, bytes) => Math.max(most, bytes), 0);
  const series = [...profiles].map(([line, profile]) => ({line, profile, most: largest(profile)}))
    .sort((a, b) => b.most - a.most || a.line - b.line);
  const known = series.filter(one => one.line >= 0);
  const colourOf = new Map(known.slice(0, named).map((one, i) => [one.line, i]));
  return {profiles, total, series, colourOf};
}

const actionName = (entry, id) => {
  const action = entry.actions[id];
  return action.work < 0 ? page.strings[-1 - action.work] : entry.works[action.work].name;
};

const colourClass = (entry, line) => entry.colourOf.has(line) ? `s${entry.colourOf.get(line)}` : 'rest';
