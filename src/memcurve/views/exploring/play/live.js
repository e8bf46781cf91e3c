// The page with a Python behind it: what it asks, and how it shows the answers.
// The newest question wins: Python drops what has not begun of older ones.
const PAUSE = 150; // milliseconds before long computations: a slider that moves on makes them pointless
const MOST_BYTES = 50_000_000; // of a file, as in files.py
const me = Math.random().toString(36).slice(2);
const home = location.pathname.replace(/\/?$/, "/");
const live = {
  base: null, baseKey: "", scene: null, sceneKey: "", // the network, and with eigenvalues moved
  turn: 0, busy: false, again: false, story: null, opened: LIVE.settings.file,
  answers: {}, // of long computations: question → { key, answer }
};

async function post(question, more = {}) {
  const turn = live.turn;
  try {
    const body = JSON.stringify({ page: me, turn, ...more });
    const response = await fetch(home + question, { method: "POST", body, headers: { "Content-Type": "application/json" } });
    if (!response.ok) return { trouble: await response.text() };
    const answer = await response.json();
    return answer.stale ? null : answer;
  } catch {
    return { trouble: "Python does not answer. Is “memcurve explore” still running?", retry: true };
  }
}

// ---- what is asked

const movesNow = () => Object.entries(state.moved).filter(([k]) => live.base?.poles[k]).map(([k, to]) => [...live.base.poles[k], ...to]);
const keyOf = (settings, moves = []) => JSON.stringify([settings, moves]);
const asked = () => ({ ...state.settings, moves: movesNow() });

function ask() {
  // while an eigenvalue is held, the browser draws the curve, where that depends on eigenvalues alone
  if (dragging && live.base?.lattice) return;
  live.turn += 1;
  if (live.busy) live.again = true;
  else update();
}

async function update() {
  live.busy = true;
  do {
    live.again = false;
    const settings = { ...state.settings }, key = keyOf(settings);
    if (live.baseKey !== key) {
      const answer = await post("scene", { settings });
      if (!answer) continue;
      [live.base, live.baseKey, live.scene] = [answer.trouble ? null : answer, answer.retry ? "" : key, null];
      alertOf(answer.trouble ? `${named(settings)} ${answer.trouble}` : "");
      showIgnored(answer.ignored ?? [], settings);
    }
    if (live.base && isMoved()) {
      const moves = movesNow(), there = keyOf(settings, moves);
      if (live.sceneKey !== there || !live.scene) {
        const answer = await post("scene", { settings: { ...settings, moves } });
        if (answer?.trouble) {
          state.moved = {};
          alertOf(`The eigenvalue cannot be moved there. ${answer.trouble} What is shown is the network without the move.`);
        } else if (answer) {
          [live.scene, live.sceneKey] = [answer, there];
          alertOf("");
        }
      }
    }
    draw();
  } while (live.again);
  live.busy = false;
  if (!dragging) await askMore();
}

// A file or an ensemble, and that it has no curve.
function named(settings) {
  return settings.file ? `${LIVE.files[settings.file]} cannot be shown.` : "These settings cannot be shown.";
}

// What takes longer, one after the other; each is asked again when what it depends on has changed.
async function askMore() {
  const turn = live.turn;
  const is_fresh = () => turn === live.turn && served();
  await new Promise((done) => setTimeout(done, PAUSE));
  if (!live.base || !is_fresh()) return;
  const settings = asked(), whole = JSON.stringify(settings), network = JSON.stringify({ ...settings, noise: 0, colour: 0 });
  const wanted = [["asked", whole, "asked", {}]];
  if (currentStory()) wanted.push(["story", live.story, "story", { story: live.story }]);
  if (currentStory() && LIVE.stories[live.story].shows) wanted.push(["products", network, "products", {}]);
  wanted.push(["usable", whole, "usable", {}]);
  for (const method of live.base.methods) wanted.push([`standard ${method}`, network, "standard", { method }]);
  for (const [place, key, question, more] of wanted) {
    if (live.answers[place]?.key === key) continue;
    const answer = await post(question, { settings, ...more });
    if (!is_fresh()) return;
    if (answer?.retry) return alertOf(answer.trouble);
    if (answer) live.answers[place] = { key, answer };
    if (!dragging) draw();
  }
}

