/** Answers a request of a model endpoint from completions: at once, or as a stream while they are drawn. */
import type { Completion, TokenScores } from '../../../core/policy/policy.ts';
import type { PolicyText } from '../../../core/renderer/policy-text.ts';
import { chatAnswer, completionAnswer, type Heading, tokensAnswer } from '../../../core/serving/answer.ts';
import type { ServingOrder } from '../../../core/serving/order.ts';
import { responseAnswer } from '../../../core/serving/responses.ts';
import { failureOf } from '../../shared/failures.ts';
import { log } from '../../shared/log.ts';
import { type Endpoint, errorBody } from './endpoints.ts';
import { choiceOf, type PreparedOrder, toldPrompts } from './sample.ts';
import { CompletionEvents } from './stream.ts';
import { ResponseEvents } from './stream-response.ts';
import { StreamWriter } from './stream-writer.ts';

/** Sees completions as far as they have been drawn; resolves to false where nobody reads them any more. */
export type SoFar = (completions: readonly (readonly Completion[])[]) => Promise<boolean>;

export interface Answered {
  readonly endpoint: Endpoint;
  readonly order: ServingOrder;
  readonly heading: Heading;
  readonly prepared: PreparedOrder;
  readonly text: PolicyText;
}

/** `keep` holds the isolate until the work has ended: others wait for the policy that it uses. `score`: scores the prompts of which the caller is told. */
export async function respond(
  { endpoint, order, heading, prepared, text }: Answered,
  draw: (soFar?: SoFar) => Promise<Completion[][]>,
  keep: (work: Promise<unknown>) => void,
  score?: () => Promise<TokenScores[]>,
): Promise<Response> {
  if (!order.stream) {
    const work = (async () => ({ scores: await score?.(), completions: await draw() }))();
    keep(work);
    const { scores, completions } = await work;
    const told = toldPrompts(order, prepared, text, scores);
    const choices = completions.flatMap((ofPrompt, p) =>
      ofPrompt.map((completion) => choiceOf(prepared, text, p, completion)),
    );
    const { prompts } = prepared;
    if (endpoint === '/v1/chat/completions')
      return Response.json(chatAnswer(heading, prompts[0]!, choices, order, told));
    if (endpoint === '/v1/responses')
      return Response.json(responseAnswer(heading, prompts[0]!, choices[0]!, order));
    const answer = endpoint === '/v1/completions' ? completionAnswer : tokensAnswer;
    return Response.json(answer(heading, prompts, choices, order, told));
  }
  const events =
    endpoint === '/v1/responses'
      ? new ResponseEvents(order, heading, prepared, text)
      : new CompletionEvents(order, endpoint === '/v1/chat/completions', heading, prepared, text);
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = new StreamWriter(writable);
  const told = draw((soFar) => writer.tell(events.grow(soFar)))
    .then((completions) => writer.tell(events.end(completions)))
    .catch((error: unknown) => {
      log('warn', 'serving.failed', failureOf(error));
      return writer.tell(events.fail(errorBody(error).body));
    })
    .finally(() => writer.close());
  keep(told);
  return new Response(readable, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
  });
}
