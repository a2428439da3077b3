// The text of the model, with what each line keeps and costs.

function drawSource(entry) {
  const box = empty('source');
  const kept = new Map(), cost = new Map();
  for (const {line, profile} of entry.series)
    kept.set(line, profile[entry.peak] || 0);
  for (const work of entry.used)
    for (const line of work.lines) // a kernel's cost is parted among its lines
      cost.set(line, (cost.get(line) || 0) + work.share / work.lines.length);
  const most = map => Math.max(1e-12, ...map.values());
  const scales = [[kept, most(kept), 'kept', bytesText], [cost, most(cost), 'cost', percent]];
  box.append(html('p', {className: 'bars'}, html('i', {className: 'kept'}), 'alive at the peak',
    html('i', {className: 'cost'}), 'share of the cost'));
  for (const [number, file] of page.files.entries())
    box.append(drawFile(entry, file, number, scales));
}

function drawFile(entry, file, number, scales) {
  const block = html('div', {className: 'file'}, html('h3', {}, file.name));
  if (file.note)
    block.append(html('p', {className: 'about'}, file.note));
  const ids = new Map(lines.filter(one => one.file === number).map(one => [one.line, one.id]));
  // Without its text, the lines that are spoken of.
  const texts = file.text ? file.text.replace(/\n$/, '').split('\n').map((text, i) => [i + 1, text])
    : [...ids.keys()].sort((a, b) => a - b).map(line => [line, '']);
  const body = html('div', {className: 'lines'});
  for (const [line, text] of texts) {
    const id = ids.get(line);
    const row = html('div', {className: 'line'});
    for (const [map, most, name, show] of scales) {
      const value = map.get(id) || 0;
      row.append(html('span', {className: 'bar', title: value ? `${show(value)}` : ''},
        html('i', {className: name, style: `width: ${(100 * value / most).toFixed(1)}%`})));
    }
    const comment = text.indexOf('//');
    const code = comment < 0 ? [text] : [text.slice(0, comment), html('em', {}, text.slice(comment))];
    row.append(html('span', {className: `number ${id === undefined ? '' : colourClass(entry, id)}`}, String(line)),
      html('code', {}, code));
    if (id !== undefined) {
      row.classList.add('known');
      stand(row, 'line', id);
    }
    body.append(row);
  }
  moveByKeys(body);
  return append(block, [body]);
}