// An answer to what is on the page now, not to what was.
function answerOf(place, whole = true) {
  const settings = asked();
  const key = place === "story" ? live.story : JSON.stringify(whole ? settings : { ...settings, noise: 0, colour: 0 });
  return live.answers[place]?.key === key ? live.answers[place].answer : null;
}

// A story is told as long as the controls stay where it puts them.
function currentStory() {
  const story = LIVE.stories[live.story];
  return story && !isMoved() && keyOf(state.settings) === keyOf(story.settings) ? story : null;
}

// ---- what is drawn

function liveView() {
  const { base } = live;
  if (!base) {
    for (const id of ["memory", "disc", "memory-legend", "read-chart", "standard", "standard-table"]) byId(id).replaceChildren();
    for (const text of document.querySelectorAll(".busy, .figures dd, #summary")) text.textContent = ""; // not those of the network before
    return null;
  }
  const moved = isMoved();
  const now = base.poles.map((pole, k) => state.moved[k] ?? pole);
  const is_known = !moved || live.sceneKey === keyOf(state.settings, movesNow());
  const scene = moved ? live.scene ?? base : base; // the latest that Python has computed
  const curve = is_known || !base.lattice ? scene.values : memory.curve(now, MOST_LAGS);
  const below = curve.findIndex((v) => v < 0.5);
  const lines = [];
  const noisy = answerOf("asked");
  if (noisy?.values && !dragging) lines.push({ text: askedName(), colour: "--s1", values: noisy.values });
  if (moved) lines.push(before(base.values));
  return {
    base: base.poles, poles: now, others: base.others, n: base.exact, curve, lines, movable: base.movable, least: 0,
    height: base.inputs, name: askedName() ? "white input, no noise" : "memory curve", title: scene.name, total: base.total,
    half: is_known || !base.lattice ? scene.half : below < 0 ? `over ${MOST_LAGS}` : below,
    age: base.lattice ? memory.meanAge(now) : null,
    rho: is_known || !base.lattice ? scene.radius : Math.max(...now.map(([a, b]) => Math.hypot(a, b))),
    known: is_known || !base.lattice, remark: `${base.spectrum} ${aboutMoves(base)}`,
  };
}

// Input and noise in words; nothing for white input without noise.
function askedName() {
  const { colour, noise } = state.settings;
  return [...(colour ? [`AR(${colour}) input`] : []), ...(noise ? [`noise ${noise}`] : [])].join(", ");
}

function aboutMoves({ movable, exact, complex }) {
  if (movable) return "Drag one, or set its modulus and angle: its eigenvectors and all others stay, its conjugate moves along.";
  if (!exact) return "Here it excites none.";
  if (complex) return "Eigenvalues of a complex network, and their conjugates, cannot be moved here.";
  return "They cannot be moved here: rounding would excite uncontrollable modes.";
}

// The total for white input with its accuracy, and that for what is asked.
function summary(scene, noisy) {
  const read = scene.all_read ? "states" : "states that are read";
  if (!scene.exact) return `The total memory is 0: no input reaches the ${read}.`;
  const accuracy = scene.error === "0" ? "The values are exact." : `All values are within ${scene.error} of the truth.`;
  const parts = [`Total memory ${Math.round(scene.exact)} of at most ${scene.states} ${read}. ${accuracy}`];
  const held = scene.values.reduce((sum, v) => sum + v, 0);
  if (held < 0.998 * scene.exact) parts.push(`The lags drawn hold ${Number(held.toPrecision(4))} of it; the rest is spread over many later lags.`);
  if (noisy?.total) parts.push(`With ${askedName()} the total is ${noisy.total} instead of ${scene.exact}.`);
  if (noisy?.problem) parts.push(`With ${askedName()} there is no curve: ${noisy.problem}`);
  return [...parts, noisy?.trouble ?? "", ...scene.notes.map((note) => `Note: ${note}.`)].join(" ");
}

