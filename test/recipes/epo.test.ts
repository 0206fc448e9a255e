import { expect, test } from 'vitest';
import { wholeEpisodesOf } from '../../core/episodes/play-episodes.ts';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { evaluateWritten } from './evaluate-written.ts';

const epo = shipped.find('epo');

/** The strategist of the i-th episode says fair or hard; the actor does so; the partner takes what leaves it five. */
const play = (prompt: string, i: number) => {
  if (prompt.includes('advise')) return `<answer>${i % 2 ? 'hard' : 'fair'}<eos>`;
  if (prompt.includes('fair')) return '<answer>ask 5<eos>';
  if (prompt.includes('hard')) return '<answer>ask 7<eos>';
  return prompt.includes('offer 5') || prompt.includes('offer 1')
    ? '<answer>take<eos>'
    : '<answer>ask 6<eos>';
};

test('the strategist alone is trained, on what the actor earned, and actor and partner keep version 0', async () => {
  const { groups, plan, round } = await playWritten(epo, play, { tasks: 1, groupSize: 2, index: 4 });
  const [fair, hard] = wholeEpisodesOf(groups[0]!.samples) as [
    (typeof groups)[0]['samples'],
    (typeof groups)[0]['samples'],
  ];
  expect(fair.map(({ role }) => role)).toEqual(['strategist', 'actor', 'partner']);
  expect(fair.map(({ rewards }) => rewards.reward)).toEqual([0.5, 0.5, 0.5]);
  // Each turn earned what was paid until its seat's next one.
  expect(fair.map(({ rewards }) => rewards.turn)).toEqual([0.5, 0.5, 0.5]);
  expect(hard.length).toBeGreaterThan(3);
  expect(
    Object.fromEntries(Object.entries(round.roles).map(([role, { version }]) => [role, version])),
  ).toEqual({
    strategist: 3,
    adviser: 0,
    actor: 0,
    partner: 0,
  });
  const parts = plan.updates.flatMap((update) => update.parts) as PolicyPart[];
  expect(parts.map(({ role }) => role)).toEqual(['strategist']);
  expect(parts[0]!.items.every(({ sample }) => sample.role === 'strategist')).toBe(true);
  // Its words: one in the fair episode, and one before each offer of the other.
  const words = [...fair, ...hard].filter(({ role }) => role === 'strategist');
  const returns = words.map(({ rewards }) => rewards.reward!);
  const mean = returns.reduce((sum, value) => sum + value, 0) / returns.length;
  const deviation = Math.sqrt(
    returns.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (returns.length - 1),
  );
  for (const [i, { advantage }] of parts[0]!.items.entries())
    expect(advantage).toBeCloseTo((returns[i]! - mean) / (deviation + 1e-6), 4);
});

test('in self-play both sides are advised by what is trained; alone the actor is', async () => {
  const both = await playWritten(epo, play, { tasks: 1, groupSize: 2, index: 4, variant: 'self-play' });
  expect(
    wholeEpisodesOf(both.groups[0]!.samples)[0]!
      .map(({ role }) => role)
      .slice(0, 3),
  ).toEqual(['strategist', 'actor', 'adviser']);
  expect([both.round.roles['adviser']!.version, both.round.roles['partner']!.version]).toEqual([3, 0]);
  const alone = await playWritten(epo, play, { tasks: 1, groupSize: 2, index: 4, variant: 'actor-alone' });
  expect(new Set(alone.groups[0]!.samples.map(({ role }) => role))).toEqual(new Set(['actor', 'partner']));
  expect(alone.round.roles['actor']!.version).toBe(3);
});

test('an evaluation advises the start’s actor, and the score is its share of the coins', async () => {
  const wrote = new Map<string, Set<number>>();
  const { heldOut, figures } = await evaluateWritten(
    epo,
    4,
    (prompt, _, version) => {
      const advised = /fair|hard/.test(prompt) ? 'advised' : 'others';
      const who = prompt.includes('advise') ? 'strategist' : advised;
      wrote.set(who, (wrote.get(who) ?? new Set()).add(version));
      return play(prompt, 0);
    },
    5,
  );
  // Without a strategist the evaluated version is the actor, and plays against the start.
  expect(wrote).toEqual(
    new Map([
      ['strategist', new Set([5])],
      ['advised', new Set([0])],
      ['others', new Set([0, 5])],
    ]),
  );
  expect(figures!['score.split-advised']).toBeCloseTo(0.5, 12);
  expect(heldOut.n).toBe(8);
});

test('its words are compared within a deal, and in self-play each side with itself', async () => {
  for (const [variant, trained] of [
    [undefined, ['strategist']],
    ['self-play', ['strategist', 'adviser']],
    ['actor-alone', ['actor']],
  ] as const) {
    const { groups, plan } = await playWritten(epo, (prompt, i) => play(prompt, i + prompt.length), {
      tasks: 3,
      groupSize: 4,
      ...(variant ? { variant } : {}),
    });
    const parts = plan.updates.flatMap((update) => update.parts) as PolicyPart[];
    expect(parts.map(({ role }) => role)).toEqual(trained);
    for (const { role, items } of parts)
      for (const { group } of groups) {
        const own = items.filter(({ sample }) =>
          groups.some((one) => one.group === group && one.samples.some(({ id }) => id === sample.id)),
        );
        // Each deal and side has the mean 0.
        expect(own.length, role).toBeGreaterThan(0);
        expect(own.reduce((sum, { advantage }) => sum + (advantage as number), 0)).toBeCloseTo(0, 4);
      }
  }
});
