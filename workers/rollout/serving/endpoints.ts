/** The model endpoints by their paths: how each reads a body, and how it tells an error. */
import { RollmeshError } from '../../../core/errors.ts';
import { apiError } from '../../../core/serving/api-error.ts';
import { chatOrder, completionOrder, tokensOrder } from '../../../core/serving/order.ts';
import { responsesOrder } from '../../../core/serving/responses.ts';
import { STATUS_OF_KIND } from '../../shared/failures.ts';

/** How each endpoint reads a body, and how the ids of its answers begin. */
export const ENDPOINTS = {
  '/v1/chat/completions': { read: chatOrder, prefix: 'chatcmpl' },
  '/v1/responses': { read: responsesOrder, prefix: 'resp' },
  '/v1/completions': { read: completionOrder, prefix: 'cmpl' },
  '/inference/v1/generate': { read: tokensOrder, prefix: 'generate' },
} as const;
export type Endpoint = keyof typeof ENDPOINTS;

export const isEndpoint = (path: string): path is Endpoint => Object.hasOwn(ENDPOINTS, path);

/** An error as OpenAI's clients read it. */
export function errorBody(error: unknown) {
  if (!(error instanceof RollmeshError))
    return {
      status: 503,
      body: apiError(503, 'internal', 'The policy could not be sampled. Try again; the log has the cause.'),
    };
  const status = STATUS_OF_KIND[error.kind];
  return { status, body: apiError(status, error.code, error.message) };
}
