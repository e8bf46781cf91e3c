// A chart of the page: Vega draws it, this adds what readers do with it.

// ---- numbers as the axes write them: 0.25, 12,000, 1.5×10⁻¹²

const raised = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };

function written(value, digits = 6) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) {
    const [head, power] = value.toExponential(digits - 1).split("e");
    const exponent = [...String(Number(power))].map((sign) => raised[sign]).join("");
    return `${String(Number(head)).replace("-", "−")}×10${exponent}`;
  }
  const most = Math.max(0, digits - 1 - Math.floor(Math.log10(size || 1)));
  return value
    .toLocaleString("en", { maximumFractionDigits: Math.min(most, 20) })
    .replace("-", "−");
}

// ---- elements; text is only ever set as text

function element(name, attributes = {}, text = "") {
  const made = name === "svg" || name === "line" || name === "circle"
    ? document.createElementNS("http://www.w3.org/2000/svg", name)
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

const colour = (series) => `var(--series-${series % 7})`;

// ---- one chart

class Figure {
  constructor(frame, chart, config) {
    this.frame = frame;
    this.chart = chart;
    this.config = config;
    this.plot = frame.querySelector(".plot");
    this.readout = frame.querySelector(".readout");
    this.drawing = element("div", { class: "drawing" });
    this.overlay = element("svg", { class: "overlay", "aria-hidden": "true" });
    this.plot.append(this.drawing, this.overlay);
    this.hidden = new Set(chart.spec.params[0].value);
    this.series = chart.names.map(() => []);
    for (const row of chart.spec.data.values) this.series[row.s].push(row);
    this.turn = 0;
    this.listen();
  }

  // `legend` is the series in the legend of a picture; the page has its own
  spec(legend = null) {
    const spec = structuredClone(this.chart.spec);
    spec.params[0].value = [...this.hidden];
    for (const layer of spec.layer) {
      for (const channel of Object.values(layer.encoding)) {
        if (channel.legend) channel.legend = legend && { ...channel.legend, values: legend };
      }
    }
    return spec;
  }

  side() {
    return Math.max(200, Math.min(420, this.frame.clientWidth - 96));
  }

  async draw() {
    const turn = ++this.turn;
    const spec = this.spec();
    delete spec.title; // the page has it
    if (this.chart.kind === "disc") spec.width = spec.height = this.side();
    const made = await vegaEmbed(this.drawing, spec, {
      mode: "vega-lite",
      actions: false,
      tooltip: false,
      defaultStyle: false,
      ast: true, // expressions are interpreted: pages that forbid eval can show this one
      renderer: "svg",
      config: this.config,
    });
    if (turn !== this.turn) return made.finalize();
    this.finalize?.();
    this.finalize = made.finalize;
    this.view = this.frame.view = made.view;
    this.view.addSignalListener("zoom", () => this.leave());
    this.plot.style.minHeight = "0";
    this.frame.dataset.drawn = "true";
    this.leave();
  }

  resize() {
    this.leave();
    if (this.chart.kind === "disc") this.view?.width(this.side()).height(this.side()).runAsync();
  }

  listen() {
    for (const button of this.frame.querySelectorAll("[data-series]")) {
      button.addEventListener("click", () => this.toggle(button));
    }
    const tools = { reset: () => this.draw(), png: () => this.save("png"), svg: () => this.save("svg") };
    for (const button of this.frame.querySelectorAll("[data-do]")) {
      button.addEventListener("click", tools[button.dataset.do]);
    }
    // a chart that zooms whenever the pointer passes would stop readers who scroll the page
    this.plot.addEventListener("wheel", (event) => {
      const meant = event.ctrlKey || event.metaKey || document.activeElement === this.plot;
      if (!meant) event.stopPropagation();
    }, { capture: true });
    this.plot.addEventListener("pointermove", (event) => this.hover(event));
    this.plot.addEventListener("pointerdown", (event) => {
      this.plot.focus({ preventScroll: true });
      this.hover(event);
    });
    this.plot.addEventListener("pointerleave", () => this.leave());
    this.plot.addEventListener("blur", () => this.leave());
    this.plot.addEventListener("keydown", (event) => this.step(event));
  }

  toggle(button) {
    const series = Number(button.dataset.series);
    if (!this.hidden.delete(series)) this.hidden.add(series);
    button.setAttribute("aria-pressed", String(!this.hidden.has(series)));
    this.leave();
    this.view?.signal("hidden", [...this.hidden]).runAsync();
  }

  // where a point of the data is within the plot, in pixels
  place(x, y) {
    const [left, top] = this.view.origin();
    const padding = this.view.padding();
    const across = this.view.scale("x")(x) + left + padding.left;
    return [across, this.view.scale("y")(y) + top + padding.top];
  }

  shown() {
    return this.series.map((_, k) => k).filter((k) => !this.hidden.has(k) && this.series[k].length);
  }

  within(across) {
    const [low, high] = this.view.scale("x").domain();
    const [left, right] = [this.place(low, 1)[0], this.place(high, 1)[0]];
    return across >= left - 8 && across <= right + 8;
  }

  hover(event) {
    if (!this.view) return;
    if (event.buttons && event.pointerType === "mouse") return this.leave(); // it is being moved
    const frame = this.plot.getBoundingClientRect();
    const across = event.clientX - frame.left;
    const down = event.clientY - frame.top;
    if (!this.within(across)) return this.leave();
    if (this.chart.kind !== "lines") this.tellPoint(this.closest(across, down));
    else this.tell(this.nearest(across));
  }

  nearest(across) {
    const [left] = this.view.origin();
    const x = this.view.scale("x").invert(across - left - this.view.padding().left);
    let best = null;
    for (const k of this.shown()) {
      const row = this.series[k][closestIndex(this.series[k], x)];
      const off = Math.abs(this.place(row.x, 1)[0] - across);
      if (best === null || off < best.off) best = { off, x: row.x };
    }
    return best && this.within(this.place(best.x, 1)[0]) ? best.x : null;
  }

  // the values of all shown series at x, or within a few pixels of it
  tell(x) {
    if (x === null) return this.leave();
    this.at = x;
    const across = this.place(x, 1)[0];
    const rows = [];
    for (const k of this.shown()) {
      const row = this.series[k][closestIndex(this.series[k], x)];
      if (Math.abs(this.place(row.x, 1)[0] - across) <= 5 && row.y !== null) rows.push([k, row]);
    }
    const lines = rows.map(([k, row]) => {
      const banded = row.lo !== undefined && row.lo !== null;
      const band = banded ? `${written(row.lo, 3)} … ${written(row.hi, 3)}` : "";
      return [k, this.chart.names[k], written(row.y), band];
    });
    this.point(rows, across);
    this.show(`${this.chart.x_label}: ${written(x)}`, lines, across);
  }

  closest(across, down) {
    let best = null;
    for (const k of this.shown()) {
      for (const row of this.series[k]) {
        const [x, y] = this.place(row.x, row.y);
        const off = Math.hypot(x - across, y - down);
        if (off < 24 && (best === null || off < best.off)) best = { off, row, place: [x, y] };
      }
    }
    return best;
  }

  tellPoint(best) {
    if (best === null) return this.leave();
    const { row } = best;
    const sign = row.y < 0 ? "−" : "+";
    this.point([[row.s, row]], null);
    const inRow = [[row.s, this.chart.x_label, written(row.x)]];
    this.show(this.chart.names[row.s], this.chart.kind === "strip" ? inRow : [
      [row.s, "value", `${written(row.x, 5)} ${sign} ${written(Math.abs(row.y), 5)}i`],
      [row.s, "modulus", written(Math.hypot(row.x, row.y))],
    ], ...best.place);
  }

  point(rows, across) {
    const parts = [];
    const [low, high] = this.view.scale("y").range();
    const top = this.view.origin()[1] + this.view.padding().top;
    if (across !== null) {
      parts.push(element("line", { x1: across, x2: across, y1: top + Math.min(low, high), y2: top + Math.max(low, high) }));
    }
    for (const [k, row] of rows) {
      const [x, y] = this.place(row.x, row.y);
      if (y < top - 1 || y > top + Math.max(low, high) + 1) continue;
      const dot = element("circle", { cx: x, cy: y, r: 5 });
      dot.style.fill = colour(k);
      parts.push(dot);
    }
    this.overlay.replaceChildren(...parts);
  }

  show(head, lines, across, down = 12) {
    const table = element("table");
    for (const [k, name, value, band] of lines) {
      const row = element("tr");
      const label = element("th", { scope: "row" });
      const swatch = element("i");
      swatch.style.background = colour(k);
      label.append(swatch, name);
      const cell = element("td", {}, value);
      if (band) cell.append(element("small", {}, band));
      row.append(label, cell);
      table.append(row);
    }
    this.readout.replaceChildren(element("p", {}, head), table);
    this.readout.hidden = false;
    // beside the rule, on the side that has room
    const place = this.plot.offsetLeft + across;
    const width = this.readout.offsetWidth;
    const room = this.frame.clientWidth;
    let left = place + 14;
    if (left + width > room - 8) left = place - 14 - width;
    this.readout.style.left = `${Math.max(8, Math.min(left, room - width - 8))}px`;
    this.readout.style.top = `${this.plot.offsetTop + down + 14}px`;
  }

  leave() {
    this.readout.hidden = true;
    this.overlay.replaceChildren();
  }

  // arrow keys move from point to point of the first shown series
  step(event) {
    if (event.key === "Escape") return this.leave();
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const first = this.shown()[0];
    if (!by || first === undefined || !this.view) return;
    event.preventDefault();
    const rows = this.series[first];
    if (this.chart.kind !== "lines") {
      this.index = Math.max(0, Math.min(rows.length - 1, (this.index ?? -1) + by));
      const row = rows[this.index];
      return this.tellPoint({ row, place: this.place(row.x, row.y) });
    }
    const at = this.at === undefined ? 0 : closestIndex(rows, this.at) + by;
    this.tell(rows[Math.max(0, Math.min(rows.length - 1, at))].x);
  }

  // what is seen now, with title and legend: a picture has no page around it
  async save(kind) {
    const spec = this.spec(this.shown());
    spec.width = this.view.width();
    spec.height = this.view.height();
    delete spec.autosize;
    for (const layer of spec.layer) {
      for (const param of layer.params ?? []) {
        param.value = { x: this.view.scale("x").domain(), y: this.view.scale("y").domain() };
      }
    }
    const styles = getComputedStyle(document.documentElement); // which a picture does not have
    const config = JSON.parse(JSON.stringify(this.config).replace(
      /var\((--[\w-]+)\)/g, (_, name) => styles.getPropertyValue(name).trim()));
    const made = await vegaEmbed(document.createElement("div"), spec, {
      mode: "vega-lite", actions: false, defaultStyle: false, ast: true, renderer: "none", config,
    });
    const link = element("a", { download: `${this.chart.file}.${kind}` });
    link.href = await made.view.toImageURL(kind, 2);
    link.click();
    made.finalize();
  }
}

// rows are sorted by x
function closestIndex(rows, x) {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle].x < x) low = middle + 1;
    else high = middle;
  }
  return low > 0 && x - rows[low - 1].x <= rows[low].x - x ? low - 1 : low;
}
