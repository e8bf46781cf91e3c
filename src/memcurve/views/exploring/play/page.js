// The page: what is chosen, what is drawn.
// PRESETS are networks with their eigenvalues; LIVE, with a Python behind the page, what it can be asked.
const { presets: PRESETS, live: LIVE = null } = JSON.parse(document.getElementById("facts").textContent);
const MOST_RADIUS = 0.999, LEAST_HEIGHT = 0.002, MOST_LAGS = 1500, MOST_LAYER = 100;
const SVG = "http://www.w3.org/2000/svg";
const byId = (id) => document.getElementById(id);
const start = { mode: "network", ensemble: "normal", size: 30, radius: 0.9, noise: -2, moved: {}, pinned: [], shape: "exponential", nodes: 12, wish: null, settings: LIVE?.settings ?? null };
let state = structuredClone(start);
let reach = 0; // the lags shown: while curves are compared or eigenvalues moved, the axis stays
let poles = [], layer = null, layerOf = "";
let shown = null; // what is drawn: see ownView and liveView
let chosen = 0; // the eigenvalue that the controls below the disc move
const served = () => LIVE !== null && state.mode === "network";

// ---- what is chosen

function unscaled() {
  const sizes = PRESETS[state.ensemble].poles;
  if (!sizes[state.size]) state.size = Number(Object.keys(sizes)[0]);
  return sizes[state.size];
}

function networkPoles() {
  const scale = PRESETS[state.ensemble].fixed ? 1 : state.radius;
  return unscaled().map(([re, im]) => [re * scale, im * scale]);
}
const isMoved = () => Object.keys(state.moved).length > 0;

// The wish: control points (lag in units of n, value), stretched in time so that its sum is n.
const SHAPES = {
  exponential: (u) => Math.exp(-u), ramp: (u) => Math.max(0, 1 - u / 2),
  power: (u) => (1 + u) ** -2, step: (u) => (u < 1 ? 1 : 0),
};
const HANDLES = [0, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4];
function wishPoints() {
  return state.wish ?? HANDLES.map((u) => [u, SHAPES[state.shape](u)]);
}
function wished() {
  const n = state.nodes, points = wishPoints();
  const at = (u) => {
    if (!state.wish) return SHAPES[state.shape](u);
    const k = points.findIndex(([x]) => x > u);
    if (k < 0) return points.at(-1)[1] * Math.exp(-(u - points.at(-1)[0]) * 3);
    if (k === 0) return points[0][1];
    const [[a, y], [b, z]] = [points[k - 1], points[k]];
    return y + ((z - y) * (u - a)) / (b - a);
  };
  let area = 0;
  for (let u = 0.005; u < 60; u += 0.01) area += at(u) * 0.01;
  const stretch = area || 1; // time runs so much slower
  const lags = Math.min(400, Math.max(40, 8 * n));
  return { stretch, curve: Array.from({ length: lags }, (_, t) => at(((t + 0.5) / n) * stretch)) };
}

let fit = { key: "", poles: null, wanted: null, stretch: 1 };
function wishPoles() {
  const key = JSON.stringify([state.nodes, wishPoints(), state.wish ? "" : state.shape]);
  if (fit.key !== key) {
    const { curve, stretch } = wished();
    // a step is a delay line: all eigenvalues are zero
    const step = !state.wish && state.shape === "step";
    const fitted = step ? Array.from({ length: state.nodes }, () => [0, 0]) : memory.fitted(curve, state.nodes);
    fit = { key, poles: fitted, wanted: curve, stretch };
  }
  return fit.poles;
}

// ---- drawing

