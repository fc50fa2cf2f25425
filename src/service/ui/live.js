// ---- the page -------------------------------------------------------------------------------------

const STATUS_EVERY_MS = 5000, LOAD_AFTER_MS = 400, LARGE_SECONDS = 6 * 3600, LEAST_POINT_PIXELS = 4, SETTLE_MS = 100;
const HINT = 'Drag over the chart to choose a time, or use the arrow keys on it.';

async function ask(path) {
  const answer = await fetch(path, {cache: 'no-store'});
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
}

class Ui {
  constructor() {
    this.filter = null;    // name of a series; '' is what has none
    this.zoomed = null;    // {begin, end}; null: the span up to now
    this.zooms = [];       // what Backspace goes back to
    this.isLive = true; this.written = null; this.shown = null;
    this.axis = new Axis(this.find('axis'), this);
    this.addControls();
    this.tell('');
    this.setDark(window.matchMedia('(prefers-color-scheme: dark)').matches);
  }
  find(id) { return document.getElementById(id); }
  isDark() { return document.documentElement.classList.contains('dark'); }
  setDark(dark) {
    document.documentElement.classList.toggle('dark', dark);
    this.find('theme').setAttribute('aria-pressed', dark);
    this.showLegend();
    this.axis.draw();
    if (this.shown !== null) this.find('profile').src = this.themed(this.find('profile').src);
  }
  themed(address) { return `${address.replace(/#.*/, '')}#${this.isDark() ? 'dark' : 'light'}`; }
  tell(text) { this.find('details').textContent = text || HINT; }
  complain(error) {
    this.find('error').hidden = error === null;
    this.find('error').textContent = error === null ? '' : String(error.message || error);
  }

