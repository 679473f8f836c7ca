// The host of a WASI program: arguments, input, lines of output, and files in one folder that are only read.
// https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md

const OK = 0;
const BADF = 8;
const INVAL = 28;
const NOENT = 44;
const DEVICE = 2;
const FOLDER = 3;
const FILE = 4;
/** The first number that is free for files: 0 to 2 are input, output and errors, 3 is the folder. */
const ROOT = 3;
const FIRST_FILE = 4;

/** Thrown to end the program. */
class Exit extends Error {
  constructor(code) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** Calls `each` with every complete line that is written. */
class Lines {
  constructor(each) {
    this.each = each;
    this.decoder = new TextDecoder();
    this.rest = "";
  }

  write(bytes) {
    const lines = (this.rest + this.decoder.decode(bytes, { stream: true })).split("\n");
    this.rest = lines.pop();
    lines.forEach(this.each);
  }
}

/**
 * Runs a compiled program to its end.
 * `files` maps names to their bytes; `line` is called with every line of output.
 * Returns the exit code and what was written to standard error.
 */
export async function runProgram(module, { args, input, files, line }) {
  const host = new Host(["playground", ...args], new TextEncoder().encode(input), files, line);
  const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: host.imports() });
  host.memory = instance.exports.memory;
  try {
    instance.exports._start();
    return { code: 0, errors: host.errors };
  } catch (problem) {
    if (problem instanceof Exit) return { code: problem.code, errors: host.errors };
    return { code: 134, errors: host.errors || String(problem) };
  }
}

class Host {
  constructor(args, input, files, line) {
    const encoder = new TextEncoder();
    this.args = args.map((text) => encoder.encode(`${text}\0`));
    this.files = files;
    this.names = [...files.keys()];
    this.open = new Map([[0, { bytes: input, at: 0 }]]);
    this.next = FIRST_FILE;
    this.errors = "";
    const errors = new Lines((text) => { this.errors += `${text}\n`; });
    this.written = new Map([[1, new Lines(line)], [2, errors]]);
  }

  view() {
    return new DataView(this.memory.buffer);
  }

  bytes(at, length) {
    return new Uint8Array(this.memory.buffer, at, length);
  }

  /** The pieces of memory that a list of vectors names. */
  vectors(at, count) {
    const view = this.view();
    const pieces = [];
    for (let i = 0; i < count; i++) {
      pieces.push(this.bytes(view.getUint32(at + 8 * i, true), view.getUint32(at + 8 * i + 4, true)));
    }
    return pieces;
  }

  /** The name of a path below the folder; "" is the folder itself. */
  path(at, length) {
    const parts = new TextDecoder().decode(this.bytes(at, length)).split("/");
    return parts.filter((part) => part !== "" && part !== ".").join("/");
  }

  imports() {
    const own = Object.getOwnPropertyNames(Calls.prototype).filter((name) => name !== "constructor");
    const calls = new Calls(this);
    return Object.fromEntries(own.map((name) => [name, calls[name].bind(calls)]));
  }
}

/** The calls that the program makes, by their names in WASI. */
class Calls {
  constructor(host) {
    this.host = host;
  }

  args_sizes_get(count, size) {
    const { args } = this.host;
    this.host.view().setUint32(count, args.length, true);
    this.host.view().setUint32(size, args.reduce((sum, text) => sum + text.length, 0), true);
    return OK;
  }

  args_get(pointers, buffer) {
    const view = this.host.view();
    for (const text of this.host.args) {
      view.setUint32(pointers, buffer, true);
      this.host.bytes(buffer, text.length).set(text);
      pointers += 4;
      buffer += text.length;
    }
    return OK;
  }

  environ_sizes_get(count, size) {
    this.host.view().setUint32(count, 0, true);
    this.host.view().setUint32(size, 0, true);
    return OK;
  }

  environ_get() {
    return OK;
  }

  random_get(at, length) {
    crypto.getRandomValues(this.host.bytes(at, length));
    return OK;
  }

  proc_exit(code) {
    throw new Exit(code);
  }

  fd_write(fd, at, count, written) {
    const lines = this.host.written.get(fd);
    if (!lines) return BADF;
    let sum = 0;
    for (const piece of this.host.vectors(at, count)) {
      // A copy: the memory may grow while a decoder holds its view.
      lines.write(piece.slice());
      sum += piece.length;
    }
    this.host.view().setUint32(written, sum, true);
    return OK;
  }

  fd_read(fd, at, count, read) {
    const file = this.host.open.get(fd);
    if (!file?.bytes) return BADF;
    let sum = 0;
    for (const piece of this.host.vectors(at, count)) {
      const part = file.bytes.subarray(file.at, file.at + piece.length);
      piece.set(part);
      file.at += part.length;
      sum += part.length;
    }
    this.host.view().setUint32(read, sum, true);
    return OK;
  }

  fd_close(fd) {
    return this.host.open.delete(fd) ? OK : BADF;
  }

  fd_prestat_get(fd, at) {
    if (fd !== ROOT) return BADF;
    this.host.view().setUint32(at, 0, true);
    this.host.view().setUint32(at + 4, 1, true);
    return OK;
  }

  fd_prestat_dir_name(fd, at, length) {
    if (fd !== ROOT) return BADF;
    if (length < 1) return INVAL;
    this.host.bytes(at, 1)[0] = ".".charCodeAt(0);
    return OK;
  }

  fd_fdstat_get(fd, at) {
    const file = this.host.open.get(fd);
    const kind = fd < ROOT ? DEVICE : fd === ROOT || file?.folder ? FOLDER : FILE;
    if (fd > ROOT && !file) return BADF;
    this.host.bytes(at, 24).fill(0);
    this.host.bytes(at, 1)[0] = kind;
    this.host.bytes(at + 8, 16).fill(0xff);
    return OK;
  }

  path_open(folder, follow, path, length, flags, rights, inheriting, options, opened) {
    const name = this.host.path(path, length);
    const bytes = this.host.files.get(name);
    if (folder !== ROOT || (name !== "" && !bytes)) return NOENT;
    const fd = this.host.next++;
    this.host.open.set(fd, name === "" ? { folder: true } : { bytes, at: 0 });
    this.host.view().setUint32(opened, fd, true);
    return OK;
  }

  path_filestat_get(folder, flags, path, length, at) {
    const name = this.host.path(path, length);
    const bytes = this.host.files.get(name);
    if (folder !== ROOT || (name !== "" && !bytes)) return NOENT;
    this.host.bytes(at, 64).fill(0);
    this.host.bytes(at + 16, 1)[0] = bytes ? FILE : FOLDER;
    this.host.view().setBigUint64(at + 32, BigInt(bytes?.length ?? 0), true);
    return OK;
  }

  fd_readdir(fd, at, length, cookie, used) {
    if (fd !== ROOT && !this.host.open.get(fd)?.folder) return BADF;
    let place = 0;
    for (let i = Number(cookie); i < this.host.names.length && place < length; i++) {
      const name = new TextEncoder().encode(this.host.names[i]);
      const entry = new Uint8Array(24 + name.length);
      const view = new DataView(entry.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setUint32(16, name.length, true);
      entry[20] = FILE;
      entry.set(name, 24);
      // A last entry that does not fit is cut: the caller asks again from there.
      const part = entry.subarray(0, length - place);
      this.host.bytes(at + place, part.length).set(part);
      place += part.length;
    }
    this.host.view().setUint32(used, place, true);
    return OK;
  }
}
