/** The tasks of an environment as rows of a file of tasks: the prompt as the question, and where the task stands. */

import { wrongInput } from '../../../core/errors.ts';
import { deriveId } from '../../../core/random.ts';
import { type EnvironmentPlace, textOf } from '../../../core/schema/environment.ts';
import type { EnvironmentClient } from '../environment-client.ts';
import { UNKNOWN_ANSWER, type WantedTasks } from './host.ts';

const named = (text: string | undefined, known: readonly string[], what: string, first: string): string => {
  if (text === undefined) return first;
  if (known.includes(text)) return text;
  throw wrongInput('environment.unknown', `The environment has no ${what} ${JSON.stringify(text)}.`, {
    expected: `one of ${known.join(', ')}`,
  });
};

/** How many sessions are open at the same time while prompts are read. */
const AT_ONCE = 8;

interface Row {
  readonly question: string;
  readonly answer: string;
  readonly metadata: EnvironmentPlace;
}

async function rowOf(client: EnvironmentClient, place: EnvironmentPlace): Promise<Row> {
  const session = `rollmesh-${deriveId('prompt', crypto.randomUUID())}`;
  const { answer } = await client.task(place);
  await client.begin(place, session);
  try {
    const question = textOf(await client.prompt(place.environment, session));
    const told = typeof answer === 'string' || typeof answer === 'number' ? String(answer).trim() : '';
    return { question, answer: told || UNKNOWN_ANSWER, metadata: place };
  } finally {
    await client.end(session);
  }
}

/**
 * A prompt that several tasks have, such as the first board of a game, names its task, since a file has every question once; in episodes the policy
 * is not told it. Tasks that tell one answer to one question are the same.
 */
export async function orsRows(
  client: EnvironmentClient,
  { name, split, first, ...others }: WantedTasks,
): Promise<{ readonly place: string; readonly rows: readonly object[] }> {
  for (const option of Object.keys(others))
    throw wrongInput(
      'environment.option',
      `--${option} means nothing to a server of the Open Reward Standard.`,
      {
        expected: '--name, --split and --first',
      },
    );
  const known = await client.environments();
  const environment = named(name, known, 'environment', known[0]!);
  const splits = await client.splits(environment);
  const names = splits.map((one) => one.name);
  const training = splits.find(({ type }) => type === 'train') ?? splits[0];
  if (!training)
    throw wrongInput('environment.unknown', `The environment ${environment} has no split.`, {
      expected: 'at least one',
    });
  const asked = named(split, names, 'split', training.name);
  const count = Math.min(first, await client.countTasks(environment, asked));
  const rows: Row[] = [];
  for (let from = 0; from < count; from += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => from + i);
    const places = some.map((index): EnvironmentPlace => ({ environment, split: asked, index }));
    rows.push(...(await Promise.all(places.map((place) => rowOf(client, place)))));
  }
  const seen = new Set<string>();
  const distinct = rows.map((row) => {
    const { question } = row;
    const again = seen.has(question) && row.answer === UNKNOWN_ANSWER;
    seen.add(question);
    return again ? { ...row, question: `${question}\n\n(task ${row.metadata.index})` } : row;
  });
  if (rows.length) return { place: `${environment}, split ${asked}`, rows: distinct };
  throw wrongInput('environment.unknown', `The split ${asked} of ${environment} has no tasks.`, {
    expected: 'at least one',
  });
}
