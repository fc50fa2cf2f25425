'use strict';
// The profile: frames by number, a tree of frames (a node's parent has a lower number), and of each
// side the samples, which say which node they end in, whose they are, how many and when they came.
//   {strings: [text], frames: [name, module, file, line, flags, ...] (numbers of strings),
//    nodes: [parent distance, frame, ...], owners: [process, thread, unit, cpu, ...],
//    folded: frames left out, comments: [text],
//    sides: [{title, period_ns, duration_ns, bucket_ns,
//             samples: [node distance, owner, count, ...],
//             times: [entries, (bucket distance * 2 + (count > 1), count unless 1) ..., ...]}]}
// The second side, when there is one, is what the first is compared with. Samples are sorted by
// node, so distances are from the sample before.
const KERNEL = 1, INLINED = 2, UNNAMED = 4, PROCESS = 8, SMALL = 16;

async function unpack(text) {
  const packed = Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

function makeSide(data) {
  const size = data.samples.length / 3;
  const side = {title: data.title, periodNs: data.period_ns, durationNs: data.duration_ns, bucketNs: data.bucket_ns,
                size, node: new Int32Array(size), owner: new Int32Array(size), count: new Float64Array(size), all: 0};
  for (let i = 0, node = 0; i < size; ++i) {
    side.node[i] = node += data.samples[3 * i];
    side.owner[i] = data.samples[3 * i + 1];
    side.all += side.count[i] = data.samples[3 * i + 2];
  }
  return Object.assign(side, makeTimes(data.times, size));
}

// Those of sample i are from firstTime[i] up to firstTime[i + 1].
function makeTimes(words, size) {
  const firstTime = new Int32Array(size + 1), bucket = [], timeCount = [];
  let buckets = 0;
  for (let i = 0, at = 0; i < size && at < words.length; ++i) {
    let last = 0;
    for (let left = words[at++]; left > 0; --left) {
      last += Math.floor(words[at] / 2);
      bucket.push(last);
      timeCount.push(words[at++] % 2 === 1 ? words[at++] : 1);
    }
    buckets = Math.max(buckets, last + 1);
    firstTime[i + 1] = bucket.length;
  }
  return {firstTime, bucket: Float64Array.from(bucket), timeCount: Float64Array.from(timeCount),
          buckets: bucket.length === 0 ? 0 : buckets};
}

function makeModel(data) {
  const frames = [];
  for (let i = 0; i < data.frames.length; i += 5) {
    frames.push({
      name: data.strings[data.frames[i]], module: data.strings[data.frames[i + 1]],
      file: data.strings[data.frames[i + 2]], line: data.frames[i + 3], flags: data.frames[i + 4],
    });
  }
  const size = data.nodes.length / 2;
  const parent = new Int32Array(size), frame = new Int32Array(size);
  for (let i = 0; i < size; ++i) {
    parent[i] = i - data.nodes[2 * i]; // a distance of 0: the root
    if (parent[i] === i) parent[i] = -1;
    frame[i] = data.nodes[2 * i + 1];
  }
  const owners = [];
  for (let i = 0; i < data.owners.length; i += 4) {
    const text = k => data.strings[data.owners[i + k]];
    owners.push({process: text(0), thread: text(1), unit: text(2), cpu: text(3)});
  }
  return {frames, parent, frame, recursive: findRecursion(parent, frame), owners, folded: data.folded,
          comments: data.comments, sides: data.sides.map(makeSide)};
}

// Which nodes are below another of their frame: they add nothing to its total.
function findRecursion(parent, frame) {
  const recursive = new Uint8Array(parent.length);
  for (let i = 0; i < parent.length; ++i) {
    let above = parent[i];
    while (above >= 0 && frame[above] !== frame[i]) above = parent[above];
    recursive[i] = above >= 0 ? 1 : 0;
  }
  return recursive;
}

function passingOwners(model, filter) {
  const keys = Object.keys(filter).filter(key => filter[key] !== '');
  return model.owners.map(owner => keys.every(key => owner[key] === filter[key]));
}

function countWithin(side, sample, range) {
  let count = 0;
  for (let t = side.firstTime[sample]; t < side.firstTime[sample + 1]; ++t) {
    if (side.bucket[t] >= range.from && side.bucket[t] <= range.to) count += side.timeCount[t];
  }
  return count;
}

// How many samples that pass the filter, and came within the range of spans if there is one, end in
// each node, and how many pass through it.
function weigh(model, side, filter, range) {
  const passes = passingOwners(model, filter);
  const self = new Float64Array(model.parent.length), total = new Float64Array(model.parent.length);
  let all = 0;
  for (let i = 0; i < side.size; ++i) {
    if (!passes[side.owner[i]]) continue;
    const count = range ? countWithin(side, i, range) : side.count[i];
    self[side.node[i]] += count;
    all += count;
  }
  for (let i = self.length - 1; i >= 0; --i) {
    total[i] += self[i];
    if (model.parent[i] >= 0) total[model.parent[i]] += total[i];
  }
  const durationNs = range ? (range.to - range.from + 1) * side.bucketNs : side.durationNs;
  return {self, total, all, durationNs, periodNs: side.periodNs};
}

// A tree to draw: node 0 is the root, `frame` -1. `total` are its widths; `other` is the same of what
// it is compared with, or null.
class Tree {
  constructor(compared) {
    this.frame = [-1]; this.parent = [-1]; this.total = [0]; this.self = [0];
    this.other = compared ? [0] : null;
    this.byKey = new Map();
  }
  child(parent, frame) {
    const key = parent * 4194304 + frame;
    let node = this.byKey.get(key);
    if (node === undefined) {
      node = this.frame.length;
      this.byKey.set(key, node);
      this.frame.push(frame); this.parent.push(parent); this.total.push(0); this.self.push(0);
      if (this.other) this.other.push(0);
    }
    return node;
  }
  // Children of node i are then order[first[i]] up to order[first[i + 1]].
  finish() {
    this.byKey = null;
    const size = this.frame.length, first = new Int32Array(size + 2), order = new Int32Array(size);
    for (let i = 1; i < size; ++i) ++first[this.parent[i] + 2];
    for (let i = 2; i < first.length; ++i) first[i] += first[i - 1];
    for (let i = 1; i < size; ++i) order[first[this.parent[i] + 1]++] = i;
    this.first = first; this.order = order;
    return this;
  }
  // Widest first; those without a sample are left out.
  childrenOf(node) {
    const children = [];
    for (let k = this.first[node]; k < this.first[node + 1]; ++k) {
      if (this.total[this.order[k]] > 0) children.push(this.order[k]);
    }
    return children.sort((a, b) => this.total[b] - this.total[a]);
  }
}

// The model's own tree, one further up.
function treeFromRoots(model, weights, others) {
  const shift = (first, values) => { const all = new values.constructor(values.length + 1); all[0] = first; all.set(values, 1); return all; };
  const tree = new Tree(false);
  tree.frame = shift(-1, model.frame);
  tree.parent = shift(-1, model.parent.map(parent => parent + 1));
  tree.total = shift(weights.all, weights.total);
  tree.self = shift(0, weights.self);
  tree.other = others && shift(others.all, others.total);
  return tree.finish();
}

// From each node up, with `weight` of it: callers. `all` are the sums of weight and otherWeight.
function treeOfCallers(model, all, weight, otherAll, otherWeight) {
  const tree = new Tree(otherWeight !== null);
  tree.total[0] = all;
  if (otherWeight) tree.other[0] = otherAll;
  for (let i = 0; i < weight.length; ++i) {
    const other = otherWeight ? otherWeight[i] : 0;
    if (weight[i] === 0 && other === 0) continue;
    let at = 0, node = i;
    for (; node >= 0; node = model.parent[node]) {
      at = tree.child(at, model.frame[node]);
      tree.total[at] += weight[i];
      if (otherWeight) tree.other[at] += other;
    }
    tree.self[at] += weight[i];
  }
  return tree.finish();
}

// Which nodes are of `frame`, and which of them in no other of it (2), or below one.
function placesOf(model, frame) {
  const inside = new Uint8Array(model.parent.length);
  for (let i = 0; i < inside.length; ++i) {
    if (model.parent[i] >= 0 && inside[model.parent[i]] !== 0) inside[i] = 1;
    else if (model.frame[i] === frame) inside[i] = 2;
  }
  return inside;
}

function treeOfCallees(model, weights, others, frame) {
  const inside = placesOf(model, frame);
  const tree = new Tree(others !== null), at = new Int32Array(model.parent.length);
  for (let i = 0; i < at.length; ++i) {
    const other = others ? others.total[i] : 0;
    if (!inside[i] || (weights.total[i] === 0 && other === 0)) continue;
    const above = inside[i] === 2 ? 0 : at[model.parent[i]];
    at[i] = tree.child(above, model.frame[i]);
    for (const node of above === 0 ? [0, at[i]] : [at[i]]) {
      tree.total[node] += weights.total[i];
      if (others) tree.other[node] += other;
    }
    tree.self[at[i]] += weights.self[i];
  }
  return tree.finish();
}

function callersOf(model, weights, others, frame) {
  const inside = placesOf(model, frame);
  const outermost = total => total.map((value, i) => inside[i] === 2 ? value : 0);
  const sum = values => values.reduce((a, b) => a + b, 0);
  const weight = outermost(weights.total), otherWeight = others && outermost(others.total);
  return treeOfCallers(model, sum(weight), weight, otherWeight ? sum(otherWeight) : 0, otherWeight);
}

// Self and total of each frame; recursion counts once.
function sumByFrame(model, weights) {
  const self = new Float64Array(model.frames.length), total = new Float64Array(model.frames.length);
  for (let i = 0; i < model.parent.length; ++i) {
    self[model.frame[i]] += weights.self[i];
    if (!model.recursive[i]) total[model.frame[i]] += weights.total[i];
  }
  return {self, total};
}
