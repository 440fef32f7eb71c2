// The parts of a sign: one panel for each level, one card for each award that waits.

import { Amount } from "./amount.js";

const CARDS = 2;
const ROWS = 5;

export function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) {
    element.className = className;
  }
  if (text !== undefined) {
    element.textContent = text;
  }
  return element;
}

export function levelName(level) {
  return level === "meter" ? "Jackpot" : level.replaceAll("-", " ");
}

function when(at) {
  const moment = new Date(at);
  const today = moment.toDateString() === new Date().toDateString();
  const style = today ? { hour: "numeric", minute: "2-digit" } : { day: "numeric", month: "short" };
  return new Intl.DateTimeFormat(undefined, style).format(moment);
}

function capitalised(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

// An award that pays its holder nothing shows what it pays the others.
export function card(award) {
  const onlyEnvy = award.amount === 0 && award.envy > 0;
  const envy = award.envy > 0 && !onlyEnvy ? ` + Envy ${award.envy_text}` : "";
  const amount = make("p", "amount");
  const lines = make("div");
  lines.append(
    make("h4", "state", onlyEnvy ? `${award.status} Envy` : award.status),
    amount,
    make("p", "where", `Table ${award.table} · Seat ${award.seat}`),
    make("p", "hand", capitalised(award.hand) + envy),
  );
  const element = make("section", "card");
  element.dataset.status = award.status;
  element.dataset.hit = award.hit;
  element.append(lines);
  // The amount is measured in the font that it has once it is on the page.
  queueMicrotask(() => {
    new Amount(amount).set(award.amount, onlyEnvy ? award.envy_text : award.text);
  });
  return element;
}

function row(award) {
  const element = make("li");
  element.append(
    make("b", "", award.text),
    make("span", "", award.table),
    make("time", "", when(award.at)),
  );
  element.lastChild.dateTime = award.at;
  return element;
}

export class Panel {
  #amount;
  #generation = 0;
  #cards = make("div", "cards");
  #rows = make("ol");
  #last = make("div", "last");
  #drawn = "";

  constructor(level) {
    const value = make("p", "amount");
    this.#amount = new Amount(value);
    const meter = make("div", "meter");
    meter.append(make("h3", "", levelName(level)), value);
    this.#last.append(make("h4", "", "Last awards"), this.#rows);
    const side = make("div", "side");
    side.append(this.#cards, this.#last);
    const parts = make("div", "parts");
    parts.append(meter, side);
    this.element = make("article", "level");
    this.element.dataset.level = level;
    this.element.append(parts);
  }

  // A value of an older generation is never shown (a new generation begins at its seed).
  show({ amount, text, generation }) {
    if (generation === this.#generation) {
      this.#amount.rollTo(amount, text);
    } else if (generation > this.#generation) {
      this.#generation = generation;
      this.#amount.set(amount, text);
    }
  }

  // `waiting` awards get a card each; `last` ones that have none get a row.
  showAwards(waiting, last) {
    const drawn = JSON.stringify([waiting, last]);
    if (drawn === this.#drawn) {
      return;
    }
    this.#drawn = drawn;
    const shown = waiting.slice(0, CARDS);
    const carded = new Set(shown.map((award) => award.hit));
    const rows = last.filter((award) => !carded.has(award.hit)).slice(0, ROWS - shown.length);
    this.#cards.replaceChildren(...shown.map(card));
    if (waiting.length > CARDS) {
      this.#cards.append(make("p", "more", `and ${waiting.length - CARDS} more`));
    }
    this.#rows.replaceChildren(...rows.map(row));
    this.#last.hidden = rows.length === 0;
    this.#last.style.setProperty("--count", ROWS - shown.length);
    if (shown.length + rows.length > 0) {
      this.element.dataset.side = shown.length > 0 ? "cards" : "list";
    } else {
      delete this.element.dataset.side;
    }
  }
}
