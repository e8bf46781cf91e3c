// The unit disc. Poles above the axis can be dragged; their conjugates follow.
const SVG = "http://www.w3.org/2000/svg";
const MOST_MODULUS = 0.9995; // on the circle nothing is forgotten, and there is no curve
const LEAST_HEIGHT = 0.002; // a pair stays a pair: on the axis its two would meet
const GRASP = 0.09; // how far from a pole a finger may be
const PAUSE = 60; // milliseconds between two messages of one drag

function element(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  parent.append(made);
  return made;
}

function control(parent, text, attributes) {
  const label = document.createElement("label");
  const name = document.createElement("span");
  name.textContent = text;
  const input = document.createElement("input");
  for (const [key, value] of Object.entries(attributes)) input.setAttribute(key, value);
  const output = document.createElement("output");
  label.append(name, input, output);
  parent.append(label);
  return { input, output };
}

function tell({ input, output }, text) {
  output.textContent = text;
  input.setAttribute("aria-valuetext", text);
}

function render({ model, el }) {
  const places = model.get("eigenvalues");
  const movable = model.get("movable");
  const root = document.createElement("div");
  root.className = "disc";
  el.append(root);

  const svg = element("svg", { viewBox: "-1.12 -1.12 2.24 2.24", role: "img" }, root);
  const hint = movable ? "; the controls after it move one" : "";
  svg.setAttribute("aria-label", `${places.length} eigenvalues in the upper half of the unit disc${hint}`);
  element("circle", { r: 1, class: "unit" }, svg);
  element("path", { d: "M-1.08 0H1.08M0-1.08V1.08", class: "axes" }, svg);
  for (const [re, im] of model.get("uncontrollable")) {
    element("circle", { cx: re, cy: -im, r: 0.012, class: "uncontrollable" }, svg);
  }
  const home = element("circle", { r: 0.02, class: "home" }, svg);
  const dots = places.map(([re, im]) => {
    const pair = [element("circle", { r: 0.018, class: "pole" }, svg)];
    if (im > 0) pair.push(element("circle", { r: 0.018, class: "pole mirror" }, svg));
    return pair;
  });

  let chosen = 0;
  let at = [...(places[0] ?? [0, 0])];

  const panel = document.createElement("div");
  panel.className = "panel";
  root.append(panel);
  const last = String(Math.max(1, places.length));
  const which = control(panel, "eigenvalue", { type: "range", min: 1, max: last, step: 1, value: 1 });
  const modulus = control(panel, "modulus", { type: "range", min: 0, max: MOST_MODULUS, step: 0.0005 });
  const angle = control(panel, "angle", { type: "range", min: 0, max: 180 });
  const back = document.createElement("button");
  back.type = "button";
  back.textContent = "Put it back";
  panel.append(back);
  for (const { input } of [which, modulus, angle]) input.disabled = !movable;

  function draw() {
    dots.forEach((pair, k) => {
      const [re, im] = k === chosen ? at : places[k];
      pair.forEach((dot, side) => {
        dot.setAttribute("cx", re);
        dot.setAttribute("cy", side === 0 ? -im : im);
        dot.classList.toggle("chosen", k === chosen && movable);
      });
    });
    const [re, im] = places[chosen] ?? [0, 0];
    home.setAttribute("cx", re);
    home.setAttribute("cy", -im);
    const size = Math.hypot(...at);
    const turn = (Math.atan2(at[1], at[0]) * 180) / Math.PI;
    angle.input.step = im > 0 ? 0.5 : 180; // a real one stays real
    which.input.value = chosen + 1;
    modulus.input.value = size;
    angle.input.value = turn;
    tell(which, places.length ? `${chosen + 1} of ${places.length}` : "none");
    tell(modulus, size.toFixed(4));
    tell(angle, `${turn.toFixed(1)}°`);
    const away = re !== at[0] || im !== at[1];
    back.disabled = !away;
    home.style.display = away ? "" : "none";
  }

  let timer = null;
  function send(held) {
    timer = null;
    const [re, im] = places[chosen] ?? [0, 0];
    const away = re !== at[0] || im !== at[1];
    model.set("moved", away ? [chosen, at[0], at[1]] : []);
    model.set("held", held);
    model.save_changes();
  }
  function changed(now) {
    draw();
    if (now) {
      clearTimeout(timer);
      send(false);
    } else if (timer === null) {
      timer = setTimeout(send, PAUSE, true);
    }
  }

  function take(k) {
    if (k === chosen || !places[k]) return;
    chosen = k;
    at = [...places[k]];
  }
  function move(re, im) {
    const real = places[chosen][1] === 0;
    let x = re, y = real ? 0 : Math.max(LEAST_HEIGHT, im);
    const size = Math.hypot(x, y);
    if (size > MOST_MODULUS) [x, y] = [(x * MOST_MODULUS) / size, (y * MOST_MODULUS) / size];
    at = [x, y];
  }
  function point(event) {
    const box = svg.getBoundingClientRect();
    const scale = 2.24 / box.width;
    return [(event.clientX - box.left) * scale - 1.12, 1.12 - (event.clientY - box.top) * scale];
  }

  svg.addEventListener("pointerdown", (event) => {
    if (!movable) return;
    const [x, y] = point(event);
    const here = (k) => (k === chosen ? at : places[k]);
    let nearest = -1, least = GRASP;
    places.forEach((_, k) => {
      const [re, im] = here(k);
      const distance = Math.hypot(re - x, im - Math.abs(y));
      if (distance < least) [nearest, least] = [k, distance];
    });
    if (nearest < 0) return;
    event.preventDefault();
    take(nearest);
    svg.setPointerCapture(event.pointerId);
    draw();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!svg.hasPointerCapture(event.pointerId)) return;
    const [x, y] = point(event);
    move(x, Math.abs(y));
    changed(false);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    svg.addEventListener(end, (event) => {
      if (svg.hasPointerCapture(event.pointerId)) changed(true);
    });
  }
  which.input.addEventListener("input", () => {
    take(Number(which.input.value) - 1);
    changed(true);
  });
  // the one that is not touched stays as it is, whatever the steps of its control are
  modulus.input.addEventListener("input", () => {
    const size = Number(modulus.input.value);
    const turn = Math.atan2(at[1], at[0]);
    move(size * Math.cos(turn), size * Math.sin(turn));
    changed(false);
  });
  angle.input.addEventListener("input", () => {
    const size = Math.hypot(...at);
    const turn = (Number(angle.input.value) * Math.PI) / 180;
    move(size * Math.cos(turn), size * Math.sin(turn));
    changed(false);
  });
  for (const { input } of [modulus, angle]) input.addEventListener("change", () => changed(true));
  back.addEventListener("click", () => {
    at = [...places[chosen]];
    changed(true);
  });
  draw();
  return () => clearTimeout(timer);
}

export default { render };
