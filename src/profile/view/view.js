'use strict';
// The profile: frames by number, a tree of frames (a node's parent has a lower number), and samples
// that say which node they end in, whose they are and how many.
//   {title, period_ns, duration_ns, comments: [text],
//    strings: [text], frames: [name, module, file, line, flags, ...] (numbers of strings),
//    nodes: [parent distance, frame, ...], owners: [process, thread, unit, cpu, ...],
//    samples: [node, owner, count, ...]}
const KERNEL = 1, INLINED = 2, UNNAMED = 4, PROCESS = 8;
const LEAST_SHARE = 1e-4; // narrower frames are folded into one marked frame
const ROW = 18;
const FOLDED = -2;

async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

// ---- the model ------------------------------------------------------------------------------------

function makeModel(data) {
  const frames = [];
  for (let i = 0; i < data.frames.length; i += 5) {
    frames.push({
      name: data.strings[data.frames[i]], module: data.strings[data.frames[i + 1]],
      file: data.strings[data.frames[i + 2]], line: data.frames[i + 3], flags: data.frames[i + 4],
    });
  }
  const count = data.nodes.length / 2;
  const parent = new Int32Array(count), frame = new Int32Array(count);
  for (let i = 0; i < count; ++i) {
    parent[i] = i - data.nodes[2 * i]; // a distance of 0: the root
    if (parent[i] === i) parent[i] = -1;
    frame[i] = data.nodes[2 * i + 1];
  }
  const owners = [];
  for (let i = 0; i < data.owners.length; i += 4) {
    const text = k => data.strings[data.owners[i + k]];
    owners.push({process: text(0), thread: text(1), unit: text(2), cpu: text(3)});
  }
  return {frames, parent, frame, owners, samples: data.samples, periodNs: data.period_ns,
          durationNs: data.duration_ns, comments: data.comments, title: data.title};
}

// How many samples that pass the filter end in each node, and how many pass through it.
function weigh(model, filter) {
  const keys = Object.keys(filter).filter(key => filter[key] !== '');
  const passes = model.owners.map(owner => keys.every(key => owner[key] === filter[key]));
  const self = new Float64Array(model.parent.length), total = new Float64Array(model.parent.length);
  let all = 0;
  for (let i = 0; i < model.samples.length; i += 3) {
    if (!passes[model.samples[i + 1]]) continue;
    self[model.samples[i]] += model.samples[i + 2];
    all += model.samples[i + 2];
  }
  for (let i = self.length - 1; i >= 0; --i) {
    total[i] += self[i];
    if (model.parent[i] >= 0) total[model.parent[i]] += total[i];
  }
  return {self, total, all};
}

// A tree to draw: node 0 is the root, `frame` -1.
class Tree {
  constructor() { this.frame = [-1]; this.parent = [-1]; this.total = [0]; this.self = [0]; this.byKey = new Map(); }
  child(parent, frame) {
    const key = parent * 4194304 + frame;
    let node = this.byKey.get(key);
    if (node === undefined) {
      node = this.frame.length;
      this.byKey.set(key, node);
      this.frame.push(frame); this.parent.push(parent); this.total.push(0); this.self.push(0);
    }
    return node;
  }
  finish() {
    this.byKey = null;
    this.children = this.frame.map(() => null);
    for (let i = 1; i < this.frame.length; ++i) {
      (this.children[this.parent[i]] ||= []).push(i);
    }
    return this;
  }
}

function treeFromRoots(model, weights) {
  const tree = new Tree(), at = new Int32Array(model.parent.length);
  tree.total[0] = weights.all;
  for (let i = 0; i < at.length; ++i) {
    if (weights.total[i] === 0) continue;
    at[i] = tree.child(model.parent[i] < 0 ? 0 : at[model.parent[i]], model.frame[i]);
    tree.total[at[i]] += weights.total[i];
    tree.self[at[i]] += weights.self[i];
  }
  return tree.finish();
}

