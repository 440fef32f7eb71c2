// What the sign shows: the newest snapshot, and the awards that were told before it.

import { Panel, card, levelName, make } from "./panel.js";

const CELEBRATION_MS = 20000;
const FIRST_LEVEL = "minmax(0, 1.45fr)";
const LEVEL = "minmax(0, 1fr)";

const upright = matchMedia("(orientation: portrait)");

function columnsFor(progressives) {
  if (upright.matches) {
    return progressives > 4 ? 2 : 1;
  }
  return [1, 1, 2, 3, 2, 3, 3][progressives] ?? 4;
}

export class View {
  #board;
  #announcement;
  #title;
  #progressives = {};
  #shape = "";
  #panels = new Map();
  #extras = new Map();
  #early = new Map(); // hit -> award that no snapshot had yet
  #settled = new Map(); // hit -> resolution that no snapshot had yet
  #celebrated = new Map(); // hit -> award that was just paid

  constructor({ board, announcement, title }) {
    this.#board = board;
    this.#announcement = announcement;
    this.#title = title;
    upright.addEventListener("change", () => this.#arrange());
  }

  show({ sequence, progressives }) {
    this.#progressives = progressives;
    for (const news of [this.#early, this.#settled]) {
      for (const [hit, told] of news) {
        if (told.sequence <= sequence) {
          news.delete(hit);
        }
      }
    }
    this.#draw();
  }

  hit(award) {
    if (award.status !== "pending" || !(award.progressive in this.#progressives)) {
      return;
    }
    this.#early.set(award.hit, award);
    this.#announce("Pending", award);
    this.#draw();
  }

  // A paid award is celebrated; a denied one is gone, without a word.
  resolved(resolution) {
    const names = Object.keys(this.#progressives);
    const award = names.flatMap((name) => this.#waiting(name)).find(
      (waiting) => waiting.hit === resolution.hit,
    );
    this.#settled.set(resolution.hit, resolution);
    if (award && resolution.status === "paid") {
      this.#celebrated.set(award.hit, { ...award, status: "paid" });
      this.#announce("Paid", award);
      setTimeout(() => {
        this.#celebrated.delete(award.hit);
        this.#draw();
      }, CELEBRATION_MS);
    }
    this.#draw();
  }

  #announce(what, award) {
    const level = award.level ? `${levelName(award.level)} ` : "";
    this.#announcement.textContent =
      `${what}: ${level}${award.text}, table ${award.table}, seat ${award.seat}, ${award.hand}`;
  }

  #waiting(name) {
    const known = this.#progressives[name].pending;
    const early = [...this.#early.values()].filter((award) => award.progressive === name
      && !known.some((pending) => pending.hit === award.hit));
    return [...known, ...early]
      .map((award) => ({ ...award, progressive: name }))
      .filter((award) => !this.#settled.has(award.hit));
  }

  #draw() {
    this.#build();
    for (const [name, { levels, last }] of Object.entries(this.#progressives)) {
      const paid = [...this.#celebrated.values()].filter((award) => award.progressive === name);
      const cards = [...paid, ...this.#waiting(name)];
      for (const [level, value] of Object.entries(levels)) {
        const panel = this.#panels.get(JSON.stringify([name, level]));
        panel.show(value);
        const stands = (award) => this.#settled.get(award.hit)?.status !== "denied";
        panel.showAwards(cards.filter((award) => award.level === level), last[level].filter(stands));
      }
      const others = cards.filter((award) => !(award.level in levels));
      this.#drawExtra(this.#extras.get(name), others);
    }
  }

  #drawExtra(element, awards) {
    const drawn = JSON.stringify(awards);
    if (element.dataset.drawn !== drawn) {
      element.dataset.drawn = drawn;
      element.replaceChildren(...awards.map(card));
    }
  }

  // Builds the panels anew when a progressive or a level came or went.
  #build() {
    const shape = JSON.stringify(
      Object.entries(this.#progressives).map(([name, { title, levels }]) =>
        [name, title, Object.keys(levels)]),
    );
    if (shape === this.#shape) {
      return;
    }
    this.#shape = shape;
    this.#panels.clear();
    this.#extras.clear();
    const sections = Object.entries(this.#progressives).map(([name, progressive]) =>
      this.#section(name, progressive));
    if (sections.length === 0) {
      sections.push(make("p", "plain", "This sign has no jackpot to show."));
    }
    this.#board.replaceChildren(...sections);
    this.#arrange();
  }

  #section(name, { title, levels }) {
    const section = make("section", "progressive");
    section.dataset.progressive = name;
    section.setAttribute("aria-label", title);
    if (title !== this.#title) {
      section.append(make("h2", "", title));
    }
    const names = Object.keys(levels);
    const panels = make("div", "levels");
    panels.style.setProperty("--levels", names.map((_, at) => (at ? LEVEL : FIRST_LEVEL)).join(" "));
    for (const level of names) {
      const panel = new Panel(level);
      this.#panels.set(JSON.stringify([name, level]), panel);
      panels.append(panel.element);
    }
    const extra = make("div", "extra");
    this.#extras.set(name, extra);
    section.append(panels, extra);
    return section;
  }

  #arrange() {
    const progressives = Object.values(this.#progressives);
    const columns = columnsFor(progressives.length);
    this.#board.style.setProperty("--columns", columns);
    // One below the other, a progressive with more levels gets more room.
    const rows = progressives.map(({ levels }) =>
      `minmax(0, ${Object.keys(levels).length + 0.45}fr)`);
    this.#board.style.setProperty("--rows", columns === 1 ? rows.join(" ") : "minmax(0, 1fr)");
  }
}
