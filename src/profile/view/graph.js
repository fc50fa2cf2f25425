// ---- the flame graph ------------------------------------------------------------------------------

const LEAST_SHARE = 1e-4; // narrower frames are folded into one marked frame
const ROW = 18;
const FOLDED = -2;

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
    this.tree = tree;
    this.rootAtTop = rootAtTop;
    this.zoomed = this.chosen = this.follow(path);
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
      const next = this.tree.childrenOf(node).find(child => this.tree.frame[child] === frame);
      if (next === undefined) return 0;
      node = next;
    }
    return node;
  }
  zoom(node) {
    if (node < 0) return;
    this.zoomed = node;
    this.pick(node);
  }
  pick(node) {
    this.chosen = node;
    this.draw();
    this.tellOf(node);
    this.ui.showFrame(this, node);
  }

  // [{node, depth, x, width}], width 1 the whole; narrow neighbours become one box with `node` FOLDED.
  layOut() {
    const {tree} = this, boxes = [];
    const above = [];
    for (let node = this.zoomed; node >= 0; node = tree.parent[node]) above.unshift(node);
    above.forEach((node, depth) => boxes.push({node, depth, x: 0, width: 1}));
    const all = tree.total[this.zoomed] || 1, least = all * LEAST_SHARE;
    const pending = [{node: this.zoomed, depth: above.length, x: 0}];
    while (pending.length > 0) {
      const {node, depth, x: start} = pending.pop();
      let x = start, narrow = 0, narrowCount = 0;
      const children = tree.childrenOf(node);
      for (const child of children) {
        if (tree.total[child] < least && children.length > 1) { narrow += tree.total[child]; ++narrowCount; continue; }
        const width = tree.total[child] / all;
        boxes.push({node: child, depth, x, width});
        if (width >= LEAST_SHARE) pending.push({node: child, depth: depth + 1, x});
        x += width;
      }
      if (narrow > 0) boxes.push({node: FOLDED, depth, x, width: narrow / all, count: narrowCount, total: narrow});
    }
    return boxes;
  }

  draw() {
    const {canvas, tree} = this;
    if (!tree || canvas.clientWidth === 0) return;
    const boxes = this.layOut();
    const rows = boxes.reduce((most, box) => Math.max(most, box.depth), 0) + 1;
    const pen = this.preparePen(rows);
    this.boxes = [];
    for (const box of boxes) {
      const left = box.x * canvas.clientWidth, width = box.width * canvas.clientWidth;
      if (width < 0.4) continue;
      const placed = {...box, left, top: (this.rootAtTop ? box.depth : rows - 1 - box.depth) * ROW, right: left + width};
      this.boxes.push(placed);
      this.drawBox(pen, placed, width);
    }
  }
  preparePen(rows) {
    const {canvas} = this;
    const width = canvas.clientWidth, height = rows * ROW, scale = window.devicePixelRatio || 1;
    const grows = canvas.style.height !== height + 'px';
    canvas.style.height = height + 'px';
    if (grows && !this.rootAtTop && this.ui.followsRoot) canvas.scrollIntoView({block: 'end'}); // where the root is
    canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
    const style = getComputedStyle(document.documentElement);
    this.ink = style.getPropertyValue('--box-ink'); this.accent = style.getPropertyValue('--accent');
    this.dark = this.ui.isDark();
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    return pen;
  }
  drawBox(pen, box, width) {
    pen.fillStyle = this.fillOf(box);
    pen.fillRect(box.left, box.top, Math.max(width - 0.6, 0.4), ROW - 1);
    if (box.node === this.chosen && box.node > 0) {
      pen.strokeStyle = this.accent; pen.lineWidth = 2;
      pen.strokeRect(box.left + 1, box.top + 1, Math.max(width - 2.6, 0), ROW - 3);
    }
    if (width < 26) return;
    pen.save();
    pen.beginPath(); pen.rect(box.left, box.top, width - 4, ROW); pen.clip();
    pen.fillStyle = this.ink;
    pen.fillText(this.labelOf(box), box.left + 4, box.top + ROW / 2);
    pen.restore();
  }
  fillOf(box) {
    const {dark, ui} = this;
    if (box.node === FOLDED) return dark ? '#55555c' : '#c9c9ce';
    if (box.node === 0) return dark ? '#8b8b93' : '#d9d9de';
    const number = this.tree.frame[box.node];
    if (ui.matches(number)) return dark ? '#ff86ec' : '#ee82ee';
    const change = ui.changeOf(this.tree, box.node);
    return change === null ? colourOf(ui.model.frames[number], dark) : colourOfChange(change, dark);
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
    if (box.node === FOLDED) return this.ui.tell(`${box.count} functions below ${percent(LEAST_SHARE, 1)} each \u00b7 ${percent(box.total, this.tree.total[0])} together`);
    this.tellOf(box.node);
  }
  tellOf(node) {
    const {tree, ui} = this;
    if (node <= 0) return ui.tell(`all \u00b7 ${amount(tree.total[0], ui.weights)}`);
    ui.tell(describe(ui.model.frames[tree.frame[node]], tree.total[node], tree.self[node], ui.weights, ui.changeOf(tree, node)));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {tree} = this;
    if (!tree) return;
    const siblings = this.chosen > 0 ? tree.childrenOf(tree.parent[this.chosen]) : [0];
    const place = siblings.indexOf(this.chosen);
    const away = this.rootAtTop ? 'ArrowDown' : 'ArrowUp', back = this.rootAtTop ? 'ArrowUp' : 'ArrowDown';
    const next = {
      [away]: () => tree.childrenOf(this.chosen)[0], [back]: () => tree.parent[this.chosen],
      ArrowLeft: () => siblings[place - 1], ArrowRight: () => siblings[place + 1],
    }[event.key];
    if (next) {
      const node = next();
      if (node !== undefined && node >= 0) this.pick(node);
    } else if (event.key === 'Enter') this.zoom(this.chosen);
    else if (event.key === 's' && this.chosen > 0) this.ui.choose(tree.frame[this.chosen]);
    else if (event.key === 'c' && this.chosen > 0) this.ui.copy(this.pathOf(this.chosen));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
