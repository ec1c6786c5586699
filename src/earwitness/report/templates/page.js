"use strict";
/* The page around the cards: sorting the tables, filtering and listing the clips, links, keys. */

(() => {
  const PAGE = 50;
  const FACETS = ["system", "verdict", "stratum", "kind", "reason"];
  const ALL = { system: "", verdict: "", stratum: "", kind: "", reason: "", sample: "", q: "" };

  const { clips, run } = earwitness;
  const form = document.getElementById("filters");
  const list = document.getElementById("list");
  const more = document.getElementById("more");
  const prompt = document.getElementById("prompt");
  const tip = document.getElementById("tip");
  const plain = (name) => name.replaceAll("_", " ");
  const amount = (n) => n.toLocaleString("en-GB");

  const names = new Map(run.systems);
  const strata = new Map(run.strata);
  // What has a verdict comes first; the order of the run is kept otherwise.
  const rank = { unheard: 1, not_applicable: 2 };
  clips.sort((a, b) => (rank[a.verdict] ?? 0) - (rank[b.verdict] ?? 0));

  const samples = new Map();
  for (const clip of clips) {
    samples.set(clip.sample, (samples.get(clip.sample) ?? 0) + 1);
    const words = [clip.caption, clip.reversed, ...clip.texts.map(([, text]) => text), ...clip.tags];
    clip.text = [...words, clip.sample, clip.system, names.get(clip.system), `#${clip.id}`].join("\n").toLowerCase();
  }

  let filters = { ...ALL };
  let found = [];
  let shown = 0;
  let current = null;

  // --- Filters -----------------------------------------------------------------------------------

  /** The clips that pass, and for each facet how many would pass if only it were changed. */
  function search() {
    const words = filters.q.toLowerCase().split(/\s+/).filter(Boolean);
    const counts = Object.fromEntries(FACETS.map((facet) => [facet, new Map()]));
    const total = Object.fromEntries(FACETS.map((facet) => [facet, 0]));
    found = [];
    for (const clip of clips) {
      if (filters.sample && clip.sample !== filters.sample) continue;
      if (!words.every((word) => clip.text.includes(word))) continue;
      const failed = FACETS.filter((facet) => filters[facet] && clip[facet] !== filters[facet]);
      if (!failed.length) found.push(clip);
      if (failed.length > 1) continue;
      for (const facet of failed.length ? failed : FACETS) {
        counts[facet].set(clip[facet], (counts[facet].get(clip[facet]) ?? 0) + 1);
        total[facet] += 1;
      }
    }
    return { counts, total };
  }

  function buildFilters() {
    const verdicts = form.querySelector(".verdicts");
    const given = new Set(clips.map((clip) => clip.verdict));
    const usual = run.verdicts.length - 2; // the last two are not the task's own, and shown where they occur
    const offered = run.verdicts.filter(([name], index) => index < usual || given.has(name));
    for (const [value, text] of [["", "All"], ...offered]) {
      const label = document.createElement("label");
      const input = document.createElement("input");
      Object.assign(input, { type: "radio", name: "verdict", value });
      const count = document.createElement("small");
      label.dataset.verdict = value;
      label.append(input, text, " ", count);
      verdicts.append(label);
    }
    const values = (facet) => [...new Set(clips.map((clip) => clip[facet]))].filter(Boolean);
    const inOrder = (facet) => values(facet).sort((a, b) => known[facet].indexOf(a) - known[facet].indexOf(b));
    const known = { system: [...names.keys()], stratum: [...strata.keys()] };
    const offers = {
      system: inOrder("system"),
      stratum: inOrder("stratum"),
      kind: values("kind").sort(),
      reason: values("reason").sort(),
    };
    for (const [facet, names] of Object.entries(offers)) {
      form.elements[facet].append(new Option("", ""), ...names.map((name) => new Option("", name)));
      form.elements[facet].closest("label").hidden = !names.length;
    }
  }

  function showFilters({ counts, total }) {
    const titles = { system: names, stratum: strata };
    for (const facet of ["system", "stratum", "kind", "reason"]) {
      const select = form.elements[facet];
      for (const option of select.options) {
        const name = titles[facet]?.get(option.value) ?? (facet === "system" ? option.value : plain(option.value));
        const n = option.value ? (counts[facet].get(option.value) ?? 0) : total[facet];
        const short = name.length > 60 ? `${name.slice(0, 60)}…` : name;
        option.textContent = `${short || "any"} (${amount(n)})`;
      }
      select.value = filters[facet];
    }
    for (const input of form.elements.verdict) {
      const n = input.value ? (counts.verdict.get(input.value) ?? 0) : total.verdict;
      input.parentNode.querySelector("small").textContent = amount(n);
      input.checked = input.value === filters.verdict;
      input.parentNode.classList.toggle("empty", !n);
    }
    if (form.elements.q.value.trim() !== filters.q) form.elements.q.value = filters.q;
  }

  /** One sample across systems: which one, how to leave, how to reach its neighbours. */
  function showPrompt() {
    prompt.hidden = !filters.sample;
    list.classList.toggle("compare", Boolean(filters.sample));
    if (!filters.sample) return;
    const ids = [...samples.keys()];
    const at = ids.indexOf(filters.sample);
    const link = (text, to) => {
      const node = document.createElement("a");
      node.textContent = text;
      node.href = "#" + new URLSearchParams(to);
      return node;
    };
    const name = document.createElement("span");
    const id = document.createElement("bdi");
    id.textContent = filters.sample;
    name.append("Sample ", id, " in every system");
    prompt.replaceChildren(name);
    if (at > 0) prompt.append(link("‹ Previous sample", { sample: ids[at - 1] }));
    if (at >= 0 && at + 1 < ids.length) prompt.append(link("Next sample ›", { sample: ids[at + 1] }));
    prompt.append(link("All clips", { verdict: "" }));
  }

  // --- List --------------------------------------------------------------------------------------

  function addPage() {
    const next = found.slice(shown, shown + PAGE);
    const fresh = next.filter((clip) => !document.getElementById(`clip-${clip.id}`));
    list.append(...fresh.map((clip) => earwitness.card(clip, samples.get(clip.sample))));
    shown += next.length;
    const left = found.length - shown;
    more.hidden = !left;
    more.textContent = `Show ${amount(Math.min(PAGE, left))} more (${amount(left)} left)`;
    const all = found.length === clips.length ? "" : ` of ${amount(clips.length)}`;
    document.getElementById("count").textContent = found.length
      ? `${amount(found.length)}${all} ${found.length === 1 && !all ? "clip" : "clips"}${left ? `, the first ${amount(shown)} listed` : ""}.`
      : "No clip passes these filters.";
  }

  function show() {
    showFilters(search());
    showPrompt();
    list.replaceChildren();
    shown = 0;
    current = null;
    addPage();
  }

  function change(changes) {
    filters = { ...filters, ...changes };
    const set = Object.entries(filters).filter(([, value]) => value);
    history.replaceState(null, "", set.length ? `#${new URLSearchParams(set)}` : location.pathname + location.search);
    show();
  }

  /** Show one clip wherever it is in the list: if it is not listed yet, or filtered out, it comes first. */
  function showClip(id) {
    const clip = clips.find((one) => String(one.id) === id);
    if (!clip) return false;
    let card = document.getElementById(`clip-${id}`);
    if (!card) {
      card = earwitness.card(clip, samples.get(clip.sample));
      list.prepend(card);
    }
    for (const linked of list.querySelectorAll(".linked")) linked.classList.remove("linked");
    card.classList.add("linked");
    go(card);
    return true;
  }

  function follow() {
    const hash = location.hash.slice(1);
    const one = /^clip-(\d+)$/.exec(hash);
    if (one) {
      if (!list.children.length) show();
      showClip(one[1]);
      return;
    }
    if (hash && !hash.includes("=")) return; // a plain anchor
    const wanted = new URLSearchParams(hash);
    filters = Object.fromEntries(Object.keys(ALL).map((name) => [name, wanted.get(name) ?? ""]));
    show();
    if (hash) document.getElementById("clips").scrollIntoView();
  }

  // --- Keys, tooltips, tables --------------------------------------------------------------------

  function go(card) {
    current?.classList.remove("current");
    current = card;
    card.classList.add("current");
    card.focus({ preventScroll: true });
    card.scrollIntoView({ block: "start" });
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, select, textarea")) return;
    if (event.key === " ") {
      const card = event.target.closest(".clip") ?? current;
      if (!card || event.target.closest("button, a, summary")) return;
      event.preventDefault();
      card.playOrPause();
    } else if (event.key === "s") {
      (event.target.closest(".clip") ?? current)?.switchSound();
    } else if (event.key === "j" || event.key === "k") {
      const from = event.target.closest(".clip") ?? current;
      if (event.key === "j" && from && !from.nextElementSibling && !more.hidden) addPage();
      const next = event.key === "j" ? from?.nextElementSibling : from?.previousElementSibling;
      const to = from ? next : list.firstElementChild;
      if (to) go(to);
    }
  }

  function onPointer(event) {
    const bar = event.target.closest?.(".bar");
    tip.hidden = !bar;
    if (!bar) return;
    tip.textContent = bar.getAttribute("aria-label");
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = `${Math.max(8, Math.min(event.clientX + 12, room))}px`;
    tip.style.top = `${event.clientY + 16}px`;
  }

  /** Whether a table goes on beyond the right or lower edge of its box; a last line that stays is no edge. */
  function showEdges(box) {
    const right = box.scrollWidth - box.clientWidth - box.scrollLeft > 1;
    const below = box.scrollHeight - box.clientHeight - box.scrollTop > 1;
    box.classList.toggle("beyond-right", right);
    box.classList.toggle("beyond-below", below && !box.querySelector(".total"));
  }

  /** Numbers sort high to low first, names A to Z; what is not defined stays last. */
  function sortTable(head) {
    const table = head.closest("table");
    const column = head.cellIndex;
    const numeric = head.classList.contains("number");
    const was = head.getAttribute("aria-sort");
    const down = was ? was === "ascending" : numeric;
    for (const other of table.querySelectorAll("thead th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = (row) => row.cells[column].dataset.sort;
    const rows = [...table.tBodies[0].rows].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === "" || y === "") return (x === "") - (y === "");
      const order = numeric ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true });
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      if (event.target.closest("button")) sortTable(event.target.closest("th"));
    });
  }
  const edges = new ResizeObserver((seen) => seen.forEach(({ target }) => showEdges(target)));
  for (const box of document.querySelectorAll(".scroll")) {
    edges.observe(box); // that of a folded table once it is opened
    box.addEventListener("scroll", () => showEdges(box), { passive: true });
  }
  let waiting = 0;
  form.addEventListener("input", (event) => {
    const { name, value } = event.target;
    clearTimeout(waiting);
    if (name === "q") waiting = setTimeout(() => change({ q: value.trim() }), 150);
    else change({ [name]: value });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    form.elements.q.value = "";
    change(ALL);
  });
  more.addEventListener("click", addPage);
  document.addEventListener("keydown", onKey);
  document.addEventListener("pointermove", onPointer);
  window.addEventListener("hashchange", follow);

  buildFilters();
  follow();
})();
