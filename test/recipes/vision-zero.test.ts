import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import type { Sample } from '../../core/schema/sample.ts';
import { cluePay, nextPhase, votePay } from '../../recipes/vision-zero/recipe.ts';
import { PROMPTS } from '../../worlds/questions/prompts.ts';
import { type Played, play } from './play-questions.ts';
import { sayTask } from './say.ts';

const close = (values: readonly number[]) => values.map((value) => expect.closeTo(value, 5));

test('rewards by hand', () => {
  // Two votes for the spy, one for the third player: 5/3 above the mean of 1/3.
  const paid = cluePay([2, 0, 1, 0], 0);
  expect(paid).toEqual(close([-0.166667, 0.088889, -0.011111, 0.088889]));
  expect(paid.reduce((a, b) => a + b)).toBeCloseTo(0, 12);
  // Nobody suspects the spy: all three votes are for the first player.
  expect(cluePay([3, 0, 0, 0], 3)).toEqual(close([-0.233333, 0.066667, 0.066667, 0.1]));
  expect([votePay(2, 2), votePay(null, 2), votePay(1, 2), votePay(undefined, 2)]).toEqual([1, -0.5, -1, -1]);
});

test('phases change by how often the spy is found, and not before two rounds', () => {
  const clues = { phase: 'clues', rounds: 2, found: 0.5, unsure: 0.1 } as const;
  expect(nextPhase(clues)).toBe('clues');
  expect(nextPhase({ ...clues, found: 0.4 })).toBe('votes');
  expect(nextPhase({ ...clues, unsure: 0.5 })).toBe('votes');
  expect(nextPhase({ ...clues, found: 0.4, rounds: 1 })).toBe('clues');
  const votes = { phase: 'votes', rounds: 2, found: 0.6, unsure: 0.2 } as const;
  expect(nextPhase(votes)).toBe('clues');
  expect(nextPhase({ ...votes, unsure: 0.3 })).toBe('votes');
  expect(nextPhase({ ...votes, found: 0.5 })).toBe('votes');
});

const picture = (digit: string) => `<image:${digit.repeat(64)}:3x3>`;
const [OF_ALL, OF_SPY] = [picture('a'), picture('b')];
const TASK = sayTask(`${OF_ALL}${OF_SPY}What differs?`, 'x', 1);

/** One game about two pictures: of three votes one is for the spy, one for nobody, and one cannot be read. */
async function game(more: Partial<Played> = {}) {
  const prompts: { readonly role: string; readonly prompt: string }[] = [];
  // The last player that a voter hears of is told by his clue.
  const says: Played['says'] = (role, prompt) => {
    prompts.push({ role, prompt });
    if (role !== 'voter') return [role === 'spy' ? 'blue' : 'red'];
    return [`<answer>${/Player (\d): blue/.exec(prompt)![1]}</answer>`, '<answer>unsure</answer>', 'hm'];
  };
  const played = await play({
    recipe: 'vision-zero',
    tasks: 1,
    groupSize: 1,
    given: { sources: [{ weight: 1, tasks: [TASK] }], heldOut: [TASK] },
    says,
    ...more,
  });
  return { ...played, prompts };
}

test('a game: the spy looks at the other picture, all hear those before, and voters hear all', async () => {
  const { groups, plan, prompts, read } = await game();
  const { samples } = groups[0]!;
  const spy = samples.findIndex(({ role }) => role === 'spy');
  expect(samples.map(({ turn }) => turn)).toEqual([0, 1, 2, 3, 4, 4, 4]);
  expect(samples.map(read).filter((text) => text === 'blue')).toHaveLength(1);
  for (const [seat, { role, prompt }] of prompts.slice(0, 4).entries()) {
    expect(prompt).toContain(seat === spy ? OF_SPY : OF_ALL);
    expect(prompt).not.toContain(seat === spy ? OF_ALL : OF_SPY);
    expect(prompt).toContain(role === 'spy' ? 'You are the spy.' : 'You are not the spy.');
    expect([...prompt.matchAll(/Player \d: /g)]).toHaveLength(seat);
  }
  const voter = prompts[4]!.prompt;
  expect(voter).toContain(OF_ALL);
  expect(voter).not.toContain(OF_SPY);
  expect(voter).toContain(
    Array.from({ length: 4 }, (_, i) => `Player ${i + 1}: ${i === spy ? 'blue' : 'red'}`).join('\n'),
  );
  // One vote for the spy above none for the others: −0.1, a third of it for each of the others; then 1, −0.5 and −1.
  const third = 0.1 / 3;
  const clues = Array.from({ length: 4 }, (_, seat) => (seat === spy ? -0.1 : third));
  expect(samples.map(({ rewards }) => rewards.reward)).toEqual(close([...clues, 1, -0.5, -1]));
  expect(groups[0]!.answersExact.slice(4)).toEqual([true, false, false]);
  expect(plan.figures).toEqual({
    spyFound: expect.closeTo(1 / 3),
    unsure: expect.closeTo(1 / 3),
    votesTrained: 0,
  });
});

