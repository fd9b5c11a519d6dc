/**
 * `/resources`: the resources of sources.
 * @module
 */
import type { Hono } from "hono";
import { z } from "zod";
import { SluiceError } from "../../errors/error.js";
import type { ToolContext } from "../../tools/options.js";
import { checkUri, MAX_WATCHED_URI } from "../../tools/resources/connection.js";
import type { ResourceContent } from "../../tools/resources/cache.js";
import type { ToolNode } from "../../tools-node.js";
import { readQuery, segmentsOf, TRACE } from "../http/request.js";
import { emptyAnswer, jsonAnswer } from "../http/answers.js";
import { announced, publicRef } from "../sessions/announcer.js";
import { sessionRefused } from "../http/refusals.js";
import { noteTrace, scopeOf } from "../sessions/session.js";
import { MAX_SUBSCRIPTIONS } from "../sessions/session-register.js";
import { answeredFor } from "../sessions/session-work.js";
import { takenBack } from "../sources/watcher.js";
import type { InSession, ServeEnv, ServeDeps } from "../deps.js";
import { routesOf } from "./path-methods.js";

const READ = z.object({ trace: TRACE.optional() });

const COMPLETION = z.object({
  template: z.string().min(1),
  variable: z.string().min(1),
  value: z.string().default(""),
});

/** Routes for the resources of a source, by its name. A URI is one percent-encoded segment. */
export function resourceRoutes(deps: ServeDeps): Hono<ServeEnv> {
  return routesOf({
    "/:namespace": { get: (c) => listed(c, deps) },
    "/:namespace/templates": { get: (c) => listedTemplates(c, deps) },
    "/:namespace/completions": { get: (c) => completed(c, deps) },
    "/:namespace/:uri": { get: (c) => read(c, deps) },
    "/:namespace/:uri/subscription": { put: (c) => subscribed(c, deps), delete: (c) => unsubscribed(c, deps) },
  });
}

function listed(c: InSession, deps: ServeDeps): Promise<Response> {
  return withSource(c, deps, null, async (node, context) => {
    const { items, left_out } = await node.listResources(context);
    return jsonAnswer({ resources: items, complete: left_out === 0 });
  });
}

function listedTemplates(c: InSession, deps: ServeDeps): Promise<Response> {
  return withSource(c, deps, null, async (node, context) => {
    const { items, left_out } = await node.listResourceTemplates(context);
    return jsonAnswer({ templates: items, complete: left_out === 0 });
  });
}

function completed(c: InSession, deps: ServeDeps): Promise<Response> {
  const { template, variable, value } = readQuery(c.req.raw, COMPLETION);
  return withSource(c, deps, null, async (node, context) =>
    jsonAnswer({ values: await node.complete(template, variable, value, context) }),
  );
}

async function read(c: InSession, deps: ServeDeps): Promise<Response> {
  const { trace = null } = readQuery(c.req.raw, READ);
  const { uri } = namedIn(c, deps);
  checkUri(uri);
  return withSource(c, deps, trace, async (node, context) => {
    await noteTrace(c.get("session"), trace, deps);
    const { contents, artifacts, failures } = await node.readResource(uri, context);
    for (const failure of failures) deps.report(failure);
    if (!(await announced(deps, c.get("session"), artifacts))) return sessionRefused();
    return jsonAnswer({ contents: contents.map(shown) });
  });
}

/**
 * Asks the source first, which may refuse. Then the subscription is in the register, for every process that listens.
 */
function subscribed(c: InSession, deps: ServeDeps): Promise<Response> {
  const { namespace, uri } = namedIn(c, deps);
  checkUri(uri, "uri", MAX_WATCHED_URI);
  const session = c.get("session");
  const { state, sources } = deps;
  return withSource(c, deps, null, async (node, context) => {
    await node.subscribe(uri, context);
    try {
      if (!(await state.sessions.subscribe(session.id, { namespace, uri }))) throw tooMany();
      await sources.subscriptionsChanged(session);
    } finally {
      // A listener in this process has its own subscription by now.
      await takenBack(node, uri, context);
    }
    return emptyAnswer();
  });
}

async function unsubscribed(c: InSession, deps: ServeDeps): Promise<Response> {
  const session = c.get("session");
  await deps.state.sessions.unsubscribe(session.id, namedIn(c, deps));
  await deps.sources.subscriptionsChanged(session);
  return emptyAnswer();
}

function withSource(
  c: InSession,
  deps: ServeDeps,
  trace: string | null,
  work: (node: ToolNode, context: ToolContext) => Promise<Response>,
): Promise<Response> {
  const { namespace } = namedIn(c, deps);
  return answeredFor(c, deps, async (signal) => {
    const context = { scope: scopeOf(c.get("session"), trace), signal };
    return work(await deps.sources.get(namespace, context), context);
  });
}

function namedIn(c: InSession, { base }: ServeDeps): { readonly namespace: string; readonly uri: string } {
  const [namespace = "", uri = ""] = segmentsOf(c.req.raw, base, "resources");
  return { namespace, uri };
}

function shown(content: ResourceContent): object {
  if (content.kind === "artifact" || content.artifact === undefined) return content;
  return { ...content, artifact: publicRef(content.artifact) };
}

function tooMany(): SluiceError {
  const sentence = `A session may subscribe to at most ${MAX_SUBSCRIPTIONS} resources: cancel one of its subscriptions.`;
  return new SluiceError("E_STORE_FULL", sentence);
}
