/**
 * Every kind of result, small and large: what stays as it is, and what is reduced.
 * @module
 */
import { ask, call, closing, opening, request, type Era, type Message } from "../script.js";
import { BEGIN, reduced, type Scenario } from "./scenario.js";

/** A call of a tool; how many artifacts it makes. */
type Case = readonly [tool: string, args: Message, artifacts: number];

const KINDS: Readonly<Record<string, readonly Case[]>> = {
  "text stays as it is until it is long": [
    ["text", {}, 0],
    ["text", { bytes: 100_000 }, 1],
    ["test_simple_text", {}, 0],
  ],
  "image and audio blocks": [
    ["image", {}, 1],
    ["image", { bytes: 50_000 }, 1],
    ["image", { bytes: 2_000_000 }, 1],
    ["audio", {}, 1],
    ["audio", { bytes: 50_000 }, 1],
  ],
  "links to resources and their icons": [["link", { count: 3 }, 0]],
  "embedded resources": [
    ["embedded_text", {}, 0],
    ["embedded_text", { bytes: 100_000 }, 1],
    ["embedded_blob", {}, 1],
    ["embedded_blob", { bytes: 1_000_000, kind: "zip" }, 1],
    ["large", { bytes: 9_000_000 }, 1],
  ],
  "structured content": [
    ["structured", {}, 0],
    ["structured", { bytes: 100_000 }, 1],
    ["structured_only", {}, 0],
    ["structured_only", { bytes: 100_000 }, 1],
  ],
  "every block at once": [["everything", { bytes: 50_000 }, 4]],
  "_meta of results and blocks": [["meta", { bytes: 50_000 }, 1]],
  "bytes in disguise": [
    ["json_text", {}, 0],
    ["json_text", { bytes: 50_000 }, 1],
    ["markdown", {}, 1],
    ["markdown", { bytes: 50_000 }, 1],
    ["byte_array", { bytes: 20_000 }, 1],
  ],
  "rows of data": [
    ["rows", { rows: 10 }, 0],
    ["rows", {}, 1],
  ],
  "JSON as no serialiser writes it": [["odd", {}, 0]],
  "errors of tools": [
    ["test_error_handling", {}, 0],
    ["is_error", { bytes: 50_000 }, 1],
  ],
};

/** In one era. */
export function results(era: Era): readonly Scenario[] {
  return [
    ...Object.entries(KINDS).map(([name, cases]) => scenario(era, name, cases)),
    appOnly(era),
    inlined(era),
    bypassed(era),
    crowd(era),
  ];
}

function scenario(era: Era, name: string, cases: readonly Case[]): Scenario {
  const changed = cases.flatMap(([, , artifacts], id) => (artifacts > 0 ? [id] : []));
  return {
    name,
    steps: [...opening(era), ...cases.flatMap(([tool, args], id) => call(era, id, tool, args)), ...closing],
    changes: [BEGIN, ...reduced(...changed)],
    diverted: cases.reduce((sum, [, , artifacts]) => sum + artifacts, 0),
  };
}

/** A host knows of such tools from the list, and so does whoever stands in between. */
function appOnly(era: Era): Scenario {
  return {
    name: "an app's own bytes, of any size",
    steps: [
      ...opening(era),
      ...ask(era, "list", "tools/list"),
      ...call(era, 1, "app_bytes"),
      ...call(era, 2, "app_bytes", { bytes: 500_000 }),
      ...closing,
    ],
    changes: [BEGIN, { at: "list", how: "tools", added: ["fixture_artifact_read", "fixture_artifact_edit"] }],
  };
}

function inlined(era: Era): Scenario {
  return {
    name: "images stay when the user says so",
    proxy: ["--inline-images"],
    steps: [...opening(era), ...call(era, "seen", "image", { bytes: 50_000 }), ...closing],
    changes: [BEGIN, { at: "seen", how: "inlined" }],
    diverted: 1,
  };
}

function bypassed(era: Era): Scenario {
  return {
    name: "nothing is touched with --bypass",
    proxy: ["--bypass"],
    steps: [
      ...opening(era),
      ...call(era, 1, "everything", { bytes: 50_000 }),
      ...ask(era, 2, "tools/list"),
      ...closing,
    ],
    changes: [],
  };
}

/** Many calls in flight keep their order. */
function crowd(era: Era): Scenario {
  const ids = Array.from({ length: 300 }, (_, id) => id);
  const large = ids.filter((id) => id % 50 === 49);
  const args = (id: number): Message => (large.includes(id) ? { bytes: 20_000 } : {});
  const tool = (id: number): string => (large.includes(id) ? "embedded_blob" : "test_simple_text");
  return {
    name: "300 calls in flight",
    steps: [
      ...opening(era),
      { send: ids.map((id) => request(era, id, "tools/call", { name: tool(id), arguments: args(id) })).join("\n") },
      ...ids.map((wait) => ({ wait })),
      ...closing,
    ],
    changes: [BEGIN, ...reduced(...large)],
    diverted: large.length,
  };
}
