/**
 * `/resources`: the resources of sources.
 * @module
 */
import type { Hono } from "hono";
import { z } from "zod";
import { SluiceError } from "../../errors/error.js";
import type { ToolContext } from "../../tools/context.js";
import { checkUri, MAX_WATCHED_URI } from "../../tools/resources/listing.js";
import type { ResourceContent } from "../../tools/resources/cache.js";
import type { ToolNode } from "../../tools-node.js";
import { TRACE } from "../http/request.js";
import { emptyAnswer } from "../http/answers.js";
import { announceStored, type AnnouncingDeps, publicRef } from "../sessions/announcer.js";
import { sessionRefused } from "../http/refusals.js";
import { toScope } from "../session.js";
import { MAX_SUBSCRIPTIONS, noteTrace, type SessionRegister } from "../sessions/session-register.js";
import { type AnswerDeps, answerWithWork } from "../sessions/session-work.js";
import type { ServedSources } from "../sources/served-sources.js";
import { takeBack } from "../sources/watcher.js";
import type { InSession, ServeEnv } from "../http/context.js";
import { answerJson, answerEmpty, declareOperation, mountRoutes } from "../http/operation.js";
import { REFERENCE } from "../schemas.js";

const READ = z.object({ trace: TRACE.optional().describe("The trace that its artifacts are stored under.") });

const COMPLETION = z.object({
  template: z.string().min(1).describe("The `uri_template`."),
  variable: z.string().min(1).describe("One of its variables."),
  value: z.string().default("").describe("The beginning of its value."),
});

const NAMESPACE = z.string().describe("The name of the source.");
const OF_SOURCE = z.object({ namespace: NAMESPACE });
const OF_URI = z.object({
  namespace: NAMESPACE,
  uri: z.string().describe("The URI as one part of the path: `/` is `%2F`."),
});

/** Whose resource it is. */
type Named = z.output<typeof OF_URI>;

const LISTED = {
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  mime_type: z.string().optional(),
};
const COMPLETE = z.boolean().describe("False if the source has more than are listed.");
const RESOURCES = z.object({
  resources: z.array(z.object({ uri: z.string(), ...LISTED, size_bytes: z.number().optional() })),
  complete: COMPLETE,
});
const TEMPLATES = z.object({
  templates: z.array(z.object({ uri_template: z.string().describe("RFC 6570."), ...LISTED })),
  complete: COMPLETE,
});
const COMPLETED = z.object({ values: z.array(z.string()) });

const CONTENT = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("text"),
    uri: z.string(),
    mime_type: z.string().nullable(),
    text: z.string(),
    artifact: REFERENCE.optional().describe("The same as an artifact, if it was stored."),
  }),
  z.object({
    kind: z.literal("artifact"),
    uri: z.string(),
    mime_type: z.string().nullable(),
    id: z.string().describe("The artifact's id."),
    size_bytes: z.number(),
    filename: z.string().nullable(),
    summary: z.string(),
  }),
]);
const CONTENTS = z.object({ contents: z.array(CONTENT) });

/** A source may be unknown, fail, refuse, or not answer. */
const FAILING = [404, 502, 504];

interface ResourceRouteDeps extends AnswerDeps, AnnouncingDeps {
  readonly state: { readonly sessions: Pick<SessionRegister, "addTrace" | "find" | "subscribe" | "unsubscribe"> };
  readonly sources: Pick<ServedSources, "get" | "subscriptionsChanged">;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
}

