import { expect, test } from 'vitest';
import type { PreferencePart, TurnPreferencePart } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { rankedPairs, readByBase, turnAdvantage } from '../../recipes/sweet-rl/recipe.ts';
import { aidedSums } from '../../worlds/toy-worlds.ts';
import { play } from './play-questions.ts';
import { sayTask } from './say.ts';

test('a reply is worth its mean log-ratio, or for comparison the sum', () => {
  // (−1 + 2) + (−2 + 2) + (−1 + 4) = 4 over three tokens.
  expect(turnAdvantage([-1, -2, -1], [-2, -2, -4], 'mean')).toBeCloseTo(4 / 3, 9);
  expect(turnAdvantage([-1, -2, -1], [-2, -2, -4], 'sum')).toBe(4);
});

test('four replies of the better half are each preferred to one of the worse', () => {
  const candidates = Array.from({ length: 11 }, (_, said) => ({ of: said, said }));
  const pairs = rankedPairs(candidates, new Random('pairs'));
  expect(pairs).toHaveLength(4);
  for (const [chosen, rejected] of pairs) {
    expect(chosen).toBeGreaterThan(5);
    expect(rejected).toBeLessThan(5);
  }
  for (const side of [0, 1] as const) expect(new Set(pairs.map((pair) => pair[side])).size).toBe(4);
  expect(rankedPairs(candidates.slice(0, 3), new Random('few'))).toEqual([[2, 0]]);
  expect(rankedPairs(candidates.slice(0, 1), new Random('one'))).toEqual([]);
});

const NEEDS = [
  { wants: 'the price', words: ['euros', 'EUR'] },
  { wants: 'how long it takes', words: ['days'] },
];
const sources = [
  { weight: 1, tasks: [{ ...sayTask('Can you send it?', 'yes', 1), metadata: { needs: NEEDS } }] },
];
const asked = (index: number, variant?: string) => {
  const measured: [string, string, string][] = [];
  const says = (_: string, prompt: string) => {
    if (index === 2)
      return prompt.includes('It costs') ? ['In 3 days.', 'Well.'] : ['It costs 5 euros.', 'Hm.'];
    // Two talks: one tells all in two replies, the other nothing until he leaves.
    if (prompt.includes('It costs')) return ['In 3 days.'];
    if (prompt.includes('Hm.')) return ['Hm.'];
    return ['It costs 5 euros.', 'Hm.'];
  };
  const finds = (role: string, prompt: string, text: string) => {
    measured.push([role, prompt, text]);
    if (role === 'base') return -2;
    return text.startsWith('It costs') || text.startsWith('In 3') ? -1 : -3;
  };
  return play({
    recipe: 'sweet-rl',
    index,
    tasks: 1,
    groupSize: index === 2 ? 4 : 2,
    given: { sources, settings: { maxNew: 32 } },
    says,
    finds,
    ...(variant ? { variant } : {}),
  }).then((played) => ({ ...played, measured }));
};

test('a round of the critic: whole talks are paired, and it reads what the user wants', async () => {
  const { groups, plan, read } = await asked(1);
  const rewards = groups[0]!.samples.map(({ rewards }) => rewards.reward);
  // The second user hears the same again and leaves: 50 − 15, then − 15 − 15 brings him to 5.
  expect(rewards).toEqual([1, 1, 0, 0]);
  const [update] = plan.updates;
  expect(update!.set).toBe('critic');
  const [part] = update!.parts as [TurnPreferencePart];
  expect(part).toMatchObject({
    kind: 'turn-preference',
    role: 'critic',
    beta: 0.1,
    level: 'mean',
    reference: { set: 'main', version: 0 },
  });
  const [{ chosen, rejected }] = part.pairs as [TurnPreferencePart['pairs'][0]];
  expect(chosen.map(read)).toEqual(['It costs 5 euros.', 'In 3 days.']);
  expect(rejected.map(read)).toEqual(['Hm.', 'Hm.']);
  const second = read({ ids: chosen[1]!.prompt });
  expect(second).toContain('the price: euros or EUR\nhow long it takes: days');
  expect(second).toContain('Can you send it?');
  expect(second).toContain('That helps. Something is missing.');
  expect(plan.figures).toEqual({ pairs: 1, replies: 2 });
});

