"""How each built-in sound is made.

A recipe takes a numpy Generator and a number of samples and returns that many (see :mod:`.tones` for the
units); it begins within 30 ms and leaves the level to its caller. Each draws its ranges once a sound, so
that instances differ as recordings do. The ranges were searched so that a detector trained on recordings
recognises the sound over the whole range and seldom hears another class in it, then kept as wide as that
allows (benchmarks/bank.py measures both).
"""

from collections.abc import Callable

import numpy as np

from earwitness.scenes.tones import (
    RATE_HZ,
    Sound,
    burst,
    drift,
    fade,
    formants,
    glide,
    noise,
    place,
    ring,
    room,
    spread,
    times,
    unit_level,
    unit_peak,
    voiced,
)

Recipe = Callable[[np.random.Generator, int], Sound]


def siren(rng: np.random.Generator, n: int) -> Sound:
    """A wail that rises and falls between two pitches, from anywhere in its turn."""
    t = np.arange(n) / RATE_HZ
    low, interval = rng.uniform(400, 640), rng.uniform(1.55, 2.2)
    sweep = (1 - np.cos(2 * np.pi * (rng.uniform(0.25, 0.6) * t + rng.uniform(0, 1)))) / 2
    horn = formants(
        [rng.uniform(750, 1300), rng.uniform(2700, 3900)], [1300, 1800], [1, 0.6], rng.uniform(-5, 0)
    )
    sound = np.tanh(rng.uniform(0.3, 1.5) * voiced(low * interval**sweep, horn))
    return room(rng, sound * fade(n, 0.03, 0.1), rng.uniform(0.3, 1.0), rng.uniform(0.25, 0.7))


def baby_cry(rng: np.random.Generator, n: int) -> Sound:
    """Wails that rise and fall, with a breath drawn between them."""
    out, at = np.zeros(n), 0.0
    pitch, size, breath = rng.uniform(400, 480), rng.uniform(1.12, 1.2), rng.uniform(0.15, 0.3)
    centres = [1100 * size, 2100 * size, 3500 * size, 5000 * size]
    gains = [1, rng.uniform(0.52, 1.08), rng.uniform(0.57, 1.11), rng.uniform(0.18, 0.3)]
    throat = formants(centres, [rng.uniform(300, 600), 620, 900, 1200], gains, rng.uniform(-3.4, -1.2))
    start, middle, end = rng.uniform(0.76, 0.93), rng.uniform(0.87, 1.02), rng.uniform(0.55, 0.73)
    length, shake, rate = rng.uniform(0.5, 0.84), rng.uniform(0.017, 0.029), rng.uniform(4.5, 6.9)
    while at < n / RATE_HZ - 0.3:
        t = times(length * rng.uniform(0.8, 1.2))
        m, top = len(t), pitch * rng.uniform(1, 1.15)
        f0 = glide(m, (0, pitch * start), (0.15, top), (0.6, top * middle), (1, pitch * end))
        f0 *= 1 + shake * np.sin(2 * np.pi * rate * t) + 0.01 * drift(rng, m, 40)
        cry = voiced(f0, throat) * (1 + 0.2 * drift(rng, m, 35)) + breath * noise(rng, m, 1000, 6500, 2)
        place(out, cry * fade(m, 0.06, 0.18), at)
        at += m / RATE_HZ + 0.08
        m = int(rng.uniform(0.15, 0.25) * RATE_HZ)
        place(out, 0.16 * noise(rng, m, 1000, 4500, 2) * fade(m, 0.08, 0.05), at)
        at += m / RATE_HZ
    return room(rng, out, 0.3, rng.uniform(0.28, 0.37))


