/** wrangler.toml describes the mesh of core/round/stages.ts: it is the one place that cannot be derived from the table. */
import { expect, test } from 'vitest';
import { unstable_readConfig as readConfig } from 'wrangler';
import { readWanted } from '../../../cli/deploy/wanted.ts';
import {
  ENVIRONMENT_WORKER,
  EPISODE_QUEUE,
  PULLED_QUEUE,
  QUEUE_NAMES,
  queueOf,
  STAGES,
  WORKER_NAMES,
} from '../../../core/round/stages.ts';

const wanted = await readWanted('.');
const queuesOf = (env: string) => readConfig({ config: 'wrangler.toml', env }, { hideWarnings: true }).queues;

test('every stage has its queue, and the learner pulls the one that no Worker consumes', () => {
  // And the environment Worker's, which is there whether or not the mesh has that Worker.
  expect(wanted.queues).toEqual([...QUEUE_NAMES.map(queueOf), EPISODE_QUEUE, wanted.deadLetters].sort());
  expect(queuesOf(ENVIRONMENT_WORKER).consumers).toMatchObject([{ queue: EPISODE_QUEUE }]);
  expect(wanted.pullQueue).toBe(PULLED_QUEUE);
});

test.each(STAGES.flatMap(({ name, worker }) => (worker === null ? [] : [{ name, worker }])))(
  'the $worker Worker consumes the messages of $name, and what it cannot read dies in the dead-letter queue',
  ({ name, worker }) => {
    expect(wanted.mains[worker]).toMatch(new RegExp(`workers/${worker}/index\\.ts$`));
    expect(queuesOf(worker).consumers).toMatchObject([
      { queue: queueOf(name), dead_letter_queue: wanted.deadLetters },
    ]);
  },
);

test('the gateway can send to every stage, under the name that its Worker reads', () => {
  expect(queuesOf('gateway').producers).toEqual(
    QUEUE_NAMES.map((name) => ({ binding: name.toUpperCase(), queue: queueOf(name) })),
  );
  expect(Object.keys(wanted.workers).sort()).toEqual([...WORKER_NAMES].sort());
});