function drawAnswers() {
  const { base } = live, scene = isMoved() ? live.scene ?? base : base;
  const noisy = answerOf("asked");
  for (const busy of document.querySelectorAll(".busy")) busy.textContent = "";
  const waiting = (id, is) => { byId(id).querySelector(".busy").textContent = is ? "computing …" : ""; };
  byId("theory-box").hidden = !state.settings.colour;
  byId("theory-name").textContent = `In theory, AR(${state.settings.colour}) input`;
  byId("theory").textContent = noisy?.theory ?? "…";
  byId("read-box").hidden = !base.exact;
  byId("read-name").textContent = `Usable ${state.settings.noise ? `with noise ${state.settings.noise}` : "in single precision"}`;
  byId("read").textContent = noisy?.usable ?? (noisy?.trouble ? "?" : "…");
  waiting("memory-card", !noisy);
  byId("summary").textContent = !shown.known ? "While you drag, the curve is computed in the browser; Python’s follows."
    : `${summary(scene, noisy)} ${scene.name}, computed in ${Math.round(1000 * scene.seconds)} ms.`;
  const usable = answerOf("usable");
  waiting("read-card", !usable);
  byId("read-text").textContent = usable?.trouble ?? [
    "Noise removes memory in directions of small state variance first, and simulations miss it.",
    usable?.single ? `States stored in single precision keep ${usable.single}.` : "",
    state.settings.colour ? `The input is AR(${state.settings.colour}).` : "",
  ].join(" ");
  if (usable?.chart && !dragging) chartOf("read", usable.chart);
  byId("read-chart").style.display = usable && !usable.chart ? "none" : "";
  drawStory();
  drawStandard();
  byId("python").textContent = (isMoved() ? live.scene : base)?.python ?? "";
}

function drawStory() {
  const story = currentStory(), said = answerOf("story");
  byId("story").hidden = !story;
  byId("story").textContent = said?.said ?? said?.trouble ?? "…";
  byId("products-card").hidden = !story?.shows;
  if (story?.shows) drawProducts();
}

function drawProducts() {
  const answer = answerOf("products", false);
  byId("products-card").querySelector(".busy").textContent = answer ? "" : "computing …";
  byId("products-text").textContent = answer?.trouble ?? "";
  if (!answer?.strengths) return;
  const k = Number(byId("strength").value), { strengths, totals, degrees, curves } = answer;
  const s = strengths[k];
  byId("strength-value").textContent = s;
  const names = ["memory of single inputs", "products of two", "of three", "of more"];
  const line = (name, y, dashed = false, x = strengths) => ({ name, x, y, dashed });
  const top = { x: "strength s of the product", y: "capacity", marks: [["", s]], levels: [] };
  plot("degrees", { ...top, series: [line("total", totals, true), ...degrees.map((y, d) => line(names[d], y))] });
  const lags = (y) => Array.from(y, (_, lag) => lag);
  const left = [line(`s = ${s}`, curves[k], false, lags(curves[k])), line("s = 0", curves[0], true, lags(curves[0]))];
  plot("left", { x: "lag τ", y: "MC_τ", marks: [], levels: [], series: left });
  const [one, two] = degrees.map((y) => y[k]), total = Number(totals[k].toPrecision(6));
  byId("products-text").textContent =
    `The input also multiplies the states: x_t = A x + s z_t B x + C z_t. At s = ${s}, ${one.toFixed(2)} of ${total} is memory of ` +
    `single inputs, ${two.toFixed(2)} holds products of two, ${(total - one - two).toFixed(2)} those of more. Nothing is lost: the total stays ${total}.`;
}

