/** Which episodes the rollout Worker asks the environment Worker to hold, and what it says of the environment. */
import { expect, test } from 'vitest';
import type { AdmittedTask } from '../../core/schema/sample.ts';
import {
  askForEpisodes,
  type EpisodeRequests,
  environmentOf,
} from '../../workers/rollout/ask-for-episodes.ts';
import type { RoundRow } from '../../workers/store/rounds.ts';

const environment = { url: 'https://environments.example', turns: 16 };
const round = { spec: { run: 'the-run', settings: { groupSize: 60 } } } as unknown as RoundRow;
const PLACES = {
  ors: { environment: 'sums', split: 'train', index: 0 },
  openenv: { protocol: 'openenv', reset: { seed: 0 } },
  none: { from: 'a file' },
};

/** What is sent for tasks with such metadata, by the calls of the queue. */
async function sent(seats: readonly string[], ...places: readonly (keyof typeof PLACES)[]) {
  const batches: { readonly body: unknown }[][] = [];
  const queue = { sendBatch: async (batch: { body: unknown }[]) => void batches.push(batch) };
  const tasks = places.map((task, i) => ({ group: `${i}`.repeat(32), index: i, task }) as AdmittedTask);
  const taskView = (task: string) => ({ metadata: PLACES[task as keyof typeof PLACES] });
  await askForEpisodes(
    { queue, environment } as unknown as EpisodeRequests,
    round,
    { seats, taskView },
    tasks,
  );
  return batches.map((batch) => batch.map(({ body }) => body));
}

test('one message an episode, of the tasks that an environment sets', async () => {
  const batches = await sent(['solver'], 'ors', 'none', 'openenv');
  expect(batches.map(({ length }) => length)).toEqual([100, 20]);
  const keys = ['0', '2'].flatMap((group) =>
    Array.from({ length: 60 }, (_, i) => `${group.repeat(32)}-${i}`),
  );
  expect(batches.flat()).toEqual(
    keys.map((key) => ({ v: 1, to: 'episode', run: 'the-run', key, environment })),
  );
});

test('none where agents of one’s own hold several seats, or the tasks are of no environment', async () => {
  expect(await sent(['white', 'black'], 'ors')).toEqual([]);
  expect(await sent(['solver'], 'none')).toEqual([]);
});

test('the environment is what the variables say, and a mesh without an address has none', () => {
  const url = 'https://environments.example';
  expect(environmentOf({})).toBeUndefined();
  expect(environmentOf({ ENVIRONMENT_URL: '', ENVIRONMENT_TURNS: '3' })).toBeUndefined();
  expect(environmentOf({ ENVIRONMENT_URL: url, ENVIRONMENT_ANSWER_TOOL: '' })).toEqual(environment);
  expect(
    environmentOf({ ENVIRONMENT_URL: url, ENVIRONMENT_TURNS: '3', ENVIRONMENT_ANSWER_TOOL: 'submit' }),
  ).toEqual({ url, turns: 3, answerTool: 'submit' });
  for (const turns of ['0', '129', 'many'])
    expect(() => environmentOf({ ENVIRONMENT_URL: url, ENVIRONMENT_TURNS: turns })).toThrow(
      expect.objectContaining({ code: 'environment.settings' }),
    );
});