// From each node up, with `weight` of it: callers.
function treeOfCallers(model, all, weight) {
  const tree = new Tree();
  tree.total[0] = all;
  for (let i = 0; i < weight.length; ++i) {
    if (weight[i] === 0) continue;
    let at = 0, node = i;
    for (; node >= 0; node = model.parent[node]) {
      at = tree.child(at, model.frame[node]);
      tree.total[at] += weight[i];
    }
    tree.self[at] += weight[i];
  }
  return tree.finish();
}

// The nodes of `frame` that are in no other of it.
function outermost(model, weights, frame) {
  const inside = new Uint8Array(model.parent.length), found = [];
  for (let i = 0; i < inside.length; ++i) {
    const above = model.parent[i] >= 0 && inside[model.parent[i]] !== 0;
    if (model.frame[i] === frame && !above && weights.total[i] > 0) found.push(i);
    inside[i] = above || model.frame[i] === frame ? 1 : 0;
  }
  return {found, inside};
}

function treeOfCallees(model, weights, frame) {
  const {inside} = outermost(model, weights, frame);
  const tree = new Tree(), at = new Int32Array(model.parent.length);
  for (let i = 0; i < at.length; ++i) {
    if (!inside[i] || weights.total[i] === 0) continue;
    const above = model.parent[i] >= 0 && inside[model.parent[i]] ? at[model.parent[i]] : 0;
    if (above === 0) tree.total[0] += weights.total[i];
    at[i] = tree.child(above, model.frame[i]);
    tree.total[at[i]] += weights.total[i];
    tree.self[at[i]] += weights.self[i];
  }
  return tree.finish();
}

function callersOf(model, weights, frame) {
  const weight = new Float64Array(model.parent.length);
  let all = 0;
  for (const node of outermost(model, weights, frame).found) {
    weight[node] = weights.total[node];
    all += weights.total[node];
  }
  return treeOfCallers(model, all, weight);
}

// Self and total of each frame; recursion counts once.
function sumByFrame(model, weights) {
  const self = new Float64Array(model.frames.length), total = new Float64Array(model.frames.length);
  for (let i = 0; i < model.parent.length; ++i) {
    self[model.frame[i]] += weights.self[i];
    if (weights.total[i] === 0) continue;
    let above = model.parent[i];
    while (above >= 0 && model.frame[above] !== model.frame[i]) above = model.parent[above];
    if (above < 0) total[model.frame[i]] += weights.total[i];
  }
  return {self, total};
}

// ---- words ----------------------------------------------------------------------------------------

const percent = (part, whole) => whole === 0 ? '0 %' : (100 * part / whole).toFixed(part / whole < 0.0995 ? 2 : 1) + ' %';
const baseName = path => path.slice(path.lastIndexOf('/') + 1);

function describe(model, frame, total, self, all) {
  const cores = total * model.periodNs / model.durationNs;
  const parts = [frame.name];
  if (frame.flags & PROCESS) parts.push('process');
  if (frame.flags & INLINED) parts.push('inlined');
  if (frame.flags & KERNEL) parts.push('kernel');
  if (frame.module) parts.push(frame.module);
  if (frame.file) parts.push(frame.line ? `${frame.file}:${frame.line}` : frame.file);
  parts.push(`total ${total.toLocaleString('en')} samples, ${percent(total, all)}` +
             (Number.isFinite(cores) ? `, ${cores.toFixed(2)} cores` : ''));
  parts.push(`self ${self.toLocaleString('en')}, ${percent(self, all)}`);
  return parts.join(' · ');
}

// ---- drawing --------------------------------------------------------------------------------------

function hueOf(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0) % 360;
}

function colourOf(frame, dark) {
  const light = dark ? 58 : 74;
  if (frame.flags & PROCESS) return `hsl(220 25% ${light + 4}%)`;
  if (frame.flags & UNNAMED) return `hsl(0 0% ${light}%)`;
  if (frame.flags & KERNEL) return `hsl(24 75% ${light - 4}%)`;
  return `hsl(${40 + hueOf(frame.module) * 0.75} 55% ${light}%)`;
}