test('two pictures that are alike are no game', async () => {
  const alike = sayTask(`${OF_ALL}${OF_ALL}What differs?`, 'x', 1);
  await expect(
    game({ given: { sources: [{ weight: 1, tasks: [alike] }], heldOut: [TASK] } }),
  ).rejects.toThrow('a field "images" of two files that differ');
});

test('a vote is a player’s number, with or without the word', () => {
  const read = (text: string) => PROMPTS.vote.read(text, { task: '', clues: ['', '', '', ''] }, {} as never);
  for (const said of ['2', '<answer>Player 2</answer>', 'I think so: \\boxed{2}', '**player 2**'])
    expect(read(said), said).toEqual({ ok: true, value: 2 });
  expect(read('<answer>Unsure</answer>')).toEqual({ ok: true, value: null });
  for (const other of ['0', 'Player 5', 'player', 'unsure 2', '2 or 3', ''])
    expect(read(other).ok, other).toBe(false);
});

const itemsOf = (part: unknown): [role: string, advantage: number][] =>
  (part as PolicyPart).items.map(({ sample, advantage }: { sample: Sample; advantage: unknown }) => [
    sample.role,
    advantage as number,
  ]);

test('clues are credited by running means of their roles, votes within their game', async () => {
  const baselines = { civilian: 0.02, spy: -0.04 };
  const carried = { rounds: 1, found: 0.5, unsure: 0.1, baselines };
  const { plan } = await game({ recipeState: { ...carried, phase: 'clues' } });
  const [civilians, spy] = plan.updates[0]!.parts.map(itemsOf);
  // r − b, with b ← 0.95 b + 0.05 r after each: 0.02, 0.020667 and 0.0213.
  expect(civilians).toEqual([0.013333, 0.012667, 0.012033].map((a) => ['civilian', expect.closeTo(a, 5)]));
  expect(spy).toEqual([['spy', expect.closeTo(-0.06, 5)]]);
  // 0.8 · 0.5 + 0.2/3 and 0.8 · 0.1 + 0.2/3; 0.53 of the votes miss the spy, which is not hard yet.
  expect(plan.recipeState).toEqual({
    phase: 'clues',
    rounds: 2,
    found: expect.closeTo(0.466667, 5),
    unsure: expect.closeTo(0.146667, 5),
    baselines: { civilian: expect.closeTo(0.021902, 5), spy: expect.closeTo(-0.043, 5) },
  });

  const { plan: voted } = await game({ recipeState: { ...carried, phase: 'votes' } });
  // Rewards 1, −0.5 and −1: mean −1/6, sample deviation 1.040833.
  expect(voted.updates.map(({ parts }) => parts.map(itemsOf))).toEqual([
    [[1.1209, -0.320256, -0.800641].map((a) => ['voter', expect.closeTo(a, 4)])],
  ]);
  expect(voted.recipeState).toMatchObject({ phase: 'votes', baselines });
});

test('variants train one of the two alone, whatever was carried', async () => {
  const carried = { rounds: 1, found: 0.9, unsure: 0, baselines: {} };
  const rolesOf = async (variant: string, phase: string) =>
    (await game({ variant, recipeState: { ...carried, phase } })).plan.updates.flatMap(({ parts }) =>
      parts.map(({ role }) => role),
    );
  expect(await rolesOf('clues-only', 'votes')).toEqual(['civilian', 'spy']);
  expect(await rolesOf('votes-only', 'clues')).toEqual(['voter']);
});

test('controls: what can be read, and votes that are drawn by lot', async () => {
  const rewardsOf = async (reward: string) =>
    (await game({ reward })).groups[0]!.samples.map(({ rewards }) => rewards.reward!);
  expect(await rewardsOf('format')).toEqual([1, 1, 1, 1, 1, 1, 0]);
  const drawn = await rewardsOf('random');
  expect(drawn.slice(0, 4).reduce((a, b) => a + b)).toBeCloseTo(0, 12);
  for (const vote of drawn.slice(4)) expect([1, -1]).toContain(vote);
});
