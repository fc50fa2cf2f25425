// ---- words ----------------------------------------------------------------------------------------

const REST = 'the rest';

function bytesText(bytes) {
  const step = [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB']].find(([size]) => bytes >= size);
  return step ? `${(bytes / step[0]).toFixed(bytes < 10 * step[0] ? 1 : 0)} ${step[1]}` : `${bytes} B`;
}

const two = number => String(number).padStart(2, '0');

// "10:31", with seconds where it has any, with the day where it is not today's.
function clockText(seconds, now = Date.now() / 1000) {
  const at = new Date(seconds * 1000), today = new Date(now * 1000);
  const day = at.toDateString() === today.toDateString() ? '' : `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `;
  return `${day}${two(at.getHours())}:${two(at.getMinutes())}${at.getSeconds() ? ':' + two(at.getSeconds()) : ''}`;
}

function statusText(status) {
  const stored = status.stored, parts = [];
  if (status.paused_why) parts.push(`paused: ${status.paused_why}`);
  else if (status.hz < status.configured_hz) parts.push(`${status.hz} Hz instead of ${status.configured_hz}, to keep the budget`);
  else parts.push(`${status.hz} Hz`);
  parts.push(`${status.process_count} processes`);
  parts.push(`${status.cpu_percent.toFixed(2)} % of a CPU`, bytesText(status.resident_bytes + status.map_bytes));
  parts.push(`${stored.segment_count} segments, ${bytesText(stored.bytes)}`);
  if (stored.is_full) parts.push('no room for more');
  return parts.join(' \u00b7 ');
}

// ---- colours --------------------------------------------------------------------------------------

// Neighbours of a stack differ, whatever their names: hues go round by the golden angle.
function colourOf(number, name, dark) {
  if (name === '') return dark ? '#55555c' : '#c9c9ce';
  return `hsl(${(211 + 137.5 * number) % 360} 55% ${dark ? 58 : 62}%)`;
}