function drawStandard() {
  const { base } = live;
  const rows = base.methods.map((method) => [method, answerOf(`standard ${method}`, false)]);
  const truth = rows.find(([, answer]) => answer?.exact)?.[1].exact ?? ["…", ""];
  const cells = [["exact", ...truth, ""]];
  const lag = (y) => Array.from(y, (_, t) => t);
  const end = base.values.length;
  const scene = (isMoved() ? live.scene : base) ?? base;
  const series = [{ name: "exact", x: lag(scene.values), y: scene.values }];
  for (const [method, answer] of rows) {
    if (!answer) cells.push([method, "…", "", ""]);
    else if (answer.row) {
      cells.push([method, ...answer.row, answer.note]);
      series.push({ name: method, x: lag(answer.values).slice(0, end), y: answer.values.slice(0, end) });
    } else cells.push([method, "—", "", answer.trouble ? `failed: ${answer.trouble}` : answer.note]);
  }
  byId("standard-card").querySelector(".busy").textContent = rows.every(([, answer]) => answer) ? "" : "computing …";
  const table = byId("standard-table");
  table.replaceChildren();
  const row = (parent, kind, texts) => {
    const line = parent.insertRow();
    texts.forEach((text, k) => {
      const cell = document.createElement(kind);
      cell.textContent = text;
      if (k === 1 || k === 2) cell.className = "number";
      line.append(cell);
    });
  };
  row(table.createTHead(), "th", ["method", "total", "largest error", "note"]);
  const body = table.createTBody();
  for (const texts of cells) row(body, "td", texts);
  byId("standard-text").textContent =
    `Standard methods for white input without noise, over the same ${base.lags} lags (curves are cut at −0.25 and 1.5). ` +
    "Differences from the exact curve are numerical artefacts, not properties of the network.";
  plot("standard", { x: "lag τ", y: "MC_τ", marks: [], levels: [], series });
}

const COLOURS = ["--s0", "--s1", "--s2", "--s3", "--s4", "--muted"];

// A chart over a linear axis, from its data.
function plot(id, { x, y, series, marks, levels }, { xText = String, xTicks = null } = {}) {
  const xs = series.flatMap((one) => one.x), ys = [...series.flatMap((one) => one.y), ...levels.map(([, v]) => v)];
  const low = ys.reduce((a, b) => Math.min(a, b), 0), high = ys.reduce((a, b) => Math.max(a, b), 1e-3);
  const ends = [xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b), xs[0] + 1e-9)];
  const svg = byId(id === "read" ? "read-chart" : id);
  const step = high > 4 ? ticks(high, 4) : [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4].filter((v) => v <= 1.03 * high);
  const below = low < -0.01 ? [-0.25] : [];
  const chart = frame(svg, {
    x: ends, y: [low, 1.03 * high], xTicks: xTicks ?? (ends[1] > 5 ? ticks(ends[1]) : fractions(ends[1])), yTicks: [...below, ...step],
    xLabel: x, yLabel: y, xText,
  });
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  for (const [text, at] of marks) {
    const px = chart.toX(at), top = chart.toY(1.03 * high);
    element("path", { class: "mark", d: `M${px} ${chart.toY(low)}V${top}` }, svg);
    element("text", { transform: `translate(${px - 0.25 * rem} ${top + 0.2 * rem}) rotate(-90)`, "text-anchor": "end" }, svg, text);
  }
  for (const [text, at] of levels) {
    element("path", { class: "mark", d: `M${chart.toX(ends[0])} ${chart.toY(at)}H${chart.toX(ends[1])}` }, svg);
    element("text", { x: chart.toX(ends[1]) - 0.3 * rem, y: chart.toY(at) + 0.95 * rem, "text-anchor": "end" }, svg, text);
  }
  [...series].reverse().forEach((one, k) => {
    const points = one.x.map((v, t) => [v, one.y[t]]).filter(([, v]) => v !== null);
    chart.line(points, COLOURS[(series.length - 1 - k) % COLOURS.length], one.dashed ? "6 4" : "");
  });
  legend(byId(`${id}-legend`), series.map((one, k) => ({ text: one.name, colour: COLOURS[k % COLOURS.length], dash: one.dashed })));
}
const fractions = (end) => [0, 0.2, 0.4, 0.6, 0.8, 1, 1.2].filter((v) => v <= end + 1e-9);

