"use strict";
/* The cards of event tables: those of card.js, with a lane for the truth and one for each system. */

(() => {
  const SIGNS = { hit: "✓", substitution: "≠", miss: "−", false_alarm: "+" };
  const KINDS = ["hit", "substitution", "miss", "false_alarm"];
  const HUES = 8;
  const LANE_PX = 900; // about the width of a lane on a wide screen, to leave room for labels
  const LETTER_PX = 7.2;

  const plainCard = earwitness.card;

  function make(kind, className, ...children) {
    const node = document.createElement(kind);
    node.className = className;
    node.append(...children);
    return node;
  }

  function isolated(text) {
    return make("bdi", "", text);
  }

  /** Every label of a clip has a hue, the same in all its lanes. */
  function huesOf(clip) {
    return new Map(clip.tags.map((label, index) => [label, `hue${index % HUES}`]));
  }

  /** Place a node over part of the time scale. */
  function spread(node, from, to, span) {
    const start = Math.max(0, Math.min(from / span, 1));
    node.style.left = `${start * 100}%`;
    node.style.width = `${Math.max(0, Math.min(to / span, 1) - start) * 100}%`;
    return node;
  }

  function textOf(bar) {
    const sign = SIGNS[bar.kind] ?? "";
    const ends = (bar.onsetOut ? " ⇤" : "") + (bar.offsetOut ? " ⇥" : "");
    return `${sign}${ends} ${bar.label}${bar.of ? ` for ${bar.of}` : ""}`.trim();
  }

  function barNode(bar, span, hues) {
    const text = make("span", "text", textOf(bar));
    text.dir = "auto";
    const node = make("span", `bar verdict ${bar.kind} ${hues.get(bar.label) ?? "other"}`, text);
    node.classList.toggle("onset-out", Boolean(bar.onsetOut));
    node.classList.toggle("offset-out", Boolean(bar.offsetOut));
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", bar.tip);
    return spread(node, bar.from, bar.to, span);
  }

  /** Bars in as few rows as leave each its place and room for its text; what answers the truth lies on top. */
  function rowsOf(bars, span) {
    const taken = [];
    const rows = new Map();
    const below = (bar) => Number(bar.kind === "false_alarm");
    for (const bar of [...bars].sort((a, b) => below(a) - below(b))) {
      const room = ((textOf(bar).length * LETTER_PX + 14) / LANE_PX) * span;
      const atEnd = isAtEnd(bar, span);
      const from = atEnd ? Math.min(bar.from, bar.to - room) : bar.from;
      const to = atEnd ? bar.to : Math.max(bar.to, bar.from + room);
      let row = taken.findIndex((spans) => spans.every(([start, end]) => end <= from || to <= start));
      if (row < 0) row = taken.push([]) - 1;
      taken[row].push([from, to]);
      rows.set(bar, row);
    }
    return rows;
  }

  /** A label that would reach beyond the end stands left of where its event ends. */
  function isAtEnd(bar, span) {
    return bar.from / span > 0.8;
  }

  function laneOf(bars, span, hues, least, collars = []) {
    const lane = make("div", "lane timed", ...collars);
    const rows = rowsOf(bars, span);
    for (const bar of bars) {
      const node = barNode(bar, span, hues);
      node.style.setProperty("--row", rows.get(bar));
      node.classList.toggle("at-end", isAtEnd(bar, span));
      lane.append(node);
    }
    lane.style.setProperty("--rows", Math.max(least, ...[...rows.values()].map((row) => row + 1)));
    return lane;
  }

  /** Where onsets and offsets of the true events may lie. */
  function collarsOf(clip, span, hues) {
    const band = (at, width, hue) => spread(make("span", `collar ${hue}`), at - width, at + width, span);
    return clip.truth.flatMap((event) => {
      const hue = hues.get(event.label);
      const onset = band(event.from, earwitness.run.collarS, hue);
      return event.offsetCollar === null ? [onset] : [onset, band(event.to, event.offsetCollar, hue)];
    });
  }

  function tally(counts) {
    const words = ["hit", "substituted", "missed", "false alarms"];
    const node = make("small", "tally");
    counts.forEach((count, index) => {
      const one = make("span", count ? "" : "none", `${SIGNS[KINDS[index]]}${count}`);
      one.dataset.count = KINDS[index];
      one.setAttribute("aria-label", `${count} ${words[index]}`);
      node.append(one, " ");
    });
    return node;
  }

  function lanes(clip, span) {
    const hues = huesOf(clip);
    const named = (text, ...more) => {
      const node = make("div", "name lane-of", isolated(text), ...more);
      node.title = text;
      return node;
    };
    const nodes = [named("Truth"), laneOf(clip.truth, span, hues, 1)];
    nodes[1].classList.add("truth");
    if (!clip.truth.length) nodes[1].append(make("em", "", "no event"));
    for (const one of clip.heard) {
      if (one.unheard) {
        const lane = make("div", "lane absent", make("em", "", `unheard: ${one.unheard}`));
        nodes.push(named(one.system), lane);
        continue;
      }
      const lane = laneOf(one.bars, span, hues, 2, collarsOf(clip, span, hues));
      lane.dataset.system = one.system;
      if (!one.bars.length) lane.append(make("em", "", one.left.length ? "nothing that counts" : "nothing, rightly"));
      nodes.push(named(one.system, tally(one.counts)), lane);
      if (!one.left.length) continue;
      const bars = one.left.map((event) => {
        const node = spread(make("span", "bar other"), event.from, event.to, span);
        node.setAttribute("role", "img");
        node.setAttribute("aria-label", event.tip);
        return node;
      });
      const count = make("div", "name other", `${one.left.length} not counted`);
      nodes.push(count, make("div", "lane left-out", ...bars));
    }
    return nodes;
  }

  /** All events as a table, for reading and for screen readers. */
  function details(clip) {
    const line = (...cells) => make("tr", "", ...cells.map((cell) => make("td", "", isolated(cell))));
    const rows = clip.truth.map((event) => line("Truth", "", event.label, event.from.toFixed(2), event.to.toFixed(2), ""));
    for (const one of clip.heard) {
      for (const bar of one.bars) {
        rows.push(line(one.system, `${SIGNS[bar.kind]} ${bar.word}`, bar.label, bar.from.toFixed(2), bar.to.toFixed(2), bar.why));
      }
    }
    const heads = ["", "Verdict", "Class", "Onset, s", "Offset, s", "Held against"].map((text) => {
      const head = make("th", "", text);
      head.scope = "col";
      return head;
    });
    const table = make("table", "events-table", make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...rows));
    return make("details", "fold numbers", make("summary", "", "Events"), make("div", "tables scroll", table));
  }

  earwitness.card = (clip, siblings) => {
    const card = plainCard(clip, siblings);
    const screen = card.querySelector(".screen");
    const { seconds: length, src } = clip.sound;
    const amount = `${clip.errors} ${clip.errors === 1 ? "error" : "errors"}`;
    card.querySelector(".badge").textContent = clip.verdict === "errors" ? amount : clip.verdict === "clean" ? "No errors" : "Unheard";
    card.querySelector(".system").remove();
    card.querySelector(".id").textContent = `${clip.truth.length} true ${clip.truth.length === 1 ? "event" : "events"}, ${length.toFixed(1)} s`;
    const hues = huesOf(clip);
    for (const tag of card.querySelectorAll(".tags a")) tag.prepend(make("i", `dot ${hues.get(tag.textContent)}`));
    if (!src) {
      screen.classList.add("silent");
      card.querySelector(".foot a")?.remove();
      card.querySelector(".picture").remove();
      card.querySelector(".deck").remove();
    }
    if (length) screen.querySelector(".axis").before(...lanes(clip, length));
    card.querySelector(".foot").prepend(details(clip));
    return card;
  };
})();
