/** The engine of the playground, with the stores of a browser. */
import { expect, test } from "vitest";
import type { StartOptions, Started } from "../../../../web/playground/engine/messages.js";
import { PlaygroundEngine } from "../../../../web/playground/engine/playground-engine.js";
import { png } from "../../ui/viewer/fixtures.js";

async function start(engine: PlaygroundEngine, keys: StartOptions["keys"]): Promise<Started> {
  const started = await engine.start({ keys, config: {}, callback: "https://example.com/callback.html" });
  if (!started.ok) throw new Error(started.problem.message);
  return started.value;
}

test("bytes that a page asks for before its session is open come once it is", async () => {
  const before = new PlaygroundEngine();
  const { keys } = await start(before, {});
  const picture = await png(64, 64);
  const taken = await before.take(new File([picture], "picture.png"), "file");
  const { id } = (taken.ok ? taken.value.artifacts[0] : undefined) ?? { id: "" };

  const engine = new PlaygroundEngine();
  const asked = engine.bytes("session", id);
  await start(engine, keys);
  expect(await new Response(await asked).bytes()).toEqual(await picture.bytes());
});
