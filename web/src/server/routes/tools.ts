/**
 * `/tools`: the tools of all sources, and calling one.
 * @module
 */
import { Hono } from "hono";
import { z } from "zod";
import type { ToolSpec } from "../../tools/registry.js";
import { TRACE, readJson, segmentsOf } from "../http/request.js";
import { jsonAnswer } from "../json-answer.js";
import { methodRefused, saidOf } from "../refusals.js";
import { scopeOf } from "../sessions/session.js";
import { answeredFor, streamedFor } from "../sources/session-work.js";
import { MAX_NAME, calledFor, type AskedCall } from "../sources/tool-call.js";
import type { InSession, ServeEnv, ServeDeps } from "../deps.js";

const CALL = z.strictObject({
  args: z.record(z.string(), z.unknown()).default({}),
  trace: TRACE.optional(),
  timeout_seconds: z.number().min(1).max(300).optional(),
});

/** The tools, and calls of them: as events, or as one answer in JSON for whoever accepts nothing else. */
export function toolRoutes(deps: ServeDeps): Hono<ServeEnv> {
  return new Hono<ServeEnv>()
    .get("/", (c) => listed(c, deps))
    .all("/", () => methodRefused("GET, HEAD"))
    .post("/:name", async (c) => {
      const call = await callIn(c, deps);
      return wantsJson(c.req.header("accept") ?? "") ? answered(c, call, deps) : streamed(c, call, deps);
    })
    .all("/:name", () => methodRefused("POST"));
}

function listed(c: InSession, deps: ServeDeps): Promise<Response> {
  return answeredFor(c, deps, async (signal) => {
    const { nodes, unavailable } = await deps.sources.available({ scope: scopeOf(c.get("session")), signal });
    const missing = unavailable.map(({ source, error }) => {
      const { code, message } = saidOf(error, () => undefined);
      return { source, error: { code, message } };
    });
    return jsonAnswer({ tools: nodes.flatMap((node) => node.getTools().map(shown)), unavailable: missing });
  });
}

function shown({ name, description, input_schema, extra }: ToolSpec): object {
  return { name, source: extra.namespace, description, args_schema: input_schema };
}

async function callIn(c: InSession, { base }: ServeDeps): Promise<AskedCall> {
  const { args, trace = null, timeout_seconds } = await readJson(c.req.raw, CALL);
  const [name = ""] = segmentsOf(c.req.raw, base, "tools");
  return { name: name.slice(0, MAX_NAME), args, trace, timeoutSeconds: timeout_seconds };
}

function answered(c: InSession, call: AskedCall, deps: ServeDeps): Promise<Response> {
  return answeredFor(c, deps, async (signal) => jsonAnswer(await calledFor(c.get("session"), call, deps, { signal })));
}

function streamed(c: InSession, call: AskedCall, deps: ServeDeps): Response {
  return streamedFor(c, deps, async (tell, signal) => {
    const result = await calledFor(c.get("session"), call, deps, { signal, tell });
    return { kind: "result", ...result };
  });
}

function wantsJson(accept: string): boolean {
  return /\bapplication\/json\b/i.test(accept) && !/\btext\/event-stream\b/i.test(accept);
}
