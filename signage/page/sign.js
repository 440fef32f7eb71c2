// A sign: shows what the daemon says is committed, and says so when it can't know.

import { Link } from "./link.js";
import { View } from "./view.js";

const board = document.getElementById("board");
const notice = document.getElementById("notice");
const [heading, detail] = notice.children;
const view = new View({
  board,
  announcement: document.getElementById("announcement"),
  title: document.querySelector("h1").textContent,
});
let shown = -1; // the sequence of the values on the sign

// An older sequence than the one shown is never shown, and proves nothing: a daemon that knows less
// than this sign leaves it stale. The same sequence is fine, as after a restart of the daemon.
function take(kind, body) {
  switch (kind) {
    case "meters":
      if (body.sequence < shown) {
        return false;
      }
      shown = body.sequence;
      view.show(body);
      return true;
    case "hit":
      view.hit(body);
      return false;
    case "resolved":
      view.resolved(body);
      return false;
    default:
      return shown >= 0 && body.sequence >= shown;
  }
}

function changed(live, lastHeard) {
  board.hidden = !live;
  notice.hidden = live;
  document.body.dataset.state = live ? "live" : lastHeard ? "stale" : "waiting";
  if (live) {
    return;
  }
  heading.textContent = lastHeard ? "Not connected" : "Connecting";
  detail.textContent = lastHeard
    ? `The jackpot values are not current. Last heard at ${lastHeard.toLocaleTimeString()}.`
    : "The jackpot values will be here in a moment.";
}

new Link({ query: document.body.dataset.query, take, changed }).start();
