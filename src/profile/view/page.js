// ---- the page -------------------------------------------------------------------------------------

const VIEWS = ['flame', 'sandwich', 'table', 'summary'];

// Whoever frames the page says it behind its address: #dark, #light.
const wantsDark = () => location.hash === '#dark' || (location.hash !== '#light' && window.matchMedia('(prefers-color-scheme: dark)').matches);

class Page {
  constructor(model) {
    this.model = model;
    this.filter = {process: '', thread: '', unit: '', cpu: ''};
    this.pattern = null; this.matched = null; this.chosen = -1; this.range = null;
    this.inverted = false; this.icicle = false; this.followsRoot = true;
    this.widthSide = 0; // of which profile the widths are, where two are compared
    this.flame = new Graph(this.find('flame'), this);
    this.callers = new Graph(this.find('callers'), this);
    this.callees = new Graph(this.find('callees'), this);
    this.table = new FunctionTable(this.find('functions'), this);
    this.heat = new HeatMap(this.find('heat'), this);
    this.addFilters();
    this.addControls();
    this.addNotes();
    this.setDark(wantsDark());
    window.addEventListener('hashchange', () => { this.setDark(wantsDark()); this.redraw(); });
    this.reweigh();
    this.followsRoot = false;
  }
  find(id) { return document.getElementById(id); }
  isDark() { return document.documentElement.classList.contains('dark'); }
  setDark(dark) {
    document.documentElement.classList.toggle('dark', dark);
    this.find('theme').setAttribute('aria-pressed', dark);
  }
  tell(text) { this.find('details').textContent = text; }
  matches(frame) { return this.matched !== null && this.matched[frame] === 1; }

  // How much a share of the first profile is above that of the second, whichever has the widths.
  change(count, other) {
    const change = count / (this.weights.all || 1) - other / (this.others.all || 1);
    return this.widthSide === 0 ? change : -change;
  }
  // Of a node's share; null: nothing to compare.
  changeOf(tree, node) { return tree.other ? this.change(tree.total[node], tree.other[node]) : null; }

  addFilters() {
    const {model} = this, sums = {process: new Map(), thread: new Map(), unit: new Map(), cpu: new Map()};
    for (const side of model.sides) {
      for (let i = 0; i < side.size; ++i) {
        for (const key of Object.keys(sums)) {
          const value = model.owners[side.owner[i]][key];
          if (value !== '') sums[key].set(value, (sums[key].get(value) || 0) + side.count[i]);
        }
      }
    }
    for (const key of Object.keys(sums)) if (sums[key].size > 1) this.find('filters').append(this.makeFilter(key, sums[key]));
  }
  makeFilter(key, sums) {
    const label = document.createElement('label'), select = document.createElement('select');
    select.id = 'filter-' + key;
    select.append(new Option(`every ${key}`, ''));
    const values = [...sums].sort((a, b) => key === 'cpu' ? a[0] - b[0] : b[1] - a[1]);
    for (const [value, sum] of values) select.append(new Option(`${value} (${whole(sum)})`, value));
    select.addEventListener('change', () => { this.filter[key] = select.value; this.heat.changed(); this.reweigh(); });
    select.setAttribute('aria-label', key);
    label.append(select);
    return label;
  }

