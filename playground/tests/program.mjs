// The program as the page has it, run in node.
import { readFileSync } from "node:fs";
import { runProgram } from "../page/wasi.js";

const folder = new URL("../../target/playground/", import.meta.url);

export const program = new WebAssembly.Module(readFileSync(new URL("site/playground.wasm", folder)));

/** Runs the program; returns its exit code and its lines, as they are. */
export async function lines(args, input, files = new Map()) {
  const printed = [];
  const { code, errors } = await runProgram(program, { args, input, files, line: (text) => printed.push(text) });
  return { code, errors, printed };
}

/** Runs the program; returns what it printed. */
export async function answers(args, input, files) {
  const { printed } = await lines(args, input, files);
  return printed.map((text) => JSON.parse(text));
}