function element(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function frame(svg, { x, y, xTicks, yTicks, xLabel, yLabel, xText = String }) {
  svg.replaceChildren();
  const { width, height } = svg.getBoundingClientRect();
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const left = 3.2 * rem, right = 0.8 * rem, top = 0.6 * rem, bottom = 2.7 * rem;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  const toX = (v) => left + ((v - x[0]) / (x[1] - x[0])) * (width - left - right);
  const toY = (v) => height - bottom - ((v - y[0]) / (y[1] - y[0])) * (height - top - bottom);
  for (const v of yTicks) {
    element("path", { class: "gridline", d: `M${left} ${toY(v)}H${width - right}` }, svg);
    element("text", { x: left - 0.4 * rem, y: toY(v) + 0.25 * rem, "text-anchor": "end" }, svg, v);
  }
  for (const v of xTicks) {
    element("path", { class: "gridline", d: `M${toX(v)} ${top}V${height - bottom}` }, svg);
    element("text", { x: toX(v), y: height - bottom + 1.1 * rem, "text-anchor": "middle" }, svg, xText(v));
  }
  element("path", { class: "axis", fill: "none", d: `M${left} ${top}V${height - bottom}H${width - right}` }, svg);
  element("text", { x: (left + width - right) / 2, y: height - 0.4 * rem, "text-anchor": "middle" }, svg, xLabel);
  element("text", { transform: `translate(${0.9 * rem} ${(height - bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, svg, yLabel);
  const line = (points, colour, dash = "") =>
    element("path", {
      class: "line", style: `stroke:var(${colour})`, "stroke-dasharray": dash,
      d: points.map(([a, b], k) => `${k ? "L" : "M"}${toX(a).toFixed(1)} ${toY(b).toFixed(1)}`).join(""),
    }, svg);
  const back = (px, py) => [
    x[0] + ((px - left) / (width - left - right)) * (x[1] - x[0]),
    y[0] + ((height - bottom - py) / (height - top - bottom)) * (y[1] - y[0]),
  ];
  return { toX, toY, line, back };
}

function ticks(end, about = 6) {
  const raw = end / about, power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].find((m) => m * power >= raw) * power);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, k) => k * step);
}

function legend(box, entries) {
  box.replaceChildren();
  for (const { text, colour, dash, remove } of entries) {
    const item = document.createElement("span");
    const mark = document.createElement("i");
    mark.style.borderTopColor = `var(${colour})`;
    if (dash) mark.style.borderTopStyle = "dashed";
    item.append(mark, text);
    if (remove) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "×";
      button.setAttribute("aria-label", `Remove ${text}`);
      button.addEventListener("click", remove);
      item.append(button);
    }
    box.append(item);
  }
}

const KEPT_COLOURS = ["--s3", "--s4", "--s1"];
const sparse = (curve, limit = 600) => {
  const step = Math.max(1, Math.floor(curve.length / limit));
  return Array.from(curve, (v, t) => [t, v]).filter(([t]) => t % step === 0);
};

function describe() {
  if (state.mode === "wish") return `wanted: ${state.wish ? "drawn" : state.shape}, ${state.nodes} nodes`;
  const moved = isMoved() ? ", moved" : "";
  if (served()) return shown.title + moved;
  const radius = PRESETS[state.ensemble].fixed ? "" : `, ρ ${state.radius}`;
  return `${PRESETS[state.ensemble].name}, ${state.size} nodes${radius}${moved}`;
}

function lagsNeeded(curve) {
  let last = curve.length;
  while (last > 1 && curve[last - 1] < 0.01) last -= 1;
  return Math.min(curve.length, Math.max(10, Math.ceil(last * 1.15)));
}

// What is drawn of a network or a wish: its eigenvalues, before and after moves, and its curves.
function ownView() {
  const wishing = state.mode === "wish";
  const base = wishing ? wishPoles() : networkPoles();
  const now = base.map((pole, k) => (wishing ? pole : state.moved[k] ?? pole));
  const n = memory.size(now), curve = memory.curve(now, MOST_LAGS);
  const half = curve.findIndex((v) => v < 0.5);
  const lines = [];
  if (wishing) lines.push({ text: "wanted", colour: "--s2", dash: "2 4", values: fit.wanted });
  else if (isMoved()) lines.push(before(memory.curve(base, MOST_LAGS)));
  return {
    base, poles: now, others: [], n, curve, lines, movable: !wishing, least: wishing ? 4 * n : 0, height: 1,
    name: wishing ? "closest network found" : "memory curve", total: n, half: half < 0 ? `over ${MOST_LAGS}` : half,
    age: memory.meanAge(now), rho: Math.max(...now.map(([a, b]) => Math.hypot(a, b))),
    remark: wishing ? "The eigenvalues follow the wanted curve." : "Drag an eigenvalue; its conjugate follows.",
  };
}
const before = (values) => ({ text: "before the move", colour: "--muted", dash: "2 4", values });

function draw() {
  document.documentElement.toggleAttribute("data-served", served());
  shown = served() ? liveView() : ownView();
  if (!shown) return; // Python has not answered yet, or says why there is nothing to draw
  poles = shown.poles;
  const { n, curve, height } = shown;
  const noise = 10 ** state.noise;
  const lines = [{ text: shown.name, colour: "--s0", values: curve }, ...shown.lines];
  let fresh = false;
  if (!served()) {
    const key = JSON.stringify(poles);
    if (key !== layerOf && !dragging && n <= MOST_LAYER) [layer, layerOf] = [memory.layer(poles), key];
    fresh = key === layerOf && layer;
  }
  const needed = Math.max(lagsNeeded(curve), ...state.pinned.map((k) => lagsNeeded(k.curve)), shown.least);
  const compared = dragging || state.pinned.length || (state.mode === "network" && isMoved());
  if (!compared || reach === 0) reach = needed;
  if (fresh) {
    const values = memory.usableCurve(poles, layer, noise, Math.min(reach + 1, MOST_LAGS));
    lines.push({ text: `usable, diagonal layer (σ = ${shortNumber(noise)})`, colour: "--s1", values });
  }
  state.pinned.forEach((one, k) => {
    const remove = () => { state.pinned.splice(k, 1); draw(); };
    lines.push({ text: one.name, colour: KEPT_COLOURS[k % KEPT_COLOURS.length], dash: "6 4", values: one.curve, remove });
  });
  const chart = frame(byId("memory"), {
    x: [0, reach], y: [0, 1.02 * height], xTicks: ticks(reach), yTicks: [0, 0.25, 0.5, 0.75, 1].map((v) => v * height),
    xLabel: "lag τ", yLabel: "MC_τ",
  });
  for (const one of [...lines].reverse()) chart.line(sparse(one.values.slice(0, reach + 1)), one.colour, one.dash);
  if (state.mode === "wish") handles(chart, n);
  legend(byId("memory-legend"), lines);
  const beyond = n - curve.slice(0, reach + 1).reduce((sum, v) => sum + v, 0);
  const some = beyond > 0.002 * n;
  byId("beyond").hidden = needed <= reach && !(served() && some);
  byId("all-lags").hidden = needed <= reach;
  byId("beyond-text").textContent = `${shortNumber(beyond)} of the ${shortNumber(n)} lie beyond lag ${reach}, where the axis ends.`;
  drawDisc();
  byId("total").textContent = shown.total;
  byId("half").textContent = shown.half ?? "";
  byId("half").parentElement.hidden = shown.half === null;
  byId("age-box").hidden = shown.age === null;
  byId("age").textContent = shown.age?.toPrecision(5) ?? "";
  byId("rho").textContent = shown.rho.toFixed(4);
  byId("gap-box").hidden = state.mode !== "wish";
  if (served()) drawAnswers();
  else {
    drawUsable(n, fresh, noise);
    byId("usable-now").textContent = fresh ? memory.usable(layer, [noise])[0].toFixed(3) : "…";
    byId("best-now").textContent = (n / (1 + noise * noise)).toFixed(3);
  }
  if (state.mode === "wish") {
    byId("gap").textContent = Math.max(...fit.wanted.map((v, t) => Math.abs(v - curve[t]))).toFixed(4);
  }
  byId("radius-value").textContent = state.radius.toFixed(3);
  byId("noise-value").textContent = `σ = ${shortNumber(noise)}`;
  byId("nodes-value").textContent = state.nodes;
  document.title = `memcurve: ${describe()}`;
  history.replaceState(null, "", `#${encoded()}`);
}

const shortNumber = (v) => (v >= 100 ? v.toFixed(0) : v >= 0.01 || v === 0 ? String(Number(v.toPrecision(2))) : v.toExponential(1));

function drawUsable(n, fresh, noise) {
  const exponents = Array.from({ length: 49 }, (_, k) => -6 + k / 8);
  const levels = exponents.map((e) => 10 ** e);
  const chart = frame(byId("usable"), {
    x: [-6, 0], y: [0, n * 1.04], xTicks: [-6, -5, -4, -3, -2, -1, 0], yTicks: ticks(n, 4),
    xLabel: "standard deviation of the noise, states of variance 1", yLabel: "usable memory",
    xText: (e) => `1e${e}`,
  });
  const best = levels.map((s, k) => [exponents[k], n / (1 + s * s)]);
  chart.line(best, "--s2");
  const shown = [{ text: "best network with this curve: uncorrelated states", colour: "--s2" }];
  if (fresh) {
    const values = memory.usable(layer, levels);
    chart.line(values.map((v, k) => [exponents[k], v]), "--s1");
    shown.push({ text: "diagonal layer", colour: "--s1" });
  } else if (n > MOST_LAYER) {
    shown.push({ text: `diagonal layer: shown up to ${MOST_LAYER} nodes`, colour: "--grid" });
  }
  const x = chart.toX(Math.log10(noise));
  element("path", { class: "axis", "stroke-dasharray": "3 3", d: `M${x} ${chart.toY(0)}V${chart.toY(n)}` }, byId("usable"));
  legend(byId("usable-legend"), shown);
}

// ---- eigenvalues that are dragged

let dragging = null;

function drawDisc() {
  const svg = byId("disc");
  const focused = document.activeElement?.dataset?.pole !== undefined;
  svg.replaceChildren();
  svg.classList.toggle("still", !shown.movable);
  element("path", { class: "cross", d: "M-1.08 0H1.08M0-1.08V1.08" }, svg);
  element("circle", { class: "unit", r: 1 }, svg);
  for (const [re, im] of shown.others) element("circle", { class: "other", cx: re, cy: -im, r: 0.012 }, svg);
  const size = poles.length > 60 ? 0.016 : 0.026;
  chosen = Math.max(0, Math.min(chosen, poles.length - 1));
  for (const k of Object.keys(state.moved)) {
    const [re, im] = shown.base[k] ?? [0, 0];
    element("circle", { class: "home", cx: re, cy: -im, r: size }, svg);
  }
  poles.forEach(([re, im], k) => {
    const mark = shown.movable && k === chosen ? " chosen" : "";
    if (im > 0) element("circle", { class: `pole mirror${mark}`, cx: re, cy: im, r: size }, svg);
    const dot = element("circle", { class: `pole${mark}`, cx: re, cy: -im, r: size, "data-pole": k }, svg);
    element("title", {}, dot, `λ = ${re.toFixed(3)}${im ? ` ± ${im.toFixed(3)}i` : ""}`);
    if (!mark) return;
    dot.setAttribute("tabindex", 0);
    if (focused) dot.focus({ preventScroll: true });
  });
  byId("disc-remark").textContent = shown.remark;
  byId("pole").hidden = !shown.movable;
  if (!shown.movable) return;
  const [re, im] = poles[chosen];
  const turn = (Math.atan2(im, re) * 180) / Math.PI;
  const put = (id, value, text) => {
    byId(id).value = value;
    byId(id).setAttribute("aria-valuetext", text);
    byId(`${id}-value`).textContent = text;
  };
  byId("which").max = poles.length;
  byId("angle").step = im > 0 ? 0.5 : 180; // a real one stays real
  put("which", chosen + 1, `${chosen + 1} of ${poles.length}`);
  put("modulus", Math.hypot(re, im), Math.hypot(re, im).toFixed(4));
  put("angle", turn, `${turn.toFixed(1)}°`);
  byId("back").disabled = !state.moved[chosen];
}

function moveTo(k, re, im) {
  if (!shown?.movable) return;
  const real = poles[k][1] === 0;
  let [x, y] = [re, real ? 0 : Math.max(LEAST_HEIGHT, im)];
  const modulus = Math.hypot(x, y);
  if (modulus > MOST_RADIUS) [x, y] = [(x * MOST_RADIUS) / modulus, (y * MOST_RADIUS) / modulus];
  chosen = k;
  state.moved[k] = [x, y];
  networkChanged();
}

// The same network with an eigenvalue moved, or another: a Python behind the page is asked.
function networkChanged() {
  if (served()) ask();
  draw();
}

function inDisc(event) {
  const box = byId("disc").getBoundingClientRect();
  const scale = 2.24 / Math.min(box.width, box.height);
  return [(event.clientX - box.left - box.width / 2) * scale, (box.top + box.height / 2 - event.clientY) * scale];
}

byId("disc").addEventListener("pointerdown", (event) => {
  if (!shown?.movable) return;
  const [x, y] = inDisc(event);
  let nearest = -1, least = 0.1;
  poles.forEach(([re, im], k) => {
    const distance = Math.hypot(re - x, im - Math.abs(y));
    if (distance < least) [nearest, least] = [k, distance];
  });
  if (nearest < 0) return;
  event.preventDefault();
  dragging = { pole: nearest };
  chosen = nearest;
  byId("disc").setPointerCapture(event.pointerId);
  draw();
});
byId("disc").addEventListener("pointermove", (event) => {
  if (dragging?.pole === undefined) return;
  const [x, y] = inDisc(event);
  moveTo(dragging.pole, x, Math.abs(y));
});
for (const end of ["pointerup", "pointercancel"]) {
  byId("disc").addEventListener(end, () => {
    if (dragging?.pole === undefined) return;
    dragging = null;
    networkChanged();
  });
}
byId("disc").addEventListener("keydown", (event) => {
  const k = Number(event.target.dataset?.pole);
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (!step || Number.isNaN(k)) return;
  event.preventDefault();
  moveTo(k, poles[k][0] + 0.01 * step[0], poles[k][1] + 0.01 * step[1]);
});
byId("which").addEventListener("input", () => { chosen = Number(byId("which").value) - 1; draw(); });
// of modulus and angle, the one that is not touched stays as it is, whatever its control's steps are
byId("modulus").addEventListener("input", () => {
  const turn = Math.atan2(poles[chosen][1], poles[chosen][0]), size = Number(byId("modulus").value);
  moveTo(chosen, size * Math.cos(turn), size * Math.sin(turn));
});
byId("angle").addEventListener("input", () => {
  const turn = (Number(byId("angle").value) * Math.PI) / 180, size = Math.hypot(...poles[chosen]);
  moveTo(chosen, size * Math.cos(turn), size * Math.sin(turn));
});
byId("back").addEventListener("click", () => { delete state.moved[chosen]; networkChanged(); });

// ---- a wish that is drawn

function handles(chart, n) {
  const svg = byId("memory");
  wishPoints().forEach(([u, value], k) => {
    const lag = (u / fit.stretch) * n;
    if (lag > reach) return;
    const square = element("rect", {
      class: "handle", x: chart.toX(lag) - 6, y: chart.toY(value) - 6, width: 12, height: 12,
      tabindex: 0, role: "slider", "data-handle": k, "aria-label": `wanted at lag ${lag.toFixed(0)}`,
      "aria-valuemin": 0, "aria-valuemax": 1, "aria-valuenow": value.toFixed(2),
    }, svg);
    square.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      dragging = { handle: k, back: chart.back };
      svg.setPointerCapture(event.pointerId);
    });
    square.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 0.02, ArrowDown: -0.02 }[event.key];
      if (!step) return;
      event.preventDefault();
      wish(k, wishPoints()[k][1] + step);
      svg.querySelector(`[data-handle="${k}"]`)?.focus();
    });
  });
}

