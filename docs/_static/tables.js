// Name the cells of tables, which phones show as cards, and let the table of estimators be searched.
document.addEventListener("DOMContentLoaded", () => {
  const tables = [...document.querySelectorAll("article table.docutils")];
  for (const table of tables) {
    const names = [...table.querySelectorAll("thead th")].map((cell) => cell.textContent.trim());
    if (names.length < 3) continue;
    table.classList.add("cards");
    for (const row of table.querySelectorAll("tbody tr")) {
      [...row.cells].forEach((cell, i) => cell.setAttribute("data-name", names[i] || ""));
    }
  }
  if (!/estimators(\.html)?\/?$/.test(location.pathname)) return;
  const field = document.createElement("input");
  field.type = "search";
  field.className = "table-search";
  field.placeholder = "Search: SVC, answers, classes_, K-Means ...";
  field.setAttribute("aria-label", "Search estimators");
  const count = document.createElement("span");
  count.className = "table-search-count";
  count.setAttribute("role", "status");
  document.querySelector("article h1").after(field, count);
  const rows = tables.flatMap((table) => [...table.querySelectorAll("tbody tr")]);
  const search = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    for (const table of tables) {
      const left = table.querySelectorAll("tbody tr:not([hidden])").length;
      table.closest("section").toggleAttribute("data-empty", words.length > 0 && left === 0);
    }
    count.textContent = words.length ? `${shown} of ${rows.length}` : "";
  };
  field.addEventListener("input", search);
});
