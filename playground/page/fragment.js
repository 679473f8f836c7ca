// A scenario in the fragment of an address: the name of a story, or a text, compressed.

/** A scenario's text is shorter than this; a fragment may claim anything. */
export const MOST_TEXT = 200_000;

function toBase64(bytes) {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64(text) {
  const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
}

/** Everything in a stream, unless it is longer than `most` bytes. */
async function all(stream, most) {
  const reader = stream.getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel();
      throw new Error(`it holds more than ${most} bytes`);
    }
    parts.push(value);
  }
  return new Blob(parts).arrayBuffer();
}

/** The fragment for a scenario's text. */
export async function toFragment(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return `#scenario=${toBase64(new Uint8Array(await all(stream, MOST_TEXT)))}`;
}

/**
 * What a fragment says: `{ story }`, `{ text }`, or nothing for an empty one.
 * Throws an error with a sentence if it says something else.
 */
export async function fromFragment(fragment) {
  const [, name, value] = /^#?([a-z]*)=?(.*)$/s.exec(fragment) ?? [];
  if (fragment === "" || fragment === "#") return {};
  if (name === "story" && /^[a-z0-9-]{1,60}$/.test(value)) return { story: value };
  if (name !== "scenario") throw new Error("the address has neither #story=NAME nor #scenario=...");
  if (!/^[A-Za-z0-9_-]+$/.test(value)) throw new Error("the scenario in the address is not base64url");
  try {
    const stream = new Blob([fromBase64(value)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await all(stream, MOST_TEXT));
    return { text };
  } catch (problem) {
    throw new Error(`the scenario in the address cannot be unpacked: ${problem.message}`);
  }
}
