/**
 * Every address of a server, and what guards it. One that is not listed here fails a test: say for each guard where it is
 * shown to hold, or why there is nothing to guard.
 * @module
 */

/** What a way in has to be guarded by. */
export const GUARDS = ["isolation", "filter", "sandbox", "limits", "gate"] as const;
export type Guard = (typeof GUARDS)[number];

/** Where a guard is shown to hold: by a test beside this file, by another one, or nowhere for a reason. */
type Shown = "guards" | "limits" | "isolation" | `none: ${string}`;

type Guarded = Readonly<Record<Guard, Shown>>;

/** Calls tools. */
const CALLS: Guarded = { isolation: "guards", filter: "guards", sandbox: "guards", limits: "limits", gate: "guards" };

const NO_TOOLS = "none: no tool is called or listed";

/** Gives what a session has, or takes it away. */
const READS: Guarded = {
  isolation: "isolation",
  filter: NO_TOOLS,
  sandbox: NO_TOOLS,
  limits: "none: nothing is stored or started",
  gate: NO_TOOLS,
};

/** Stores what its client sends. */
const STORES: Guarded = { ...READS, limits: "limits" };

/** Goes on with a call or a run that another address began. */
const FOLLOWS: Guarded = {
  ...READS,
  filter: "none: the call was let in before",
  sandbox: "none: the program runs already",
  limits: "none: it was counted when it began",
  gate: "none: the result is that of the call",
};

/** Says what is there, to anybody. */
const OPEN: Guarded = { ...READS, isolation: "none: it says the same to all" };

export const REGISTER: Readonly<Record<string, Guarded>> = {
  "POST /tools/{name}": CALLS,
  "POST /mcp/{source}": CALLS,
  "POST /raw/{source}": CALLS,
  "POST /chat": CALLS,
  "GET /tools": { ...CALLS, sandbox: "none: nothing is called", gate: "none: nothing is called" },
  "POST /sources/{name}/connection": {
    ...CALLS,
    filter: "none: it tells how many tools there are",
    sandbox: "none: nothing is called",
    gate: "none: nothing is called",
    isolation: "isolation",
  },
  "GET /mcp/{source}": FOLLOWS,
  "DELETE /mcp/{source}": FOLLOWS,
  "GET /raw/{source}": FOLLOWS,
  "DELETE /raw/{source}": FOLLOWS,
  "GET /calls/{call}": FOLLOWS,
  "POST /pauses/{pause}": FOLLOWS,
  "POST /chat/resume": FOLLOWS,
  "GET /chat/{run}": FOLLOWS,
  "DELETE /chat/{run}": FOLLOWS,
  "GET /events": READS,
  "POST /artifacts": STORES,
  "GET /artifacts": READS,
  "GET /artifacts/{id}": READS,
  "GET /artifacts/{id}/meta": READS,
  "DELETE /artifacts/{id}": READS,
  "POST /files": STORES,
  "PATCH /files/{id}": STORES,
  "GET /files": READS,
  "GET /files/{id}": READS,
  "GET /files/{id}/meta": READS,
  "GET /files/{id}/versions": READS,
  "DELETE /files/{id}": READS,
  "GET /resources/{namespace}/{uri}": { ...STORES, gate: "none: shown in tests/unit/tools/resources" },
  "GET /resources/{namespace}": READS,
  "GET /resources/{namespace}/templates": READS,
  "GET /resources/{namespace}/completions": READS,
  "PUT /resources/{namespace}/{uri}/subscription": READS,
  "DELETE /resources/{namespace}/{uri}/subscription": READS,
  "POST /sessions": STORES,
  "GET /sessions/{id}": READS,
  "DELETE /sessions/{id}": READS,
  "GET /usage": READS,
  "GET /sources": OPEN,
  "GET /health": OPEN,
  "GET /ready": OPEN,
  "GET /openapi.json": OPEN,
  "GET /oauth/callback": { ...OPEN, limits: "none: the call was counted when it began" },
};

/** The addresses whose guard is shown by the test of this name. */
export function addressesWith(test: "guards" | "limits" | "isolation", guard?: Guard): readonly string[] {
  return Object.entries(REGISTER).flatMap(([address, guarded]) => {
    const isShown = guard === undefined ? Object.values(guarded).includes(test) : guarded[guard] === test;
    return isShown ? [address] : [];
  });
}