// A memory curve never rises: the neighbours of a point that is moved give way.
function wish(k, value) {
  const points = wishPoints().map((point) => point.slice());
  const limited = Math.max(0, Math.min(1, value));
  points[k][1] = limited;
  points.forEach((point, i) => {
    if (i < k) point[1] = Math.max(point[1], limited);
    if (i > k) point[1] = Math.min(point[1], limited);
  });
  if (points[0][1] < 0.05) points[0][1] = 0.05; // some memory there must be
  state.wish = points;
  draw();
}

byId("memory").addEventListener("pointermove", (event) => {
  if (dragging?.handle === undefined) return;
  const box = byId("memory").getBoundingClientRect();
  wish(dragging.handle, dragging.back(event.clientX - box.left, event.clientY - box.top)[1]);
});
for (const end of ["pointerup", "pointercancel"]) {
  byId("memory").addEventListener(end, () => {
    if (dragging?.handle === undefined) return;
    dragging = null;
    draw();
  });
}

// ---- controls

function encoded() {
  const { mode, ensemble, size, radius, noise, moved, shape, nodes, wish: drawn, settings } = state;
  const short = Object.fromEntries(Object.entries(moved).map(([k, p]) => [k, p.map((v) => Number(v.toFixed(4)))]));
  const points = drawn?.map((p) => p.map((v) => Number(v.toFixed(3))));
  const all = { mode, ensemble, size, radius, noise, moved: short, shape, nodes, wish: points ?? null };
  return encodeURIComponent(JSON.stringify(LIVE ? { ...all, settings } : all));
}

