// ---- words ----------------------------------------------------------------------------------------

const percent = (part, whole) => whole === 0 ? '0 %' : (100 * part / whole).toFixed(part / whole < 0.0995 ? 2 : 1) + ' %';
const points = share => `${share > 0 ? '+' : share < 0 ? '\u2212' : '\u00b1'}${Math.abs(100 * share).toFixed(2)} points`;
const baseName = path => path.slice(path.lastIndexOf('/') + 1);
const whole = number => number.toLocaleString('en', {maximumFractionDigits: 0});

function coresOf(count, weights) {
  const cores = count * weights.periodNs / weights.durationNs;
  return Number.isFinite(cores) ? `${cores.toFixed(2)} cores` : '';
}

function amount(count, weights) {
  return [`${whole(count)} samples`, percent(count, weights.all), coresOf(count, weights)].filter(part => part).join(', ');
}

function kindsOf(frame) {
  return [[PROCESS, 'process'], [INLINED, 'inlined'], [KERNEL, 'kernel'], [UNNAMED, 'without a name']]
    .filter(([flag]) => frame.flags & flag).map(([, word]) => word);
}

const placeOf = frame => frame.file && frame.line ? `${frame.file}:${frame.line}` : frame.file;

// The line below the graph. `change`: of its share, where two profiles are compared.
function describe(frame, total, self, weights, change) {
  const parts = [frame.name, ...kindsOf(frame), frame.module, placeOf(frame), `total ${amount(total, weights)}`,
                 `self ${whole(self)}, ${percent(self, weights.all)}`, change === null ? '' : points(change)];
  return parts.filter(part => part).join(' \u00b7 ');
}

// ---- colours --------------------------------------------------------------------------------------

function hueOf(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0) % 360;
}

function colourOf(frame, dark) {
  const light = dark ? 58 : 74;
  if (frame.flags & SMALL) return dark ? '#55555c' : '#c9c9ce';
  if (frame.flags & PROCESS) return `hsl(220 25% ${light + 4}%)`;
  if (frame.flags & UNNAMED) return `hsl(0 0% ${light}%)`;
  if (frame.flags & KERNEL) return `hsl(24 75% ${light - 4}%)`;
  return `hsl(${40 + hueOf(frame.module) * 0.75} 55% ${light}%)`;
}

// Red grew, blue shrank, grey is as it was; the deepest colour is 5 points of the whole profile.
function colourOfChange(change, dark) {
  const strength = Math.min(1, Math.sqrt(Math.abs(change) / 0.05));
  const base = dark ? 58 : 88;
  return `hsl(${change > 0 ? 4 : 214} ${Math.round(80 * strength)}% ${Math.round(base - (dark ? 4 : 26) * strength)}%)`;
}
