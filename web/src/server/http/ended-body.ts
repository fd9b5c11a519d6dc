/**
 * Knowing when an answer has been given to its end.
 * @module
 */

/** What is to be known of a body. */
export interface BodyTerms {
  /** Called once: when it has ended, has failed, or nobody wants it any more. Must not throw. */
  readonly onEnd: () => void;
  /** Told what it failed at. Must not throw. */
  readonly onFailure: (error: unknown) => void;
}

/** The same answer, of which somebody is told when its body has ended. One without a body has ended already. */
export function withEnd(response: Response, terms: BodyTerms): Response {
  if (response.body === null) {
    terms.onEnd();
    return response;
  }
  return new Response(watched(response.body, terms), response);
}

/** The answer to `HEAD`: what makes the body is told that nobody wants it. */
export function withoutBody(response: Response): Response {
  response.body?.cancel().catch(() => undefined);
  return new Response(null, response);
}

function watched(body: ReadableStream<Uint8Array>, { onEnd, onFailure }: BodyTerms): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let isUnwanted = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller): Promise<undefined> {
        try {
          const { done, value } = await reader.read();
          if (isUnwanted) return undefined;
          if (!done) {
            controller.enqueue(value);
            return undefined;
          }
          controller.close();
          onEnd();
          return undefined;
        } catch (error) {
          onFailure(error);
          onEnd();
          throw error;
        }
      },
      async cancel(reason): Promise<void> {
        isUnwanted = true;
        onEnd();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
