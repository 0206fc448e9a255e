/** What a start of guarded searches must be able to do: follow an order often and not always, and write a turn again beside its fault, so that rewards have something to teach. */
import { Random } from '../../core/random.ts';
import { mean } from '../../core/rl/statistics.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import { parseTurn, theWorld } from './episode.ts';
import { declines, plantedOrder } from './guarded.ts';
import { FINDINGS } from './proposal.ts';
import { parseQuestion } from './question.ts';
import { searching } from './searching.ts';

/** Questions that each share is measured on. */
const QUESTIONS = 128;

export async function gates({ tokenizer, generate }: AskedPolicy): Promise<Gate[]> {
  const speaker = {
    renderer: () => {
      throw new Error('internal: a policy of tags was asked in messages');
    },
  };
  const random = new Random('guarded/gates');
  const asked = searching.family.heldOut({ heldOut: true, most: QUESTIONS }).map((task) => {
    const parsed = parseQuestion(task);
    if (!parsed.ok) throw new Error(`internal: a question is ${parsed.reason}`);
    const { path, base } = parsed.value;
    const first = `${path.at(-1)} ${String(base)}`;
    const next = `${path.at(-2)} ${theWorld().graph.object(String(base), path.at(-1)!)}`;
    const { query, into } = plantedOrder(random, task);
    const found = theWorld().index.search(first, FINDINGS).map(into);
    return {
      task,
      first,
      next,
      query,
      about: { task, steps: [{ query: first, found, useful: null }], last: false },
    };
  });
  const turnsOf = async (prompts: readonly string[], temperature: number) => {
    const made = await generate(
      prompts.map((prompt, p) => ({ ids: tokenizer.encode(prompt), sampleIds: [`gate/${p}`] })),
      { maxNew: searching.words.search.maxNew, temperature, stop: [tokenizer.id(STOP)] },
    );
    return made.map(([completion]) => {
      const turn = parseTurn(tokenizer.decode(completion!.ids));
      return turn.ok ? turn.value : null;
    });
  };
  const { search, repair } = searching.words;
  const begun = await turnsOf(
    asked.map(({ task }) => search.ask({ task, steps: [], last: false }, speaker)),
    0,
  );
  const ordered = await turnsOf(
    asked.map(({ about }) => search.ask(about, speaker)),
    1,
  );
  const repaired = await turnsOf(
    asked.map(({ about, query }) =>
      repair.ask({ ...about, wrote: `<step>?${query}`, fault: 'order' }, speaker),
    ),
    1,
  );
  const share = (turns: typeof begun, test: (turn: NonNullable<(typeof begun)[0]>, at: number) => boolean) =>
    mean(turns.map((turn, at) => Number(turn !== null && test(turn, at))));
  const looksUp = (turns: typeof begun, which: 'first' | 'next' | 'query') =>
    share(turns, ({ kind, text }, at) => kind === 'search' && text === asked[at]![which]);
  const silent = share(
    ordered,
    ({ kind, text }) => kind === 'answer' && declines({ steps: [], answer: text }),
  );
  return [
    {
      description: 'first searches that the question needs, greedy',
      value: looksUp(begun, 'first'),
      least: 0.9,
    },
    { description: 'orders that are followed', value: looksUp(ordered, 'query'), least: 0.3, most: 0.8 },
    { description: 'orders after which nothing is answered', value: silent, least: 0.05, most: 0.4 },
    {
      description: 'orders after which the question goes on',
      value: looksUp(ordered, 'next'),
      least: 0.05,
      most: 0.5,
    },
    {
      description: 'repairs after an order that search what the question needs',
      value: looksUp(repaired, 'next'),
      least: 0.6,
    },
  ];
}
