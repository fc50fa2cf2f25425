// ---- functions ------------------------------------------------------------------------------------

const MOST_ROWS = 500;

class FunctionTable {
  constructor(table, ui) {
    this.table = table; this.ui = ui; this.order = {by: 'self', ascending: false};
    for (const button of table.querySelectorAll('th button')) {
      button.addEventListener('click', () => this.sortBy(button.dataset.sort));
    }
    if (ui.model.sides.length < 2) return;
    for (const heading of table.querySelectorAll('th[hidden]')) heading.hidden = false;
    this.sortBy('change');
  }
  sortBy(column) {
    const text = column === 'name' || column === 'module' || column === 'file';
    this.order = {by: column, ascending: this.order.by === column ? !this.order.ascending : text};
    for (const button of this.table.querySelectorAll('th button')) {
      const chosen = button.dataset.sort === column;
      if (chosen) button.parentElement.setAttribute('aria-sort', this.order.ascending ? 'ascending' : 'descending');
      else button.parentElement.removeAttribute('aria-sort');
    }
    if (this.ui.sums) this.show();
  }
  // Of its own samples' share, from the second profile to the first.
  changeOf(i) {
    const {sums, otherSums} = this.ui;
    return otherSums ? this.ui.change(sums.self[i], otherSums.self[i]) : 0;
  }
  show() {
    const {model, sums, otherSums, matched} = this.ui, frames = model.frames;
    const value = {self: i => sums.self[i], total: i => sums.total[i], change: i => this.changeOf(i), name: i => frames[i].name,
                   module: i => frames[i].module, file: i => frames[i].file}[this.order.by];
    const sign = this.order.ascending ? 1 : -1;
    const shown = [...frames.keys()].filter(i => (sums.total[i] > 0 || (otherSums && otherSums.total[i] > 0)) &&
      !(frames[i].flags & (PROCESS | SMALL)) && (matched === null || matched[i]));
    shown.sort((a, b) => { const x = value(a), y = value(b); return x < y ? -sign : x > y ? sign : sums.self[b] - sums.self[a]; });
    this.table.tBodies[0].replaceChildren(...shown.slice(0, MOST_ROWS).map(i => this.rowOf(i, frames[i])));
    this.ui.find('table-rest').textContent = shown.length > MOST_ROWS ? `${whole(shown.length - MOST_ROWS)} more: search to see them` : '';
  }
  rowOf(number, frame) {
    const {ui} = this, {sums, weights} = ui, row = document.createElement('tr');
    if (ui.matches(number)) row.className = 'match';
    const numberCell = text => { const cell = row.insertCell(); cell.className = 'number'; cell.textContent = text; return cell; };
    numberCell(percent(sums.self[number], weights.all));
    numberCell(percent(sums.total[number], weights.all));
    if (ui.others) {
      const change = this.changeOf(number), cell = numberCell(points(change));
      if (change !== 0) cell.classList.add(change > 0 ? 'grew' : 'shrank');
    }
    const button = document.createElement('button');
    button.textContent = button.title = frame.name;
    button.addEventListener('click', () => ui.choose(number));
    const name = row.insertCell();
    name.className = 'name';
    name.append(button);
    row.insertCell().textContent = baseName(frame.module);
    row.lastChild.title = frame.module;
    row.insertCell().textContent = frame.file ? `${baseName(frame.file)}${frame.line ? ':' + frame.line : ''}` : '';
    row.lastChild.title = frame.file;
    return row;
  }
}
