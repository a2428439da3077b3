// Puts the page together, for one entry at a time.

function drawTitle() {
  document.title = `${facts.model} - Weir`;
  const parts = [facts.target, `products in ${facts.precision}`];
  if (facts.master !== 'f32')
    parts.push(`parameters in ${facts.master}`);
  if (facts.loss_scale !== 'none')
    parts.push(`loss scale ${facts.loss_scale}`);
  parts.push(facts.steps ? count(facts.steps, 'step') : count(facts.epochs, 'epoch'));
  parts.push(`${count(facts.batch * facts.accumulate, 'row')} a step` +
    (facts.accumulate > 1 ? ` in ${grouped(facts.accumulate)} microbatches` : ''));
  const configs = Object.entries(facts.configs).map(([name, value]) => `${name} = ${value}`);
  empty('title').append(html('h1', {}, facts.model), html('p', {}, parts.join(' · ')), html('p', {}, configs.join(', ')));
}

function drawTiles(entry) {
  const sum = of => entry.used.reduce((total, work) => total + of(work), 0);
  const runs = isCall => sum(work => work.isCall === isCall ? work.runs : 0);
  const live = entry.place.largest_live, values = page.variables.filter(one => one[1] === 'parameter');
  const again = sum(work => work.again), share = sum(work => work.share * work.again / work.runs);
  const tiles = [
    ['Peak', bytesText(facts.memory.persistent + live), `${bytesText(live)} in buffers`],
    ['Persistent', bytesText(facts.memory.persistent),
      `${count(values.length, 'parameter')}, ${bytesText(values.reduce((bytes, one) => bytes + one[4], 0))}`],
    ['Arena', bytesText(facts.memory.arena), live ? `scratch ${(entry.place.scratch / live).toFixed(3)} x alive` : 'no scratch'],
    ['Arithmetic', flopsText(sum(work => work.runs * work.flops)), `${bytesText(sum(work => work.runs * work.bytes))} read and written`],
    ['Launches', grouped(runs(false)), `of ${count(entry.used.filter(work => !work.isCall).length, 'kernel')}`],
    ['Calls', grouped(runs(true)), 'of libraries'],
    ['Recomputed', grouped(again), again ? `${percent(share)} of the cost` : 'no actions'],
  ];
  if (entry.pinned)
    tiles.push(['Pinned', bytesText(entry.pinned), 'of the host']);
  empty('tiles').append(...tiles.map(([name, value, about]) =>
    html('div', {className: 'tile'}, html('span', {}, name), html('b', {}, value), html('small', {}, about))));
}

function drawEntries(entry) {
  const tabs = page.entries.map(one => html('button', {type: 'button', onclick: () => {
    draw(one.name);
    byId('entries').querySelector('[aria-selected="true"]').focus();
  }, attributes: {role: 'tab', 'aria-selected': String(one.name === entry.name)}}, one.name));
  empty('entries').append(...tabs);
}

function draw(name) {
  const entry = readEntry(page.entries.find(one => one.name === name));
  Object.assign(focusState, {entry, views: new Map(), lit: [], chosen: null});
  drawEntries(entry);
  drawTiles(entry);
  byId('memory-about').textContent = `Bytes alive at each of the ${count(entry.actions.length, 'action')} of ${name}, by line of the model. ` +
    'The actions of a loop appear once.';
  byId('work-about').textContent = 'The FLOPs and bytes of one run of each kernel and call. Costs are estimated from FLOPs and bytes, ' +
    'not measured.' + (page.no_types ? ` Types are unknown: ${page.no_types}.` : '');
  drawMemoryLegend(entry);
  drawMemory(entry);
  drawArena(entry);
  drawStripLegend(entry);
  drawAtPeak(entry);
  drawScatterLegend(entry);
  drawScatter(entry);
  drawWorks(entry);
  drawSource(entry);
  letGo();
}

// As the system says, light, or dark.
function drawTheme() {
  const themes = ['auto', 'light', 'dark'], root = document.documentElement;
  const button = byId('theme');
  let at = 0;
  const set = () => {
    root.style.colorScheme = at ? themes[at] : '';
    button.textContent = `Colours: ${themes[at]}`;
  };
  button.onclick = () => {
    at = (at + 1) % themes.length;
    set();
  };
  set();
}

function complain(error) {
  document.documentElement.dataset.state = 'failed';
  byId('error').hidden = false;
  byId('error').textContent = `The page cannot be drawn: ${error}`;
}

addEventListener('error', event => complain(event.message));

function start() {
  drawTitle();
  drawTheme();
  const first = page.entries.some(one => one.name === 'step') ? 'step' : page.entries[0].name;
  draw(first);
  listen();
  let width = innerWidth;
  addEventListener('resize', () => {
    if (innerWidth === width)
      return;
    width = innerWidth;
    draw(focusState.entry.name);
  });
  document.documentElement.dataset.state = 'drawn';
}

start();
