/**
 * A process that shares state with others. Each mode prints a line when it is ready.
 *
 * node state-program URL follow CHANNEL             prints each event's number, until it is killed
 * node state-program URL append CHANNEL FROM COUNT  prints each number that was acknowledged
 * node state-program URL alone USER TIMES           adds one to a token that is a number, alone, so many times
 * node state-program URL hold USER                  is alone until it is killed
 */
import { setTimeout as sleep } from "node:timers/promises";
import { redisState } from "../../../../web/src/serve-redis.js";
import { SECRET } from "./secret.js";

const TOKEN = { access_token: "a", refresh_token: null, obtained_at: 0, issued_by: "x" };
const [url = "", mode = "", name = "", from = "0", count = "0"] = process.argv.slice(2);
const state = redisState({ url, secret: SECRET });
const print = (line: unknown): void => void process.stdout.write(`${String(line)}\n`);
// Nothing of the state keeps a process alive.
const staying = setInterval(() => undefined, 1000);

if (mode === "follow") {
  print("ready");
  const { signal } = new AbortController();
  for await (const { event } of state.events.follow(name, { after: null, signal })) {
    print("number" in event ? event.number : event.kind);
  }
} else if (mode === "append") {
  print("ready");
  for (let number = Number(from); number < Number(from) + Number(count); number++) {
    await state.events.append(name, { kind: "numbered", number } as { readonly kind: string });
    print(number);
  }
} else if (mode === "alone") {
  print("ready");
  for (let turn = 0; turn < Number(from); turn++) {
    await state.tokens.exclusively?.(name, "provider", async () => {
      const found = await state.tokens.get(name, "provider");
      await sleep(1);
      await state.tokens.store(name, "provider", { ...TOKEN, expires_at: (found?.expires_at ?? 0) + 1 });
    });
  }
} else if (mode === "hold") {
  await state.tokens.exclusively?.(name, "provider", async () => {
    print("ready");
    await sleep(1_000_000);
  });
}
clearInterval(staying);
await state[Symbol.asyncDispose]();
