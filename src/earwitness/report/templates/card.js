"use strict";
/* One clip as a card. What comes from the run is only ever set as text, never read as markup. */

const earwitness = {};

(() => {
  const HUES = 8;
  const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
  const FAULTS = {
    1: "Loading was stopped.",
    2: "The file could not be read to its end.",
    3: "The file is damaged or in a form this browser cannot decode.",
    4: "The file is missing, or in a form this browser does not play.",
  };
  const VERDICTS = { right: "Right", wrong: "Wrong", not_applicable: "Not applicable", unheard: "Unheard" };

  /** An element with attributes and children; strings become text. */
  function make(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== "" && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null));
    return node;
  }

  const plain = (name) => name.replaceAll("_", " ");
  const seconds = (value) => `${value.toFixed(2)} s`;
  const address = (filters) => "#" + new URLSearchParams(filters);

  /** The asked sounds with their number, hue and the events that answer them. */
  function answers(clip) {
    const places = [...new Set(clip.asked.map(([, place]) => place))].filter((p) => p >= 0).sort((a, b) => a - b);
    const asked = clip.asked.map(([phrase, place], index) => ({
      phrase,
      number: place < 0 ? Infinity : places.indexOf(place) + 1, // outside the stated order: at any time
      mark: place < 0 ? "•" : String(places.indexOf(place) + 1),
      hue: `hue${index % HUES}`,
      events: [],
    }));
    const others = [];
    for (const [label, onset, offset, confidence, answered] of clip.heard) {
      (answered === null ? others : asked[answered].events).push({ label, onset, offset, confidence });
    }
    return { asked: asked.sort((a, b) => a.number - b.number), others };
  }

  function byLabel(events) {
    const groups = new Map();
    for (const event of events) {
      if (!groups.has(event.label)) groups.set(event.label, []);
      groups.get(event.label).push(event);
    }
    return groups;
  }

  function askedOrder(asked) {
    const list = make("ol", { class: "asked", "aria-label": "Asked, in the stated order" });
    asked.forEach((one, index) => {
      const before = asked[index - 1];
      if (before) {
        const together = before.number === one.number;
        const joint = one.number === Infinity ? "at any time:" : together ? "+" : "→";
        list.append(make("li", { class: "then", "aria-hidden": "true" }, joint));
      }
      list.append(make("li", { class: `chip ${one.hue}` }, make("i", {}, one.mark), make("bdi", {}, one.phrase)));
    });
    return list;
  }

  function bar(event, span, one) {
    const sure = event.confidence === null ? "" : `, confidence ${event.confidence.toFixed(2)}`;
    const tip =
      `${event.label}: ${event.onset.toFixed(2)} to ${seconds(event.offset)}${sure}` +
      (one ? `, answers “${one.phrase}”` : ", not asked for");
    const node = make("span", { class: `bar ${one ? one.hue : "other"}`, role: "img", "aria-label": tip });
    const from = Math.min(event.onset / span, 1);
    node.style.left = `${from * 100}%`;
    node.style.width = `${(Math.min(event.offset / span, 1) - from) * 100}%`;
    node.style.opacity = event.confidence === null ? 1 : 0.35 + 0.65 * event.confidence;
    return node;
  }

  /** The rows of the timeline below the picture: asked sounds first, then the rest, folded away. */
  function lanes(screen, clip, asked, others, span) {
    const lane = (name, kind, ...inside) => {
      const parts = [make("div", { class: `name ${kind}`, title: name }, make("bdi", {}, name)), make("div", { class: `lane ${kind}` }, ...inside)];
      screen.append(...parts);
      return parts;
    };
    for (const one of asked) {
      for (const [label, events] of byLabel(one.events)) {
        lane(label, one.hue, ...events.map((event) => bar(event, span, one)));
      }
      const listenedFor = clip.verdict === "right" || clip.verdict === "wrong";
      if (!one.events.length && listenedFor) lane(one.phrase, `absent ${one.hue}`, make("em", {}, "not heard"));
    }
    const groups = byLabel(others);
    if (!groups.size) return;
    const rest = [];
    const open = !asked.length;
    const count = `${groups.size} other ${groups.size === 1 ? "sound" : "sounds"} heard`;
    const toggle = make("button", { type: "button", class: "fold-lanes", "aria-expanded": String(open) }, count);
    const strip = make("div", { class: "lane strip" }, ...others.map((event) => bar(event, span, null)));
    const show = (shown) => {
      toggle.setAttribute("aria-expanded", String(shown));
      strip.classList.toggle("faded", shown);
      for (const part of rest) part.hidden = !shown;
    };
    toggle.addEventListener("click", () => show(toggle.getAttribute("aria-expanded") === "false"));
    screen.append(make("div", { class: "name" }, toggle), strip);
    for (const [label, events] of groups) {
      rest.push(...lane(label, "other", ...events.map((event) => bar(event, span, null))));
    }
    show(open);
  }

  function pins(surface, asked, span) {
    const heard = asked.filter((one) => one.events.length);
    heard.forEach((one, row) => {
      const onset = Math.min(...one.events.map((event) => event.onset));
      const pin = make("span", { class: `pin-line ${one.hue}`, "aria-hidden": "true" }, make("span", { class: `pin ${one.hue}` }, one.mark));
      pin.style.left = `${Math.min(onset / span, 1) * 100}%`;
      pin.firstChild.style.top = `${4 + row * 20}px`;
      surface.append(pin);
    });
  }

  function axis(node, span) {
    const step = STEPS.find((one) => span / one <= 10) ?? span;
    const digits = step < 1 ? 1 : 0;
    node.replaceChildren();
    for (let at = 0; at <= span + 1e-9; at += step) {
      const tick = make("span", {}, at.toFixed(digits) + (at === 0 ? " s" : ""));
      tick.style.left = `${(at / span) * 100}%`;
      if (at / span > 0.97) tick.className = "last";
      node.append(tick);
    }
  }

  /** The player: a button, the time, and a surface over picture and lanes that seeks. */
  function player(screen, clip, surface, ticks, fault) {
    const audio = make("audio", { preload: "none", src: clip.src });
    const button = make("button", { type: "button", class: "play", "aria-label": "Play" });
    const time = make("span", { class: "time" });
    const head = make("span", { class: "playhead", hidden: "hidden" });
    surface.append(head);
    let span = clip.seconds;
    let at = 0;

    const draw = () => {
      time.textContent = `${at.toFixed(1)} / ${span ? span.toFixed(1) : "–"} s`;
      head.hidden = !at || !span;
      if (span) head.style.left = `${Math.min(at / span, 1) * 100}%`;
      surface.setAttribute("aria-valuenow", at.toFixed(1));
      surface.setAttribute("aria-valuetext", seconds(at));
    };
    const follow = () => {
      at = audio.currentTime;
      draw();
      if (!audio.paused && !audio.ended) requestAnimationFrame(follow);
    };
    const play = (from) => {
      if (from !== undefined) audio.currentTime = at = from;
      for (const other of document.querySelectorAll("audio")) if (other !== audio) other.pause();
      audio.play().catch(() => {}); // why it cannot play is said by the error event
      draw();
    };
    const sound = () => {
      const playing = !audio.paused && !audio.ended;
      button.classList.toggle("playing", playing);
      button.setAttribute("aria-label", playing ? "Pause" : "Play");
      if (playing) follow();
    };
    for (const name of ["play", "pause", "ended"]) audio.addEventListener(name, sound);
    audio.addEventListener("seeked", follow);
    audio.addEventListener("loadedmetadata", () => {
      if (span || !Number.isFinite(audio.duration)) return;
      span = audio.duration;
      axis(ticks, span);
      draw();
    });
    audio.addEventListener("error", () => {
      fault.textContent = `Cannot be played: ${FAULTS[audio.error?.code] ?? "the browser does not say why."} (${clip.file})`;
      fault.hidden = false;
      screen.classList.add("broken");
      sound();
    });
    const toggle = () => (audio.paused || audio.ended ? play() : audio.pause());
    button.addEventListener("click", toggle);
    screen.addEventListener("click", (event) => {
      const { left, width } = surface.getBoundingClientRect();
      const x = (event.clientX - left) / width;
      if (span && x >= 0 && x <= 1 && !event.target.closest("button")) play(x * span);
    });
    surface.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.5, ArrowRight: 0.5, Home: -Infinity, End: Infinity }[event.key];
      if (!span || step === undefined) return;
      event.preventDefault();
      audio.currentTime = at = Math.max(0, Math.min(span, at + step));
      draw();
    });
    surface.setAttribute("aria-valuemin", "0");
    surface.setAttribute("aria-valuemax", span ?? 0);
    draw();
    return { deck: make("div", { class: "deck" }, button, time, audio), toggle };
  }

  function picture(clip) {
    if (!clip.picture) return make("div", { class: "picture none" }, `No spectrogram: ${clip.noPicture}`);
    const image = make("img", { src: clip.picture, alt: "Log-mel spectrogram", loading: "lazy", decoding: "async", draggable: "false" });
    const frame = make("div", { class: "picture" }, image);
    image.addEventListener("error", () => {
      frame.replaceChildren("No spectrogram: its file is missing");
      frame.classList.add("none");
    });
    return frame;
  }

  function number(value) {
    if (value === null) return "–";
    return Number.isInteger(value) ? String(value) : value.toFixed(3);
  }

  /** Numbers and events as tables, for reading and for screen readers. */
  function details(clip) {
    const row = (head, ...cells) => make("tr", {}, head, ...cells.map((cell) => make("td", {}, cell)));
    const measures = Object.entries(clip.values).map(([name, value]) => {
      const known = earwitness.run.measures[name];
      return row(make("th", { scope: "row", title: known?.meaning }, known?.title ?? plain(name)), number(value));
    });
    const heads = ["Heard", "Onset", "Offset", "Confidence", "Answers"].map((head) => make("th", { scope: "col" }, head));
    const events = clip.heard.map(([label, onset, offset, confidence, answered]) => {
      const phrase = answered === null ? "–" : clip.asked[answered][0];
      const sure = confidence === null ? "–" : confidence.toFixed(2);
      return row(make("th", { scope: "row" }, make("bdi", {}, label)), seconds(onset), seconds(offset), sure, phrase);
    });
    if (!measures.length && !events.length) return null;
    return make(
      "details",
      { class: "fold numbers" },
      make("summary", {}, "Numbers"),
      make(
        "div",
        { class: "tables" },
        measures.length ? make("table", { class: "values" }, make("tbody", {}, ...measures)) : null,
        events.length ? make("table", { class: "events" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...events)) : null,
      ),
    );
  }

  /** Build the card of a clip; `siblings` is how many clips share its sample id. */
  earwitness.card = (clip, siblings) => {
    const { asked, others } = answers(clip);
    const cause = clip.kind || (clip.verdict === "unheard" ? clip.reason : "");
    const badge = (VERDICTS[clip.verdict] ?? plain(clip.verdict)) + (cause ? `: ${plain(cause)}` : "");
    const caption = make("h3", { class: "caption", id: `caption-${clip.id}`, dir: "auto" }, clip.caption || "(no caption)");
    const fault = make("p", { class: "fault", role: "status", hidden: "hidden" });
    const why = clip.detail || plain(clip.reason);

    const last = Math.max(0, ...clip.heard.map(([, , offset]) => offset));
    const span = clip.seconds || last;
    const screen = make("div", { class: "screen" });
    const surface = make("div", { class: "surface", role: "slider", tabindex: "0", "aria-label": "Position in the clip" });
    const ticks = make("div", { class: "axis", "aria-hidden": "true" });
    const { deck, toggle } = player(screen, clip, surface, ticks, fault);
    screen.append(deck, picture(clip));
    if (span) {
      lanes(screen, clip, asked, others, span);
      pins(surface, asked, span);
      axis(ticks, span);
    }
    screen.append(ticks, surface);

    const card = make(
      "article",
      { class: `clip ${clip.verdict}`, id: `clip-${clip.id}`, tabindex: "-1", "aria-labelledby": `caption-${clip.id}` },
      make(
        "p",
        { class: "top" },
        make("span", { class: "badge" }, badge),
        make("a", { class: "system", href: address({ system: clip.system }), dir: "auto" }, clip.system),
        make("span", { class: "id", title: "sample id" }, make("bdi", {}, clip.sample)),
        make("a", { class: "link", href: `#clip-${clip.id}`, title: "Link to this clip" }, `#${clip.id}`),
      ),
      caption,
      clip.reversed ? make("p", { class: "reversed" }, "Reversed: ", make("bdi", {}, clip.reversed)) : null,
      why ? make("p", { class: "why" }, make("bdi", {}, why)) : null,
      asked.length ? askedOrder(asked) : null,
      screen,
      fault,
      clip.warnings.length ? make("ul", { class: "warnings" }, ...clip.warnings.map((text) => make("li", {}, text))) : null,
      make(
        "div",
        { class: "foot" },
        details(clip),
        siblings > 1 ? make("a", { href: address({ sample: clip.sample }) }, `Same prompt, other systems (${siblings - 1})`) : null,
        make("a", { href: clip.src, title: clip.file }, "Sound file"),
      ),
    );
    card.playOrPause = toggle;
    return card;
  };
})();
