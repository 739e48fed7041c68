/* The gallery's one script. It draws a puzzle, takes an answer, judges it by what the page holds, and steps through the proof.
   It builds elements and sets textContent; it never writes HTML and never runs data. */
(async () => {
  'use strict';
  const NS = 'http://www.w3.org/2000/svg';
  const PAINT = ['#dd5144', '#4a7bd8', '#4aa564', '#f0c043'];
  const EDGE = ['#a3342a', '#2f549c', '#2f7344', '#b58a17'];
  const ACTS = {W: ['walk', '#0b62c4'], L: ['look', '#9a5b00'], R: ['run', '#1a7f37'], J: ['jump', '#8250df'], '<': ['turn left', '#57606a'], '>': ['turn right', '#57606a']};
  const SIGN = {W: 'W', L: 'L', R: 'R', J: 'J', '<': '↰', '>': '↱'};
  const MOVES = {w: 'walk', p: 'push', l: 'pull', s: 'stay', '<': 'turn left', '>': 'turn right'};
  const BLOCKS = ['#f5e400', '#111418', '#0f83ff'];
  const BLOCK_NAMES = ['yellow', 'black', 'blue'];
  const BOXES = ['left', 'middle', 'right'];

  // --- building blocks ----------------------------------------------------------------------------------------------

  const make = (name, settings = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(settings)) {
      if (key === 'class') element.className = value;
      else if (key === 'on') for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
      else if (value === true) element.setAttribute(key, '');
      else if (value !== false && value !== undefined) element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const svg = (name, settings = {}, ...children) => {
    const element = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(settings)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const picture = (width, height, label, ...children) =>
    svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': label, class: 'world'}, ...children);
  const button = (text, run, settings = {}) => make('button', {type: 'button', on: {click: run}, ...settings}, text);
  const chip = (letter) => {
    const [name, color] = ACTS[letter];
    return make('span', {class: 'chip', style: `background:${color}`, title: name}, SIGN[letter]);
  };
  const chips = (letters) => [...letters].map(chip);
  const marked = (text, phrases) => {
    const found = phrases.filter((phrase) => phrase && text.includes(phrase)).sort((a, b) => text.indexOf(a) - text.indexOf(b));
    const pieces = [];
    let rest = text;
    for (const phrase of found) {
      const at = rest.indexOf(phrase);
      if (at < 0) continue;
      pieces.push(rest.slice(0, at), make('mark', {}, phrase));
      rest = rest.slice(at + phrase.length);
    }
    return [...pieces, rest];
  };

  // --- worlds on a grid ---------------------------------------------------------------------------------------------

  const STEP = [[0, 1], [1, 0], [0, -1], [-1, 0]];
  const begin = (puzzle) => ({things: puzzle.things.map((thing) => [...thing]), agent: [...puzzle.agent], charge: 0, cells: [puzzle.agent.slice(0, 2)], failed: 0});
  const act = (puzzle, state, sign) => {
    const [row, column, heading] = state.agent;
    if (sign === 's') return true;
    if (sign === '<' || sign === '>') { state.agent[2] = (heading + (sign === '<' ? 3 : 1)) % 4; return true; }
    const way = sign === 'l' ? (heading + 2) % 4 : heading;
    const next = [row + STEP[way][0], column + STEP[way][1]];
    const outside = next.some((place) => place < 0 || place >= puzzle.size);
    const arrive = () => { state.agent[0] = next[0]; state.agent[1] = next[1]; state.charge = 0; state.cells.push(next); };
    if (sign === 'w') { if (outside) return false; arrive(); return true; }
    const at = (r, c) => state.things.findIndex((thing) => thing[2] !== 3 && thing[3] === r && thing[4] === c);
    const here = at(row, column);
    if (here < 0 || outside || at(next[0], next[1]) >= 0) return false;
    if (state.things[here][0] >= 3 && state.charge !== way + 1) { state.charge = way + 1; return true; }
    [state.things[here][3], state.things[here][4]] = next;
    arrive();
    return true;
  };
  const replay = (puzzle, signs) => {
    const state = begin(puzzle);
    for (const sign of signs) if (!act(puzzle, state, sign)) state.failed += 1;
    return state;
  };
  const end = (state) => JSON.stringify([state.things, state.agent.slice(0, 2)]);

  const thingShape = ([size, color, shape, row, column], cell) => {
    const x = (column + 0.5) * cell, y = (row + 0.5) * cell, r = cell * (0.13 + 0.075 * size);
    const look = {fill: PAINT[color], stroke: EDGE[color], 'stroke-width': cell / 34};
    const ink = shape === 3 ? EDGE[color] : color === 3 ? '#5b4508' : '#fff';
    const group = svg('g', {});
    if (shape === 0) group.append(svg('circle', {cx: x, cy: y, r, ...look}));
    else if (shape === 2) group.append(svg('rect', {x: x - 0.9 * r, y: y - 0.9 * r, width: 1.8 * r, height: 1.8 * r, rx: 2, ...look}));
    else if (shape === 1) {
      const half = 0.78 * r, top = y - 0.75 * r, low = y + 0.75 * r;
      group.append(svg('path', {d: `M${x - half} ${top}V${low}A${half} ${0.3 * r} 0 0 0 ${x + half} ${low}V${top}`, ...look}));
      group.append(svg('ellipse', {cx: x, cy: top, rx: half, ry: 0.3 * r, ...look}));
    } else {
      const inset = 3 + 1.4 * (4 - size), side = size * cell - 2 * inset;
      const corner = {x: column * cell + inset, y: row * cell + inset, width: side, height: side, rx: 5};
      group.append(svg('rect', {...corner, fill: PAINT[color], 'fill-opacity': 0.12, stroke: PAINT[color], 'stroke-width': 4}));
      group.append(svg('text', {x: column * cell + inset + 8, y: row * cell + inset + 13, class: 'digit', fill: ink}, String(size)));
      return group;
    }
    group.append(svg('text', {x, y: y + (shape === 1 ? 0.3 * r : 0) + 4, class: 'digit', fill: ink}, String(size)));
    return group;
  };
  const grid = (size, things, cell, label, more = []) => {
    const side = size * cell;
    const lines = [];
    for (let k = 1; k < size; k += 1) lines.push(svg('path', {d: `M${k * cell} 0V${side}M0 ${k * cell}H${side}`, class: 'gridline'}));
    const numbers = [];
    for (let k = 0; k < size; k += 1) {
      numbers.push(svg('text', {x: (k + 0.5) * cell, y: -4, class: 'number'}, String(k + 1)), svg('text', {x: -7, y: (k + 0.5) * cell + 4, class: 'number'}, String(k + 1)));
    }
    const boxes = things.filter((thing) => thing[2] === 3), others = things.filter((thing) => thing[2] !== 3);
    return svg('svg', {viewBox: `-16 -16 ${side + 20} ${side + 20}`, role: 'img', 'aria-label': label, class: 'world'},
      svg('rect', {width: side, height: side, rx: 3, class: 'field'}), ...lines, ...numbers,
      ...boxes.map((thing) => thingShape(thing, cell)), ...others.map((thing) => thingShape(thing, cell)), ...more);
  };
  const agentShape = ([row, column, heading], cell, shared) => {
    const scale = cell * (shared ? 0.2 : 0.34), shift = shared ? 0.26 * cell : 0;
    const x = (column + 0.5) * cell + shift, y = (row + 0.5) * cell - shift;
    return svg('path', {d: `M${scale} 0L${-0.8 * scale} ${0.78 * scale}L${-0.42 * scale} 0L${-0.8 * scale} ${-0.78 * scale}Z`,
      transform: `translate(${x} ${y}) rotate(${heading * 90})`, class: 'agent'});
  };
  const rings = (cells, cell) => cells.map(([row, column]) =>
    svg('rect', {x: column * cell + 3, y: row * cell + 3, width: cell - 6, height: cell - 6, rx: 7, class: 'ring'}));
  const trail = (cells, cell) => svg('polyline', {points: cells.map(([r, c]) => `${(c + 0.5) * cell},${(r + 0.5) * cell}`).join(' '), class: 'trail'});
  const thingWords = (things) => things.map(([size, color, shape, row, column]) =>
    `${['red', 'blue', 'green', 'yellow'][color]} ${['circle', 'cylinder', 'square', 'box'][shape]} of size ${size} in row ${row + 1}, column ${column + 1}`).join('; ');

  const playGrid = (puzzle, view) => {
    const CELL = 48;
    let signs = '';
    let marks = [];
    const place = make('div', {class: 'field-holder', tabindex: 0, role: 'group', 'aria-label': 'The world. Arrow keys walk, p pushes, l pulls, s stays, Backspace undoes.'});
    const said = make('p', {class: 'said small', 'aria-live': 'polite'});
    const paint = () => {
      const state = replay(puzzle, marks[2] === undefined ? signs : marks[2]);
      const shared = state.things.some((thing) => thing[2] !== 3 && thing[3] === state.agent[0] && thing[4] === state.agent[1]);
      const label = `A grid of ${puzzle.size} by ${puzzle.size} cells: ${thingWords(state.things)}. You are in row ${state.agent[0] + 1}, column ${state.agent[1] + 1}.`;
      place.replaceChildren(grid(puzzle.size, state.things, CELL, label,
        [trail(state.cells, CELL), ...rings(marks[0] || [], CELL), agentShape(state.agent, CELL, shared)]));
      view.question.replaceChildren(...marked(puzzle.question, marks[1] || []));
      said.textContent = signs ? [...signs].map((sign) => MOVES[sign]).join(', ') : 'Walk with the arrow keys or the buttons.';
    };
    const add = (more) => { marks = []; signs += more; if (signs.length > 200) signs = signs.slice(0, 200); view.changed(); paint(); };
    const go = (goal) => { const turn = (goal - replay(puzzle, signs).agent[2] + 4) % 4; add(['', '>', '<<', '<'][turn] + 'w'); };
    const undo = () => { marks = []; signs = signs.slice(0, -1); view.changed(); paint(); };
    const keys = {ArrowRight: () => go(0), ArrowDown: () => go(1), ArrowLeft: () => go(2), ArrowUp: () => go(3),
      p: () => add('p'), l: () => add('l'), s: () => add('s'), Backspace: undo};
    place.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Enter') { view.check(); return; }
      if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
    });
    view.picture.replaceChildren(place);
    const arrows = make('div', {class: 'row'}, ...[['←', 2, 'west'], ['↑', 3, 'north'], ['↓', 1, 'south'], ['→', 0, 'east']].map(
      ([sign, way, name]) => button(sign, () => go(way), {'aria-label': 'walk ' + name, title: 'walk ' + name})), ...[...puzzle.can].map(
      (sign) => button(MOVES[sign], () => add(sign))), button('↰', () => add('<'), {'aria-label': 'turn left', title: 'turn left'}),
      button('↱', () => add('>'), {'aria-label': 'turn right', title: 'turn right'}), button('undo', undo));
    view.controls.replaceChildren(said, arrows);
    paint();
    return {given: () => signs || null, mark: (found) => { marks = found; paint(); }};
  };

  // --- SCAN and NACS ------------------------------------------------------------------------------------------------

  const path = (letters, label) => {
    let x = 0, y = 0, dx = 0, dy = -1;
    const segments = [], looks = [];
    const xs = [0], ys = [0];
    for (const letter of letters) {
      if (letter === '<') [dx, dy] = [dy, -dx];
      else if (letter === '>') [dx, dy] = [-dy, dx];
      else if (letter === 'L') looks.push([x, y]);
      else {
        const stride = letter === 'R' ? 2 : 1;
        segments.push([letter, x, y, x + dx * stride, y + dy * stride]);
        x += dx * stride; y += dy * stride; xs.push(x); ys.push(y);
      }
    }
    const unit = 34, pad = 34;
    const left = Math.min(...xs, -1), top = Math.min(...ys, -1), right = Math.max(...xs, 1), low = Math.max(...ys, 1);
    const at = (a, b) => [(a - left) * unit + pad, (b - top) * unit + pad];
    const drawn = segments.map(([letter, a, b, c, d]) => {
      const [x0, y0] = at(a, b), [x1, y1] = at(c, d);
      const bend = letter === 'J' ? 12 : 0, mx = (x0 + x1) / 2 - Math.sign(y1 - y0) * bend, my = (y0 + y1) / 2 + Math.sign(x1 - x0) * bend;
      return svg('path', {d: `M${x0} ${y0}Q${mx} ${my} ${x1} ${y1}`, fill: 'none', stroke: ACTS[letter][1], 'stroke-width': 3.5, 'stroke-linecap': 'round'});
    });
    const rounds = looks.map(([a, b]) => { const [cx, cy] = at(a, b); return svg('circle', {cx, cy, r: 13, fill: 'none', stroke: ACTS.L[1], 'stroke-width': 3}); });
    const [sx, sy] = at(0, 0), [ex, ey] = at(x, y);
    const turn = dy === -1 ? 270 : dx === 1 ? 0 : dy === 1 ? 90 : 180;
    const whole = picture((right - left) * unit + 2 * pad, (low - top) * unit + 2 * pad, label, ...drawn, ...rounds,
      svg('circle', {cx: sx, cy: sy, r: 5, class: 'start'}), svg('path', {d: 'M11 0L-8 8L-4 0L-8 -8Z', transform: `translate(${ex} ${ey}) rotate(${turn})`, class: 'agent'}));
    whole.classList.add('way');
    return whole;
  };
  const playActs = (puzzle, view) => {
    let letters = '';
    let shown = null;
    const box = make('div', {class: 'strip', tabindex: 0, role: 'group', 'aria-label': 'Your actions. Keys: w walk, l look, r run, j jump, arrows turn, Backspace undoes.'});
    const paint = () => {
      box.replaceChildren(...(letters ? chips(letters) : [make('span', {class: 'soft small'}, 'your actions')]));
      view.picture.replaceChildren(path(shown === null ? letters : shown, 'The way that the actions go, from the green dot, facing north'));
    };
    const add = (letter) => { shown = null; letters += letter; if (letters.length > 80) letters = letters.slice(0, 80); view.changed(); paint(); };
    const undo = () => { shown = null; letters = letters.slice(0, -1); view.changed(); paint(); };
    const keys = {w: 'W', l: 'L', r: 'R', j: 'J', ArrowLeft: '<', ArrowRight: '>'};
    box.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Enter') view.check();
      else if (event.key === 'Backspace') { event.preventDefault(); undo(); }
      else if (keys[event.key]) { event.preventDefault(); add(keys[event.key]); }
    });
    const lesson = () => (puzzle.lesson || []).map(([command, done]) => make('p', {class: 'small'}, `${command}: `, make('span', {class: 'strip-inline'}, ...chips(done))));
    view.question.replaceChildren(...lesson(), make('b', {class: 'command'}, puzzle.question));
    view.controls.replaceChildren(box, make('div', {class: 'row'}, ...Object.entries(ACTS).map(([letter, [name]]) =>
      button(name, () => add(letter), {'data-act': letter})), button('undo', undo)));
    paint();
    return {given: () => letters || null, mark: (found) => {
      view.question.replaceChildren(...lesson(), make('b', {class: 'command'}, ...marked(puzzle.question, found)));
    }, reveal: () => { shown = puzzle.right[0]; paint(); }};
  };
  const playWords = (puzzle, view) => {
    const input = make('input', {type: 'text', 'aria-label': 'Your command', placeholder: 'your command', autocomplete: 'off', spellcheck: 'false',
      on: {input: () => view.changed(), keydown: (event) => { if (event.key === 'Enter') view.check(); }}});
    view.picture.replaceChildren(path(puzzle.question, 'The way that the actions go'));
    view.question.replaceChildren('Which command says this? ', make('span', {class: 'strip-inline'}, ...chips(puzzle.question)));
    const words = ['walk', 'look', 'run', 'jump', 'turn', 'left', 'right', 'opposite', 'around', 'twice', 'thrice', 'and', 'after'];
    view.controls.replaceChildren(input, make('div', {class: 'row'}, ...words.map((word) =>
      button(word, () => { input.value = (input.value.trim() + ' ' + word).trim(); view.changed(); }))));
    return {given: () => input.value.toLowerCase().split(/\s+/).filter(Boolean).join(' ') || null, mark: () => {}};
  };

  // --- CLUTRR -------------------------------------------------------------------------------------------------------

  const playKin = (puzzle, view) => {
    const count = puzzle.people.length, width = 420, height = 340;
    const spots = puzzle.people.map((_, i) => {
      const turn = -Math.PI / 2 + (2 * Math.PI * i) / count;
      return [width / 2 + Math.cos(turn) * 150, height / 2 + Math.sin(turn) * 118];
    });
    const bow = (from, to, word, look) => {
      const [x0, y0] = spots[from], [x1, y1] = spots[to];
      const length = Math.hypot(x1 - x0, y1 - y0) || 1, ux = (x1 - x0) / length, uy = (y1 - y0) / length;
      const mx = (x0 + x1) / 2 - uy * 14, my = (y0 + y1) / 2 + ux * 14;
      const ex = x1 - ux * 17, ey = y1 - uy * 17;
      return [svg('path', {d: `M${x0 + ux * 15} ${y0 + uy * 15}Q${mx} ${my} ${ex} ${ey}`, class: 'kin ' + look}),
        svg('path', {d: 'M0 0L-9 4.5L-9 -4.5Z', transform: `translate(${ex} ${ey}) rotate(${(Math.atan2(ey - my, ex - mx) * 180) / Math.PI})`, class: 'kin-head ' + look}),
        svg('text', {x: (mx + (x0 + x1) / 2) / 2, y: (my + (y0 + y1) / 2) / 2 + 4, class: 'kin-word ' + look}, word)];
    };
    const paint = (people = [], hops = []) => {
      const facts = puzzle.facts.map(([subject, word, relative]) =>
        bow(subject, relative, word, people.includes(subject) && people.includes(relative) ? 'on' : ''));
      const found = hops.map(([subject, word, relative]) => bow(subject, relative, word, 'new'));
      const asked = bow(puzzle.query[0], puzzle.query[1], '?', 'asked');
      const shapes = puzzle.people.map((name, i) => {
        const [x, y] = spots[i], look = (people.includes(i) ? 'person on' : 'person') + (puzzle.query.includes(i) ? ' asked' : '');
        const body = puzzle.women[i] ? svg('circle', {cx: x, cy: y, r: 12, class: look}) : svg('rect', {x: x - 11, y: y - 11, width: 22, height: 22, rx: 2, class: look});
        return svg('g', {}, body, svg('text', {x, y: y < height / 2 ? y - 18 : y + 26, class: 'name'}, name));
      });
      const arrows = [...facts, ...(hops.length ? [] : [asked]), ...found];
      view.picture.replaceChildren(picture(width, height, 'The facts of the story: an arrow leads from a person to a relative',
        ...arrows.flatMap((arrow) => arrow.slice(0, 2)), ...shapes, ...arrows.map((arrow) => arrow[2])));
    };
    const select = make('select', {'aria-label': 'Your answer', on: {change: () => view.changed()}}, make('option', {value: ''}, 'choose a word'),
      ...puzzle.words.map((word) => make('option', {value: word}, word)));
    view.question.replaceChildren(...puzzle.question.split('\n').map((line) => make('p', {}, line)));
    view.controls.replaceChildren(make('div', {class: 'row'}, select));
    paint();
    return {given: () => select.value || null, mark: ([people, hops]) => paint(people, hops)};
  };

  // --- lilGym -------------------------------------------------------------------------------------------------------

  const scenes = (start, edits) => {
    const order = [start.join('|')], seen = new Set(order);
    let level = [start];
    for (let turn = 0; turn < edits; turn += 1) {
      const following = [];
      for (const towers of level) towers.forEach((tower, box) => {
        const added = tower.length < 4 ? ['0', '1', '2'].map((color) => tower + color) : [];
        for (const next of [...added, ...(tower ? [tower.slice(0, -1)] : [])]) {
          const reached = towers.map((other, i) => (i === box ? next : other)), key = reached.join('|');
          if (!seen.has(key)) { seen.add(key); order.push(key); following.push(reached); }
        }
      });
      level = following;
    }
    return order;
  };
  const playTower = (puzzle, view) => {
    let towers = [...puzzle.towers];
    let past = [];
    let color = 0;
    let on = [];
    const left = () => puzzle.edits - past.length;
    const change = (box, next) => {
      if (left() <= 0) return;
      past.push([...towers]); towers = towers.map((tower, i) => (i === box ? next : tower)); on = []; view.changed(); paint();
    };
    const add = (box) => { if (towers[box].length < 4) change(box, towers[box] + color); };
    const remove = (box) => { if (towers[box]) change(box, towers[box].slice(0, -1)); };
    const undo = () => { if (past.length) { towers = past.pop(); view.changed(); paint(); } };
    const counter = make('p', {class: 'small soft', 'aria-live': 'polite'});
    const palette = make('div', {class: 'row', role: 'group', 'aria-label': 'Colour of the next block'});
    const paint = () => {
      const drawn = [];
      towers.forEach((tower, box) => {
        const x = box * 140;
        const frame = svg('rect', {x, y: 0, width: 120, height: 120, rx: 4, class: on.includes(box) ? 'box on' : 'box', 'data-box': box});
        frame.addEventListener('click', () => add(box));
        drawn.push(frame);
        [...tower].forEach((block, level) => {
          const shape = svg('rect', {x: x + 47, y: 92 - 27 * level, width: 26, height: 26, rx: 2, fill: BLOCKS[+block], stroke: '#555', class: level === tower.length - 1 ? 'top' : ''});
          shape.addEventListener('click', () => (level === tower.length - 1 ? remove(box) : add(box)));
          drawn.push(shape);
        });
      });
      const label = towers.map((tower, box) => `${BOXES[box]} box: ${[...tower].map((c) => BLOCK_NAMES[+c]).join(', ') || 'empty'}`).join('; ');
      view.picture.replaceChildren(svg('svg', {viewBox: '-4 -4 408 128', role: 'img', 'aria-label': label, class: 'world boxes'}, ...drawn));
      palette.replaceChildren('add: ', ...BLOCK_NAMES.map((name, i) => button(name, () => { color = i; paint(); }, {'aria-pressed': String(color === i), class: 'swatch c' + i})));
      counter.textContent = `Click a box to add a block, click a top block to take it away. ${left()} of ${puzzle.edits} edits left.`;
    };
    view.question.replaceChildren(puzzle.question);
    view.controls.replaceChildren(counter, palette, make('div', {class: 'row'}, ...BOXES.flatMap((name, box) => [
      button(`+ ${name}`, () => add(box), {'aria-label': `add a block to the ${name} box`, 'data-add': box}), button(`− ${name}`, () => remove(box), {'aria-label': `take the top block of the ${name} box`})]), button('undo', undo)));
    paint();
    return {given: () => towers.join('|') + (past.length ? '' : '|stop'), mark: (found) => { on = found; paint(); }};
  };
  const playTruth = (puzzle, view) => {
    const paint = (on = []) => {
      const drawn = [0, 1, 2].map((box) => svg('rect', {x: box * 140, y: 0, width: 100, height: 100, class: on.includes(box) ? 'box on' : 'box'}));
      for (const [box, px, py, size, color, shape] of puzzle.items) {
        const x = box * 140 + px, look = {fill: BLOCKS[color], stroke: '#555', 'stroke-width': 0.6};
        if (shape === 0) drawn.push(svg('circle', {cx: x + size / 2, cy: py + size / 2, r: size / 2, ...look}));
        else if (shape === 1) drawn.push(svg('rect', {x, y: py, width: size, height: size, ...look}));
        else drawn.push(svg('path', {d: `M${x} ${py + size}L${x + size / 2} ${py}L${x + size} ${py + size}Z`, ...look}));
      }
      view.picture.replaceChildren(svg('svg', {viewBox: '-4 -4 388 108', role: 'img', 'aria-label': 'Three boxes with circles, squares and triangles', class: 'world boxes'}, ...drawn));
    };
    let chosen = null;
    const pick = (value) => { chosen = value; view.changed(); view.check(); };
    view.question.replaceChildren(puzzle.question);
    view.controls.replaceChildren(make('div', {class: 'row'}, button('true', () => pick('true')), button('false', () => pick('false'))));
    paint();
    return {given: () => chosen, mark: paint};
  };

  // --- abstract tasks -----------------------------------------------------------------------------------------------

  const playTask = (puzzle, view) => {
    const CELL = 30;
    let chosen = null;
    let shown = false;
    const operation = make('select', {'aria-label': 'What happens to it', on: {change: () => view.changed()}}, make('option', {value: ''}, 'what happens to it?'),
      make('option', {value: '-'}, 'nothing changes'), ...puzzle.offered.map((text, i) => make('option', {value: i}, text)));
    const which = make('p', {class: 'small soft', 'aria-live': 'polite'});
    const words = (thing) => thingWords([thing]);
    const paint = (where = -1, cells = []) => {
      const rows = puzzle.demonstrations.map(([before, after], i) => make('div', {class: 'demonstration'},
        grid(puzzle.size, before, CELL, `Picture ${i + 1} before: ${thingWords(before)}`, where === i ? rings(cells, CELL) : []), make('span', {'aria-hidden': 'true'}, '→'),
        grid(puzzle.size, after, CELL, `Picture ${i + 1} after: ${thingWords(after)}`, where === i ? rings(cells, CELL) : [])));
      const test = grid(puzzle.size, puzzle.things, CELL, `The last picture: ${thingWords(puzzle.things)}`,
        [...rings(where === puzzle.demonstrations.length ? cells : [], CELL), ...(chosen === null ? [] : [svg('rect', {x: puzzle.things[chosen][4] * CELL + 2, y: puzzle.things[chosen][3] * CELL + 2, width: CELL - 4, height: CELL - 4, rx: 5, class: 'chosen'})])]);
      test.classList.add('test');
      test.addEventListener('click', (event) => {
        const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(test.getScreenCTM().inverse());
        const row = Math.floor(point.y / CELL), column = Math.floor(point.x / CELL);
        const covers = (t) => { const k = t[2] === 3 ? t[0] : 1; return t[3] <= row && row < t[3] + k && t[4] <= column && column < t[4] + k; };
        let found = puzzle.things.findIndex((t) => t[2] !== 3 && covers(t));
        if (found < 0) found = puzzle.things.findIndex(covers);
        if (found >= 0) { chosen = found; list.value = found; view.changed(); paint(); }
      });
      const last = shown ? grid(puzzle.size, puzzle.output, CELL, `The right output: ${thingWords(puzzle.output)}`) : make('span', {class: 'unknown'}, '?');
      view.picture.replaceChildren(...rows, make('div', {class: 'demonstration'}, test, make('span', {'aria-hidden': 'true'}, '→'), last));
      which.textContent = chosen === null ? 'Click the object that changes, or choose it from the list.' : words(puzzle.things[chosen]);
    };
    const list = make('select', {'aria-label': 'Which object', on: {change: () => { chosen = list.value === '' ? null : +list.value; view.changed(); paint(); }}},
      make('option', {value: ''}, 'which object?'), ...puzzle.things.map((thing, i) => make('option', {value: i}, words(thing))));
    view.question.replaceChildren(puzzle.question);
    view.controls.replaceChildren(which, make('div', {class: 'row'}, list, operation));
    paint();
    const given = () => (operation.value === '-' ? '-' : operation.value === '' || chosen === null ? null : `${chosen},${operation.value}`);
    return {given, mark: ([where, cells]) => paint(where, cells), reveal: () => { shown = true; paint(); }};
  };
  const playTyped = (puzzle, view) => {
    const input = make('textarea', {'aria-label': 'Your answer', rows: 2, on: {input: () => view.changed()}});
    view.question.replaceChildren(make('pre', {}, puzzle.question));
    view.controls.replaceChildren(input);
    return {given: () => input.value.trim() || null, mark: () => {}};
  };
  const PLAY = {grid: playGrid, acts: playActs, words: playWords, kin: playKin, tower: playTower, truth: playTruth, task: playTask, typed: playTyped};

  // --- judging ------------------------------------------------------------------------------------------------------

  const judge = (puzzle, given) => {
    const named = (test) => puzzle.readers.flatMap(([, , answers], i) => (answers.some(test) ? [i] : []));
    if (puzzle.kind === 'tower') {
      const order = scenes(puzzle.towers, puzzle.edits), want = puzzle.target ? '1' : '0';
      const stopped = given.endsWith('|stop');
      const at = order.indexOf(stopped ? given.slice(0, -5) : given);
      if (puzzle.right[0][at] === want) return {right: true, readers: []};
      return {right: false, readers: named((answer) => (answer === 'stop' ? stopped : answer[at] === want))};
    }
    if (puzzle.right.includes(given)) return {right: true, readers: []};
    const readers = named((answer) => answer === given);
    if (puzzle.kind !== 'grid' || readers.length) return {right: false, readers};
    const state = replay(puzzle, given), mine = end(state);
    if (mine === end(replay(puzzle, puzzle.right[0])))
      return {right: false, readers, note: 'You end where the right answer ends. But the benchmark counts each action: first east or west, then north or south, in the manner that the command says.'};
    return {right: false, readers: state.failed ? [] : named((answer) => end(replay(puzzle, answer)) === mine)};
  };

  // --- tiles --------------------------------------------------------------------------------------------------------

  const unpack = async (block) => {
    const bytes = Uint8Array.from(atob(block.textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return JSON.parse(await new Response(stream).text());
  };
  if (typeof DecompressionStream === 'undefined') return;
  const tally = {right: 0, tried: 0};
  const score = document.getElementById('tally');
  const told = (step) => step.split(/(\{[^}]*\})/).flatMap((piece) => (piece.startsWith('{') ? chips(piece.slice(1, -1)) : [piece]));

  const tile = (card, puzzles) => {
    const find = (name) => card.querySelector('.' + name);
    const view = {picture: find('picture'), question: find('question'), controls: find('controls')};
    const [splits, levels, reveal, checker] = [find('splits'), find('levels'), find('reveal'), find('check')];
    let now, state, judged;
    const fits = () => puzzles.filter((p) => (splits.value === '' || p.split === splits.value) && (levels.value === '' || String(p.level) === levels.value));
    const walk = (puzzle) => {
      let at = 0;
      const text = make('p', {class: 'step', 'aria-live': 'polite'});
      const count = make('span', {class: 'small soft'});
      const show = (to) => {
        at = Math.max(0, Math.min(puzzle.steps.length - 1, to));
        text.replaceChildren(...told(puzzle.steps[at][0]));
        count.textContent = ` step ${at + 1} of ${puzzle.steps.length} `;
        state.mark(puzzle.steps[at][1]);
      };
      const back = button('◀ back', () => show(at - 1)), next = button('next ▶', () => show(at + 1), {class: 'next'});
      const box = make('div', {class: 'proof'}, make('b', {}, 'The proof'), count, text, make('div', {class: 'row'}, back, next));
      if (puzzle.steps.length) show(0);
      return box;
    };
    const verdict = (puzzle, found) => {
      const does = found.readers.map((i) => puzzle.readers[i][1]);
      if (found.right) return make('p', {class: 'verdict ok'}, 'Right.');
      if (found.note) return make('p', {class: 'verdict'}, 'Nearly. ' + found.note);
      if (!does.length) return make('p', {class: 'verdict bad'}, 'Not right, and no careless reader that we know answers so.');
      const names = found.readers.map((i) => puzzle.readers[i][0].replaceAll('_', ' '));
      return make('p', {class: 'verdict bad'}, 'Not right. You were the reader who ', make('b', {}, does[0]), does.length > 1 ? ` (or: ${names.slice(1).join(', ')}).` : '.');
    };
    view.changed = () => { if (!judged) return; judged = false; reveal.replaceChildren(); };
    view.check = () => {
      if (judged) return;
      const given = state.given();
      if (given === null) { reveal.replaceChildren(make('p', {class: 'small soft'}, 'Give an answer first.')); return; }
      const found = judge(now, given);
      judged = true;
      tally.tried += 1; tally.right += found.right ? 1 : 0;
      score.textContent = `${tally.right} of ${tally.tried} right so far.`;
      const others = now.readers.filter(([, , , said]) => said).map(([name, does, , said]) => make('li', {}, make('b', {}, name.replaceAll('_', ' ')), ` ${does}: `, make('code', {}, said)));
      if (state.reveal) state.reveal();
      reveal.replaceChildren(verdict(now, found), make('p', {class: 'small'}, 'Right answer: ', make('code', {}, now.shown)), walk(now),
        make('details', {}, make('summary', {}, `What ${others.length} careless readers answer`), make('ul', {class: 'small'}, ...others)),
        make('p', {class: 'small soft'}, make('code', {}, now.id)));
    };
    const open = (puzzle) => {
      now = puzzle; judged = false;
      reveal.replaceChildren();
      view.picture.replaceChildren();
      find('claim').textContent = card.dataset['claim-' + puzzle.split] || find('splits').querySelector(`option[value="${puzzle.split}"]`).title;
      card.dataset.id = puzzle.id;
      state = PLAY[puzzle.kind](puzzle, view);
    };
    const another = () => {
      let listed = fits();
      if (!listed.length) { levels.value = ''; listed = fits(); }
      open(listed[(listed.findIndex((p) => p === now) + 1) % listed.length]);
    };
    for (const select of [splits, levels]) select.addEventListener('change', () => { now = undefined; another(); });
    find('another').addEventListener('click', another);
    checker.addEventListener('click', () => view.check());
    open(fits()[0]);
    card.hidden = false;
  };
  const all = {};
  for (const block of document.querySelectorAll('script.puzzles')) {
    const puzzles = await unpack(block);
    all[block.dataset.family] = puzzles;
    tile(document.getElementById('tile-' + block.dataset.family), puzzles);
  }
  document.getElementById('still').hidden = true;
  window.recombine = {puzzles: all, judge};
})();
