/**
 * Injects faults into the network between learner and mesh: requests that do not arrive or whose answer is lost, torn uploads,
 * refusals, delays, messages pulled twice or out of order, and leases that run out while the learner trains.
 */
import { Random } from '../../core/random.ts';
import type { Forward, Handler, ProxyRequest, ProxyResponse } from './proxy.ts';

type Fault = (request: ProxyRequest, forward: Forward, random: Random) => Promise<ProxyResponse | null>;

/** The lease, in ms, of a pull that gets a fault. It runs out long before a round is trained. */
const SHORT_LEASE_MS = 50;
const SLOW_MS = 500;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

const BUSY: ProxyResponse = {
  status: 503,
  headers: { 'content-type': 'application/json', 'retry-after': '0.1' },
  body: Buffer.from('{}'),
};

const ANY: readonly Fault[] = [
  // The request does not arrive.
  () => Promise.resolve(null),
  // The request is carried out, and the answer is lost.
  async (request, forward) => {
    await forward(request);
    return null;
  },
  async (request, forward) => {
    await forward(request);
    return BUSY;
  },
  () => Promise.resolve(BUSY),
  async (request, forward, random) => {
    await sleep(random.int(SLOW_MS));
    return forward(request);
  },
];

const torn: Fault = async (request, forward, random) => {
  await forward(request, random.int(request.body.length)).catch(() => undefined);
  return null;
};

const shortLease: Fault = (request, forward) => {
  const asked = JSON.parse(request.body.toString()) as Record<string, unknown>;
  const body = Buffer.from(JSON.stringify({ ...asked, visibility_timeout_ms: SHORT_LEASE_MS }));
  return forward({ ...request, body });
};

const repeatedAndShuffled: Fault = async (request, forward, random) => {
  const response = await forward(request);
  const pulled = JSON.parse(response.body.toString()) as { result?: { messages?: unknown[] } };
  if (!pulled.result?.messages) return response;
  const { messages } = pulled.result;
  const again = messages.filter(() => random.bool(0.3));
  const result = { ...pulled.result, messages: random.shuffle([...messages, ...again]) };
  const body = Buffer.from(JSON.stringify({ ...pulled, result }));
  return { ...response, headers: { ...response.headers, 'content-length': String(body.length) }, body };
};

/** A handler that injects a fault into a share (`rate`) of the requests. */
export function faultyNetwork(seed: string, rate: number): Handler {
  const random = new Random(`network/${seed}`);
  return (request, forward) => {
    if (!random.bool(rate)) return forward(request);
    const fitting = [
      ...ANY,
      ...(request.kind === 'file' ? [torn, torn] : []),
      ...(request.kind === 'pull' ? [shortLease, repeatedAndShuffled] : []),
    ];
    return random.pick(fitting)(request, forward, random);
  };
}
