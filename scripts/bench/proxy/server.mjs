/**
 * A server whose tools answer with as many bytes as they are asked for, as fast as a pipe takes them.
 * @module
 */
import { once } from "node:events";
import { createInterface } from "node:readline";
import { answerOf } from "./answers.mjs";

const write = async (bytes) => {
  if (!process.stdout.write(bytes)) await once(process.stdout, "drain");
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  let last = "";
  for (const piece of answerOf(id, method, params)) {
    if (last !== "") await write(last);
    last = piece;
  }
  await write(`${last}\n`);
}
