/** A completions server over a policy here, whose dialect a test brings; for one test file each. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createPolicy, type OnnxPolicy } from '../../../infer/onnx-policy.ts';
import { loadOrt } from '../../../infer/ort.ts';
import { createRemotePolicy, type RemoteOptions } from '../../../infer/remote/policy.ts';
import { parseConfig } from '../../../model/config.ts';
import { randomTensors, smallConfigJson } from '../../model/checkpoints.ts';
import { referenceLogits, softmax } from '../../model/reference.ts';

/** Of the policy that answers. */
export const CONFIG_JSON = smallConfigJson({ num_hidden_layers: 1, vocab_size: 32 });
const config = parseConfig(CONFIG_JSON);
const tensors = randomTensors(config);

export interface LocalServer<Asked> {
  /** Requests since the test's start. */
  readonly seen: Asked[];
  /** Replaces the server's answers of this test. */
  instead: (() => { status: number; body: string; headers?: Record<string, string> }) | undefined;
  /** The policy that answers. */
  readonly local: OnnxPolicy;
  /** How it is reached. */
  readonly at: Pick<RemoteOptions, 'baseUrl' | 'model' | 'apiKey'>;
  remote(changes?: Partial<RemoteOptions>): ReturnType<typeof createRemotePolicy>;
}

/** Log-probabilities (nats) of what comes after each token, by the reference in float64: [ids][vocab]. */
export const logprobsAfter = (ids: readonly number[]): number[][] =>
  referenceLogits(config, tensors, ids).map((row) => softmax(row).map(Math.log));

/** Starts it before the file's tests; `answer` gives the first choice of what the server says. */
export function serveLocally<Asked>(
  answer: (asked: Asked, local: OnnxPolicy) => Promise<unknown>,
  dialect: NonNullable<RemoteOptions['dialect']>,
): LocalServer<Asked> {
  const seen: Asked[] = [];
  let local: OnnxPolicy | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked: Asked = JSON.parse(Buffer.concat(chunks).toString());
    seen.push(asked);
    const { status, body, headers } = state.instead?.() ?? {
      status: 200,
      body: JSON.stringify({ choices: [await answer(asked, local!)] }),
      headers: {},
    };
    response.writeHead(request.headers.authorization === 'Bearer key' ? status : 401, headers).end(body);
  });
  beforeAll(async () => {
    const ref = { name: 'local', version: 0 };
    local = await createPolicy({ runtime: await loadOrt(), ref, config, weights: tensors });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterAll(async () => {
    server.close();
    await local?.dispose();
  });
  beforeEach(() => {
    seen.length = 0;
    state.instead = undefined;
  });
  const state: LocalServer<Asked> = {
    seen,
    instead: undefined,
    get local() {
      return local!;
    },
    get at() {
      const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
      return { baseUrl, model: 'far-3', apiKey: 'key' };
    },
    remote: (changes = {}) =>
      createRemotePolicy({
        ref: { name: 'far', version: 3 },
        ...state.at,
        vocabSize: 32,
        context: 64,
        dialect,
        ...changes,
      }),
  };
  return state;
}