function decode(text) {
  try {
    const given = JSON.parse(decodeURIComponent(text));
    const next = { ...structuredClone(start), ...given, pinned: [] };
    next.settings = LIVE && understood(given.settings);
    const inside = (p) => Array.isArray(p) && p.length === 2 && p.every(Number.isFinite) && Math.hypot(...p) < 1;
    const fits =
      (LIVE || Object.hasOwn(PRESETS, next.ensemble)) && ["network", "wish"].includes(next.mode) && Object.hasOwn(SHAPES, next.shape) &&
      next.radius > 0 && next.radius <= MOST_RADIUS && next.noise >= -6 && next.noise <= 0 &&
      next.nodes >= 2 && next.nodes <= 30 && Object.values(next.moved).every(inside) &&
      (next.wish === null || (Array.isArray(next.wish) && next.wish.length === HANDLES.length));
    if (fits) state = next;
  } catch {
    // a link that was cut: the page begins as it always does
  }
}

function show() {
  const wishing = state.mode === "wish";
  byId("network").hidden = wishing;
  byId("wish").hidden = !wishing;
  byId("tab-network").setAttribute("aria-selected", String(!wishing));
  byId("tab-wish").setAttribute("aria-selected", String(wishing));
  if (LIVE) showSettings();
  else {
    const ensemble = byId("ensemble");
    if (!ensemble.options.length) {
      for (const [key, { name }] of Object.entries(PRESETS)) ensemble.add(new Option(name, key));
    }
    ensemble.value = state.ensemble;
    unscaled();
    const size = byId("size");
    size.replaceChildren();
    for (const n of Object.keys(PRESETS[state.ensemble].poles)) size.add(new Option(n, n));
    size.value = state.size;
    byId("radius").value = state.radius;
    byId("radius").closest("label").hidden = Boolean(PRESETS[state.ensemble].fixed);
  }
  byId("noise").value = state.noise;
  byId("shape").value = state.shape;
  byId("nodes").value = state.nodes;
  networkChanged();
}