class Graph {
  constructor(canvas, ui) {
    this.canvas = canvas; this.ui = ui; this.tree = null; this.zoomed = 0; this.chosen = 0; this.boxes = [];
    this.rootAtTop = false;
    canvas.addEventListener('mousemove', event => this.point(event));
    canvas.addEventListener('mouseleave', () => ui.tell(''));
    canvas.addEventListener('click', event => { const box = this.boxAt(event); if (box) this.zoom(box.node); canvas.focus(); });
    canvas.addEventListener('keydown', event => this.key(event));
  }

  show(tree, rootAtTop) {
    const path = this.tree ? this.pathOf(this.zoomed) : [];
    this.tree = tree; this.rootAtTop = rootAtTop; this.chosen = 0;
    this.zoomed = this.follow(path);
    this.draw();
  }
  pathOf(node) {
    const path = [];
    for (; node > 0; node = this.tree.parent[node]) path.push(this.tree.frame[node]);
    return path.reverse();
  }
  follow(path) {
    let node = 0;
    for (const frame of path) {
      const next = (this.tree.children[node] || []).find(child => this.tree.frame[child] === frame);
      if (next === undefined) return 0;
      node = next;
    }
    return node;
  }
  zoom(node) {
    if (node < 0) return;
    this.zoomed = node; this.chosen = node;
    this.draw();
    this.tellOf(node);
  }

  // [{node, depth, x, width}], width 1 the whole; narrow neighbours become one box with `node` FOLDED.
  layOut() {
    const {tree} = this, boxes = [];
    const above = [];
    for (let node = this.zoomed; node >= 0; node = tree.parent[node]) above.unshift(node);
    above.forEach((node, depth) => boxes.push({node, depth, x: 0, width: 1}));
    const whole = tree.total[this.zoomed] || 1, least = tree.total[0] * LEAST_SHARE;
    const pending = [{node: this.zoomed, depth: above.length, x: 0}];
    while (pending.length > 0) {
      const {node, depth, x: start} = pending.pop();
      let x = start, narrow = 0, narrowCount = 0;
      const children = (tree.children[node] || []).slice().sort((a, b) => tree.total[b] - tree.total[a]);
      for (const child of children) {
        if (tree.total[child] < least && children.length > 1) { narrow += tree.total[child]; ++narrowCount; continue; }
        const width = tree.total[child] / whole;
        boxes.push({node: child, depth, x, width});
        pending.push({node: child, depth: depth + 1, x});
        x += width;
      }
      if (narrow > 0) boxes.push({node: FOLDED, depth, x, width: narrow / whole, count: narrowCount, total: narrow});
    }
    return boxes;
  }

  draw() {
    const {canvas, tree, ui} = this;
    if (!tree || canvas.clientWidth === 0) return;
    const boxes = this.layOut();
    const rows = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
    const width = canvas.clientWidth, height = rows * ROW, scale = window.devicePixelRatio || 1;
    const grows = canvas.style.height !== height + 'px';
    canvas.style.height = height + 'px';
    if (grows && !this.rootAtTop) canvas.scrollIntoView({block: 'end'}); // where the root is
    canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    const dark = ui.isDark(), style = getComputedStyle(document.documentElement);
    const ink = style.getPropertyValue('--box-ink'), accent = style.getPropertyValue('--accent');
    this.boxes = [];
    for (const box of boxes) {
      const x = box.x * width, w = box.width * width;
      if (w < 0.4) continue;
      const y = (this.rootAtTop ? box.depth : rows - 1 - box.depth) * ROW;
      const placed = {...box, left: x, top: y, right: x + w};
      this.boxes.push(placed);
      pen.fillStyle = this.fillOf(box, dark);
      pen.fillRect(x, y, Math.max(w - 0.6, 0.4), ROW - 1);
      if (box.node === this.chosen && box.node > 0) { pen.strokeStyle = accent; pen.lineWidth = 2; pen.strokeRect(x + 1, y + 1, Math.max(w - 2.6, 0), ROW - 3); }
      if (w < 26) continue;
      pen.save();
      pen.beginPath(); pen.rect(x, y, w - 4, ROW); pen.clip();
      pen.fillStyle = ink;
      pen.fillText(this.labelOf(box), x + 4, y + ROW / 2);
      pen.restore();
    }
  }
  fillOf(box, dark) {
    if (box.node === FOLDED) return dark ? '#55555c' : '#c9c9ce';
    if (box.node === 0) return dark ? '#8b8b93' : '#d9d9de';
    const number = this.tree.frame[box.node];
    if (this.ui.matches(number)) return dark ? '#ff86ec' : '#ee82ee';
    return colourOf(this.ui.model.frames[number], dark);
  }
  labelOf(box) {
    if (box.node === FOLDED) return `(${box.count} more)`;
    return box.node === 0 ? 'all' : this.ui.model.frames[this.tree.frame[box.node]].name;
  }

