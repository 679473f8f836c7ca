// A tree of tables, lists and values as TOML.

const BARE = /^[A-Za-z0-9_-]+$/;

function key(name) {
  return BARE.test(name) ? name : quoted(name);
}

function quoted(text) {
  // JSON's escapes are TOML's, but for a few control characters that JSON leaves as they are.
  return JSON.stringify(text).replace(/[\u007f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function value(of) {
  if (Array.isArray(of)) return `[${of.map(value).join(", ")}]`;
  if (typeof of === "string") return quoted(of);
  return String(of);
}

const isTable = (of) => typeof of === "object" && of !== null && !Array.isArray(of);
const isTables = (of) => Array.isArray(of) && of.length > 0 && of.every(isTable);

function table(of, path, lines) {
  const entries = Object.entries(of).filter(([, inner]) => inner !== undefined);
  for (const [name, inner] of entries) {
    if (!isTable(inner) && !isTables(inner)) lines.push(`${key(name)} = ${value(inner)}`);
  }
  for (const [name, inner] of entries) {
    const place = [...path, key(name)];
    if (isTable(inner)) {
      lines.push("", `[${place.join(".")}]`);
      table(inner, place, lines);
    } else if (isTables(inner)) {
      for (const one of inner) {
        lines.push("", `[[${place.join(".")}]]`);
        table(one, place, lines);
      }
    }
  }
}

/** The tree as text. */
export function toToml(tree) {
  const lines = [];
  table(tree, [], lines);
  return `${lines.join("\n")}\n`;
}
