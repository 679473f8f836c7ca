// A worker: it runs the program for one request after another, and posts its lines as they come.
import { runProgram } from "./wasi.js";

let program;
let files = new Map();

/** Unpacks the program: bytes in gzip, as text in base64. */
async function unpack(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  // A loop: a million calls of a function are felt in a page that has just been opened.
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

async function answer({ data }) {
  if (data.packed) {
    program = await unpack(data.packed);
    postMessage({ program });
  } else if (data.address) {
    const fetched = await fetch(data.address);
    program = await WebAssembly.compile(await fetched.arrayBuffer());
    postMessage({ program });
  } else if (data.program) {
    program = data.program;
  } else if (data.files) {
    files = data.files;
  } else {
    const { id, args, input } = data;
    const line = (text) => postMessage({ id, line: text });
    const began = performance.now();
    const { code, errors } = await runProgram(program, { args, input, files, line });
    postMessage({ id, code, errors, took: performance.now() - began });
  }
}

// One request after the other, also while the program is unpacked.
let queue = Promise.resolve();
addEventListener("message", (message) => {
  queue = queue.then(() => answer(message)).catch((problem) => {
    postMessage({ id: message.data.id, code: 134, errors: String(problem) });
  });
});
