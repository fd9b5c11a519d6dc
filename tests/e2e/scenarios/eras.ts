/**
 * What only one family of revisions has.
 * @module
 */
import { ask, call, closing, notification, opening, request, type Message, type Step } from "../script.js";
import { BEGIN, reduced, type Scenario } from "./scenario.js";

const ANSWER = { role: "assistant", content: { type: "text", text: "a cat" }, model: "m", stopReason: "endTurn" };

/** A call that the server answers only after a question to the client. */
function asked(id: number, name: string, args: Message, reply: Step): readonly Step[] {
  return [{ send: request("2025", id, "tools/call", { name, arguments: args }) }, reply, { wait: id }];
}

/** Those of 2025-11-25 and before. */
export const LEGACY: readonly Scenario[] = [
  {
    name: "sampling, elicitation and roots pass through",
    steps: [
      ...opening("2025"),
      ...asked(1, "sample", { bytes: 3_000_000 }, { answer: "sampling/createMessage", result: ANSWER }),
      ...asked(2, "elicit", {}, { answer: "elicitation/create", result: { action: "accept", content: { ok: true } } }),
      ...asked(3, "elicit", {}, { answer: "elicitation/create", error: { code: -1, message: "user rejected" } }),
      ...asked(4, "roots", {}, { answer: "roots/list", result: { roots: [{ uri: "file:///a" }] } }),
      ...closing,
    ],
    changes: [BEGIN],
  },
  {
    name: "subscriptions to resources",
    steps: [
      ...opening("2025"),
      ...ask("2025", 1, "resources/subscribe", { uri: "test://watched-resource" }),
      ...call("2025", 2, "touch"),
      ...ask("2025", 3, "resources/unsubscribe", { uri: "test://watched-resource" }),
      ...call("2025", 4, "touch"),
      ...call("2025", 5, "test_trigger_tool_change"),
      ...closing,
    ],
    changes: [BEGIN],
  },
  {
    name: "a task and its result",
    steps: [
      ...opening("2025"),
      ...ask("2025", 1, "tools/call", { name: "render", arguments: { bytes: 50_000 }, task: { ttl: 60_000 } }),
      ...ask("2025", 2, "tasks/get", { taskId: "task-1" }),
      ...ask("2025", 3, "tasks/get", { taskId: "task-1" }),
      ...ask("2025", 4, "tasks/result", { taskId: "task-1" }),
      ...ask("2025", 5, "tasks/list"),
      ...ask("2025", 6, "tasks/cancel", { taskId: "task-1" }),
      ...ask("2025", 7, "tasks/get", { taskId: "nowhere" }),
      ...closing,
    ],
    changes: [BEGIN, ...reduced(4)],
    diverted: 1,
  },
  {
    name: "ping, the log level, and a second client version",
    steps: [
      ...opening("2025", "2025-06-18"),
      ...ask("2025", 1, "ping"),
      ...ask("2025", 2, "logging/setLevel", { level: "error" }),
      ...call("2025", 3, "test_tool_with_logging"),
      ...closing,
    ],
    changes: [BEGIN],
  },
  {
    name: "a batch",
    steps: [
      ...opening("2025", "2025-03-26"),
      { send: `[${request("2025", 1, "ping")},${notification("notifications/none")},${request("2025", 2, "ping")}]` },
      { wait: 2 },
      ...closing,
    ],
    changes: [BEGIN],
  },
];

function stateOf(messages: readonly Message[], id: number): unknown {
  const answer = messages.find((message) => message["id"] === id && message["result"] !== undefined);
  return (answer?.["result"] as Message | undefined)?.["requestState"];
}

/** Gives the state of an earlier answer back with the answers to its questions. */
function retry(id: number, of: number, name: string, args: Message, inputResponses: Message): readonly Step[] {
  return [
    {
      sendFrom: (messages) =>
        request("2026", id, "tools/call", {
          name,
          arguments: args,
          inputResponses,
          requestState: stateOf(messages, of),
        }),
    },
    { wait: id },
  ];
}

/** Those of 2026-07-28. */
export const MODERN: readonly Scenario[] = [
  {
    name: "input is required, and the state comes back as it was",
    steps: [
      ...opening("2026"),
      ...call("2026", 1, "test_input_required_result_multi_round"),
      ...retry(
        2,
        1,
        "test_input_required_result_multi_round",
        {},
        { step1: { action: "accept", content: { name: "A" } } },
      ),
      ...retry(
        3,
        2,
        "test_input_required_result_multi_round",
        {},
        { step2: { action: "accept", content: { color: "b" } } },
      ),
      ...closing,
    ],
    changes: [BEGIN],
  },
  {
    name: "questions and states with bytes in them pass as they are",
    steps: [
      ...opening("2026"),
      ...call("2026", 1, "ask_about_image", { bytes: 1_000_000 }),
      ...retry(2, 1, "ask_about_image", { bytes: 1_000_000 }, { look: ANSWER }),
      ...ask("2026", 3, "prompts/get", { name: "test_input_required_result_prompt" }),
      ...closing,
    ],
    changes: [BEGIN],
  },
  {
    name: "a task with its result inside",
    steps: [
      ...opening("2026"),
      ...call("2026", 1, "render", { bytes: 50_000 }),
      ...ask("2026", 2, "tasks/get", { taskId: "task-1" }),
      ...ask("2026", 3, "tasks/get", { taskId: "task-1" }),
      ...call("2026", 4, "multi_input"),
      ...ask("2026", 5, "tasks/get", { taskId: "task-2" }),
      ...ask("2026", 6, "tasks/update", { taskId: "task-2", inputResponses: { first: { action: "accept" } } }),
      ...ask("2026", 7, "tasks/get", { taskId: "task-2" }),
      ...ask("2026", 8, "tasks/cancel", { taskId: "task-2" }),
      ...ask("2026", 9, "tasks/get", { taskId: "task-2" }),
      ...ask("2026", 10, "tasks/get", { taskId: "nowhere" }),
      ...closing,
    ],
    changes: [BEGIN, ...reduced(3)],
    diverted: 1,
  },
  {
    name: "a task that fails",
    steps: [
      ...opening("2026"),
      ...call("2026", 1, "protocol_error_job"),
      ...ask("2026", 2, "tasks/get", { taskId: "task-1" }),
      ...closing,
    ],
    changes: [BEGIN],
  },
  {
    name: "listening for changes",
    steps: [
      ...opening("2026"),
      {
        send: request("2026", "ear", "subscriptions/listen", {
          notifications: { toolsListChanged: true, resourceSubscriptions: ["test://watched-resource"] },
        }),
      },
      { waitFor: "notifications/subscriptions/acknowledged" },
      ...call("2026", 1, "test_trigger_tool_change"),
      ...call("2026", 2, "test_trigger_prompt_change"),
      ...call("2026", 3, "touch"),
      { send: notification("notifications/cancelled", { requestId: "ear" }) },
      ...call("2026", 4, "touch"),
      ...closing,
    ],
    changes: [BEGIN],
  },
  {
    name: "requests that do not say what they have to",
    steps: [
      ...opening("2026"),
      { send: '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{}}' },
      { wait: 1 },
      ...ask("2026", 2, "ping"),
      ...ask("2026", 3, "tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "v999" } }),
      ...closing,
    ],
    changes: [BEGIN],
  },
];
