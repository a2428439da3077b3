'use strict';

// Elements and numbers. Text comes into the page as text alone, never as HTML.

const byId = id => document.getElementById(id);

function append(element, children) {
  for (const child of children.flat())
    if (child !== null && child !== undefined)
      element.append(child);
  return element;
}

// An element of HTML: its properties, then its children. `data` and `aria` are attributes.
function html(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key === 'attributes')
      for (const [attribute, text] of Object.entries(value))
        element.setAttribute(attribute, text);
    else
      element[key] = value;
  return append(element, children);
}

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, value);
  return append(element, children);
}

function empty(id) {
  const element = byId(id);
  element.replaceChildren();
  return element;
}

const grouped = number => Math.round(number).toLocaleString('en-US');

// Three digits: "37.2", "1.05", "512".
function digits(number) {
  if (number === 0)
    return '0';
  return number >= 99.95 ? grouped(number) : number.toPrecision(3).replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
}

function scaled(number, unit, units) {
  let power = 0;
  while (number >= 999.5 && power < units.length - 1) {
    number /= 1000;
    ++power;
  }
  return `${power ? digits(number) : grouped(number)} ${units[power]}${unit}`;
}

const bytesText = bytes => scaled(bytes, 'B', ['', 'k', 'M', 'G', 'T']);
const flopsText = flops => scaled(flops, 'FLOP', ['', 'k', 'M', 'G', 'T', 'P']);
const percent = share => `${(100 * share).toFixed(1)} %`;
const shortened = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;
const count = (number, one, many = one + 's') => `${grouped(number)} ${number === 1 ? one : many}`;

// Numbers of the form 1, 2 or 5 times a power of ten from 0 to `most`, about as many as wanted.
function ticks(most, wanted) {
  if (!(most > 0))
    return [0];
  const rough = most / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map(factor => factor * power).find(size => size >= rough);
  const list = [];
  for (let tick = 0; tick <= most * (1 + 1e-9); tick += step)
    list.push(tick);
  return list;
}

// A table: heads are {text, number, about}, rows {cells, properties}. More than `most` rows are
// shown where somebody asks for them.
function table(heads, rows, most, onRow) {
  const body = html('tbody');
  const show = list => {
    for (const row of list) {
      const line = html('tr', {}, row.cells.map((cell, i) =>
        html('td', {className: heads[i].number ? 'number' : ''}, cell)));
      body.append(line);
      onRow(line, row);
    }
  };
  show(rows.slice(0, most));
  const head = html('tr', {}, heads.map(one => html('th',
    {className: one.number ? 'number' : '', title: one.about || '', attributes: {scope: 'col'}}, one.content || one.text)));
  const whole = html('div', {className: 'table'}, html('table', {}, html('thead', {}, head), body));
  if (rows.length > most) {
    const more = html('button', {type: 'button', className: 'more'}, `Show all ${grouped(rows.length)}`);
    more.onclick = () => {
      more.remove();
      show(rows.slice(most));
    };
    whole.append(more);
  }
  moveByKeys(body);
  return whole;
}

// Of the rows in an element one can be reached by Tab, the others from it by arrow keys.
function moveByKeys(body) {
  const rows = () => [...body.querySelectorAll('[data-row]')];
  body.addEventListener('focusin', event => {
    const row = event.target.closest('[data-row]');
    for (const other of body.querySelectorAll('[data-row][tabindex="0"]'))
      other.tabIndex = -1;
    if (row)
      row.tabIndex = 0;
  });
  body.addEventListener('keydown', event => {
    const list = rows(), at = list.indexOf(event.target.closest('[data-row]'));
    const steps = {ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -list.length, End: list.length};
    if (at < 0 || !(event.key in steps))
      return;
    event.preventDefault();
    list[Math.max(0, Math.min(list.length - 1, at + steps[event.key]))].focus();
  });
  const first = rows()[0];
  if (first)
    first.tabIndex = 0;
}