  boxAt(event) {
    const place = this.canvas.getBoundingClientRect();
    const x = event.clientX - place.left, y = event.clientY - place.top;
    return this.boxes.find(box => box.left <= x && x < box.right && box.top <= y && y < box.top + ROW);
  }
  point(event) {
    const box = this.boxAt(event);
    this.canvas.style.cursor = box && box.node >= 0 ? 'pointer' : 'default';
    if (!box) return this.ui.tell('');
    if (box.node === FOLDED) return this.ui.tell(`${box.count} functions below ${percent(LEAST_SHARE, 1)} each · ${percent(box.total, this.tree.total[0])} together`);
    this.tellOf(box.node);
  }
  tellOf(node) {
    const {tree, ui} = this;
    if (node <= 0) return ui.tell(`all · ${tree.total[0].toLocaleString('en')} samples`);
    ui.tell(describe(ui.model, ui.model.frames[tree.frame[node]], tree.total[node], tree.self[node], tree.total[0]));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {tree} = this;
    if (!tree) return;
    const children = node => (tree.children[node] || []).slice().sort((a, b) => tree.total[b] - tree.total[a]);
    const siblings = this.chosen > 0 ? children(tree.parent[this.chosen]) : [0];
    const place = siblings.indexOf(this.chosen);
    const away = this.rootAtTop ? 'ArrowDown' : 'ArrowUp', back = this.rootAtTop ? 'ArrowUp' : 'ArrowDown';
    const next = {
      [away]: () => children(this.chosen)[0], [back]: () => tree.parent[this.chosen],
      ArrowLeft: () => siblings[place - 1], ArrowRight: () => siblings[place + 1],
    }[event.key];
    if (next) {
      const node = next();
      if (node !== undefined && node >= 0) { this.chosen = node; this.draw(); this.tellOf(node); }
    } else if (event.key === 'Enter') this.zoom(this.chosen);
    else if (event.key === 's' && this.chosen > 0) this.ui.choose(tree.frame[this.chosen]);
    else if (event.key === 'c' && this.chosen > 0) this.ui.copy(this.pathOf(this.chosen));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

// ---- the page -------------------------------------------------------------------------------------

class Page {
  constructor(model) {
    this.model = model;
    this.filter = {process: '', thread: '', unit: '', cpu: ''};
    this.pattern = null; this.matched = null; this.chosen = -1;
    this.order = {by: 'self', ascending: false};
    this.inverted = false; this.icicle = false;
    this.flame = new Graph(this.find('flame'), this);
    this.callers = new Graph(this.find('callers'), this);
    this.callees = new Graph(this.find('callees'), this);
    this.find('summary').textContent = model.comments.join('\n');
    this.addFilters();
    this.addControls();
    this.setDark(window.matchMedia('(prefers-color-scheme: dark)').matches);
    this.reweigh();
  }
  find(id) { return document.getElementById(id); }
  isDark() { return document.documentElement.classList.contains('dark'); }
  setDark(dark) {
    document.documentElement.classList.toggle('dark', dark);
    this.find('theme').setAttribute('aria-pressed', dark);
  }
  tell(text) { this.find('details').textContent = text; }
  matches(frame) { return this.matched !== null && this.matched[frame] === 1; }

  addFilters() {
    for (const key of Object.keys(this.filter)) {
      const sums = new Map();
      for (let i = 0; i < this.model.samples.length; i += 3) {
        const value = this.model.owners[this.model.samples[i + 1]][key];
        if (value !== '') sums.set(value, (sums.get(value) || 0) + this.model.samples[i + 2]);
      }
      if (sums.size < 2) continue;
      const label = document.createElement('label'), select = document.createElement('select');
      select.id = 'filter-' + key;
      select.append(new Option(`every ${key}`, ''));
      const values = [...sums].sort((a, b) => key === 'cpu' ? a[0] - b[0] : b[1] - a[1]);
      for (const [value, sum] of values) select.append(new Option(`${value} (${sum.toLocaleString('en')})`, value));
      select.addEventListener('change', () => { this.filter[key] = select.value; this.reweigh(); });
      select.setAttribute('aria-label', key);
      label.append(select);
      this.find('filters').append(label);
    }
  }

  addControls() {
    const press = (id, act) => this.find(id).addEventListener('click', act);
    press('icicle', () => this.toggle('icicle'));
    press('invert', () => this.toggle('inverted'));
    press('reset', () => this.zoomOut());
    press('theme', () => { this.setDark(!this.isDark()); this.redraw(); });
    press('help-button', () => this.find('help').showModal());
    for (const name of ['flame', 'sandwich', 'table', 'summary']) press('tab-' + name, () => this.open(name));
    this.find('search').addEventListener('input', () => this.search());
    this.find('search-form').addEventListener('submit', event => event.preventDefault());
    for (const button of document.querySelectorAll('#functions th button')) {
      button.addEventListener('click', () => this.sortBy(button.dataset.sort));
    }
    document.addEventListener('keydown', event => this.key(event));
    window.addEventListener('resize', () => this.redraw());
  }
  toggle(what) {
    this[what] = !this[what];
    this.find(what === 'inverted' ? 'invert' : 'icicle').setAttribute('aria-pressed', this[what]);
    this.showFlame();
  }
  zoomOut() { this.flame.zoom(0); this.callers.tree && this.callers.zoom(0); this.callees.tree && this.callees.zoom(0); }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT)$/.test(event.target.tagName);
    if (typing) { if (event.key === 'Escape') event.target.blur(); return; }
    const act = {
      '/': () => this.find('search').focus(), i: () => this.toggle('icicle'), v: () => this.toggle('inverted'),
      d: () => this.find('theme').click(), '?': () => this.find('help').showModal(), Escape: () => this.zoomOut(),
      1: () => this.open('flame'), 2: () => this.open('sandwich'), 3: () => this.open('table'), 4: () => this.open('summary'),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  open(name) {
    for (const other of ['flame', 'sandwich', 'table', 'summary']) {
      this.find(other + '-view').hidden = other !== name;
      this.find('tab-' + other).setAttribute('aria-selected', other === name);
    }
    this.redraw();
  }
  choose(frame) {
    this.chosen = frame;
    this.open('sandwich');
    this.showSandwich();
  }
  async copy(path) {
    const text = path.map(frame => this.model.frames[frame].name).join('\n');
    try {
      await navigator.clipboard.writeText(text);
      this.tell(`copied ${path.length} functions`);
    } catch {
      this.tell(text.replaceAll('\n', ' < ')); // a page from a file may not write: to be selected
    }
  }

  reweigh() {
    this.weights = weigh(this.model, this.filter);
    this.sums = sumByFrame(this.model, this.weights);
    this.showFlame();
    this.showTable();
    this.showSandwich();
    this.search();
  }
  showFlame() {
    const tree = this.inverted ? treeOfCallers(this.model, this.weights.all, this.weights.self)
                               : treeFromRoots(this.model, this.weights);
    this.flame.show(tree, this.icicle);
  }
  showSandwich() {
    const has = this.chosen >= 0;
    this.find('sandwich-hint').hidden = has;
    this.find('callers-title').hidden = this.find('callees-title').hidden = !has;
    if (!has) return;
    this.callers.show(callersOf(this.model, this.weights, this.chosen), false);
    this.callees.show(treeOfCallees(this.model, this.weights, this.chosen), true);
    this.tell(describe(this.model, this.model.frames[this.chosen], this.sums.total[this.chosen], this.sums.self[this.chosen], this.weights.all));
  }
  redraw() { for (const graph of [this.flame, this.callers, this.callees]) graph.draw(); }

  search() {
    const field = this.find('search'), share = this.find('search-share');
    field.classList.remove('wrong');
    this.matched = null;
    try {
      this.pattern = field.value === '' ? null : new RegExp(field.value, 'i');
    } catch {
      this.pattern = null;
      field.classList.add('wrong');
      share.textContent = 'not a regular expression';
    }
    if (this.pattern) {
      this.matched = Uint8Array.from(this.model.frames, frame => this.pattern.test(frame.name) ? 1 : 0);
      share.textContent = percent(this.matchedSamples(), this.weights.all) + ' of the samples';
    } else if (field.value === '') share.textContent = '';
    this.redraw();
    this.showTable();
  }
  // Samples with a match anywhere in their stack.
  matchedSamples() {
    const {model, weights} = this, inside = new Uint8Array(model.parent.length);
    let sum = 0;
    for (let i = 0; i < inside.length; ++i) {
      inside[i] = this.matched[model.frame[i]] || (model.parent[i] >= 0 && inside[model.parent[i]]) ? 1 : 0;
      if (inside[i]) sum += weights.self[i];
    }
    return sum;
  }

  sortBy(column) {
    const text = column === 'name' || column === 'module' || column === 'file';
    this.order = {by: column, ascending: this.order.by === column ? !this.order.ascending : text};
    for (const button of document.querySelectorAll('#functions th button')) {
      const chosen = button.dataset.sort === column;
      if (chosen) button.parentElement.setAttribute('aria-sort', this.order.ascending ? 'ascending' : 'descending');
      else button.parentElement.removeAttribute('aria-sort');
    }
    this.showTable();
  }
  showTable() {
    const MOST_ROWS = 500;
    const {model, sums, weights} = this;
    const value = {self: i => sums.self[i], total: i => sums.total[i], name: i => model.frames[i].name,
                   module: i => model.frames[i].module, file: i => model.frames[i].file}[this.order.by];
    const sign = this.order.ascending ? 1 : -1;
    const shown = [...model.frames.keys()].filter(i => sums.total[i] > 0 && !(model.frames[i].flags & PROCESS) && (this.matched === null || this.matched[i]));
    shown.sort((a, b) => { const x = value(a), y = value(b); return x < y ? -sign : x > y ? sign : sums.self[b] - sums.self[a]; });
    const rows = shown.slice(0, MOST_ROWS).map(i => this.rowOf(i, model.frames[i], sums, weights.all));
    document.querySelector('#functions tbody').replaceChildren(...rows);
    this.find('table-rest').textContent = shown.length > MOST_ROWS ? `${(shown.length - MOST_ROWS).toLocaleString('en')} more: search to see them` : '';
  }
  rowOf(number, frame, sums, all) {
    const row = document.createElement('tr');
    if (this.matches(number)) row.className = 'match';
    const cells = [percent(sums.self[number], all), percent(sums.total[number], all), null, baseName(frame.module),
                   frame.file ? `${baseName(frame.file)}${frame.line ? ':' + frame.line : ''}` : ''];
    cells.forEach((text, column) => {
      const cell = row.insertCell();
      if (column !== 2) { cell.textContent = text; cell.title = {3: frame.module, 4: frame.file}[column] || ''; return; }
      const button = document.createElement('button');
      button.textContent = frame.name; button.title = frame.name;
      button.addEventListener('click', () => this.choose(number));
      cell.append(button);
    });
    return row;
  }
}

async function start() {
  const holder = document.getElementById('profile');
  try {
    window.page = new Page(makeModel(await unpack(holder.textContent)));
  } catch (error) {
    document.getElementById('details').textContent = `This page cannot be shown: ${error}. It needs a browser of 2023 or later.`;
    return;
  }
  holder.remove();
  document.body.dataset.ready = 'yes';
}
if (typeof document !== 'undefined') start();
if (typeof module !== 'undefined') module.exports = {makeModel, weigh, treeFromRoots, treeOfCallers, treeOfCallees, callersOf, sumByFrame, percent};