const changes = {
  ensemble: (v) => { state.ensemble = v; state.moved = {}; },
  size: (v) => { state.size = Number(v); state.moved = {}; },
  radius: (v) => { state.radius = Number(v); state.moved = {}; },
  noise: (v) => { state.noise = Number(v); },
  shape: (v) => { state.shape = v; state.wish = null; },
  nodes: (v) => { state.nodes = Number(v); },
};
for (const [id, change] of Object.entries(changes)) {
  byId(id).addEventListener("input", () => { change(byId(id).value); show(); });
}
for (const mode of ["network", "wish"]) {
  byId(`tab-${mode}`).addEventListener("click", () => { state.mode = mode; reach = 0; show(); });
}
byId("keep").addEventListener("click", () => {
  if (shown) state.pinned = [...state.pinned.slice(-2), { name: describe(), curve: shown.curve }];
  draw();
});
byId("all-lags").addEventListener("click", () => { reach = 0; draw(); });
byId("reset").addEventListener("click", () => { state = structuredClone(start); reach = 0; show(); });
byId("share").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    byId("share").textContent = "Link copied";
  } catch {
    byId("share").textContent = "Copy it from the address bar";
  }
  setTimeout(() => { byId("share").textContent = "Copy link"; }, 2500);
});
byId("lecture").addEventListener("click", () => {
  const on = document.documentElement.toggleAttribute("data-lecture");
  byId("lecture").setAttribute("aria-pressed", String(on));
  draw();
});
byId("full").addEventListener("click", () => {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen?.();
});
function theme(name) {
  document.documentElement.dataset.theme = name;
  byId("theme").textContent = name === "dark" ? "Light page" : "Dark page";
}
byId("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
// also where what stands beside it is shown or hidden
new ResizeObserver(() => { if (shown) draw(); }).observe(byId("memory"));

// ---- to take home, and to bring along

function save(name, kind, content) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type: kind }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The memory chart with its legend below, in the colours that are seen.
function picture() {
  const svg = byId("memory"), copy = svg.cloneNode(true);
  const originals = [...svg.querySelectorAll("*")];
  const styles = ["stroke", "fill", "stroke-width", "stroke-dasharray", "font-size", "font-family"];
  [...copy.querySelectorAll("*")].forEach((one, k) => {
    const seen = getComputedStyle(originals[k]);
    one.setAttribute("style", styles.map((name) => `${name}:${seen.getPropertyValue(name).replaceAll('"', "'")}`).join(";"));
  });
  const { width, height } = svg.getBoundingClientRect();
  const items = [...byId("memory-legend").children], total = height + 22 * items.length;
  const root = getComputedStyle(document.body);
  for (const [key, value] of Object.entries({ xmlns: SVG, width, height: total, viewBox: `0 0 ${width} ${total}` })) copy.setAttribute(key, value);
  const back = element("rect", { width, height: total, fill: getComputedStyle(byId("memory-card")).backgroundColor }, copy);
  copy.prepend(back);
  items.forEach((item, k) => {
    const mark = getComputedStyle(item.querySelector("i")), y = height + 22 * k + 8;
    const dash = mark.borderTopStyle === "dashed" ? "6 4" : "";
    element("path", { d: `M50 ${y}h24`, stroke: mark.borderTopColor, "stroke-width": 3, "stroke-dasharray": dash }, copy);
    const text = item.childNodes[1].textContent;
    element("text", { x: 82, y: y + 5, fill: root.color, "font-size": 14, "font-family": "sans-serif" }, copy, text);
  });
  return { width, height: total, text: new XMLSerializer().serializeToString(copy) };
}