  addControls() {
    const press = (id, act) => this.find(id).addEventListener('click', act);
    press('icicle', () => this.toggle('icicle'));
    press('invert', () => this.toggle('inverted'));
    press('reset', () => this.zoomOut());
    press('theme', () => { this.setDark(!this.isDark()); this.redraw(); });
    press('help-button', () => this.find('help').showModal());
    press('heat-clear', () => this.heat.clear());
    press('panel-close', () => { this.find('panel').hidden = true; });
    press('panel-copy', () => this.copy(this.panelPath));
    press('panel-sandwich', () => this.choose(this.panelPath[this.panelPath.length - 1]));
    press('side', () => this.switchSide());
    for (const name of VIEWS) press('tab-' + name, () => this.open(name));
    this.find('search').addEventListener('input', () => this.search());
    this.find('search-form').addEventListener('submit', event => event.preventDefault());
    this.find('heat-rows').addEventListener('change', event => { this.heat.by = event.target.value; this.heat.changed(); });
    this.find('tabs').addEventListener('keydown', event => this.moveTab(event));
    document.addEventListener('keydown', event => this.key(event));
    window.addEventListener('resize', () => this.redraw());
  }
  addNotes() {
    const {model} = this, times = this.heat.known;
    this.find('summary').textContent = model.comments.join('\n');
    this.find('heat').hidden = this.find('heat-controls').hidden = !times;
    this.find('heat-unknown').hidden = times;
    this.find('folded').hidden = model.folded === 0;
    this.find('folded').textContent = `${whole(model.folded)} frames below 0.01 % are folded into marked frames "(N small frames)". ` +
      'Self times are exact; totals of functions can lack up to what is below such marks.';
    if (model.sides.length < 2) return;
    for (const id of ['side', 'diff-note']) this.find(id).hidden = false;
    this.find('diff-note').textContent = `${model.sides[0].title} compared with ${model.sides[1].title}, each as shares of its ` +
      'own samples: red has grown, blue has shrunk, grey is as it was. Times are those of the first.';
  }
  switchSide() {
    this.widthSide = 1 - this.widthSide;
    this.find('side').textContent = this.widthSide === 0 ? 'Widths: new' : 'Widths: base';
    this.find('side').setAttribute('aria-pressed', this.widthSide === 1);
    this.reweigh();
  }
  toggle(what) {
    this[what] = !this[what];
    this.find(what === 'inverted' ? 'invert' : 'icicle').setAttribute('aria-pressed', this[what]);
    this.showFlame();
  }
  zoomOut() { for (const graph of [this.flame, this.callers, this.callees]) if (graph.tree) graph.zoom(0); }
  // What was done last first: a zoom, then the range of time.
  escape() {
    const zoomed = [this.flame, this.callers, this.callees].some(graph => graph.tree && graph.zoomed !== 0);
    if (!zoomed && this.range) this.heat.clear();
    else this.zoomOut();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = /^(INPUT|SELECT)$/.test(event.target.tagName);
    if (typing) { if (event.key === 'Escape') event.target.blur(); return; }
    if (this.find('help').open) return;
    const act = {
      '/': () => this.find('search').focus(), i: () => this.toggle('icicle'), v: () => this.toggle('inverted'),
      d: () => this.find('theme').click(), '?': () => this.find('help').showModal(), Escape: () => this.escape(),
      t: () => this.find('heat').focus(), b: () => { if (this.others) this.switchSide(); },
      1: () => this.open('flame'), 2: () => this.open('sandwich'), 3: () => this.open('table'), 4: () => this.open('summary'),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
  // As the tabs of any program: one stop for Tab, arrows within.
  moveTab(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step) return;
    const at = VIEWS.findIndex(name => event.target.id === 'tab-' + name);
    const name = VIEWS[(at + step + VIEWS.length) % VIEWS.length];
    this.open(name);
    this.find('tab-' + name).focus();
    event.preventDefault();
  }

  open(name) {
    for (const other of VIEWS) {
      const tab = this.find('tab-' + other);
      this.find(other + '-view').hidden = other !== name;
      tab.setAttribute('aria-selected', other === name);
      tab.tabIndex = other === name ? 0 : -1;
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

  // All that is known of one frame, below the views.
  showFrame(graph, node) {
    this.find('panel').hidden = node <= 0;
    if (node <= 0) return;
    const {tree} = graph, frame = this.model.frames[tree.frame[node]], change = this.changeOf(tree, node);
    this.panelPath = graph.pathOf(node);
    this.find('panel-name').textContent = frame.name;
    const facts = [
      ['Kind', kindsOf(frame).join(', ') || 'function'], ['Module', frame.module], ['Source', placeOf(frame)],
      ['Self', amount(tree.self[node], this.weights)], ['Total', amount(tree.total[node], this.weights)],
      ['Self everywhere', amount(this.sums.self[tree.frame[node]], this.weights)],
      ['Change', change === null ? '' : `${points(change)} against ${percent(tree.other[node], this.others.all)}`],
    ];
    this.find('panel-facts').replaceChildren(...facts.filter(([, value]) => value).flatMap(([name, value]) => {
      const term = document.createElement('dt'), text = document.createElement('dd');
      term.textContent = name; text.textContent = value;
      return [term, text];
    }));
  }

  setRange(range) {
    this.range = range;
    this.find('heat-range').textContent = this.heat.rangeText();
    this.find('heat-clear').disabled = range === null;
    if (this.isWeighing) return;
    this.isWeighing = true; // at most once a picture, however fast the mouse is
    setTimeout(() => { this.isWeighing = false; this.reweigh(); }, 16);
  }
  reweigh() {
    const {model, widthSide} = this;
    const weighed = model.sides.map((side, i) => weigh(model, side, this.filter, i === 0 ? this.range : null));
    this.weights = weighed[widthSide];
    this.others = weighed.length > 1 ? weighed[1 - widthSide] : null;
    this.sums = sumByFrame(model, this.weights);
    this.otherSums = this.others && sumByFrame(model, this.others);
    this.showFlame();
    this.showSandwich();
    this.heat.draw();
    this.search();
    this.tell(`${amount(this.weights.all, this.weights)}${this.range ? ' \u00b7 ' + this.heat.rangeText() : ''}`);
  }
  showFlame() {
    const {model, weights, others} = this;
    this.flame.show(this.inverted ? treeOfCallers(model, weights.all, weights.self, others ? others.all : 0, others && others.self)
                                  : treeFromRoots(model, weights, others), this.icicle);
  }
  showSandwich() {
    const has = this.chosen >= 0;
    this.find('sandwich-hint').hidden = has;
    this.find('callers-title').hidden = this.find('callees-title').hidden = !has;
    if (!has || this.find('sandwich-view').hidden) return;
    this.callers.show(callersOf(this.model, this.weights, this.others, this.chosen), false);
    this.callees.show(treeOfCallees(this.model, this.weights, this.others, this.chosen), true);
    this.tell(describe(this.model.frames[this.chosen], this.sums.total[this.chosen], this.sums.self[this.chosen], this.weights, null));
  }
  redraw() {
    for (const graph of [this.flame, this.callers, this.callees]) graph.draw();
    this.heat.draw();
  }

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
    this.table.show();
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
start();
