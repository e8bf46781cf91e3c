// The page: its theme, its charts, its tables.

const content = JSON.parse(document.getElementById("report-content").textContent);
const root = document.documentElement;
const figures = [];

// ---- theme: the reader's choice, else the system's; paper is always light. Charts follow the
// styles: drawn anew while pages are counted, they would change their number

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");
const button = document.getElementById("theme");

const tell = () => {
  button.textContent = theme() === "dark" ? "Switch to light" : "Switch to dark";
};

button.hidden = false;
tell();
button.addEventListener("click", () => {
  root.dataset.theme = theme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("memcurve-theme", root.dataset.theme);
  } catch {
    // a page opened from a file may not be allowed to keep anything
  }
  tell();
});
dark.addEventListener("change", tell);

for (const frame of document.querySelectorAll("figure[data-chart]")) {
  const chart = content.charts[Number(frame.dataset.chart)];
  figures.push(new Figure(frame, chart, content.config));
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
