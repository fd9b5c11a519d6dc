/**
 * A server with a chat, whose state is in Redis and whose artifacts are in a folder; prints its port, and stays until it is killed.
 *
 * node server-program FOLDER MODEL_ORIGIN REDIS_URL SECRET
 */
import { z } from "zod";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { OpenAiClient } from "../../../web/src/planner/llm/openai.js";
import { tool } from "../../../web/src/planner/tool.js";
import { listen, SluiceServer } from "../../../web/src/serve.js";
import { redisState } from "../../../web/src/server/redis/state.js";

const [folder = "", origin = "", url = "", secret = ""] = process.argv.slice(2);
const nothing = z.object({});
const post = async (path: string, body = ""): Promise<string> =>
  (await fetch(`${origin}${path}`, { method: "POST", body })).text();

const write = tool({
  name: "write",
  description: "Writes the report.",
  input: nothing,
  run: async (_, { artifacts }) => {
    await post("/written");
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
const send = tool({ name: "send", description: "Sends the report.", input: nothing, run: () => post("/sent") });

const server = new SluiceServer({
  store: new FileArtifactStore(`${folder}/artifacts`),
  state: redisState({ url, secret }),
  secret,
  llm: new OpenAiClient({ model: "scripted", baseUrl: `${origin}/v1` }),
  tools: [write, approve, send],
  onError: (error) => process.stderr.write(`${(error as Error).stack}\n`),
});
const { port } = await listen(server, { host: "127.0.0.1", port: 0 });
process.stdout.write(`${port}\n`);