def bird(rng: np.random.Generator, n: int) -> Sound:
    """Phrases of one short gliding call, repeated with small changes; some birds trill it."""
    out, at = np.zeros(n), 0.01
    pitch, length, gap = rng.uniform(3000, 5000), rng.uniform(0.05, 0.16), rng.uniform(0.04, 0.2)
    shape, trill = rng.choice([-1, 1], 4) * rng.uniform(0.05, 0.33, 4), 0.03 * (rng.random() < 0.33)
    while at < n / RATE_HZ - 0.1:
        for _ in range(rng.integers(2, 7)):
            t = times(length * rng.uniform(0.8, 1.2))
            bend = shape + 0.06 * rng.standard_normal(4)
            f = pitch * (1 + glide(len(t), *zip((0, 1 / 3, 2 / 3, 1), bend, strict=True)))
            f *= 1 + trill * np.sin(2 * np.pi * rng.uniform(25, 45) * t)
            phase = 2 * np.pi * np.cumsum(f) / RATE_HZ
            call = np.sin(phase) + np.where(f < 3900, 0.15, 0) * np.sin(2 * phase)
            place(out, call * np.abs(np.sin(np.pi * t / t[-1])) ** 0.7 * rng.uniform(0.6, 1), at)
            at += len(t) / RATE_HZ + gap * rng.uniform(0.6, 1.4)
        at += rng.uniform(0.1, 0.45)
    return room(rng, out, 0.5, 0.15)


def glass_breaking(rng: np.random.Generator, n: int) -> Sound:
    """A blow, then shards that ring and fall."""
    out = np.zeros(n)
    low, high, long = rng.uniform(1300, 2200), rng.uniform(6800, 7700), rng.uniform(0.2, 0.35)

    def shard(gain: float) -> Sound:
        pitches, t60 = spread(rng, low, high, 9), rng.uniform(0.04, long, 9)
        return gain * ring(int(0.35 * RATE_HZ), pitches, t60, rng.uniform(0.3, 1, 9), rng)

    blow = burst(rng, 0.25, rng.uniform(1500, 3200), 7500, rng.uniform(0.09, 0.25))
    place(out, rng.uniform(1.1, 3.5) * blow, 0)
    for at in rng.uniform(0, 0.06, rng.integers(10, 20)):
        place(out, shard(rng.uniform(0.3, 1)), at)
    fall = rng.uniform(0.8, 1.4)
    for late in rng.beta(1, 2.5, rng.integers(25, 60)):
        place(out, shard(rng.uniform(0.05, 0.6) * (1 - 0.7 * late)), 0.04 + late * fall)
    return room(rng, out, rng.uniform(0.4, 0.8), rng.uniform(0.12, 0.4))


