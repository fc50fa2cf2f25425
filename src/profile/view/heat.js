// ---- when samples came ----------------------------------------------------------------------------

const MOST_HEAT_ROWS = 30; // of processes; of CPUs all are shown
const HEAT_HEIGHT = 220, HEAT_LABELS = 110, HEAT_AXIS = 16, LEAST_COLUMN = 3;

// "1:02.5" of 62.5 s.
function clockText(seconds) {
  const minutes = Math.floor(seconds / 60), rest = (seconds - 60 * minutes).toFixed(1);
  return minutes > 0 ? `${minutes}:${rest.padStart(4, '0')}` : `${rest} s`;
}

// Rows of CPUs or processes, columns of so many spans that one is LEAST_COLUMN pixels at least. The
// range that is chosen is of spans, both ends within it.
class HeatMap {
  constructor(canvas, ui) {
    this.canvas = canvas; this.ui = ui; this.by = 'cpu'; this.range = null; this.cells = null;
    this.cursor = 0; this.anchor = null;
    if (!this.known) return;
    canvas.addEventListener('pointerdown', event => this.press(event));
    canvas.addEventListener('pointermove', event => this.drag(event));
    // A touch that becomes scrolling is cancelled.
    for (const end of ['pointerup', 'pointercancel']) canvas.addEventListener(end, () => { this.pressedAt = undefined; });
    canvas.addEventListener('keydown', event => this.key(event));
  }
  get side() { return this.ui.model.sides[0]; }
  get known() { return this.side.buckets > 1; }

  // Samples by row and column. Rows come by number for CPUs, by samples for processes.
  count(columns) {
    const {model, filter} = this.ui, {side} = this, spans = Math.ceil(side.buckets / columns);
    const passes = passingOwners(model, filter), byRow = new Map();
    for (let i = 0; i < side.size; ++i) {
      if (!passes[side.owner[i]]) continue;
      const name = model.owners[side.owner[i]][this.by];
      let row = byRow.get(name);
      if (row === undefined) byRow.set(name, row = {name, sum: 0, cells: new Float64Array(Math.ceil(side.buckets / spans))});
      for (let t = side.firstTime[i]; t < side.firstTime[i + 1]; ++t) {
        row.cells[Math.floor(side.bucket[t] / spans)] += side.timeCount[t];
        row.sum += side.timeCount[t];
      }
    }
    const rows = [...byRow.values()].filter(row => row.sum > 0);
    rows.sort((a, b) => this.by === 'cpu' ? a.name - b.name : b.sum - a.sum);
    const shown = this.by === 'cpu' ? rows : rows.slice(0, MOST_HEAT_ROWS);
    return {spans, columns: Math.ceil(side.buckets / spans), rows: shown, left: rows.length - shown.length,
            most: shown.reduce((most, row) => row.cells.reduce((a, b) => Math.max(a, b), most), 0)};
  }
  changed() { this.cells = null; this.draw(); }

