/**
 * Noise, and how servers end.
 * @module
 */
import { call, closing, opening, request, type Era, type Message, type Step } from "../script.js";
import { BEGIN, reduced, type Scenario } from "./scenario.js";

const crash = (era: Era, args: Message): Step => ({
  send: request(era, "last", "tools/call", { name: "crash", arguments: args }),
});

/** In both eras. */
export function ends(era: Era): readonly Scenario[] {
  return [...noise(era), ...deaths(era)];
}

function noise(era: Era): readonly Scenario[] {
  return [
    {
      name: "lines that are no messages",
      steps: [
        ...opening(era),
        ...call(era, 1, "stray", { line: "Listening on port 3000" }),
        ...call(era, 2, "stray", { line: "{not: json}" }),
        ...call(era, 3, "stray", { line: "" }),
        ...call(era, 4, "embedded_blob", { bytes: 5_000 }),
        ...closing,
      ],
      changes: [BEGIN, ...reduced(4)],
      strays: ["Listening on port 3000", "{not: json}", ""],
      diverted: 1,
    },
    {
      name: "what the server writes to stderr",
      steps: [
        ...opening(era),
        ...call(era, 1, "complain", { line: "warning: a" }),
        { waitForNoise: "warning: a" },
        ...call(era, 2, "complain", { line: "warning: b" }),
        { waitForNoise: "warning: b" },
        ...closing,
      ],
      changes: [BEGIN],
    },
    {
      name: "a request that is no JSON",
      steps: [...opening(era), { send: "{half a" }, ...call(era, 1, "test_simple_text"), ...closing],
      changes: [BEGIN],
    },
  ];
}

function deaths(era: Era): readonly Scenario[] {
  const pending = { send: request(era, "waiting", "tools/call", { name: "slow" }) };
  const refused = [
    { at: "waiting", how: "refused" },
    { at: "last", how: "refused" },
  ] as const;
  return [
    {
      name: "the server exits with a code",
      steps: [...opening(era), pending, crash(era, { code: 7 }), { exit: true }],
      changes: [BEGIN, ...refused],
    },
    {
      name: "the server is killed in the middle of a result",
      steps: [...opening(era), pending, crash(era, { signal: "SIGKILL", bytes: 900_000 }), { exit: true }],
      changes: [BEGIN, ...refused],
      // Nothing is stored: the line tells of a message that broke off.
      diverted: 1,
    },
    {
      name: "the client closes while a call is running",
      steps: [...opening(era), pending, { end: true }, { exit: true }],
      changes: [BEGIN],
    },
    {
      name: "SIGTERM",
      steps: [...opening(era), { signal: "SIGTERM" }, { exit: true }],
      changes: [BEGIN],
    },
    {
      name: "SIGINT",
      steps: [...opening(era), { signal: "SIGINT" }, { exit: true }],
      changes: [BEGIN],
    },
  ];
}
