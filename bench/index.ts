/** `npm run bench -- NAME [options]`: one question each; every bench measures its peers in the same run. */
import '../install/require-node.mjs';
import { wrongInput } from '../core/errors.ts';

const benches: Record<string, () => Promise<{ run(args: readonly string[]): Promise<void> }>> = {
  elastic: () => import('./elastic.ts'),
  flatness: () => import('./flatness.ts'),
  isolate: () => import('./isolate.ts'),
  learner: () => import('./learner.ts'),
  rollout: () => import('./rollout.ts'),
  scaling: () => import('./scaling.ts'),
};

const [name = '', ...args] = process.argv.slice(2);
const load = benches[name];
if (!load) {
  const { message } = wrongInput('bench.name', `There is no bench ${JSON.stringify(name)}.`, {
    expected: Object.keys(benches).join(' or '),
    next: 'For example: npm run bench -- learner --rounds 5.',
  });
  console.error(message);
  process.exitCode = 1;
} else await (await load()).run(args);
