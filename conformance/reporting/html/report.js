"use strict";
// The page is whole without this script; it filters the matrix, opens its cells, copies commands and remembers the theme.
(() => {
  const $ = (selector, inside = document) => inside.querySelector(selector);
  const $$ = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const make = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text; // never innerHTML: what stands in the data stays text
    if (kind) made.className = kind;
    return made;
  };
  const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* a file may have no storage */ } };
  const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };

  // Theme
  const root = document.documentElement;
  const chosen = recall("conformance-theme");
  if (chosen) root.dataset.theme = chosen;
  $("#theme").addEventListener("click", () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    remember("conformance-theme", root.dataset.theme);
  });

  // Filter
  const lines = $$("#matrix .line");
  const search = $("#search");
  const asked = lines.filter((line) => line.dataset.verdicts !== "unasked").length;
  const closed = new Set();
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = $$("[name=verdict]:checked").map((box) => box.value);
    const core = $("#core-only").checked;
    const unasked = $("#unasked").checked;
    let shown = 0;
    for (const line of lines) {
      const verdicts = line.dataset.verdicts.split(" ");
      const fits = (unasked || verdicts[0] !== "unasked")
        && (!wanted.length || wanted.some((verdict) => verdicts.includes(verdict)))
        && (!core || "core" in line.dataset)
        && words.every((word) => line.dataset.words.includes(word));
      const area = line.parentElement.dataset.area;
      line.hidden = !fits || closed.has(area);
      if (line.hidden) close(line);
      line.dataset.fits = fits ? "1" : "";
      shown += fits ? 1 : 0;
    }
    for (const body of $$("#matrix tbody")) body.hidden = !$$(".line", body).some((line) => line.dataset.fits);
    $("#shown").textContent = `${shown} of ${unasked ? lines.length : asked} rules shown`;
  };
  $("#controls").addEventListener("input", filter);
  $("#controls").addEventListener("submit", (event) => event.preventDefault());
  for (const button of $$("#matrix .area button")) {
    button.addEventListener("click", () => {
      const area = button.closest("tbody").dataset.area;
      if (!closed.delete(area)) closed.add(area);
      button.setAttribute("aria-expanded", String(!closed.has(area)));
      filter();
    });
  }
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "/" && !typing) { event.preventDefault(); search.focus(); }
    if (event.key === "Escape") {
      if (event.target === search) { search.value = ""; filter(); } else { closeAll(); }
    }
    if (event.target.matches?.(".square") && event.key.startsWith("Arrow")) move(event);
  });

  // Arrow keys go from cell to cell
  const move = (event) => {
    const rows = lines.filter((line) => !line.hidden);
    const row = event.target.closest("tr");
    const column = [...row.cells].indexOf(event.target.closest("td"));
    const step = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[event.key];
    let y = rows.indexOf(row);
    let x = column;
    for (;;) {
      y += step[0]; x += step[1];
      if (y < 0 || y >= rows.length || x < 1 || x >= row.cells.length) return;
      const next = $(".square", rows[y].cells[x]);
      if (next) { event.preventDefault(); next.focus(); return; }
    }
  };

  // Cells
  const data = JSON.parse($("#data-cells").textContent);
  const signs = Object.fromEntries($$("#legend .badge").map((badge) => [badge.classList[1], badge]));
  const plural = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
  const close = (line) => {
    if (line.nextElementSibling?.classList.contains("details")) line.nextElementSibling.remove();
    for (const square of $$(".square", line)) square.setAttribute("aria-expanded", "false");
  };
  const closeAll = () => { for (const open of $$("#matrix .details")) close(open.previousElementSibling); };
  const weight = ([checks, histories, operations, crashes, schedules]) => [
    plural(checks, "check", "checks"), plural(histories, "history", "histories"), plural(operations, "operation", "operations"),
    ...(crashes ? [plural(crashes, "crash point", "crash points")] : []),
    ...(schedules ? [plural(schedules, "schedule", "schedules")] : []),
  ].join(", ");
  const findings = (claim) => {
    const cell = make("td");
    for (const print of claim.findings ?? []) {
      const link = make("a", print);
      link.href = `#finding-${print}`;
      link.addEventListener("click", () => { const found = document.getElementById(`finding-${print}`); if (found) found.open = true; });
      cell.append(link, " ");
    }
    if (claim.why) cell.append(claim.why);
    return cell;
  };
  const details = (square) => {
    const key = square.dataset.cell;
    const [rule, number] = [key.slice(0, key.lastIndexOf(" ")), Number(key.slice(key.lastIndexOf(" ") + 1))];
    const row = make("tr", undefined, "details");
    const cell = make("td");
    cell.colSpan = data.engines.length + 1;
    const table = make("table");
    const head = table.createTHead().insertRow();
    for (const title of ["Verdict", "Role", "With", "Features", "Evidence", "Floor", ""]) head.append(make("th", title));
    const body = table.createTBody();
    for (const claim of data.cells[key]) {
      const line = body.insertRow();
      const verdict = make("td");
      verdict.append(signs[claim.v].cloneNode(true), ...(claim.core ? [" ", make("span", "core", "core")] : []));
      const setting = [claim.role, ...(claim.processes === "one" ? [] : [`${claim.processes} processes`]), ...(claim.storage === "local" ? [] : [claim.storage])];
      line.append(
        verdict, make("td", setting.join(", ")), make("td", claim.with.join(", ") || "alone"),
        make("td", claim.features.join(", ") || "none"), make("td", weight(claim.w)),
        make("td", `${claim.floor[0]} in ${claim.floor[1]}`), findings(claim),
      );
    }
    cell.append(make("h3", `${rule} on ${data.engines[number]}`), table);
    row.append(cell);
    return row;
  };
  $("#matrix").addEventListener("click", (event) => {
    const square = event.target.closest(".square");
    if (!square) return;
    const line = square.closest("tr");
    const open = square.getAttribute("aria-expanded") === "true";
    close(line);
    if (!open) {
      line.after(details(square));
      square.setAttribute("aria-expanded", "true");
    }
  });

  // Copy
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(button.previousElementSibling);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });

  // A link to a finding opens it; everything is open on paper
  const reveal = () => { const found = document.getElementById(location.hash.slice(1)); if (found?.matches(".finding")) found.open = true; };
  addEventListener("hashchange", reveal);
  addEventListener("beforeprint", () => { for (const each of $$("details")) each.open = true; });
  reveal();
  filter();
})();
