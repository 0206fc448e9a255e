/**
 * A node that lies in a part of its results: `lying-node URL SEED`, with its token in ROLLMESH_NODE_TOKEN. Each lie is told on standard error as a line of
 * JSON. It ends as any node ends that is shut out.
 */
import { RollmeshError } from '../../core/errors.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { Random } from '../../core/random.ts';
import { honestly, startNode } from '../nodes/in-process-node.ts';

/** One result in so many is a lie, on average. */
const ONE_IN = 4;

/** What a lie changes in the first completion of a result; `token`: one that the vocabulary has. */
const LIES: Readonly<Record<string, (one: Completion, token: number) => Completion>> = {
  'a log-probability that is a nat lower': (one) => ({
    ...one,
    logprobs: one.logprobs.with(0, Math.fround(one.logprobs[0]! - 1)),
  }),
  'a token in place of another': (one, token) => ({
    ...one,
    ids: one.ids.with(0, token),
    logprobs: one.logprobs.with(0, Math.fround(-20)),
  }),
  'a log-probability that float32 cannot draw': (one) => ({ ...one, logprobs: one.logprobs.with(0, -1e308) }),
};

const [url, seed] = process.argv.slice(2) as [string, string];
const random = new Random(`lies/${seed}`);
const right = honestly();
const node = await startNode(url, process.env.ROLLMESH_NODE_TOKEN!, async (requests, files) =>
  (await right(requests, files)).map((made) => {
    const [[first, ...row] = [], ...rows] = made;
    if (!first?.ids.length || random.int(ONE_IN)) return made;
    const [name, lie] = random.pick(Object.entries(LIES));
    process.stderr.write(`${JSON.stringify({ lie: name })}\n`);
    const [is, ...others] = first.ids.slice(0, -1);
    return [[lie(first, others.find((id) => id !== is) ?? first.ids[0]!), ...row], ...rows];
  }),
);
console.log(JSON.stringify({ kind: 'node', mesh: url }));
/** How the mesh tells it: at the door, or after an audit. */
const FOUND = ['result.completions', 'node.shut-out'];
await node.ended.catch((error: unknown) => {
  if (!(error instanceof RollmeshError && FOUND.includes(error.code))) throw error;
});
process.exit();