test('a critic of sums reads the right totals in place of the talk, and is compared with who reads neither', () => {
  const speaker = { renderer: () => Promise.reject(new Error('tags')) as never };
  const said = [{ by: 'assistant' as const, text: '<step>8<step>-1<answer>-1' }];
  expect(readByBase(aidedSums, speaker, '3+4-9', said, undefined)).toBe('<solve>3+4-9<sep>');
  // Blind, it reads what the assistant reads, and so does who it is compared with.
  expect(readByBase(aidedSums, speaker, '3+4-9', said, 'blind')).toBe(
    '<solve>3+4-9<sep><step>8<step>-1<answer>-1<sep>',
  );
});

test('a round of the policy: replies at each turn are ranked by the critic, which alone knows what is wanted', async () => {
  const { groups, plan, read, measured, round } = await asked(2);
  const [{ samples }] = groups as [(typeof groups)[0]];
  const talk = samples.filter(({ about }) => about === undefined);
  expect(talk.map(read)).toEqual(['It costs 5 euros.', 'In 3 days.']);
  const candidates = samples.filter(({ about }) => about !== undefined);
  expect(candidates.map(({ about }) => about)).toEqual(['0', '0', '0', '0', '1', '1', '1', '1']);
  // −1 or −3 of the critic, less −2 of version 0.
  for (const sample of candidates)
    expect(sample.rewards).toEqual({ turn: /^(It costs|In 3)/.test(read(sample)) ? 1 : -1 });
  const knows = (role: string) =>
    new Set(
      measured
        .filter(([who]) => who === role)
        .map(([, prompt]) => prompt.includes('days\n\nAnswer the user')),
    );
  expect([...knows('critic')]).toEqual([true]);
  expect([...knows('base')]).toEqual([false]);
  // At the second turn both read the talk.
  for (const role of ['critic', 'base'])
    expect(measured.filter(([who, prompt]) => who === role && prompt.includes('It costs'))).toHaveLength(4);
  expect(round.roles.base).toMatchObject({ version: 0 });
  const [update] = plan.updates;
  expect(update!.set).toBe('main');
  const [part] = update!.parts as [PreferencePart];
  expect([part.objective, part.sft]).toEqual([{ kind: 'dpo', beta: 0.1 }, 0.01]);
  // Two of four replies are in each half, at each of two turns.
  expect(part.pairs).toHaveLength(4);
  for (const { chosen, rejected } of part.pairs) {
    expect(read(chosen)).toMatch(/^(It costs|In 3)/);
    expect(read(rejected)).toMatch(/^(Hm|Well)/);
  }
  // What the critic calls better is what tells the user something.
  expect(plan.figures).toEqual({ pairs: 4, turnCredit: 1 });
});

test('variants: a critic that is told nothing, sums, and whole talks for the policy itself', async () => {
  const blind = (await asked(1, 'blind')).plan.updates[0]!.parts[0] as TurnPreferencePart;
  const { read } = await asked(1);
  expect(read({ ids: blind.pairs[0]!.chosen[0]!.prompt })).not.toContain('euros');
  expect((await asked(1, 'sums')).plan.updates[0]!.parts[0]).toMatchObject({ level: 'sum', role: 'critic' });
  const { plan } = await asked(2, 'trajectory-dpo');
  expect(plan.updates[0]!.set).toBe('main');
  expect(plan.updates[0]!.parts[0]).toMatchObject({
    kind: 'turn-preference',
    role: 'assistant',
    level: 'sum',
  });
});
