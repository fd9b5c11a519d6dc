/**
 * A model in place of the scripts: it gets a task's question, the server's tools and Sluice's, over chat completions.
 * @module
 */
import { fileOf } from "./files.mjs";

const MAX_CALLS = 12;

const SYSTEM =
  "Answer with the tools. End with one line: ANSWER: and the answer alone, or ANSWER: done for a file to be made.";

/**
 * Lets a model solve a task behind Sluice.
 * @param {import("./ways.mjs").Bench} bench
 * @param {import("./tasks.mjs").Task} task
 * @param {{ model: string, baseUrl: string, apiKey?: string }} options
 * @returns what it said, whether that is right, its calls, and the tokens that the endpoint counted.
 */
export async function askModel(bench, task, { model, baseUrl, apiKey }) {
  await bench.prepare(task);
  const server = await bench.server(task.server, true);
  const tools = server.tools.map(({ name, description, inputSchema: parameters }) => ({
    type: "function",
    function: { name, description, parameters },
  }));
  const system = server.instructions === "" ? SYSTEM : `${server.instructions}\n\n${SYSTEM}`;
  const messages = [
    { role: "system", content: system },
    { role: "user", content: questionOf(bench, task) },
  ];
  const seen = { calls: 0, prompt: 0, written: 0, said: "" };
  while (seen.calls < MAX_CALLS) {
    const { message, usage } = await complete(`${baseUrl}/chat/completions`, apiKey, { model, messages, tools });
    seen.prompt += usage?.prompt_tokens ?? 0;
    seen.written += usage?.completion_tokens ?? 0;
    messages.push(message);
    if ((message.tool_calls ?? []).length === 0) {
      seen.said = message.content ?? "";
      break;
    }
    for (const { id, function: wanted } of message.tool_calls) {
      seen.calls += 1;
      messages.push({ role: "tool", tool_call_id: id, content: await answered(server, wanted) });
    }
  }
  return { ...seen, isSolved: await isSolved(bench, task, seen.said) };
}

function questionOf(bench, task) {
  const [argument] = Object.values(bench.firstCall(task));
  const made = task.made === undefined ? "" : bench.path(task.made);
  return `${task.question.replace("NEW_PATH", made)}\nThe file: ${argument}, which ${task.tool} gets.`;
}

async function answered(server, { name, arguments: text }) {
  try {
    const { text: said } = await server.call(name, JSON.parse(text === "" ? "{}" : text));
    return said;
  } catch (error) {
    return `Error: ${error.message}`;
  }
}

async function complete(url, apiKey, body) {
  const headers = { "content-type": "application/json", ...(apiKey && { authorization: `Bearer ${apiKey}` }) };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${(await response.text()).slice(0, 300)}`);
  const { choices, usage } = await response.json();
  return { message: choices[0].message, usage };
}

/** Lower case, thousands without commas. */
const plainly = (text) =>
  String(text)
    .toLowerCase()
    .replaceAll(/(?<=\d),(?=\d{3})/g, "");

/** Whether what stands behind the last "ANSWER:" has the answer in it, and not as a part of a longer word or number. */
function isSaid(answer, said) {
  const end = plainly(said).split("answer:").at(-1);
  const wanted = plainly(answer).replaceAll(/[^\w ]/gu, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);
  return new RegExp(`(?<![\\w.-])${wanted}(?!\\w)`, "u").test(end);
}

async function isSolved(bench, task, said) {
  if (task.made !== undefined) return bench.isRight(task);
  return isSaid(await task.answer(await fileOf(task.file)), said);
}
