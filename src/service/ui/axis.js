// ---- cores over time ------------------------------------------------------------------------------

const AXIS_LEFT = 52, AXIS_RIGHT = 12, AXIS_BOTTOM = 18, AXIS_TOP = 6;
const CLOCK_STEPS = [10, 30, 60, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400];

// A bar a step, of what ran in it, the most at the bottom. The range that is chosen is of steps, both
// ends within it.
class Axis {
  constructor(canvas, ui) {
    this.canvas = canvas; this.ui = ui; this.data = null; this.range = null; this.cursor = 0; this.anchor = 0;
    canvas.addEventListener('pointerdown', event => this.press(event));
    canvas.addEventListener('pointermove', event => this.move(event));
    canvas.addEventListener('pointerleave', () => ui.tell(''));
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, () => { this.isPressed = false; });
    canvas.addEventListener('keydown', event => this.key(event));
  }
  get columns() { return this.data ? Math.max(1, Math.round((this.data.end - this.data.begin) / this.data.step)) : 1; }

  // The chosen times stay chosen while the axis moves on below them.
  show(data) {
    const chosen = this.times();
    this.data = data;
    this.sums = Array.from({length: this.columns}, (none, i) => data.series.reduce((sum, one) => sum + (one.cores[i] || 0), 0));
    this.most = Math.max(0.1, ...this.sums);
    if (chosen) {
      const column = seconds => Math.round((seconds - data.begin) / data.step);
      const from = Math.max(0, column(chosen.begin)), to = Math.min(this.columns, column(chosen.end)) - 1;
      this.range = to >= from ? {from, to} : null;
    }
    this.draw();
  }
  // Seconds since the epoch, the end not included; null: nothing is chosen.
  times() {
    if (!this.range) return null;
    const {begin, step} = this.data;
    return {begin: begin + this.range.from * step, end: begin + (this.range.to + 1) * step};
  }

  draw() {
    const {canvas} = this, width = canvas.clientWidth, height = canvas.clientHeight, scale = window.devicePixelRatio || 1;
    if (!this.data || width === 0) return;
    canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
    const pen = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    this.faint = style.getPropertyValue('--faint'); this.line = style.getPropertyValue('--line');
    this.accent = style.getPropertyValue('--accent'); this.page = style.getPropertyValue('--page');
    this.width = width - AXIS_LEFT - AXIS_RIGHT; this.bottom = height - AXIS_BOTTOM;
    pen.scale(scale, scale);
    pen.font = '11px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    this.drawCores(pen);
    this.drawBars(pen);
    this.drawClock(pen);
    this.drawRange(pen);
  }
  yOf(cores) { return this.bottom - cores / this.top * (this.bottom - AXIS_TOP); }
  xOf(column) { return AXIS_LEFT + this.width * column / this.columns; }
  drawCores(pen) {
    const step = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500].find(size => this.most / size <= 4) || this.most / 4;
    this.top = Math.ceil(this.most / step) * step;
    pen.textAlign = 'right';
    for (let cores = 0; cores <= this.top + step / 2; cores += step) {
      const y = Math.round(this.yOf(cores)) + 0.5;
      pen.fillStyle = this.line;
      pen.fillRect(AXIS_LEFT, y - 0.5, this.width, 1);
      pen.fillStyle = this.faint;
      pen.fillText(String(+cores.toFixed(2)), AXIS_LEFT - 6, Math.max(y, 7));
    }
    pen.textAlign = 'left';
    pen.save();
    pen.translate(10, (this.bottom + AXIS_TOP) / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = 'center';
    pen.fillText('cores', 0, 0);
    pen.restore();
  }
  drawBars(pen) {
    const base = new Float64Array(this.columns), gap = this.width / this.columns > 8 ? 1 : 0;
    this.data.series.forEach((one, number) => {
      pen.fillStyle = colourOf(number, one.name, this.ui.isDark());
      pen.globalAlpha = this.ui.filter === null || this.ui.filter === one.name ? 1 : 0.18;
      for (let i = 0; i < this.columns; ++i) {
        const cores = one.cores[i] || 0;
        if (cores <= 0) continue;
        const left = this.xOf(i), top = this.yOf(base[i] + cores);
        pen.fillRect(left, top, Math.max(this.xOf(i + 1) - left - gap, 1), this.yOf(base[i]) - top);
        base[i] += cores;
      }
    });
    pen.globalAlpha = 1;
  }
  drawClock(pen) {
    const {begin, end} = this.data, seconds = end - begin;
    const step = CLOCK_STEPS.find(size => this.width * size / seconds > 90) || CLOCK_STEPS[CLOCK_STEPS.length - 1];
    const zone = new Date(begin * 1000).getTimezoneOffset() * 60; // round by the clock on the wall
    pen.fillStyle = this.faint;
    pen.textAlign = 'center';
    for (let at = Math.ceil((begin - zone) / step) * step + zone; at < end; at += step) {
      const x = AXIS_LEFT + this.width * (at - begin) / seconds, text = clockText(at);
      if (x + pen.measureText(text).width / 2 <= AXIS_LEFT + this.width + AXIS_RIGHT) pen.fillText(text, x, this.bottom + AXIS_BOTTOM / 2 + 1);
    }
    pen.textAlign = 'left';
  }
  drawRange(pen) {
    if (!this.range) return;
    const left = this.xOf(this.range.from), right = this.xOf(this.range.to + 1);
    pen.globalAlpha = 0.6;
    pen.fillStyle = this.page;
    pen.fillRect(AXIS_LEFT, 0, left - AXIS_LEFT, this.bottom);
    pen.fillRect(right, 0, AXIS_LEFT + this.width - right, this.bottom);
    pen.globalAlpha = 1;
    pen.strokeStyle = this.accent; pen.lineWidth = 2;
    pen.strokeRect(left, 1, Math.max(right - left, 2), this.bottom - 2);
  }

  columnAt(event) {
    const place = this.canvas.getBoundingClientRect();
    const share = (event.clientX - place.left - AXIS_LEFT) / (place.width - AXIS_LEFT - AXIS_RIGHT);
    return Math.min(this.columns - 1, Math.max(0, Math.floor(share * this.columns)));
  }
  press(event) {
    if (!this.data) return;
    this.canvas.setPointerCapture(event.pointerId);
    this.isPressed = true;
    this.cursor = this.columnAt(event);
    if (!event.shiftKey || !this.range) this.anchor = this.cursor;
    this.choose();
  }
  move(event) {
    if (!this.data) return;
    const column = this.columnAt(event);
    this.tellOf(column);
    if (!this.isPressed || column === this.cursor) return;
    this.cursor = column;
    this.choose();
  }
  tellOf(column) {
    const {begin, step, series} = this.data;
    const parts = series.map(one => [one.name === '' ? REST : one.name, one.cores[column] || 0]).filter(([, cores]) => cores >= 0.005);
    parts.sort((a, b) => b[1] - a[1]);
    this.ui.tell([`${clockText(begin + column * step)} to ${clockText(begin + (column + 1) * step)}`, `${this.sums[column].toFixed(2)} cores`,
                  ...parts.map(([name, cores]) => `${name} ${cores.toFixed(2)}`)].join(' \u00b7 '));
  }
  // Arrows go from step to step, with Shift they widen the range.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.data) return;
    const last = this.columns - 1, act = {Escape: () => this.clear(), Enter: () => this.ui.zoomIn(), Backspace: () => this.ui.zoomOut()}[event.key];
    const to = {ArrowLeft: this.range ? this.cursor - 1 : last, ArrowRight: this.range ? this.cursor + 1 : 0, Home: 0, End: last}[event.key];
    if (!act && to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (act) { act(); return; }
    this.cursor = Math.min(last, Math.max(0, to));
    if (!event.shiftKey || !this.range) this.anchor = this.cursor;
    this.choose();
    this.tellOf(this.cursor);
  }
  choose() {
    const [from, to] = [this.anchor, this.cursor].sort((a, b) => a - b);
    this.range = {from, to};
    this.draw();
    this.ui.rangeChanged();
  }
  clear() {
    this.range = null;
    this.draw();
    this.ui.rangeChanged();
  }
}