byId("svg").addEventListener("click", () => save("memory.svg", "image/svg+xml", picture().text));
byId("png").addEventListener("click", async () => {
  const { width, height, text } = picture();
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => save("memory.png", "image/png", blob), "image/png");
});
byId("csv").addEventListener("click", () => {
  if (served()) return saveData("csv");
  const rows = Array.from(shown.curve, (value, lag) => `${lag},${value}`);
  return save("memory.csv", "text/csv", `lag,memory\n${rows.join("\n")}\n`);
});

function alertOf(text) {
  byId("alert").textContent = text;
  byId("alert").hidden = !text;
}

for (const name of ["dragover", "dragleave", "drop"]) {
  addEventListener(name, (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault(); // else the browser leaves the page for the file
    document.documentElement.toggleAttribute("data-over", name === "dragover");
    if (name !== "drop") return;
    const file = event.dataTransfer.files[0];
    if (LIVE) openFile(file);
    else alertOf(`${file.name} cannot be opened here: this page computes in the browser and reads no files. “memcurve explore ${file.name}” shows it.`);
  });
}

addEventListener("hashchange", () => {
  if (location.hash.slice(1) !== encoded()) { decode(location.hash.slice(1)); show(); }
});
function begin() {
  if (location.hash) decode(location.hash.slice(1));
  show();
}
