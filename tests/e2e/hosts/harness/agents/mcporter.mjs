/** A model with a shell, which calls a server's tools by `mcporter`: it gets what the command prints. */
import { execFile } from "node:child_process";

const { url, command } = JSON.parse(process.env.HARNESS);

const mcporter = (...args) =>
  new Promise((resolve) => {
    const options = { maxBuffer: 1 << 26, timeout: 60_000 };
    execFile(process.execPath, [command, ...args], options, (error, out, err) => {
      resolve(`${out}${error === null ? "" : err}`);
    });
  });

const base = ["--config", "mcporter.json"];
const listed = JSON.parse(await mcporter(...base, "list", "fix", "--schema", "--json"));
const tools = listed.tools.map(({ name, description, inputSchema }) => ({
  type: "function",
  function: { name, description, parameters: inputSchema },
}));
const messages = [{ role: "user", content: "Go on." }];
for (;;) {
  const body = JSON.stringify({ model: "fake", messages, tools });
  const answer = await fetch(`${url}/chat/completions`, { method: "POST", body });
  const { message } = (await answer.json()).choices[0];
  messages.push(message);
  const [call] = message.tool_calls ?? [];
  if (call === undefined) break;
  const { name, arguments: args } = call.function;
  const content = await mcporter(...base, "call", `fix.${name}`, "--args", args);
  messages.push({ role: "tool", tool_call_id: call.id, content });
}
