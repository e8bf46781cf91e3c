// The page: its theme, its charts, its tables.

const content = JSON.parse(document.getElementById("report-content").textContent);
const root = document.documentElement;
const figures = [];

// ---- theme: the reader's choice, else the system's; paper is always light

const dark = matchMedia("(prefers-color-scheme: dark)");
const paper = matchMedia("print");
let printing = false;
const chosen = () => root.dataset.theme || (dark.matches ? "dark" : "light");
const theme = () => (printing || paper.matches ? "light" : chosen());
const button = document.getElementById("theme");

function restyle() {
  button.setAttribute("aria-pressed", String(chosen() === "dark"));
  for (const figure of figures) figure.draw();
}

button.hidden = false;
button.setAttribute("aria-pressed", String(chosen() === "dark"));
button.addEventListener("click", () => {
  root.dataset.theme = chosen() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("memcurve-theme", root.dataset.theme);
  } catch {
    // a page opened from a file may not be allowed to keep anything
  }
  restyle();
});
dark.addEventListener("change", restyle);
paper.addEventListener("change", restyle);
addEventListener("beforeprint", () => { printing = true; restyle(); });
addEventListener("afterprint", () => { printing = false; restyle(); });

for (const frame of document.querySelectorAll("figure[data-chart]")) {
  const chart = content.charts[Number(frame.dataset.chart)];
  figures.push(new Figure(frame, chart, () => content.configs[theme()]));
}
for (const figure of figures) figure.draw();

// ---- tables that do not fit are scrolled, also with the keyboard

const tables = [...document.querySelectorAll(".scroll")];
function reachable() {
  for (const table of tables) {
    if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
    else table.removeAttribute("tabindex");
  }
}

let waiting = 0;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    reachable();
    for (const figure of figures) figure.resize();
  }, 100);
});
reachable();
