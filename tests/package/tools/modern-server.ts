/**
 * The fixture server in the later era of MCP, for pages.
 * @module
 */
import { request as ask, type RequestListener } from "node:http";
import { serveFixture } from "../../e2e/serving.js";
import { DOCUMENTED, forPages, listen, type Elsewhere } from "./elsewhere.js";

/** A server of the later era. */
export interface ModernServing extends Elsewhere {
  readonly url: string;
  /** What calls were of that ended before they were answered: names of tools. */
  readonly givenUp: readonly unknown[];
}

/** Starts the fixture, and stands in front of it with what pages need: a tool of it has an argument in a header. */
export async function serveModern(): Promise<ModernServing> {
  const fixture = await serveFixture();
  const givenUp: unknown[] = [];
  const cors = { ...DOCUMENTED, allows: `${DOCUMENTED.allows}, Mcp-Param-Region` };
  const answer = forPages(through(fixture.url, givenUp), cors);
  const served = await listen(() => answer);
  return {
    ...served,
    url: `${served.origin}/mcp`,
    givenUp,
    async [Symbol.asyncDispose]() {
      await served[Symbol.asyncDispose]();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

function through(to: string, givenUp: unknown[]): RequestListener {
  return (request, response) => {
    const { host: _host, ...headers } = request.headers;
    const further = ask(to, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    further.once("error", () => response.destroy());
    response.once("close", () => {
      if (!response.writableFinished && headers["mcp-method"] === "tools/call") givenUp.push(headers["mcp-name"]);
      further.destroy();
    });
    request.pipe(further);
  };
}
