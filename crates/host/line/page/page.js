// All of it, from the button on.

/** The server's settings, on a connection whose time has just begun. */
async function settingsOf() {
  for (let tries = 0; ; tries += 1) {
    const response = await fetch("settings", { cache: "no-store" });
    if (!response.ok) throw new Error("the server's bytes for this hour are used up");
    const settings = await response.json();
    if (settings.left_ms >= NEEDED_MS) return settings;
    if (tries === 3) throw new Error(`the server grants ${(settings.left_ms / 1000).toFixed(0)} s to your address, of which another page or program has a part; this takes half a minute: try again in a minute`);
    await sleep(500);
  }
}

/** One way under load. */
async function loaded(name, jobs) {
  const small = [];
  const course = [];
  const told = (since) => say(`${name}: ${(since / 1000).toFixed(0)} of ${LOAD_MS / 1000} s`);
  const load = await during(LOAD_MS, told, [...jobs(course), (signal) => requests(signal, small)]);
  return { load, small, course };
}

function downloads(course) {
  let bytes = 0;
  const count = async (signal) => {
    while (!signal.aborted) {
      course.push({ at: performance.now(), bytes });
      await sleep(STEP_MS);
    }
  };
  const fetches = Array.from({ length: FETCHES }, () => (signal) => download(signal, (more) => { bytes += more; }));
  return [count, ...fetches];
}

function uploads(course) {
  const body = new Blob([new Uint8Array(UPLOAD_BYTES)]);
  return [(signal) => uploaded(signal, course), ...Array.from({ length: FETCHES }, () => (signal) => upload(signal, body))];
}

async function measured() {
  let hidden = document.hidden;
  document.addEventListener("visibilitychange", () => { hidden = true; }, { once: true });
  say("a moment");
  const settings = await settingsOf();
  let [call, why] = [null, ""];
  try {
    call = await Call.begun(settings);
  } catch (problem) {
    why = problem.message;
  }
  try {
    const small = [];
    await during(IDLE_MS, () => say("the idle line"), [(signal) => requests(signal, small)]);
    if (call?.trips.length === 0) {
      call.hangUp();
      [call, why] = [null, "no datagram came through"];
    }
    const down = await loaded("download", downloads);
    await drained(call);
    const up = await loaded("upload", uploads);
    await drained(call);
    if (call !== null && !call.open) throw new Error("the call ended early");
    return reckoned({ settings, call, why, small, down, up, hidden });
  } finally {
    call?.hangUp();
  }
}

/** What follows from all that was seen. */
function reckoned({ settings, call, why, small, down, up, hidden }) {
  const tcp_ms = Math.min(...small.map(({ tcp }) => tcp));
  const idle = { tcp_ms, rtt_ms: call === null ? tcp_ms : Math.min(...call.trips.map((one) => one.ms)) };
  // The server's clock on the browser's: the least time down is half of a round trip.
  if (call !== null) call.offset = least(call.down.filter((packet) => packet !== undefined)) - idle.rtt_ms / 2;
  const found = { idle, down: way("down", down, idle, call), up: way("up", up, idle, call) };
  found.call = call === null ? null : { late: call.lateTimers };
  found.notes = notes(found, settings, why, hidden);
  found.playground = settings.playground;
  found.scenario = scenario(found);
  return found;
}

async function start() {
  element("start").disabled = true;
  element("found").textContent = "";
  try {
    const found = await measured();
    await shown(found);
    // For a program that reads it.
    element("found").textContent = JSON.stringify(found);
    say("");
  } catch (problem) {
    // So browsers name all that goes wrong below HTTP.
    const broke = "the server closed the connection; it limits the bytes of each address in an hour, and how many measure at once";
    say(`It could not be measured: ${problem instanceof TypeError ? broke : problem.message}.`);
  }
  element("start").disabled = false;
  element("start").textContent = "Measure again";
}

element("start").addEventListener("click", start);
