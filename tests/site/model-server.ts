/**
 * A scripted model behind a server of another origin, which lets pages ask it.
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { scriptedModel, type Script } from "../../dist/planner.js";
import { bodyOf, forPages, listen, type Elsewhere } from "../package/tools/elsewhere.js";

/** What it was asked. */
export interface AskedModel {
  readonly authorization: string | undefined;
  readonly messages: readonly { readonly role: string; readonly content: string | null }[];
}

/** A model that listens. */
export interface ServedModel extends Elsewhere {
  /** Up to and without `/chat/completions`. */
  readonly url: string;
  readonly asked: readonly AskedModel[];
}

/** Serves it; with a key it answers nobody else. */
export async function serveModel(script: Script, key?: string): Promise<ServedModel> {
  const asked: AskedModel[] = [];
  const answer = scriptedModel(script);

  async function relayed(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const { authorization } = request.headers;
    const { messages } = JSON.parse(body) as AskedModel;
    asked.push({ authorization, messages });
    if (key !== undefined && authorization !== `Bearer ${key}`) {
      response.writeHead(401, { "content-type": "application/json" }).end('{"error":{"message":"Wrong key."}}');
      return;
    }
    const url = new URL(request.url ?? "", "http://model.test");
    const answered = await answer(new Request(url, { method: "POST", body }));
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    for await (const chunk of answered.body ?? []) response.write(chunk);
    response.end();
  }

  const served = await listen(() => forPages((...exchange) => void relayed(...exchange)));
  return { ...served, url: `${served.origin}/v1`, asked };
}