def telephone(rng: np.random.Generator, n: int) -> Sound:
    """A clapper that strikes two small bells in turn."""
    out, at, strike = np.zeros(n), 0.0, 0
    bells = np.array([1.0, rng.uniform(1.16, 1.32)]) * rng.uniform(1050, 1650)
    rate, on, off = rng.uniform(21, 27), rng.uniform(0.9, 1.9), rng.uniform(0.3, 0.6)
    parts, t60 = np.array([1, rng.uniform(2.25, 2.6), 3.1, 4.2, 5.4]), np.array([0.5, 0.4, 0.3, 0.2, 0.15])
    notes = [ring(RATE_HZ // 2, bell * parts, t60, np.array([1, 0.6, 0.5, 0.3, 0.2])) for bell in bells]
    while at < n / RATE_HZ - 0.02:
        if at % (on + off) < on:
            place(out, notes[strike % 2] * rng.uniform(0.8, 1), at)
        at, strike = at + 1 / rate, strike + 1
    return room(rng, out, 0.3, 0.15)


def car_horn(rng: np.random.Generator, n: int) -> Sound:
    """Two reeds a third apart, honked once or several times."""
    out, at = np.zeros(n), 0.0
    low, third = rng.uniform(330, 440), rng.uniform(1.18, 1.3)
    box = formants([900, 1800, 3000], [900, 1200, 1500], [1, 0.9, 0.6], -2)
    while at < n / RATE_HZ - 0.15:
        m = int(min(rng.choice([0.25, 0.5, 0.9, 1.5]) * rng.uniform(0.8, 1.2), n / RATE_HZ - at) * RATE_HZ)
        onset = 0.97 + 0.03 * np.minimum(np.arange(m) / RATE_HZ / 0.04, 1)
        reeds = [voiced(f * onset * (1 + 0.0015 * drift(rng, m, 20)), box) for f in (low, low * third)]
        place(out, np.tanh(1.2 * unit_level(reeds[0] + reeds[1])) * fade(m, 0.02, 0.05), at)
        at += m / RATE_HZ + rng.uniform(0.12, 0.3)
    return room(rng, out, 0.6, 0.3)


def whistle(rng: np.random.Generator, n: int) -> Sound:
    """A person whistles a tune: nearly pure, sliding from note to note, with vibrato and breath."""
    t = np.arange(n) / RATE_HZ
    notes = int(n / RATE_HZ / rng.uniform(0.3, 0.58)) + 2
    steps = rng.choice([-1, 1], notes) * rng.uniform(1, rng.uniform(4, 6.3), notes)
    pitches = rng.uniform(1750, 2150) * 2 ** (np.clip(np.cumsum(steps), -8, 8) / 12)
    f = glide(n, *zip(np.linspace(0, 1, notes), pitches, strict=True))
    f *= 1 + rng.uniform(0.012, 0.02) * np.sin(2 * np.pi * rng.uniform(4.7, 7.8) * t)
    f *= 1 + rng.uniform(0.005, 0.011) * drift(rng, n, 30)
    phase = 2 * np.pi * np.cumsum(f) / RATE_HZ
    tone = np.sin(phase) + rng.uniform(0.01, 0.13) * np.sin(2 * phase) + 0.025 * np.sin(3 * phase)
    lips = rng.uniform(0.01, 0.08) * noise(rng, n, 1900, 7600, 2)
    level = np.clip(1 + rng.uniform(0.07, 0.45) * drift(rng, n, rng.uniform(5.5, 14)), 0.1, 2.5)
    sound = (tone + lips) * level + rng.uniform(0.035, 0.075) * noise(rng, n, 200, 7000)
    return room(rng, sound * fade(n, 0.03, 0.1), rng.uniform(0.8, 0.95), rng.uniform(0.35, 0.58))


def dog_bark(rng: np.random.Generator, n: int) -> Sound:
    """Barks: a harsh throat opening and closing within a seventh of a second."""
    out, at = np.zeros(n), 0.0
    pitch, size, gap = rng.uniform(600, 810), rng.uniform(0.9, 1.6), rng.uniform(0.33, 0.5)
    length, width, breath = rng.uniform(0.12, 0.155), rng.uniform(800, 1300), rng.uniform(0.02, 0.09)
    low, end, mid = rng.uniform(0.55, 0.75), rng.uniform(0.65, 0.85), rng.uniform(0.7, 1.5)
    centres = [750 * size, 1400 * size, 2600 * size, 3800 * size]
    throat = formants(centres, [width, width, 800, 900], [1, mid, 0.5, 0.2], -2.8)
    while at < n / RATE_HZ - length:
        m = int(length * rng.uniform(0.9, 1.1) * RATE_HZ)
        p = pitch * rng.uniform(0.95, 1.05)
        f0 = glide(m, (0, p * low), (0.44, p * 1.1), (0.6, p), (1, p * end))
        f0 *= 1 + 0.08 * drift(rng, m, 120)
        bark = voiced(f0, throat) * (1 + 0.2 * drift(rng, m, 90)) + breath * noise(rng, m, 900, 2600, 2)
        place(out, np.tanh(1.3 * bark) * fade(m, 0.03, 0.55 * m / RATE_HZ), at)
        at += m / RATE_HZ + gap * rng.uniform(0.8, 1.2)
    return room(rng, out, rng.uniform(0.6, 0.9), rng.uniform(0.2, 0.38))


def church_bell(rng: np.random.Generator, n: int) -> Sound:
    """A bell with its hum, minor third and beating partials, tolled."""
    out, at = np.zeros(n), 0.0
    partials = np.array([0.5, 1, 1.19, 1.5, 2, 2.51, 2.66, 3.01, 4.1, 5.4, 6.8, 8.2])
    partials *= rng.uniform(635, 740) * rng.normal(1, 0.012, 12)
    t60 = rng.uniform(5.1, 7.1) * np.array([1.5, 1, 0.9, 0.8, 0.7, 0.4, 0.4, 0.35, 0.3, 0.2, 0.15, 0.1])
    gains = np.array([0.5, 1, 0.8, 0.5, 1, 0.4, 0.4, 0.4, 0.3, 0.2, 0.15, 0.1]) ** rng.uniform(0.25, 0.55)
    gains *= rng.uniform(0.6, 1.4, 12)
    beat, detune, toll = rng.uniform(0.7, 0.96), rng.uniform(0.002, 0.004), rng.uniform(1.15, 1.65)
    clapper, low = rng.uniform(0.1, 0.55), rng.uniform(700, 1500)
    while at < n / RATE_HZ - 0.4:
        note = ring(n, partials, t60, gains, rng) + beat * ring(n, partials * (1 + detune), t60, gains, rng)
        place(note, clapper * unit_level(burst(rng, 0.05, low, 7500, 0.03)), 0)
        place(out, note * rng.uniform(0.8, 1), at)
        at += toll * rng.uniform(0.97, 1.03)
    return room(rng, out, rng.uniform(1.4, 2.4), rng.uniform(0.47, 0.77))


def sheep(rng: np.random.Generator, n: int) -> Sound:
    """Bleats: a nasal vowel that trembles in pitch and level."""
    out, at = np.zeros(n), 0.0
    pitch, size, tremble = rng.uniform(150, 270), rng.uniform(0.98, 1.25), rng.uniform(11, 15)
    centres = [900 * size, 1780 * size, 2770 * size, 3800 * size]
    nose = formants(centres, [240, 240, 600, 700], [1, rng.uniform(0.6, 1.25), 0.6, 0.3], -1.5)
    depth, breath = rng.uniform(0.55, 0.78), rng.uniform(0.2, 0.45)
    while at < n / RATE_HZ - 0.4:
        m = int(rng.uniform(0.65, 1.05) * RATE_HZ)
        wave = np.sin(2 * np.pi * np.cumsum(tremble * (1 + 0.08 * drift(rng, m, 5))) / RATE_HZ)
        f0 = pitch * glide(m, (0, 0.85), (0.2, 1.1), (0.7, 1), (1, 0.77))
        sound = voiced(f0 * (1 + 0.08 * wave + 0.017 * drift(rng, m, 80)), nose)
        sound *= 1 + 0.14 * drift(rng, m, 60)
        sound = (sound + breath * noise(rng, m, 800, 5500, 2)) * (1 + depth * wave)
        place(out, sound * fade(m, 0.15 * m / RATE_HZ, 0.2 * m / RATE_HZ), at)
        at += m / RATE_HZ + rng.uniform(0.25, 0.6)
    return room(rng, out, 0.3, 0.05)


def cat_meow(rng: np.random.Generator, n: int) -> Sound:
    """Meows: the mouth opens from a high vowel and closes again over a gliding pitch."""
    out, at = np.zeros(n), 0.0
    pitch, size, length = rng.uniform(960, 1080), rng.uniform(1.06, 1.48), rng.uniform(0.52, 0.91)
    start, end, turn = rng.uniform(0.85, 0.93), rng.uniform(0.76, 0.92), rng.uniform(0.47, 0.61)
    wide, far = rng.uniform(1220, 1500), rng.uniform(2570, 2800)
    widths, gains = [rng.uniform(200, 520), 980, 1000], [1, rng.uniform(1.4, 1.84), 0.35]
    rough, rate = rng.uniform(0.24, 0.4), rng.uniform(4.8, 8.6)
    while at < n / RATE_HZ - 0.4:
        t = times(length * rng.uniform(0.9, 1.1))
        m = len(t)
        f0 = pitch * rng.uniform(0.97, 1.03) * glide(m, (0, start), (0.15, 1.1), (0.65, 1), (1, end))
        f0 *= 1 + 0.012 * np.sin(2 * np.pi * rate * t) + 0.012 * drift(rng, m, 60)
        mouth = size * glide(m, (0, 410), (turn, wide), (1, 480))
        tongue = size * glide(m, (0, far), (turn, 1500), (1, 1000))
        meow = voiced(f0, formants([mouth, tongue, 3400 * size], widths, gains, -0.2))
        meow = meow * (1 + rough * drift(rng, m, 60)) + 0.03 * noise(rng, m, 1500, 6000, 2)
        place(out, meow * fade(m, 0.2 * m / RATE_HZ, 0.37 * m / RATE_HZ), at)
        at += m / RATE_HZ + rng.uniform(0.2, 0.6)
    return room(rng, out, 0.3, rng.uniform(0.13, 0.31))


def gunshot(rng: np.random.Generator, n: int) -> Sound:
    """Shots: a blast that decays in a quarter of a second, and its echo outdoors."""
    out, at = np.zeros(n), 0.0
    low, blast, gap = rng.uniform(310, 385), rng.uniform(0.23, 0.3), rng.uniform(0.5, 0.86)
    drive, body = rng.uniform(2.1, 2.7), rng.uniform(0, 0.26)
    while at < n / RATE_HZ - 0.3:
        shot = burst(rng, 1.2, low, 7300, blast) + body * burst(rng, 1.2, 50, 900, 0.18)
        place(out, np.tanh(drive * shot), at)
        at += gap * rng.uniform(0.8, 1.2)
    return room(rng, out, rng.uniform(0.5, 0.9), rng.uniform(0, 0.12))


def clock(rng: np.random.Generator, n: int) -> Sound:
    """Tick and tock: two clicks of an escapement, each with its rebound."""
    out, at, beat = np.zeros(n), 0.01, 0
    period, soft = rng.uniform(0.44, 0.56), rng.uniform(0.45, 0.7)
    rebound, later, sharp = rng.uniform(0.3, 0.6), rng.uniform(0.009, 0.021), rng.uniform(3.1, 4)

    def click() -> Sound:
        k = int(rng.integers(15, 20))
        pitches = spread(rng, rng.uniform(460, 650), rng.uniform(4700, 6500), k)
        body = ring(int(0.08 * RATE_HZ), pitches, rng.uniform(0.03, 0.085, k), rng.uniform(0.3, 1, k))
        snap = burst(rng, 0.08, rng.uniform(1400, 3700), 7500, rng.uniform(0.008, 0.02))
        return unit_peak(body) + sharp * snap

    tick, tock = click(), click()
    while at < n / RATE_HZ - 0.05:
        sound = (tick, soft * tock)[beat % 2]
        place(out, sound, at)
        place(out, rebound * sound, at + later)
        at, beat = at + period, beat + 1
    return room(rng, out, rng.uniform(0.04, 0.09), rng.uniform(0.42, 0.83))


def door_knock(rng: np.random.Generator, n: int) -> Sound:
    """Knuckles on a wooden door, three to five times and again."""
    out, at = np.zeros(n), 0.01
    panel = rng.uniform(100, 165) * np.array([1, 1.7, 2.6, 3.9, 5.5])
    t60 = rng.uniform(0.105, 0.16) * np.array([1, 0.7, 0.5, 0.35, 0.2])
    rise, knock, pause = rng.uniform(0.0015, 0.005), rng.uniform(0.14, 0.26), rng.uniform(0.5, 0.9)
    dull, hand, skin = rng.uniform(0.5, 0.8), rng.uniform(0.6, 1.2), rng.uniform(1000, 1950)
    gains, m = np.array([1, rng.uniform(0.5, 0.9), dull, 0.7 * dull, 0.4 * dull]), RATE_HZ // 4
    while at < n / RATE_HZ - 0.2:
        for _ in range(rng.integers(3, 6)):
            body = ring(m, panel * rng.normal(1, 0.02, 5), t60, gains, rng)
            body *= np.minimum(np.arange(m) / RATE_HZ / rise, 1)
            blow = unit_peak(body) + hand * burst(rng, 0.25, rng.uniform(260, 760), skin, 0.065)
            place(out, blow * rng.uniform(0.75, 1), at)
            at += knock * rng.uniform(0.92, 1.08)
        at += pause
    return room(rng, out, rng.uniform(0.14, 0.26), rng.uniform(0.1, 0.24))


def rain(rng: np.random.Generator, n: int) -> Sound:
    """Hiss of many far drops, patter of near ones."""
    patter, t60 = np.zeros(n), rng.uniform(0.008, 0.022)
    drops = [burst(rng, 0.03, 1500, 7500, t60) for _ in range(20)]
    for at in rng.uniform(0, n / RATE_HZ, int(n / RATE_HZ * rng.uniform(700, 1600))):
        place(patter, drops[rng.integers(20)] * rng.uniform(0.1, 1) ** 2, at)
    hiss = noise(rng, n, rng.uniform(650, 1400), rng.uniform(4700, 7000))
    return (hiss + rng.uniform(0.9, 1.6) * unit_level(patter)) * fade(n, 0.1, 0.3)


def applause(rng: np.random.Generator, n: int) -> Sound:
    """A hall of people, each clapping at a rate and with hands of their own."""
    out = np.zeros(n)
    low, width, t60 = rng.uniform(1160, 1310), rng.uniform(1.64, 2.1), rng.uniform(0.083, 0.115)
    for _ in range(rng.integers(125, 196)):
        f = float(spread(rng, low, low * width, 1)[0])
        hands = burst(rng, 0.06, f / 1.38, f * 1.38, t60 * rng.uniform(0.7, 1.4)) * rng.uniform(0.2, 1)
        hands *= fade(len(hands), 0.0015, 0)
        at, period = rng.uniform(0, 0.3), 1 / rng.uniform(3, 5.5)
        while at < n / RATE_HZ:
            place(out, hands * rng.uniform(0.7, 1), at)
            at += period * rng.uniform(0.85, 1.15)
    crowd = unit_level(out) + rng.uniform(0.02, 0.24) * noise(rng, n, 650, 3100)
    return room(rng, crowd * fade(n, 0.1, 0.3), rng.uniform(0.44, 0.64), rng.uniform(0.12, 0.3))


def thunder(rng: np.random.Generator, n: int) -> Sound:
    """Rumble of a long channel: many claps whose sound arrives spread over seconds."""
    t = np.arange(n) / RATE_HZ
    level = np.zeros(n)
    claps = rng.uniform(0, 0.8 * n / RATE_HZ, rng.integers(6, 12))
    for at in (0, *claps):
        fall = rng.uniform(0.75, 1.05) * rng.uniform(0.4, 1.6)
        level += rng.uniform(0.3, 1) * np.exp(-np.maximum(t - at, 0) / fall + np.minimum(t - at, 0) / 0.16)
    level *= glide(n, (0, 0.3), (0.25, 1), (0.5, 0.7), (1, 0.1)) / level.max()
    rumble = noise(rng, n, 20, rng.uniform(150, 193), 2)
    rumble += rng.uniform(0.04, 0.068) * noise(rng, n, 200, 6000)
    return room(rng, np.tanh(1.7 * unit_peak(level * rumble)), rng.uniform(3.8, 5.6), rng.uniform(2.8, 3.9))


RECIPES: dict[str, Recipe] = {
    recipe.__name__: recipe
    for recipe in (
        siren, baby_cry, bird, glass_breaking, telephone, car_horn, whistle, dog_bark, church_bell, sheep,
        cat_meow, gunshot, clock, door_knock, rain, applause, thunder,
    )
}  # fmt: skip