/** Routes for the resources of a source, by its name. A URI is one percent-encoded segment. */
export function resourceRoutes(deps: ResourceRouteDeps): Hono<ServeEnv> {
  return mountRoutes({
    "/:namespace": {
      get: declareOperation({
        id: "listResources",
        summary: "List the resources of a source",
        path: OF_SOURCE,
        answers: { 200: answerJson(RESOURCES, "Its resources.") },
        refusals: FAILING,
        handle: (c, { path }) =>
          withSource(c, deps, path, async (node, context) => {
            const { items, left_out } = await node.listResources(context);
            return { resources: items, complete: left_out === 0 };
          }),
      }),
    },
    "/:namespace/templates": {
      get: declareOperation({
        id: "listResourceTemplates",
        summary: "List the templates of a source",
        path: OF_SOURCE,
        answers: { 200: answerJson(TEMPLATES, "Its templates.") },
        refusals: FAILING,
        handle: (c, { path }) =>
          withSource(c, deps, path, async (node, context) => {
            const { items, left_out } = await node.listResourceTemplates(context);
            return { templates: items, complete: left_out === 0 };
          }),
      }),
    },
    "/:namespace/completions": {
      get: declareOperation({
        id: "completeTemplate",
        summary: "Complete a variable of a template",
        path: OF_SOURCE,
        query: COMPLETION,
        answers: { 200: answerJson(COMPLETED, "What it may be.") },
        refusals: FAILING,
        handle: (c, { path, query: { template, variable, value } }) =>
          withSource(c, deps, path, async (node, context) => ({
            values: await node.complete(template, variable, value, context),
          })),
      }),
    },
    "/:namespace/:uri": {
      get: declareOperation({
        id: "readResource",
        summary: "Read a resource",
        description:
          "Short texts are answered as they are, also long ones that no store keeps. What else is long, or bytes, is a reference.",
        path: OF_URI,
        query: READ,
        answers: { 200: answerJson(CONTENTS, "Its contents.") },
        refusals: [...FAILING, 507],
        handle: (c, { path, query }) => read(c, deps, { ...path, ...query }),
      }),
    },
    "/:namespace/:uri/subscription": {
      put: declareOperation({
        id: "subscribeResource",
        summary: "Watch a resource",
        path: OF_URI,
        answers: { 204: answerEmpty("Its changes are told at `events`.") },
        refusals: [...FAILING, 507],
        handle: (c, { path }) => subscribeResource(c, deps, path),
      }),
      delete: declareOperation({
        id: "unsubscribeResource",
        summary: "Watch a resource no longer",
        path: OF_URI,
        answers: { 204: answerEmpty("Its changes are not told any more.") },
        handle: (c, { path }) => unsubscribeResource(c, deps, path),
      }),
    },
  });
}

async function read(
  c: InSession,
  deps: ResourceRouteDeps,
  { namespace, uri, ...named }: Named & z.output<typeof READ>,
): Promise<z.output<typeof CONTENTS> | Response> {
  const trace = named.trace ?? null;
  checkUri(uri);
  return withSource(c, deps, { namespace, trace }, async (node, context) => {
    await noteTrace(c.get("session"), trace, deps);
    const { contents, artifacts, failures } = await node.readResource(uri, context);
    for (const failure of failures) deps.report(failure);
    if (!(await announceStored(deps, c.get("session"), artifacts))) return sessionRefused();
    return { contents: contents.map(toContent) };
  });
}

/**
 * Asks the source first, which may refuse. Then the subscription is in the register, for every process that listens.
 */
function subscribeResource(c: InSession, deps: ResourceRouteDeps, { namespace, uri }: Named): Promise<Response> {
  checkUri(uri, "uri", MAX_WATCHED_URI);
  const session = c.get("session");
  const { state, sources } = deps;
  return withSource(c, deps, { namespace }, async (node, context) => {
    await node.subscribe(uri, context);
    try {
      if (!(await state.sessions.subscribe(session.id, { namespace, uri }))) throw tooMany();
      await sources.subscriptionsChanged(session);
    } finally {
      // A listener in this process has its own subscription by now.
      await takeBack(node, uri, context);
    }
    return emptyAnswer();
  });
}

async function unsubscribeResource(c: InSession, deps: ResourceRouteDeps, named: Named): Promise<Response> {
  const session = c.get("session");
  await deps.state.sessions.unsubscribe(session.id, named);
  await deps.sources.subscriptionsChanged(session);
  return emptyAnswer();
}

function withSource<T>(
  c: InSession,
  deps: ResourceRouteDeps,
  { namespace, trace = null }: Pick<Named, "namespace"> & { readonly trace?: string | null },
  work: (node: ToolNode, context: ToolContext) => Promise<T>,
): Promise<T | Response> {
  return answerWithWork(c, deps, async (signal) => {
    const context = { scope: toScope(c.get("session"), trace), signal };
    return work(await deps.sources.get(namespace, context), context);
  });
}

function toContent(content: ResourceContent): z.output<typeof CONTENT> {
  if (content.kind === "artifact") return content;
  const { artifact, ...text } = content;
  return artifact === undefined ? text : { ...text, artifact: publicRef(artifact) };
}

function tooMany(): SluiceError {
  const sentence = `A session may subscribe to at most ${MAX_SUBSCRIPTIONS} resources: cancel one of its subscriptions.`;
  return new SluiceError("E_STORE_FULL", sentence);
}
