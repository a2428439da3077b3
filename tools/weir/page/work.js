// Kernels and calls: where they lie between memory and arithmetic, and a table of them.

const balance = 8; // FLOPs in the time of a byte, as `weir inspect` estimates costs

const kinds = ['call', 'attention', 'row', 'nest', 'segment', 'map'];

const drawnKind = work => work.isCall ? 'call' : kinds.includes(work.kind) ? work.kind : 'map';

function drawScatter(entry) {
  const box = empty('scatter-plot'), width = box.clientWidth, height = 280, top = 12, bottom = height - 40;
  const works = entry.used.filter(work => work.bytes > 0);
  const plot = svg('svg', {width, height, tabindex: 0, role: 'img',
    'aria-label': `${count(works.length, 'kernel or call', 'kernels and calls')} by FLOPs per byte and by bytes. ` +
      'Arrow keys move over them.'});
  box.append(plot);
  if (!works.length)
    return;
  const intensities = works.filter(work => work.flops > 0).map(work => work.flops / work.bytes);
  // Whole powers of ten, and the numbers inside them.
  const below = list => Math.floor(Math.log10(Math.min(...list)));
  const above = list => Math.floor(Math.log10(Math.max(...list))) + 1;
  const low = below([0.1, ...intensities]), high = above([10, ...intensities]);
  const sizes = works.map(work => work.bytes), least = below(sizes), most = above(sizes);
  const zero = margin.left + 22, left = margin.left + 52, right = width - margin.right - 8;
  const x = work => work.flops > 0
    ? left + (right - left) * (Math.log10(work.flops / work.bytes) - low) / (high - low) : zero;
  const y = bytes => bottom - (bottom - top) * (Math.log10(bytes) - least) / (most - least);

  const axis = svg('g', {class: 'axis'});
  for (let power = low; power <= high; ++power) {
    const at = left + (right - left) * (power - low) / (high - low);
    axis.append(svg('line', {class: 'grid', x1: at, x2: at, y1: top, y2: bottom}),
      svg('text', {x: at, y: bottom + 16, 'text-anchor': 'middle'},
        power < 0 ? (10 ** power).toFixed(-power) : grouped(10 ** power)));
  }
  for (let power = least; power <= most; ++power)
    axis.append(svg('line', {class: 'grid', x1: margin.left, x2: right, y1: y(10 ** power), y2: y(10 ** power)}),
      svg('text', {x: margin.left - 8, y: y(10 ** power) + 4, 'text-anchor': 'end'}, bytesText(10 ** power)));
  axis.append(svg('text', {x: zero, y: bottom + 16, 'text-anchor': 'middle'}, 'none'),
    svg('text', {x: (left + right) / 2, y: bottom + 33, 'text-anchor': 'middle'}, 'FLOPs per byte, of one run'));
  const middle = left + (right - left) * (Math.log10(balance) - low) / (high - low);
  plot.append(axis, svg('line', {class: 'balance', x1: middle, x2: middle, y1: top, y2: bottom}),
    svg('text', {class: 'note', x: middle - 6, y: top + 10, 'text-anchor': 'end'}, '← bytes cost more'),
    svg('text', {class: 'note', x: middle + 6, y: top + 10}, 'FLOPs cost more →'));
  for (const work of works) {
    const dot = svg('circle', {class: `work ${drawnKind(work)}${work.again ? ' again' : ''}`,
      cx: x(work).toFixed(1), cy: y(work.bytes).toFixed(1), r: (3 + 30 * Math.sqrt(work.share)).toFixed(1)});
    stand(dot, 'work', work.id, {focusable: false});
    plot.append(dot);
  }
  walkByKeys(plot, works.map(work => ['work', work.id]));
}

function drawScatterLegend(entry) {
  const legend = empty('scatter-legend');
  for (const kind of kinds.filter(kind => entry.used.some(work => drawnKind(work) === kind)))
    legend.append(html('span', {className: 'key'}, html('i', {className: `round ${kind}`}),
      kind === 'call' ? 'library call' : kind === 'map' ? 'map and other kernels' : `${kind} kernel`));
  legend.append(html('span', {className: 'key'}, 'area: share of the cost'));
}

const columns = [
  {text: 'share', number: true, by: work => work.share,
    about: 'Share of the cost: the larger of FLOPs and 8 x bytes, over all runs'},
  {text: 'what', by: work => work.name},
  {text: 'kind', by: work => drawnKind(work)},
  {text: 'runs', number: true, by: work => work.runs},
  {text: 'again', number: true, by: work => work.again,
    about: 'Runs that recompute an earlier result from the same values'},
  {text: 'FLOP', number: true, by: work => work.flops, about: 'Of one run'},
  {text: 'bytes', number: true, by: work => work.bytes, about: 'Read and written by one run'},
  {text: 'FLOP/B', number: true, by: work => work.bytes ? work.flops / work.bytes : 0},
  {text: 'types', by: work => typesText(work.types),
    about: 'Types read and stored, and the compute type if it differs'},
  {text: 'lines', by: work => work.lines[0] ?? -1},
];

// Numbers largest first, words in their order.
function drawWorks(entry, sorted = columns[0]) {
  const works = [...entry.used].sort((a, b) => {
    const [one, other] = [sorted.by(a), sorted.by(b)];
    return sorted.number ? other - one : one < other ? -1 : one > other ? 1 : 0;
  });
  const sortBy = column => () => {
    drawWorks(entry, column);
    byId('works').querySelector('.sorted').focus();
  };
  const heads = columns.map(column => ({...column, content: html('button',
    {type: 'button', className: column === sorted ? 'sorted' : '', onclick: sortBy(column)}, column.text)}));
  const rows = works.map(work => ({work, cells: [
    drawShare(work.share, entry.used[0].share || 1),
    [work.name, work.isCall ? null : html('small', {}, shortened(opsText(work.facts.ops), 60))],
    work.isCall ? 'call' : work.kind,
    grouped(work.runs),
    work.again ? grouped(work.again) : '',
    flopsText(work.flops),
    bytesText(work.bytes),
    work.bytes ? digits(work.flops / work.bytes) : '',
    typesText(work.types),
    linesText(work.lines),
  ]}));
  empty('works').append(table(heads, rows, 20, (row, {work}) => stand(row, 'work', work.id)));
}

const drawShare = (share, largest) => html('span', {className: 'share'},
  html('i', {style: `width: ${(100 * share / largest).toFixed(1)}%`}), html('b', {}, percent(share)));

// ":3, 7, 9", with the file's name where there are several.
function linesText(ids) {
  const files = new Map();
  for (const id of ids) {
    const file = page.files[lines[id].file].name.split('/').pop();
    files.set(file, [...(files.get(file) || []), lines[id].line]);
  }
  const most = 6;
  return [...files].map(([file, list]) => `${page.files.length > 1 ? file : ''}:${list.slice(0, most).join(', ')}` +
    (list.length > most ? ', ...' : '')).join(' ');
}