// The same over a logarithmic axis.
function chartOf(id, { x, y, series, marks, levels }) {
  const log = Math.log10;
  const drawn = series.map((one) => ({ ...one, x: one.x.map(log) }));
  const [first, last] = [Math.floor(Math.min(...drawn[0].x)), Math.ceil(Math.max(...drawn[0].x))];
  const xTicks = Array.from({ length: last - first + 1 }, (_, k) => first + k).filter((e) => e % 3 === 0);
  const inside = marks.filter(([, v]) => log(v) >= drawn[0].x[0]).map(([text, v]) => [text, log(v)]);
  plot(id, { x, y, series: drawn, marks: inside, levels }, { xText: (e) => `1e${e}`, xTicks });
}

// ---- controls

const settingsBox = byId("settings");
const CONTROLS = {
  ensemble: ["Ensemble", `<select></select>`], size: ["Nodes N", `<input type="number" min="1" max="${LIVE.most}" aria-label="Nodes N, as a number"><input type="range" min="1" max="${LIVE.most}">`],
  spectral_radius: ["Spectral radius ρ", `<input type="range" min="0.01" max="${MOST_RADIUS}" step="0.001">`],
  density: ["Density of the weights", `<input type="range" min="0.01" max="1" step="0.01">`],
  mask: ["Input mask", `<select></select>`], seed: ["Seed", `<input type="number" min="0" max="999">`],
  colour: ["Colour of the input, AR(1)", `<input type="range" min="-0.95" max="0.95" step="0.05">`],
  noise: ["Noise on the states", `<input type="range" min="0" max="${LIVE.noises.length - 1}" step="1">`],
};
for (const [name, [text, inputs]] of Object.entries(CONTROLS)) {
  const label = document.createElement("label");
  label.dataset.control = name;
  label.innerHTML = `<span>${text}</span>${inputs.includes("number") ? "" : "<output></output>"}${inputs}`;
  settingsBox.append(label);
  for (const input of label.querySelectorAll("input, select")) {
    input.addEventListener("input", () => {
      const value = input.tagName === "SELECT" ? input.value : name === "noise" ? LIVE.noises[Number(input.value)] : input.valueAsNumber;
      if (value === "" || Number.isNaN(value) || !input.checkValidity()) return; // half typed
      choose({ [name]: value }, name !== "noise" && name !== "colour");
    });
  }
}
for (const [name, choices] of [["ensemble", LIVE.ensembles], ["mask", LIVE.masks]]) {
  for (const choice of choices) controlOf(name).querySelector("select").add(new Option(choice, choice));
}
const fileBox = document.createElement("div");
fileBox.innerHTML = `<label>Open a file, or drop one on the page <input type="file" id="file"></label>
  <label class="check"><input type="checkbox" id="use-file"> <span></span></label>
  <label class="check"><input type="checkbox" id="scaled"> <span>scale it to ρ</span></label>
  <p class="remark" id="ignored"></p>`;
settingsBox.append(fileBox);
byId("file").addEventListener("change", () => { if (byId("file").files[0]) openFile(byId("file").files[0]); });
byId("use-file").addEventListener("change", () => choose({ file: byId("use-file").checked ? live.opened : null }, true));
byId("scaled").addEventListener("change", () => choose({ scaled: byId("scaled").checked }, true));
byId("strength").addEventListener("input", drawProducts);

function controlOf(name) {
  return settingsBox.querySelector(`[data-control="${name}"]`);
}

function choose(change, isOther) {
  Object.assign(state.settings, change);
  if (isOther) state.moved = {};
  show();
}

