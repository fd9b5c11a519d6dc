/**
 * A scripted model behind a server of another origin, which lets pages ask it.
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Script, createScriptedModel } from "../../dist/planner.js";
import { bodyOf, type Elsewhere, forPages, listen } from "../package/tools/elsewhere.js";

/** What it was asked. */
interface AskedModel {
  readonly authorization: string | undefined;
  readonly messages: readonly { readonly role: string; readonly content: string | null }[];
}

/** A model that listens. */
interface ServedModel extends Elsewhere {
  /** Up to and without `/chat/completions`. */
  readonly url: string;
  readonly asked: readonly AskedModel[];
}

/** Serves it; with a key it answers nobody else. */
export async function serveModel(script: Script, key?: string): Promise<ServedModel> {
  const asked: AskedModel[] = [];
  const answer = createScriptedModel(script);

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
    const answered = await answer(url, { method: "POST", body });
    response.writeHead(answered.status, Object.fromEntries(answered.headers));
    for await (const chunk of answered.body ?? []) response.write(chunk);
    response.end();
  }

  const served = await listen(() => forPages((...exchange) => void relayed(...exchange)));
  return { ...served, url: `${served.origin}/v1`, asked };
}

const CALLS = [
  { asked: /^Draw the picture/, call: () => ({ name: "tools_picture", args: {} }) },
  { asked: /^Wait for (.+)/, call: (file: string) => ({ name: "tools_slow", args: { file } }) },
  { asked: /^Make the report/, call: () => ({ name: "desk_report", args: {} }) },
  { asked: /^Ask me/, call: () => ({ name: "tools_asks", args: {} }) },
];

/** Calls the tool that the question is about, once, and says that it did. */
export const served: Script = ({ last }) => {
  if (last.role === "tool") return { text: "The picture is drawn." };
  for (const { asked, call } of CALLS) {
    const [, file = ""] = asked.exec(last.content) ?? [];
    if (asked.test(last.content)) return { text: "I call a tool. ", calls: [call(file)] };
  }
  return { text: "There is nothing to do." };
};
