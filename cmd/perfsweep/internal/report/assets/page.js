// Draws each chart anew with uPlot, so that its values can be read off with a
// pointer or with arrow keys. Without this script the pictures in the page stay
// as they are. All text goes in as text, never as markup.
(() => {
"use strict";
const started = performance.now();
const charts = JSON.parse(document.getElementById("charts").textContent);
const root = document.documentElement;

// number says a value as the tables do.
function number(v) {
  const a = Math.abs(v);
  if (a < 10) return v.toFixed(2);
  if (a < 100) return v.toFixed(1);
  return v.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
}
const round = v => Math.abs(v) >= 1e3 ? number(v) : String(+v.toPrecision(4));

// columns gives uPlot what it takes: one ascending list of x for all series.
// Several runs at one level become series side by side; of is the chart's own
// series that each was made of.
function columns(c) {
  // the time line of a long campaign has 100,000 points, in order
  if (c.series.length === 1 && c.series[0].x.every((x, i, all) => !i || all[i - 1] < x)) return {data: [c.series[0].x, c.series[0].y], of: [0]};
  const xs = [...new Set(c.series.flatMap(s => s.x))].sort((a, b) => a - b);
  const at = new Map(xs.map((x, i) => [x, i]));
  const data = [xs], of = [];
  c.series.forEach((s, k) => {
    const mine = [];
    s.x.forEach((x, i) => {
      let j = 0;
      while (mine[j] && mine[j].has(x)) j++;
      (mine[j] ||= new Map()).set(x, s.y[i]);
    });
    for (const m of mine) {
      // absent is no gap: a line goes on over what another series measured
      const col = new Array(xs.length).fill(undefined);
      for (const [x, y] of m) col[at.get(x)] = y;
      data.push(col);
      of.push(k);
    }
  });
  return {data, of};
}

// stops are the places at which a chart is read: where something was measured.
function stops(c) {
  const read = c.series.some(s => s.style === "dots") ? c.series.filter(s => s.style === "dots" || s.style === "cross") : c.series;
  return [...new Set(read.flatMap(s => s.x.filter((_, i) => s.y[i] !== null)))].sort((a, b) => a - b);
}

function nearest(sorted, x) {
  let lo = 0, hi = sorted.length - 1;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (sorted[mid] < x) lo = mid + 1; else hi = mid;
  }
  return lo > 0 && x - sorted[lo - 1] < sorted[lo] - x ? lo - 1 : lo;
}

// said is what is known at x: each series with all of its values there.
function said(c, x) {
  const parts = [];
  for (const s of c.series) {
    const v = [], names = [];
    s.x.forEach((sx, i) => {
      if (sx !== x || s.y[i] === null) return;
      v.push(number(s.y[i]));
      if (s.labels && s.labels[i]) names.push(s.labels[i]);
    });
    if (v.length && !(s.style === "line" && names.length === 0 && s.mute)) parts.push((names.length ? s.name + " " + names.join(", ") : s.name) + ": " + v.join(" · "));
  }
  return round(x) + " " + c.x_axis.short + " — " + parts.join("; ") + " " + c.y_axis.short;
}

function draw(figure, c, colors) {
  const holder = figure.querySelector(".live"), out = figure.querySelector(".readout");
  holder.textContent = "";
  const paint = t => colors[t] || colors.plain;
  const {data, of} = columns(c);
  let points; // found when somebody first reads the chart
  const font = "11px system-ui,sans-serif";
  const px = v => v * devicePixelRatio;
  const noteAt = (g, s, x, y, color) => { // a halo keeps words legible on lines
    g.textBaseline = "alphabetic"; g.lineWidth = px(3); g.strokeStyle = colors.paper; g.lineJoin = "round";
    g.strokeText(s, x, y); g.fillStyle = color; g.fillText(s, x, y);
  };
  const ticks = a => (u, _, min, max) => {
    const t = a.ticks.filter(v => v >= min && v <= max);
    if (t.length > 1) return t;
    return [0, 1, 2, 3, 4].map(i => min + (max - min) * i / 4);
  };
  const axis = (a, side) => ({
    side, stroke: colors.soft, font, grid: {stroke: colors.rule, width: 1}, ticks: {stroke: colors.rule, width: 1},
    splits: ticks(a), filter: (u, t) => t,
    values: (u, t) => { // names do not overlap
      let last = -Infinity;
      return t.map(v => {
        const s = round(v), at = u.valToPos(v, side === 3 ? "y" : "x"), half = side === 3 ? 0 : s.length * 3.6;
        if (side !== 3 && at - half < last) return "";
        last = at + half + 6;
        return s;
      });
    },
    size: side === 3 ? 56 : 30, label: a.label, labelFont: font, labelSize: 18,
  });
  const scale = a => a.log ? {time: false, distr: 3, log: a.log === 2 ? 2 : 10, range: (u, lo, hi) => u.zoomed && a === c.x_axis ? [lo, hi] : [a.low, a.high]}
    : {time: false, range: (u, lo, hi) => u.zoomed && a === c.x_axis ? [lo, hi] : [a.low, a.high]};
  const behind = u => {
    const g = u.ctx, {left, top, width, height} = u.bbox;
    g.save();
    g.beginPath(); g.rect(left, top, width, height); g.clip();
    g.font = px(11) + "px system-ui,sans-serif"; g.textAlign = "center";
    for (const b of c.bands || []) {
      const x1 = u.valToPos(b.from, "x", true), x2 = Math.max(u.valToPos(b.to, "x", true), x1 + 1), edge = px(5);
      g.globalAlpha = b.edge ? .55 : .16; g.fillStyle = paint(b.tone);
      g.fillRect(x1, b.edge ? top + height - edge : top, x2 - x1 - (b.edge ? px(1) : 0), b.edge ? edge : height);
      g.globalAlpha = 1;
      if (b.label && x2 - x1 > g.measureText(b.label).width + px(4)) noteAt(g, b.label, (x1 + x2) / 2, top + height - px(9), colors.soft);
    }
    g.restore();
  };
  const before = u => {
    const g = u.ctx, {left, top, width, height} = u.bbox;
    g.save();
    g.font = px(11) + "px system-ui,sans-serif";
    let row = 0;
    for (const m of c.marks || []) {
      const p = u.valToPos(m.at, m.level ? "y" : "x", true);
      if (m.level ? p < top || p > top + height : p < left || p > left + width) continue;
      g.strokeStyle = paint(m.tone); g.lineWidth = px(1.5); g.setLineDash(m.dashed ? [px(5), px(4)] : []);
      g.beginPath();
      if (m.level) { g.moveTo(left, p); g.lineTo(left + width, p); } else { g.moveTo(p, top); g.lineTo(p, top + height); }
      g.stroke(); g.setLineDash([]);
      if (!m.label) continue;
      if (m.level) { g.textAlign = "left"; noteAt(g, m.label, left + px(6), p - px(4), paint(m.tone)); continue; }
      const long = g.measureText(m.label).width + px(8), fits = p + long < left + width && !(m.before && p - long > left);
      g.textAlign = fits ? "left" : "right";
      noteAt(g, m.label, p + px(fits ? 5 : -5), top + px(12 + 14 * row++), paint(m.tone));
    }
    g.textAlign = "left";
    for (const s of c.series) {
      const named = []; // a name that would cover another one is left out
      (s.labels || []).forEach((t, i) => {
        const x = u.valToPos(s.x[i], "x", true) + px(7), y = u.valToPos(s.y[i], "y", true) + px(4), w = g.measureText(t).width;
        if (named.some(n => Math.abs(n[0] - x) < w && Math.abs(n[1] - y) < px(11))) return;
        named.push([x, y]);
        noteAt(g, t, x, y, colors.soft);
      });
    }
    g.restore();
  };
  const crosses = (u, k) => {
    const p = new Path2D(), d = px(4);
    u.data[k].forEach((y, i) => {
      if (y == null) return;
      const x = u.valToPos(u.data[0][i], "x", true), at = u.valToPos(y, "y", true);
      p.moveTo(x - d, at - d); p.lineTo(x + d, at + d); p.moveTo(x + d, at - d); p.lineTo(x - d, at + d);
    });
    return {stroke: p};
  };
  const series = of.map(k => {
    const s = c.series[k], color = paint(s.tone);
    if (s.style === "cross") return {stroke: color, width: 2, paths: crosses, points: {show: false}};
    if (s.style === "dots") return {stroke: color, paths: () => null, points: {show: true, size: 7, width: s.hollow ? 1.6 : 1, fill: s.hollow ? colors.paper : color + "bf", stroke: color}};
    return {stroke: color, width: 2, pxAlign: 0, dash: s.style === "dashed" ? [6, 4] : undefined, points: {show: false}};
  });
  const u = new uPlot({
    width: Math.max(280, holder.clientWidth || figure.clientWidth), height: matchMedia("(max-width:40rem)").matches ? 300 : 380,
    legend: {show: false}, scales: {x: scale(c.x_axis), y: scale(c.y_axis)},
    axes: [axis(c.x_axis, 2), axis(c.y_axis, 3)],
    series: [{}, ...series],
    cursor: {y: false, points: {show: false}, drag: {x: true, y: false, setScale: true}},
    hooks: {drawAxes: [behind], draw: [before],
      setSelect: [self => { self.zoomed = self.select.width > 4; }],
      setCursor: [self => { if (self.cursor.left >= 0) show(nearest(places(), self.posToVal(self.cursor.left, "x"))); }]},
  }, data, holder);
  u.over.addEventListener("dblclick", () => { u.zoomed = false; u.setScale("x", {min: c.x_axis.low, max: c.x_axis.high}); });
  let here = -1;
  function places() { return points ||= stops(c); }
  out.textContent = "Point at the chart to read its values, or go to it and use the arrow keys. Drag to enlarge a part, double-click for all.";
  function show(i) {
    if (i === here || !places().length) return;
    here = i;
    out.textContent = said(c, points[i]);
  }
  holder.tabIndex = 0;
  holder.onkeydown = e => {
    const to = {ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: places().length - 1}[e.key];
    if (to === undefined) return;
    e.preventDefault();
    const i = Math.min(points.length - 1, Math.max(0, to));
    u.setCursor({left: u.valToPos(points[i], "x"), top: u.over.clientHeight / 2});
    show(i);
  };
  return u;
}

function all() {
  const style = getComputedStyle(root), colors = {};
  for (const t of ["paper", "ink", "soft", "rule", "first", "second", "third", "model", "knee", "point", "gate", "bad", "plain"]) colors[t] = style.getPropertyValue("--" + t).trim();
  root.classList.add("drawn");
  return charts.map(c => draw(document.querySelector(`figure[data-chart="${c.id}"]`), c, colors));
}

let drawn = all();
// uPlot paints when the script has ended; the tests ask how long all took.
setTimeout(() => { root.dataset.drawMs = (performance.now() - started).toFixed(1); });
// Another scheme or width: draw anew, once it has settled.
let timer = 0;
const again = () => { clearTimeout(timer); timer = setTimeout(() => { drawn.forEach(u => u.destroy()); drawn = all(); }, 120); };
matchMedia("(prefers-color-scheme:dark)").addEventListener("change", again);
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; again(); } });
})();
