"use strict";

// A click on a header sorts: numbers from the highest, words from the first; another click turns it round.
// "82.6 [81.0, 84.1]" counts as 82.6, "<.001" as .001. Cells without a number come last.
const number = (text) => parseFloat(text.replace(/^[<>≤≥~ ]+/, "").replace("−", "-").replace(/,(?=\d{3})/g, ""));

function sort(header) {
  const numbers = header.classList.contains("number");
  const down = header.ariaSort ? header.ariaSort === "ascending" : numbers;
  for (const other of header.parentNode.cells) other.removeAttribute("aria-sort");
  header.ariaSort = down ? "descending" : "ascending";
  const words = (a, b) => a.localeCompare(b, "en", { numeric: true });
  const compare = (a, b) => (numbers ? number(a) - number(b) : words(a, b)) * (down ? -1 : 1);
  const last = (text) => (numbers ? isNaN(number(text)) : !text);
  const body = header.closest("table").tBodies[0];
  // A row without a name goes on with the row above it, wherever that goes.
  const groups = [];
  for (const row of body.rows) {
    if (groups.length && !row.cells[0].textContent.trim()) groups.at(-1).push(row);
    else groups.push([row]);
  }
  const keyed = groups.map((rows) => [rows[0].cells[header.cellIndex].textContent.trim(), rows]);
  keyed.sort(([a], [b]) => last(a) - last(b) || compare(a, b) || 0);
  body.append(...keyed.flatMap(([, rows]) => rows));
}

for (const header of document.querySelectorAll("thead th")) {
  const button = document.createElement("button");
  button.append(...header.childNodes);
  button.addEventListener("click", () => sort(header));
  header.append(button);
}

// The list of pages shows the headings of the page that is read. On narrow screens it stands above the text, which
// must not jump.
const observer = new IntersectionObserver((entries) => {
  const read = entries.find((entry) => entry.isIntersecting)?.target.id;
  for (const link of read ? document.querySelectorAll("nav summary a") : []) {
    const here = link.hash === `#${read}`;
    link.ariaCurrent = here ? "true" : null;
    if (matchMedia("(min-width: 64rem)").matches) link.closest("details").open = here;
  }
}, { rootMargin: "-20% 0px -80% 0px" });
document.querySelectorAll("section").forEach((section) => observer.observe(section));
