// An amount that fits its place, and rolls between two committed values: never past the newer one,
// never back.

const ROLL_MS = 700;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const canvas = document.createElement("canvas").getContext("2d");
const widths = new Map();

// The width of a text in em. Every digit counts as an 8, so that a rolling value keeps its size.
function widthInEm(text, element) {
  const { fontFamily, fontWeight } = getComputedStyle(element);
  const shape = text.replace(/\d/g, "8");
  const key = `${fontWeight} ${fontFamily} ${shape}`;
  if (!widths.has(key)) {
    canvas.font = `${fontWeight} 100px ${fontFamily}`;
    widths.set(key, canvas.measureText(shape).width / 100);
  }
  return widths.get(key);
}

// Returns a function that prints minor units as `text` prints `amount`, or null if that can't be
// told from the text.
function printerLike(text, amount) {
  const parts = /^(\D*)(\d[\d,]*)(?:\.(\d+))?$/.exec(text);
  if (parts === null) {
    return null;
  }
  const places = parts[3]?.length ?? 0;
  const print = (minor) => {
    const digits = String(minor).padStart(places + 1, "0");
    const cut = digits.length - places;
    const whole = digits.slice(0, cut).replace(/\B(?=(\d{3})+$)/g, ",");
    return parts[1] + whole + (places ? `.${digits.slice(cut)}` : "");
  };
  return print(amount) === text ? print : null;
}

export class Amount {
  #element;
  #shown = null;
  #text = null;
  #roll = 0;

  constructor(element) {
    this.#element = element;
  }

  // Shows at once.
  set(amount, text) {
    cancelAnimationFrame(this.#roll);
    this.#shown = amount;
    this.#text = text;
    this.#write(text);
  }

  // Shows by rolling up from what is shown.
  rollTo(amount, text) {
    if (text === this.#text) {
      return;
    }
    const print = printerLike(text, amount);
    // What nobody sees doesn't roll: a sign that was stale begins with the newest value.
    const unseen = document.hidden || this.#element.offsetParent === null;
    const rolls = print !== null && this.#shown !== null && amount > this.#shown;
    if (unseen || still.matches || !rolls) {
      this.set(amount, text);
      return;
    }
    cancelAnimationFrame(this.#roll);
    this.#text = text;
    const from = this.#shown;
    const began = performance.now();
    const step = (now) => {
      const part = Math.min(1, Math.max(0, (now - began) / ROLL_MS));
      if (part === 1) {
        this.set(amount, text);
        return;
      }
      this.#shown = from + Math.floor((amount - from) * (1 - (1 - part) ** 2));
      this.#write(print(this.#shown));
      this.#roll = requestAnimationFrame(step);
    };
    this.#roll = requestAnimationFrame(step);
  }

  #write(text) {
    this.#element.textContent = text;
    this.#element.style.setProperty("--em", widthInEm(text, this.#element).toFixed(3));
  }
}
