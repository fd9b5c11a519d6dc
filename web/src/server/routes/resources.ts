/**
 * `/resources`: what sources have to read beside tools.
 * @module
 */
import { Hono } from "hono";
import { z } from "zod";
import { SluiceError } from "../../errors/error.js";
import type { ToolContext } from "../../tools/context.js";
import { checkUri } from "../../tools/resources/listed.js";
import { MAX_WATCHED_URI } from "../../tools/resources/limits.js";
import type { ResourceContent } from "../../tools/resources/contents.js";
import type { ToolNode } from "../../tools-node.js";
import { readQuery, segmentsOf, TRACE } from "../http/request.js";
import { emptyAnswer, jsonAnswer } from "../json-answer.js";
import { announced, publicRef } from "../events/announcer.js";
import { methodRefused, sessionRefused } from "../refusals.js";
import { noteTrace, scopeOf } from "../sessions/session.js";
import { MAX_SUBSCRIPTIONS } from "../sessions/session-register.js";
import { answeredFor } from "../sources/session-work.js";
import { takenBack } from "../sources/watcher.js";
import type { InSession, ServeEnv, ServeTerms } from "../terms.js";

const READ = z.object({ trace: TRACE.optional() });

const COMPLETION = z.object({
  template: z.string().min(1),
  variable: z.string().min(1),
  value: z.string().default(""),
});

/** The resources of a source, by its name; each by its URI, percent-encoded as one segment. */
export function resourceRoutes(terms: ServeTerms): Hono<ServeEnv> {
  return new Hono<ServeEnv>()
    .get("/:namespace", (c) => listed(c, terms))
    .all("/:namespace", () => methodRefused("GET, HEAD"))
    .get("/:namespace/templates", (c) => listedTemplates(c, terms))
    .all("/:namespace/templates", () => methodRefused("GET, HEAD"))
    .get("/:namespace/completions", (c) => completed(c, terms))
    .all("/:namespace/completions", () => methodRefused("GET, HEAD"))
    .get("/:namespace/:uri", (c) => read(c, terms))
    .all("/:namespace/:uri", () => methodRefused("GET, HEAD"))
    .put("/:namespace/:uri/subscription", (c) => subscribed(c, terms))
    .delete("/:namespace/:uri/subscription", (c) => unsubscribed(c, terms))
    .all("/:namespace/:uri/subscription", () => methodRefused("PUT, DELETE"));
}

function listed(c: InSession, terms: ServeTerms): Promise<Response> {
  return withSource(c, terms, null, async (node, context) => {
    const { items, left_out } = await node.listResources(context);
    return jsonAnswer({ resources: items, complete: left_out === 0 });
  });
}

function listedTemplates(c: InSession, terms: ServeTerms): Promise<Response> {
  return withSource(c, terms, null, async (node, context) => {
    const { items, left_out } = await node.listResourceTemplates(context);
    return jsonAnswer({ templates: items, complete: left_out === 0 });
  });
}

function completed(c: InSession, terms: ServeTerms): Promise<Response> {
  const { template, variable, value } = readQuery(c.req.raw, COMPLETION);
  return withSource(c, terms, null, async (node, context) =>
    jsonAnswer({ values: await node.complete(template, variable, value, context) }),
  );
}

async function read(c: InSession, terms: ServeTerms): Promise<Response> {
  const { trace = null } = readQuery(c.req.raw, READ);
  const { uri } = namedIn(c, terms);
  checkUri(uri);
  return withSource(c, terms, trace, async (node, context) => {
    await noteTrace(c.get("session"), trace, terms);
    const { contents, artifacts, failures } = await node.readResource(uri, context);
    for (const failure of failures) terms.report(failure);
    if (!(await announced(terms, c.get("session"), artifacts))) return sessionRefused();
    return jsonAnswer({ contents: contents.map(shown) });
  });
}

/** Asked of the source first, which may refuse it; then it stands in the register, for every process that listens. */
function subscribed(c: InSession, terms: ServeTerms): Promise<Response> {
  const { namespace, uri } = namedIn(c, terms);
  checkUri(uri, "uri", MAX_WATCHED_URI);
  const session = c.get("session");
  const { state, sources } = terms;
  return withSource(c, terms, null, async (node, context) => {
    await node.subscribe(uri, context);
    try {
      if (!(await state.sessions.subscribe(session.id, { namespace, uri }))) throw tooMany();
      await sources.subscriptionsChanged(session);
    } finally {
      // Where somebody listens here, they have asked for themselves by now.
      await takenBack(node, uri, context);
    }
    return emptyAnswer();
  });
}

async function unsubscribed(c: InSession, terms: ServeTerms): Promise<Response> {
  const session = c.get("session");
  await terms.state.sessions.unsubscribe(session.id, namedIn(c, terms));
  await terms.sources.subscriptionsChanged(session);
  return emptyAnswer();
}

function withSource(
  c: InSession,
  terms: ServeTerms,
  trace: string | null,
  work: (node: ToolNode, context: ToolContext) => Promise<Response>,
): Promise<Response> {
  const { namespace } = namedIn(c, terms);
  return answeredFor(c, terms, async (signal) => {
    const context = { scope: scopeOf(c.get("session"), trace), signal };
    return work(await terms.sources.get(namespace, context), context);
  });
}

function namedIn(c: InSession, { base }: ServeTerms): { readonly namespace: string; readonly uri: string } {
  const [namespace = "", uri = ""] = segmentsOf(c.req.raw, base, "resources");
  return { namespace, uri };
}

function shown(content: ResourceContent): object {
  if (content.kind === "artifact" || content.artifact === undefined) return content;
  return { ...content, artifact: publicRef(content.artifact) };
}

function tooMany(): SluiceError {
  const sentence = `A session is told of at most ${MAX_SUBSCRIPTIONS} resources: take one of its subscriptions back.`;
  return new SluiceError("E_STORE_FULL", sentence);
}
