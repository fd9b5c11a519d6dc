/**
 * Everything but results: lists, reads, prompts, questions, notifications, cancellation, subscriptions.
 * @module
 */
import { ask, call, closing, notification, opening, request, type Era, type Message, type Step } from "../script.js";
import { BEGIN, reduced, type Scenario } from "./scenario.js";

const TOOL = "fixture_artifact_read";
const TOOLS = [TOOL, "fixture_artifact_edit"];

/** In both eras. */
export function talk(era: Era): readonly Scenario[] {
  return [...lists(era), ...reads(era), ...notifications(era), ...oddities(era)];
}

function lists(era: Era): readonly Scenario[] {
  return [
    {
      name: "the list of tools has one more, and wider schemas",
      steps: [...opening(era), ...ask(era, 1, "tools/list"), ...ask(era, 2, "tools/list"), ...closing],
      changes: [BEGIN, { at: 1, how: "tools", added: TOOLS }, { at: 2, how: "tools", added: TOOLS }],
    },
    {
      name: "in pages it is on the last",
      server: ["--page", "40"],
      steps: [
        ...opening(era),
        ...ask(era, 1, "tools/list"),
        ...ask(era, 2, "tools/list", { cursor: "40" }),
        ...closing,
      ],
      changes: [BEGIN, { at: 1, how: "tools" }, { at: 2, how: "tools", added: TOOLS }],
    },
    {
      name: "the server's own tool keeps its name, and ours gets a number",
      server: ["--tool", TOOL],
      steps: [...opening(era), ...ask(era, 1, "tools/list"), ...call(era, 2, TOOL), ...closing],
      changes: [BEGIN, { at: 1, how: "tools", added: [`${TOOL}_2`, "fixture_artifact_edit"] }],
    },
    {
      name: "schemas stay when the user says so",
      proxy: ["--schemas", "keep"],
      steps: [...opening(era), ...ask(era, 1, "tools/list"), ...closing],
      changes: [BEGIN, { at: 1, how: "tools", added: TOOLS, keepsSchemas: true }],
    },
    {
      name: "a server that has tools alone",
      server: ["--bare"],
      steps: [...opening(era), ...call(era, 1, "test_simple_text"), ...closing],
      changes: [BEGIN],
    },
    {
      name: "lists of prompts and resources",
      steps: [
        ...opening(era),
        ...ask(era, 1, "prompts/list"),
        ...ask(era, 2, "resources/list"),
        ...ask(era, 3, "resources/templates/list"),
        ...closing,
      ],
      changes: [BEGIN, { at: 3, how: "template" }],
    },
  ];
}

function reads(era: Era): readonly Scenario[] {
  const read = (id: number, uri: string): readonly Step[] => ask(era, id, "resources/read", { uri });
  return [
    {
      name: "resources are read as they are",
      steps: [
        ...opening(era),
        ...read(1, "test://static-text"),
        ...read(2, "test://static-binary"),
        ...read(3, "test://template/123/data"),
        ...read(4, "test://file/pdf/3000000"),
        ...read(5, "test://words/2000000"),
        ...read(6, "ui://fixture/view"),
        ...read(7, "test://nowhere"),
        ...closing,
      ],
      changes: [BEGIN],
    },
    {
      name: "prompts and completion",
      steps: [
        ...opening(era),
        ...ask(era, 1, "prompts/get", { name: "test_simple_prompt" }),
        ...ask(era, 2, "prompts/get", { name: "large_prompt", arguments: { bytes: "1000000" } }),
        ...ask(era, 3, "prompts/get", { name: "nowhere" }),
        ...ask(era, 4, "completion/complete", {
          ref: { type: "ref/prompt", name: "test_prompt_with_arguments" },
          argument: { name: "arg1", value: "par" },
        }),
        ...closing,
      ],
      changes: [BEGIN],
    },
  ];
}

function notifications(era: Era): readonly Scenario[] {
  const logging: Message = era === "2026" ? { _meta: { "io.modelcontextprotocol/logLevel": "debug" } } : {};
  return [
    {
      name: "progress, under tokens of both sorts",
      steps: [
        ...opening(era),
        ...ask(era, 1, "tools/call", { name: "progress", arguments: { steps: 20 }, _meta: { progressToken: "p-1" } }),
        ...ask(era, 2, "tools/call", { name: "progress", arguments: {}, _meta: { progressToken: 7 } }),
        ...closing,
      ],
      changes: [BEGIN],
    },
    {
      name: "log messages",
      steps: [
        ...opening(era),
        ...ask(era, 1, "tools/call", { name: "test_tool_with_logging", ...logging }),
        ...closing,
      ],
      changes: [BEGIN],
    },
    {
      name: "a cancelled call ends without an answer",
      steps: [
        ...opening(era),
        { send: request(era, 1, "tools/call", { name: "slow", ...logging }) },
        { send: notification("notifications/cancelled", { requestId: 1, reason: "enough" }) },
        { waitFor: "notifications/message" },
        ...call(era, 2, "test_simple_text"),
        ...closing,
      ],
      changes: [BEGIN],
    },
    {
      name: "errors of the protocol",
      steps: [
        ...opening(era),
        ...call(era, 1, "protocol_error", { code: -32_050, message: "with data" }),
        ...call(era, 2, "no_such_tool"),
        ...ask(era, 3, "no/such/method"),
        ...closing,
      ],
      changes: [BEGIN],
    },
  ];
}

function oddities(era: Era): readonly Scenario[] {
  const id = 'a "quoted" id \u{1F600}';
  return [
    {
      name: "ids of every sort come back as they were",
      steps: [
        ...opening(era),
        ...call(era, id, "test_simple_text"),
        ...call(era, 0, "test_simple_text"),
        ...call(era, -7, "embedded_blob", { bytes: 5_000 }),
        ...call(era, "", "embedded_blob", { bytes: 5_000 }),
        ...call(era, Number.MAX_SAFE_INTEGER, "embedded_blob", { bytes: 6_000 }),
        ...closing,
      ],
      changes: [BEGIN, ...reduced(-7, "", Number.MAX_SAFE_INTEGER)],
      diverted: 3,
    },
    {
      name: "arguments arrive as they were sent",
      steps: [
        ...opening(era),
        ...call(era, 1, "receive", { base64: "JVBERi0=".repeat(10_000), plain: "see artifact://fixture_000000000000" }),
        ...call(era, 2, "receive", { words: "\u0000\u2028\ud800", nested: { list: ["AA=="] } }),
        ...closing,
      ],
      changes: [BEGIN],
    },
    {
      name: "notifications and methods that nobody knows",
      steps: [
        ...opening(era),
        { send: notification("notifications/vendor/unknown", { deep: { er: [1, 2, 3] } }) },
        ...ask(era, 1, "vendor/method", { any: "thing" }),
        ...closing,
      ],
      changes: [BEGIN],
    },
  ];
}
