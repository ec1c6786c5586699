"use strict";
/* One clip as a card. What comes from the run is only ever set as text, never read as markup. */

const earwitness = {};

(() => {
  const HUES = 8;
  const MOST_LANES = 8; // of a clip that is asked for nothing, before the rest folds away
  const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];
  const FAULTS = {
    1: "Loading was stopped.",
    2: "The file could not be read to its end.",
    3: "The file is damaged or in a form this browser cannot decode.",
    4: "The file is missing, or in a form this browser does not play.",
  };

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
  const hue = (index) => `hue${index % HUES}`;

  /** The asked sounds with their number and hue, the events of a sound that answer them, and its others. */
  function answers(clip, sound) {
    const places = [...new Set(clip.asked.map(([, place]) => place))].filter((p) => p >= 0).sort((a, b) => a - b);
    const ordered = places.length > 1;
    const asked = clip.asked.map(([phrase, place], index) => ({
      phrase,
      number: place < 0 && ordered ? Infinity : places.indexOf(place) + 1, // outside the stated order: at any time
      mark: place < 0 || !ordered ? "•" : String(places.indexOf(place) + 1),
      hue: hue(index),
      events: [],
    }));
    const others = [];
    for (const [label, onset, offset, confidence, answered] of sound.heard) {
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
    const list = make("ol", { class: "asked", "aria-label": "Asked for" });
    asked.forEach((one, index) => {
      const before = asked[index - 1];
      if (before) {
        const together = Math.max(before.number, 1) === Math.max(one.number, 1);
        const joint = one.number === Infinity ? "at any time:" : together ? "+" : "→";
        list.append(make("li", { class: "then", "aria-hidden": "true" }, joint));
      }
      list.append(make("li", { class: `chip ${one.hue}` }, make("i", {}, one.mark), make("bdi", {}, one.phrase)));
    });
    return list;
  }

  function bar(event, span, one, kind) {
    const sure = event.confidence === null ? "" : `, confidence ${event.confidence.toFixed(2)}`;
    const tip =
      `${event.label}: ${event.onset.toFixed(2)} to ${seconds(event.offset)}${sure}` +
      (one ? `, answers “${one.phrase}”` : kind === "other" ? ", not asked for" : "");
    const node = make("span", { class: `bar ${kind}`, role: "img", "aria-label": tip });
    const from = Math.min(event.onset / span, 1);
    node.style.left = `${from * 100}%`;
    node.style.width = `${(Math.min(event.offset / span, 1) - from) * 100}%`;
    node.style.opacity = event.confidence === null ? 1 : 0.35 + 0.65 * event.confidence;
    return node;
  }

  /** The rows of the timeline below the picture: asked sounds first, then the rest, folded away. Where
   * nothing is asked for, the first of the rest are listed, in the colours of `hues`. */
  function lanes(screen, { asked, others }, span, { missing, hues }) {
    const lane = (name, kind, ...inside) => {
      const parts = [make("div", { class: `name ${kind}`, title: name }, make("bdi", {}, name)), make("div", { class: `lane ${kind}` }, ...inside)];
      screen.append(...parts);
      return parts;
    };
    for (const one of asked) {
      for (const [label, events] of byLabel(one.events)) {
        lane(label, one.hue, ...events.map((event) => bar(event, span, one, one.hue)));
      }
      if (!one.events.length && missing) lane(one.phrase, `absent ${one.hue}`, make("em", {}, "not heard"));
    }
    const groups = byLabel(others);
    const kind = (label) => hues.get(label) ?? "other";
    const bars = (events) => events.map((event) => bar(event, span, null, kind(event.label)));
    const folded = [...groups];
    if (!asked.length) for (const [label, events] of folded.splice(0, MOST_LANES)) lane(label, kind(label), ...bars(events));
    if (!folded.length) return;
    const count = `${folded.length} ${asked.length ? "other" : "more"} ${folded.length === 1 ? "sound" : "sounds"} heard`;
    const toggle = make("button", { type: "button", class: "fold-lanes" }, count);
    const strip = make("div", { class: "lane strip" }, ...bars(folded.flatMap(([, events]) => events)));
    screen.append(make("div", { class: "name" }, toggle), strip);
    const rest = folded.flatMap(([label, events]) => lane(label, kind(label), ...bars(events)));
    const show = (shown) => {
      toggle.setAttribute("aria-expanded", String(shown));
      strip.classList.toggle("faded", shown);
      for (const part of rest) part.hidden = !shown;
    };
    toggle.addEventListener("click", () => show(toggle.getAttribute("aria-expanded") === "false"));
    show(false);
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

  /** The player of a sound: a button, the time, and a surface over picture and lanes that seeks. */
  function player(screen, sound, name, span, surface, ticks, fault) {
    const audio = make("audio", { preload: "none", src: sound.src });
    const button = make("button", { type: "button", class: "play" });
    const time = make("span", { class: "time" });
    const head = make("span", { class: "playhead", hidden: "hidden" });
    surface.append(head);
    const of = name ? ` the ${name.toLowerCase()} clip` : "";
    let length = sound.seconds;
    let at = 0;

    const draw = () => {
      time.textContent = `${at.toFixed(1)} / ${length ? length.toFixed(1) : "–"} s`;
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
    const state = () => {
      const playing = !audio.paused && !audio.ended;
      button.classList.toggle("playing", playing);
      button.setAttribute("aria-label", (playing ? "Pause" : "Play") + of);
      if (playing) follow();
    };
    for (const change of ["play", "pause", "ended"]) audio.addEventListener(change, state);
    audio.addEventListener("seeked", follow);
    audio.addEventListener("loadedmetadata", () => {
      if (length || !Number.isFinite(audio.duration)) return;
      length = audio.duration;
      if (!span) axis(ticks, (span = length));
      draw();
    });
    audio.addEventListener("error", () => {
      fault.textContent = `Cannot be played: ${FAULTS[audio.error?.code] ?? "the browser does not say why."} (${sound.file})`;
      fault.hidden = false;
      screen.classList.add("broken");
      state();
    });
    const toggle = () => (audio.paused || audio.ended ? play() : audio.pause());
    button.addEventListener("click", toggle);
    screen.addEventListener("click", (event) => {
      const { left, width } = surface.getBoundingClientRect();
      const x = (event.clientX - left) / width;
      if (span && x >= 0 && x <= 1 && !event.target.closest("button")) play(Math.min(x * span, length ?? span));
    });
    surface.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -0.5, ArrowRight: 0.5, Home: -Infinity, End: Infinity }[event.key];
      if (!length || step === undefined) return;
      event.preventDefault();
      audio.currentTime = at = Math.max(0, Math.min(length, at + step));
      draw();
    });
    surface.setAttribute("aria-valuemin", "0");
    surface.setAttribute("aria-valuemax", length ?? 0);
    state();
    draw();
    const deck = make("div", { class: "deck" }, name ? make("b", {}, name) : null, button, time, audio);
    return { deck, audio, toggle, play, at: () => at };
  }

  /** The picture is as long as its sound on the card's time scale. */
  function picture(sound, span) {
    if (!sound.picture) return make("div", { class: "picture none" }, `No spectrogram: ${sound.noPicture}`);
    const image = make("img", { src: sound.picture, alt: "Log-mel spectrogram", loading: "lazy", decoding: "async", draggable: "false" });
    if (sound.seconds && span) image.style.width = `${(sound.seconds / span) * 100}%`;
    const frame = make("div", { class: "picture" }, image);
    image.addEventListener("error", () => {
      frame.replaceChildren("No spectrogram: its file is missing");
      frame.classList.add("none");
    });
    return frame;
  }

  function number(name, value) {
    const { percent, decimals } = earwitness.run.measures[name] ?? { decimals: 3 };
    if (value === null) return "–";
    if (percent) return `${(100 * value).toFixed(decimals)} %`;
    return Number.isInteger(value) ? String(value) : value.toFixed(decimals);
  }

  const title = (name) => earwitness.run.measures[name]?.title ?? plain(name);

  /** Pairs of a name and its text, as a small list. */
  function pairs(kind, entries) {
    const rows = entries.map(([name, text]) => make("div", {}, make("dt", {}, make("bdi", {}, name)), make("dd", { dir: "auto" }, text)));
    return rows.length ? make("dl", { class: kind }, ...rows) : null;
  }

  /** The marks of an edit: its verdict lies in several numbers at once. */
  function marks(clip) {
    const names = earwitness.run.columns.filter((name) => (clip.values[name] ?? null) !== null);
    return clip.source ? pairs("marks", names.map((name) => [title(name), number(name, clip.values[name])])) : null;
  }

  /** Numbers and events as tables, for reading and for screen readers. */
  function details(clip) {
    const row = (head, ...cells) => make("tr", {}, head, ...cells.map((cell) => make("td", {}, cell)));
    const measures = Object.entries(clip.values).map(([name, value]) =>
      row(make("th", { scope: "row", title: earwitness.run.measures[name]?.meaning }, title(name)), number(name, value)),
    );
    const events = ({ heard }, name) => {
      if (!heard.length) return null;
      const columns = [name, "Onset", "Offset", "Confidence", ...(clip.asked.length ? ["Answers"] : [])];
      const lines = heard.map(([label, onset, offset, confidence, answered]) => {
        const sure = confidence === null ? "–" : confidence.toFixed(2);
        const phrase = clip.asked.length ? [answered === null ? "–" : clip.asked[answered][0]] : [];
        return row(make("th", { scope: "row" }, make("bdi", {}, label)), seconds(onset), seconds(offset), sure, ...phrase);
      });
      const head = make("tr", {}, ...columns.map((column) => make("th", { scope: "col" }, column)));
      return make("table", { class: "events" }, make("thead", {}, head), make("tbody", {}, ...lines));
    };
    const shown = [
      measures.length ? make("table", { class: "values" }, make("tbody", {}, ...measures)) : null,
      clip.source ? events(clip.source, "Heard in the source") : null,
      events(clip.sound, clip.source ? "Heard in the edited clip" : "Heard"),
    ].filter(Boolean);
    if (!shown.length) return null;
    return make("details", { class: "fold numbers" }, make("summary", {}, "Numbers"), make("div", { class: "tables" }, ...shown));
  }

  /** A hue for every label, the same in source and edited clip, where nothing is asked for. */
  function labelHues(clip) {
    const labels = clip.asked.length ? [] : [clip.source, clip.sound].flatMap((sound) => sound?.heard.map(([label]) => label) ?? []);
    return new Map([...new Set(labels)].map((label, index) => [label, hue(index)]));
  }

  /** Picture, lanes and player of one sound. */
  function screenOf(clip, sound, name, span, hues) {
    const answered = answers(clip, sound);
    const screen = make("div", { class: clip.source ? "screen pair" : "screen" });
    const fault = make("p", { class: "fault", role: "status", hidden: "hidden" });
    const where = name ? `Position in the ${name.toLowerCase()} clip` : "Position in the clip";
    const surface = make("div", { class: "surface", role: "slider", tabindex: "0", "aria-label": where });
    const ticks = make("div", { class: "axis", "aria-hidden": "true" });
    const deck = player(screen, sound, name, span, surface, ticks, fault);
    screen.append(deck.deck, picture(sound, span));
    if (span) {
      const missing = clip.scored && sound === clip.sound;
      lanes(screen, answered, span, { missing, hues });
      pins(surface, answered.asked, span);
      axis(ticks, span);
    }
    screen.append(ticks, surface);
    return { screen, fault, ...deck };
  }

  /** Build the card of a clip; `siblings` is how many clips share its sample id. */
  earwitness.card = (clip, siblings) => {
    const { verdicts, systems, strata } = earwitness.run;
    const [, verdict, tone] = verdicts.find(([name]) => name === clip.verdict) ?? ["", plain(clip.verdict), "plain"];
    const cause = clip.kind || (clip.verdict === "unheard" ? clip.reason : "");
    const badge = verdict + (cause ? `: ${plain(cause)}` : "");
    // An edit may be asked for by its instruction alone, which then stands in the caption's place.
    const other = clip.texts.find(([, text]) => text === clip.caption) ?? (clip.caption ? null : clip.texts[0]);
    const [head, caption] = other ?? ["", clip.caption || "(no caption)"];
    const texts = clip.texts.filter((one) => one !== other && one[1] !== clip.stratum); // which stands above
    const why = clip.detail || plain(clip.reason);

    const sounds = clip.source ? [[clip.source, "Source"], [clip.sound, "Edited"]] : [[clip.sound, ""]];
    const longest = Math.max(...sounds.map(([sound]) => sound.seconds ?? 0));
    const last = Math.max(0, ...sounds.flatMap(([sound]) => sound.heard.map(([, , offset]) => offset)));
    const hues = labelHues(clip);
    const screens = sounds.map(([sound, name]) => screenOf(clip, sound, name, longest || last, hues));
    let current = screens[0];
    for (const screen of screens) screen.audio.addEventListener("play", () => (current = screen));

    const card = make(
      "article",
      { class: `clip tone-${tone}`, id: `clip-${clip.id}`, tabindex: "-1", "aria-labelledby": `caption-${clip.id}` },
      make(
        "p",
        { class: "top" },
        make("span", { class: "badge" }, badge),
        make("a", { class: "system", href: address({ system: clip.system }), dir: "auto" }, systems.find(([name]) => name === clip.system)?.[1] ?? clip.system),
        clip.stratum ? make("a", { class: "stratum", href: address({ stratum: clip.stratum }), title: "Relation" }, strata.find(([name]) => name === clip.stratum)?.[1] ?? plain(clip.stratum)) : null,
        make("span", { class: "id", title: "sample id" }, make("bdi", {}, clip.sample)),
        make("a", { class: "link", href: `#clip-${clip.id}`, title: "Link to this clip" }, `#${clip.id}`),
      ),
      make("h3", { class: "caption", id: `caption-${clip.id}`, dir: "auto" }, head ? make("small", {}, `${head} `) : null, caption),
      clip.reversed ? make("p", { class: "reversed" }, "Reversed: ", make("bdi", {}, clip.reversed)) : null,
      pairs("texts", texts),
      why ? make("p", { class: "why" }, make("bdi", {}, why)) : null,
      marks(clip),
      clip.tags.length ? make("ul", { class: "tags", "aria-label": "Tags" }, ...clip.tags.map((tag) => make("li", {}, make("a", { href: address({ q: tag }), dir: "auto" }, tag)))) : null,
      clip.asked.length ? askedOrder(answers(clip, clip.sound).asked) : null,
      ...screens.flatMap(({ screen, fault }) => [screen, fault]),
      clip.warnings.length ? make("ul", { class: "warnings" }, ...clip.warnings.map((text) => make("li", {}, text))) : null,
      make(
        "div",
        { class: "foot" },
        details(clip),
        siblings > 1 ? make("a", { href: address({ sample: clip.sample }) }, `Same sample, other systems (${siblings - 1})`) : null,
        ...sounds.map(([sound, name]) => make("a", { href: sound.src, title: sound.file }, name ? `${name} file` : "Sound file")),
      ),
    );
    // The play event comes late: what plays now is known at once.
    const inUse = () => screens.find((screen) => !screen.audio.paused) ?? current;
    card.playOrPause = () => inUse().toggle();
    card.switchSound = () => {
      const used = inUse();
      screens.find((screen) => screen !== used)?.play(used.at());
    };
    return card;
  };
})();