function showSettings() {
  for (const name of Object.keys(CONTROLS)) {
    const value = state.settings[name], label = controlOf(name);
    for (const input of label.querySelectorAll("input, select")) {
      const is_typed = document.activeElement === input && input.type === "number";
      if (!is_typed) input.value = name === "noise" ? Math.max(0, LIVE.noises.indexOf(value)) : value;
      if (name === "noise") input.setAttribute("aria-valuetext", String(value));
    }
    const output = label.querySelector("output");
    if (output) output.textContent = label.querySelector("select") ? "" : name === "spectral_radius" ? value.toFixed(3) : String(value);
  }
  byId("use-file").closest("label").hidden = byId("scaled").closest("label").hidden = !live.opened;
  byId("use-file").nextElementSibling.textContent = `use ${LIVE.files[live.opened] ?? "the file"}`;
  byId("use-file").checked = state.settings.file !== null;
  byId("scaled").checked = state.settings.scaled;
}

function showIgnored(ignored, settings) {
  for (const name of Object.keys(CONTROLS)) controlOf(name).hidden = ignored.includes(name);
  const names = ignored.map((name) => name.replace("_", " ")), [last] = names.slice(-1);
  const listed = names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${last}` : last ?? "";
  const verbs = names.length > 1 ? ["have", "are"] : ["has", "is"];
  const what = settings.file ? LIVE.files[settings.file] : "this ensemble";
  byId("ignored").textContent = last
    ? `${listed[0].toUpperCase()}${listed.slice(1)} ${verbs[0]} no effect on ${what}, and ${verbs[1]} hidden.` : "";
}

// Settings of a link, as far as they make sense here.
function understood(given) {
  const settings = { ...LIVE.settings };
  for (const [name, value] of Object.entries(given ?? {})) {
    if (Object.hasOwn(settings, name) && typeof value === typeof settings[name]) settings[name] = value;
  }
  if (given?.file === null || Object.hasOwn(LIVE.files, given?.file ?? "")) settings.file = given.file;
  settings.moves = [];
  const fits =
    LIVE.ensembles.includes(settings.ensemble) && LIVE.masks.includes(settings.mask) && settings.size >= 1 && settings.size <= LIVE.most &&
    settings.spectral_radius > 0 && settings.spectral_radius <= MOST_RADIUS && LIVE.noises.includes(settings.noise) &&
    Number.isInteger(settings.size) && Number.isInteger(settings.seed) && Math.abs(settings.colour) < 1;
  return fits ? settings : { ...LIVE.settings };
}

async function openFile(file) {
  if (file.size > MOST_BYTES) {
    alertOf(`${file.name} cannot be shown: the page takes files of up to 50 MB; “memcurve curve” and “memcurve audit” take larger ones.`);
    return;
  }
  try {
    const response = await fetch(`${home}file/${encodeURIComponent(file.name)}`, { method: "POST", body: await file.arrayBuffer() });
    if (!response.ok) return alertOf(`${file.name} cannot be shown. ${await response.text()}`);
    const { file: key, name } = await response.json();
    LIVE.files[key] = name;
    live.opened = key;
    live.baseKey = ""; // the same again is read again
    reach = 0;
    state.mode = "network";
    choose({ file: key, scaled: false }, true);
  } catch {
    alertOf(`${file.name} cannot be sent. Is “memcurve explore” still running?`);
  }
}

for (const [name, story] of Object.entries(LIVE.stories)) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = name;
  button.addEventListener("click", () => {
    live.story = name;
    reach = 0;
    state.moved = {};
    state.settings = { ...story.settings };
    show();
  });
  byId("stories").append(button);
}

async function saveData(kind) {
  const answer = await post("data", { settings: asked() });
  if (answer?.[kind]) save(`memory.${kind}`, kind === "csv" ? "text/csv" : "application/json", answer[kind]);
  else alertOf(`The data are not available. ${answer?.trouble ?? ""}`);
}
byId("json").addEventListener("click", () => saveData("json"));
byId("script").addEventListener("click", () => save("memory.py", "text/x-python", byId("python").textContent));
