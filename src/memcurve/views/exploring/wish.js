// A wanted memory curve: heights at some lags, which are dragged and never rise.
const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP] = [640, 190, 34, 26, 10];
const LEAST = 0.05; // of the first: there is no network without memory
const PAUSE = 120; // milliseconds between two messages of one drag

function element(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}

function render({ model, el }) {
  const lags = model.get("lags");
  let heights = [...model.get("heights")];
  const x = (lag) => LEFT + (lag / lags.at(-1)) * (WIDTH - LEFT - 12);
  const y = (height) => HEIGHT - BOTTOM - height * (HEIGHT - BOTTOM - TOP);
  const root = document.createElement("div");
  root.className = "wish";
  el.append(root);
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "group", "aria-label": "Wanted memory curve" }, root);
  for (const height of [0, 0.5, 1]) {
    element("path", { class: "grid", d: `M${LEFT} ${y(height)}H${WIDTH - 12}` }, svg);
    element("text", { x: LEFT - 6, y: y(height) + 4, "text-anchor": "end" }, svg, height);
  }
  for (let n = 0; n <= lags.at(-1); n++) {
    element("text", { x: x(n), y: HEIGHT - 8, "text-anchor": "middle" }, svg, n ? `${n === 1 ? "" : n}N` : "0");
  }
  const line = element("path", { class: "line" }, svg);
  const handles = heights.map((_, k) => {
    const slider = { r: 8, class: "handle", tabindex: 0, role: "slider", "aria-label": `height at lag ${lags[k]} N` };
    return element("circle", { ...slider, "aria-valuemin": 0, "aria-valuemax": 1 }, svg);
  });

  function draw() {
    line.setAttribute("d", [...heights, 0].map((h, k) => `${k ? "L" : "M"}${x(lags[k])} ${y(h)}`).join(""));
    handles.forEach((handle, k) => {
      handle.setAttribute("cx", x(lags[k]));
      handle.setAttribute("cy", y(heights[k]));
      handle.setAttribute("aria-valuenow", heights[k]);
    });
  }
  let timer = null;
  function send() {
    timer = null;
    model.set("heights", [...heights]);
    model.save_changes();
  }
  // those before it are lifted and those after it pressed down: a memory curve does not rise
  function put(k, height) {
    const at = Math.round(100 * Math.min(1, Math.max(k ? 0 : LEAST, height))) / 100;
    heights = heights.map((h, j) => (j === k ? at : j < k ? Math.max(h, at) : Math.min(h, at)));
    draw();
    timer ??= setTimeout(send, PAUSE);
  }
  handles.forEach((handle, k) => {
    handle.addEventListener("pointerdown", (event) => handle.setPointerCapture(event.pointerId));
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const box = svg.getBoundingClientRect();
      const at = ((event.clientY - box.top) / box.height) * HEIGHT;
      put(k, (HEIGHT - BOTTOM - at) / (HEIGHT - BOTTOM - TOP));
    });
    handle.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 0.05, ArrowRight: 0.05, ArrowDown: -0.05, ArrowLeft: -0.05 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      put(k, heights[k] + step);
    });
  });
  draw();
  return () => clearTimeout(timer);
}

export default { render };