  addControls() {
    const press = (id, act) => this.find(id).addEventListener('click', act);
    press('live', () => this.setLive(!this.isLive));
    press('theme', () => this.setDark(!this.isDark()));
    press('help-button', () => this.find('help').showModal());
    press('zoom-in', () => this.zoomIn());
    press('zoom-out', () => this.zoomOut());
    press('clear', () => this.axis.clear());
    press('load', () => this.loadProfile(true));
    this.find('span').addEventListener('change', () => { this.zoomed = null; this.zooms = []; this.axis.range = null; this.refresh(); });
    this.find('by').addEventListener('change', () => { this.filter = null; this.refresh(); });
    this.find('filter').addEventListener('change', event => this.setFilter(event.target.selectedIndex));
    this.find('profile').addEventListener('load', () => setTimeout(() => this.find('profile').classList.remove('loading'), SETTLE_MS));
    document.addEventListener('keydown', event => this.key(event));
    window.addEventListener('resize', () => this.axis.draw());
  }
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || this.find('help').open || event.target.tagName === 'SELECT') return;
    const act = {l: () => this.setLive(!this.isLive), d: () => this.setDark(!this.isDark()), t: () => this.find('axis').focus(),
                 '?': () => this.find('help').showModal(), Escape: () => this.axis.clear(), Backspace: () => this.zoomOut()}[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // ---- what is shown
  setLive(live) {
    this.isLive = live;
    this.find('live').setAttribute('aria-pressed', live);
    if (live) this.watch();
  }
  // Of the list: all, then the series in their order.
  setFilter(index) {
    this.filter = index <= 0 ? null : this.axis.data.series[index - 1].name;
    this.find('filter').selectedIndex = Math.max(0, index);
    this.showLegend();
    this.axis.draw();
    this.scheduleProfile();
  }
  rangeChanged() {
    const times = this.axis.times(), {begin, end} = times || this.window();
    this.find('range').textContent = `${clockText(begin)} to ${clockText(end)}`;
    for (const id of ['zoom-in', 'clear']) this.find(id).disabled = times === null;
    this.find('zoom-out').disabled = this.zoomed === null;
    this.scheduleProfile();
  }
  zoomIn() {
    const times = this.axis.times();
    if (!times) return;
    this.zooms.push(this.zoomed);
    this.zoomed = times;
    this.axis.range = null;
    this.refresh();
  }
  zoomOut() {
    if (this.zooms.length === 0) return;
    this.zoomed = this.zooms.pop();
    this.axis.range = null;
    this.refresh();
  }
  window() {
    if (this.zoomed) return this.zoomed;
    const end = Math.ceil(Date.now() / 1000);
    return {begin: end - Number(this.find('span').value), end};
  }

  // ---- what there is
  // Each segment that is written is seen within STATUS_EVERY_MS.
  async watch() {
    clearTimeout(this.timer);
    if (!document.hidden) {
      try {
        const status = await ask('/api/v1/status');
        this.showStatus(status);
        const isNew = this.written !== null && this.written !== status.stored.written_count;
        this.written = status.stored.written_count;
        if (isNew && this.isLive && !this.zoomed) await this.refresh();
      } catch (error) {
        this.find('status').textContent = `no answer: ${error.message}`;
        this.find('status').classList.add('wrong');
      }
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.watch(), STATUS_EVERY_MS);
  }
  showStatus(status) {
    const text = this.find('status');
    text.textContent = statusText(status);
    text.classList.toggle('wrong', Boolean(status.paused_why) || status.stored.is_full);
  }
  async refresh() {
    const {begin, end} = this.window(), turn = this.turn = (this.turn || 0) + 1;
    const points = Math.max(10, Math.min(600, Math.floor(this.find('axis').clientWidth / LEAST_POINT_PIXELS)));
    try {
      const data = await ask(`/api/v1/series?since=@${Math.floor(begin)}&until=@${Math.ceil(end)}&by=${this.find('by').value}&points=${points}`);
      if (turn !== this.turn) return; // a later question has been asked
      this.complain(null);
      this.axis.show(data);
      this.find('empty').hidden = data.series.some(one => one.cores.some(cores => cores > 0));
      this.showNames();
      this.rangeChanged();
    } catch (error) {
      this.complain(error);
    }
  }
  showNames() {
    const {series} = this.axis.data, list = this.find('filter');
    if (!series.some(one => one.name === this.filter)) this.filter = null;
    list.replaceChildren(new Option(`every ${this.find('by').value === 'process' ? 'process' : 'unit'}`), ...series.map(one => new Option(one.name || REST)));
    list.selectedIndex = series.findIndex(one => one.name === this.filter) + 1;
    // What is in none of the names cannot be asked for.
    series.forEach((one, i) => { list.options[i + 1].disabled = one.name === ''; });
    list.hidden = this.find('by').value === 'all';
    this.showLegend();
  }
  showLegend() {
    const series = this.axis.data && this.find('by').value !== 'all' ? this.axis.data.series : [];
    this.find('legend').replaceChildren(...series.map((one, number) => {
      const button = document.createElement('button'), swatch = document.createElement('span'), name = document.createElement('span');
      swatch.className = 'swatch';
      swatch.style.background = colourOf(number, one.name, this.isDark());
      name.textContent = button.title = one.name || REST;
      button.append(swatch, name);
      button.disabled = one.name === '';
      button.setAttribute('aria-pressed', this.filter === one.name);
      button.addEventListener('click', () => this.setFilter(this.filter === one.name ? 0 : number + 1));
      return button;
    }));
  }

  // ---- the profile of it
  query() {
    const {begin, end} = this.axis.times() || this.window();
    const query = new URLSearchParams({since: `@${Math.floor(begin)}`, until: `@${Math.ceil(end)}`});
    if (this.filter !== null && this.find('by').value === 'unit') query.set('unit', this.filter);
    if (this.filter !== null && this.find('by').value === 'process') {
      query.set('where', `comm="${this.filter.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`);
    }
    return {query, seconds: end - begin};
  }
  scheduleProfile() {
    const {query} = this.query();
    for (const format of ['pprof', 'folded']) this.find(format).href = `/api/v1/profile?${query}&format=${format}`;
    clearTimeout(this.loading);
    this.loading = setTimeout(() => this.loadProfile(false), LOAD_AFTER_MS);
  }
  // Not below the hands of somebody who looks at the page: what only time has changed waits.
  loadProfile(isWanted) {
    const {query, seconds} = this.query(), frame = this.find('profile');
    const choice = JSON.stringify([this.axis.times(), this.zoomed, this.filter, this.find('by').value, this.find('span').value]);
    const isLarge = seconds > LARGE_SECONDS && !isWanted;
    this.find('large').hidden = !isLarge;
    if (isLarge) { frame.removeAttribute('src'); this.shown = null; return; }
    if (this.shown === choice && (this.axis.times() || document.activeElement === frame)) return;
    this.shown = choice;
    frame.classList.add('loading'); // it is white until it knows better
    frame.src = this.themed(`/api/v1/profile?${query}&format=html`);
  }
}

async function start() {
  window.ui = new Ui();
  await Promise.all([window.ui.watch(), window.ui.refresh()]);
  document.body.dataset.ready = 'yes';
}
start();