  draw() {
    const {canvas} = this, width = canvas.clientWidth;
    if (!this.known || width === 0) return;
    const wanted = Math.max(1, Math.floor((width - HEAT_LABELS) / LEAST_COLUMN));
    if (!this.cells || this.wanted !== wanted) { this.cells = this.count(wanted); this.wanted = wanted; }
    const rows = Math.max(1, this.cells.rows.length);
    const rowHeight = Math.max(1, Math.min(14, Math.floor(HEAT_HEIGHT / rows))), height = rows * rowHeight + HEAT_AXIS;
    const scale = window.devicePixelRatio || 1;
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
    const pen = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    pen.scale(scale, scale);
    pen.font = '10px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    pen.imageSmoothingEnabled = false;
    const graphWidth = width - HEAT_LABELS, bottom = rows * rowHeight;
    pen.drawImage(this.paint(), HEAT_LABELS, 0, graphWidth, this.cells.rows.length * rowHeight);
    pen.fillStyle = style.getPropertyValue('--faint');
    this.labelRows(pen, rowHeight);
    this.labelTimes(pen, graphWidth, bottom);
    this.drawRange(pen, graphWidth, bottom, style);
  }
  // One pixel a cell: hot cells are opaque.
  paint() {
    const {cells} = this, picture = document.createElement('canvas');
    picture.width = cells.columns; picture.height = Math.max(1, cells.rows.length);
    const pen = picture.getContext('2d'), pixels = pen.createImageData(picture.width, picture.height);
    const colour = this.ui.isDark() ? [255, 140, 90] : [196, 60, 11];
    cells.rows.forEach((row, y) => row.cells.forEach((count, x) => {
      const alpha = count === 0 ? 0 : 24 + 231 * count / cells.most;
      pixels.data.set([...colour, alpha], 4 * (y * picture.width + x));
    }));
    pen.putImageData(pixels, 0, 0);
    return picture;
  }
  labelRows(pen, rowHeight) {
    const every = Math.ceil(11 / rowHeight);
    this.cells.rows.forEach((row, y) => {
      if (y % every !== 0) return;
      const text = this.by === 'cpu' ? `CPU ${row.name}` : row.name;
      pen.fillText(text, 12, (y + 0.5) * rowHeight, HEAT_LABELS - 16);
    });
  }
  labelTimes(pen, width, top) {
    const seconds = this.side.buckets * this.side.bucketNs / 1e9;
    const step = [0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200].find(s => width * s / seconds > 55) || seconds;
    for (let at = 0; at < seconds; at += step) pen.fillText(clockText(at), HEAT_LABELS + width * at / seconds, top + HEAT_AXIS / 2);
  }
  drawRange(pen, width, bottom, style) {
    if (!this.range) return;
    const place = span => HEAT_LABELS + width * Math.min(1, span / (this.cells.spans * this.cells.columns));
    const left = place(this.range.from), right = place(this.range.to + 1);
    pen.globalAlpha = 0.6;
    pen.fillStyle = style.getPropertyValue('--page');
    pen.fillRect(HEAT_LABELS, 0, left - HEAT_LABELS, bottom);
    pen.fillRect(right, 0, HEAT_LABELS + width - right, bottom);
    pen.globalAlpha = 1;
    pen.strokeStyle = style.getPropertyValue('--accent'); pen.lineWidth = 2;
    pen.strokeRect(left, 1, Math.max(right - left, 2), bottom - 2);
  }

  columnAt(event) {
    const place = this.canvas.getBoundingClientRect();
    const share = (event.clientX - place.left - HEAT_LABELS) / (place.width - HEAT_LABELS);
    return Math.min(this.cells.columns - 1, Math.max(0, Math.floor(share * this.cells.columns)));
  }
  press(event) {
    this.canvas.setPointerCapture(event.pointerId);
    this.pressedAt = this.cursor = this.anchor = this.columnAt(event);
    this.choose();
  }
  drag(event) {
    if (this.pressedAt === undefined) return;
    this.cursor = this.columnAt(event);
    this.choose();
  }
  // Arrows go from column to column, with Shift they widen the range.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape' && this.range) {
      this.clear();
    } else {
      const last = this.cells.columns - 1;
      const to = {ArrowLeft: this.cursor - (this.range ? 1 : 0), ArrowRight: this.cursor + (this.range ? 1 : 0), Home: 0, End: last}[event.key];
      if (to === undefined) return;
      this.cursor = Math.min(last, Math.max(0, to));
      if (!event.shiftKey || !this.range) this.anchor = this.cursor;
      this.choose();
    }
    event.preventDefault();
    event.stopPropagation();
  }
  choose() {
    const {spans} = this.cells, [from, to] = [this.anchor, this.cursor].sort((a, b) => a - b);
    this.range = {from: from * spans, to: Math.min(this.side.buckets, (to + 1) * spans) - 1};
    this.draw();
    this.ui.setRange(this.range);
  }
  clear() {
    this.range = null;
    this.draw();
    this.ui.setRange(null);
  }
  // "12.3 s to 14.0 s"
  rangeText() {
    if (!this.range) return '';
    const seconds = span => clockText(span * this.side.bucketNs / 1e9);
    return `${seconds(this.range.from)} to ${seconds(this.range.to + 1)}`;
  }
}
