"""The report's one script: filters over the packed examples. Without it the page shows the same findings and fewer examples.

It builds elements and sets `textContent`; it never writes HTML. Cells of the heat map set the filters.
"""

from __future__ import annotations

SCRIPT = r"""
(async () => {
  'use strict';
  const byId = (id) => document.getElementById(id);
  const unpack = async (block) => {
    const bytes = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return JSON.parse(await new Response(stream).text());
  };
  const make = (name, text, className) => {
    const element = document.createElement(name);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  };
  const blocks = document.querySelectorAll('script.chunk');
  const source = document.querySelector('script.index');
  if (!source || typeof DecompressionStream === 'undefined') return;
  const index = await unpack(source);
  const chunks = new Map();
  const body = async (number) => {
    const at = Math.floor(number / index.chunk);
    if (!chunks.has(at)) chunks.set(at, unpack(blocks[at]));
    return (await chunks.get(at))[number % index.chunk];
  };
  const answered = (item, said, status, mistakes) => {
    const line = make('p', index.runs[item] + ' ', 'soft small');
    line.append(make('span', status, 'tag ' + (said[1] ? 'ok' : 'bad')));
    for (const mistake of mistakes) line.append(make('span', index.readers[mistake], 'tag'));
    const text = make('p', undefined, 'answer');
    if (said[0] === null) text.textContent = 'no answer';
    else if (said[2] === null) text.textContent = said[0];
    else {
      const [start, stop] = said[2];
      const letters = said[0];
      text.append(letters.slice(0, start), make('mark', letters.slice(start, stop) || 'ends here'), letters.slice(stop));
    }
    return [line, text];
  };
  const card = async (number) => {
    const found = await body(number);
    const box = make('article', undefined, 'card ex');
    if (found.picture) {
      const [kind, drawn] = found.picture;
      const image = make('img');
      image.alt = 'The world of this example';
      image.src = kind === 'svg' ? 'data:image/svg+xml,' + encodeURIComponent(drawn) : 'data:image/png;base64,' + drawn;
      const frame = make('div', undefined, 'world');
      frame.append(image);
      box.append(frame);
    }
    const words = make('div');
    words.append(make('code', found.id), make('pre', found.text));
    words.append(make('p', 'right answer', 'soft small'), make('p', found.answer, 'answer'));
    found.said.forEach((said, item) => {
      const verdict = index.rows[number][1][item];
      if (said && verdict) words.append(...answered(item, said, verdict[0], verdict[1]));
    });
    const proof = make('details');
    const steps = make('ol');
    for (const step of found.steps) steps.append(make('li', step));
    proof.append(make('summary', 'Proof, step by step'), steps);
    words.append(proof);
    box.append(words);
    return box;
  };
  const names = ['set', 'run', 'verdict', 'reader'];
  const chosen = () => names.map((name) => byId('filter-' + name).value);
  const fits = ([set, run, verdict, reader]) => (row) => {
    if (set !== '' && row[0] !== Number(set)) return false;
    if (run === '' && verdict === '' && reader === '') return true;
    return row[1].some((cell, item) => {
      if (!cell || (run !== '' && item !== Number(run))) return false;
      const right = cell[0] === 'right';
      if (verdict === 'right' && !right) return false;
      if (verdict === 'wrong' && right) return false;
      if (verdict === 'none' && (right || cell[0] === 'wrong')) return false;
      return reader === '' || cell[1].includes(Number(reader));
    });
  };
  const PAGE = 10;
  let turn = 0;
  const list = byId('gallery');
  const more = byId('more');
  let left = [];
  const draw = async () => {
    const mine = turn;
    const next = left.splice(0, PAGE);
    const cards = await Promise.all(next.map(card));
    if (mine !== turn) return;
    list.append(...cards);
    more.hidden = left.length === 0;
    more.textContent = 'Show ' + Math.min(PAGE, left.length) + ' more of ' + left.length;
  };
  const filter = () => {
    turn += 1;
    const test = fits(chosen());
    left = [];
    index.rows.forEach((row, number) => { if (test(row)) left.push(number); });
    byId('count').textContent = left.length.toLocaleString('en') + ' of ' + index.rows.length.toLocaleString('en') + ' examples in this page';
    list.replaceChildren();
    return draw();
  };
  const fill = (name, values) => {
    const select = byId('filter-' + name);
    values.forEach((text, number) => { const option = make('option', text); option.value = number; select.append(option); });
  };
  fill('set', index.sets); fill('run', index.runs); fill('reader', index.readers);
  for (const name of names) byId('filter-' + name).addEventListener('change', filter);
  more.addEventListener('click', draw);
  document.querySelectorAll('a[data-reader]').forEach((link) => link.addEventListener('click', (event) => {
    const at = (name, values) => { const place = values.indexOf(link.dataset[name]); return place < 0 ? '' : String(place); };
    byId('filter-set').value = at('set', index.sets);
    byId('filter-run').value = at('run', index.runs);
    byId('filter-reader').value = at('reader', index.readers);
    byId('filter-verdict').value = 'wrong';
    event.preventDefault();
    filter().then(() => { byId('examples').scrollIntoView(); byId('filter-set').focus({preventScroll: true}); });
  }));
  byId('static').hidden = true;
  byId('live').hidden = false;
  await filter();
})();
"""
