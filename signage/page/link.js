// The link to the daemon: an event stream, and a watch over it that trusts nothing but what it
// hears. The values on a sign are good for five seconds.

const STALE_MS = 5000;
const CHECK_MS = 250;
const PROBE_MS = 3500; // ask, before silence becomes staleness: a quiet house ticks every 5 s
const PROBE_AGAIN_MS = 1000;
const PROBE_PATIENCE_MS = 2000;
const STREAM_SILENT_MS = 12000; // two ticks were missed
const REOPEN_MS = 3000;
const KINDS = ["meters", "hit", "resolved", "tick"];

// A tablet that slept has stopped its steady clock, and one that was set has moved its wall clock:
// the one that counts is the one that says more.
class Moment {
  constructor() {
    this.steady = performance.now();
    this.wall = Date.now();
  }

  get ageMs() {
    const wall = Date.now() - this.wall;
    return wall < -1000 ? Infinity : Math.max(wall, performance.now() - this.steady);
  }
}

// take(kind, body) returns whether the body proves the values shown to be current;
// changed(live, lastHeard) is called when that begins and ends.
export class Link {
  #query;
  #take;
  #changed;
  #live = null;
  #heard = null;
  #source = null;
  #opened = null;
  #streamed = null;
  #probing = false;
  #probed = null;

  constructor({ query, take, changed }) {
    this.#query = query;
    this.#take = take;
    this.#changed = changed;
  }

  start() {
    this.#open();
    setInterval(() => this.#check(), CHECK_MS);
    // A page that was asleep must look at the clock before anyone looks at the page.
    for (const woken of ["visibilitychange", "resume", "freeze"]) {
      document.addEventListener(woken, () => this.#check());
    }
    for (const woken of ["pageshow", "online", "focus"]) {
      window.addEventListener(woken, () => this.#check());
    }
    this.#check();
  }

  #open() {
    this.#source?.close();
    this.#opened = this.#streamed = new Moment();
    this.#source = new EventSource(`/api/stream${this.#query}`);
    for (const kind of KINDS) {
      this.#source.addEventListener(kind, (event) => {
        this.#streamed = new Moment();
        this.#hear(kind, JSON.parse(event.data));
      });
    }
  }

  #hear(kind, body) {
    if (this.#take(kind, body)) {
      this.#heard = new Moment();
      this.#check();
    }
  }

  #check() {
    const silentMs = this.#heard === null ? Infinity : this.#heard.ageMs;
    const live = silentMs < STALE_MS;
    if (live !== this.#live) {
      this.#live = live;
      this.#changed(live, this.#heard && new Date(this.#heard.wall));
    }
    if (silentMs > PROBE_MS && this.#opened.ageMs > PROBE_AGAIN_MS) {
      this.#probe();
    }
    // EventSource tries again by itself after a broken connection, but not after an answer that
    // is no stream, and not when the connection only went silent.
    const dead = this.#source.readyState === EventSource.CLOSED;
    if ((dead || this.#streamed.ageMs > STREAM_SILENT_MS) && this.#opened.ageMs > REOPEN_MS) {
      this.#open();
    }
  }

  async #probe() {
    if (this.#probing || (this.#probed && this.#probed.ageMs < PROBE_AGAIN_MS)) {
      return;
    }
    this.#probing = true;
    try {
      const signal = AbortSignal.timeout(PROBE_PATIENCE_MS);
      const answer = await fetch(`/api/meters${this.#query}`, { cache: "no-cache", signal });
      if (answer.ok) {
        this.#hear("meters", await answer.json());
      }
    } catch {
      // Silence, which is what the watch is for.
    } finally {
      this.#probing = false;
      this.#probed = new Moment();
    }
  }
}
