// Where workers and the program come from: from within the page, or from files beside it.
import { byId } from "./dom.js";

/** `start` makes a worker; `program` resolves to the compiled program. */
export function begin() {
  const code = byId("worker")?.textContent;
  const address = code === undefined ? "worker.js" : URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const start = () => new Worker(address);
  const packed = byId("program")?.textContent.trim();
  const first = start();
  const program = new Promise((resolve, reject) => {
    first.addEventListener("message", ({ data }) => {
      if (data.program) resolve(data.program);
      else reject(new Error(data.errors));
      first.terminate();
    });
  });
  first.postMessage(packed === undefined ? { address: "playground.wasm" } : { packed });
  return { start, program };
}
