/**
 * An agent that begins a run, or goes on with one, prints what came of it as a line of JSON, and then stays until it is killed.
 *
 * node agent-program FOLDER MODEL_ORIGIN CORE LATER run
 * node agent-program FOLDER MODEL_ORIGIN CORE LATER resume TOKEN ANSWER
 * node agent-program FOLDER MODEL_ORIGIN CORE LATER begin NAME
 * node agent-program FOLDER MODEL_ORIGIN CORE LATER take-over NAME
 *
 * LATER: by how many milliseconds the clock of its state store is fast. AGENT_REDIS in the environment: options of the
 * RedisStateStore that it uses in place of the folder.
 */
import { z } from "zod";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { FileStateStore } from "../../../web/src/planner/file-state-store.js";
import { OpenAiClient } from "../../../web/src/planner/llm/openai.js";
import type { StateStore } from "../../../web/src/planner/state-store.js";
import { RedisStateStore } from "../../../web/src/planner/redis-state-store.js";
import { ReactPlanner } from "../../../web/src/planner/react-planner.js";
import { tool } from "../../../web/src/planner/tool.js";

const [folder = "", origin = "", core = "", later = "0", verb = "", token = "", answer = ""] = process.argv.slice(2);
const nothing = z.object({});

/** Stores a report before the person is asked. */
const write = tool({
  name: "write",
  description: "Writes the report.",
  input: nothing,
  run: async (_, { artifacts }) => {
    await fetch(`${origin}/written`, { method: "POST" });
    return { report: (await artifacts.upload("The report.", { filename: "report.txt" })).id };
  },
});

const approve = tool({
  name: "approve",
  description: "Asks a person.",
  input: nothing,
  run: (_, { pause }) => pause("approval_required", { question: "Send it?" }),
});

/** Takes as long as the test likes. */
const send = tool({
  name: "send",
  description: "Sends the report.",
  input: z.object({ report: z.string() }),
  run: async ({ report }) => (await fetch(`${origin}/sent`, { method: "POST", body: report })).text(),
});

const planner = new ReactPlanner({
  catalog: [write, approve, send],
  llm: new OpenAiClient({ model: "scripted", baseUrl: `${origin}/v1` }),
  artifactStore: new FileArtifactStore(`${folder}/artifacts`),
  stateStore: stateStore(),
  wasm: new URL(core),
});
const scope = { user_id: "ada" };

const WORK: Readonly<Record<string, () => Promise<object>>> = {
  run: () => planner.run("Send the report.", { scope }),
  resume: () => planner.resume(token, { scope, answer }),
  begin: () => planner.run("Send the report.", { scope, token }),
  "take-over": () => planner.resume(token, { scope }),
};

// Those that are to begin at the same time do.
await fetch(`${origin}/ready`, { method: "POST" });
try {
  print(await (WORK[verb] ?? WORK["run"])?.());
} catch (error) {
  print({ kind: "error", code: (error as { readonly code?: string }).code, message: (error as Error).message });
}
setInterval(() => undefined, 60_000);

/** A server's own clock is not fast. */
function stateStore(): StateStore {
  const clock = (): number => Date.now() + Number(later);
  const redis = process.env["AGENT_REDIS"];
  if (redis === undefined) return new FileStateStore(`${folder}/state`, { clock });
  return new RedisStateStore({ ...(JSON.parse(redis) as { url: string }), ...(later !== "0" && { clock }) });
}

function print(line: object | undefined): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
