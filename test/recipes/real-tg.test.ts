import { expect, test } from 'vitest';
import type { PolicyPart } from '../../core/plan/training-plan.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { explanations } from '../../recipes/real-tg/recipe.ts';
import { exactStep, linksF1, parseQuery, temporalGraphs } from '../../worlds/temporal-graphs/family.ts';
import { contactsOf, linksAt } from '../../worlds/temporal-graphs/graph.ts';
import { evaluateWritten } from './evaluate-written.ts';

const realTg = shipped.find('real-tg');

const taskOf = (prompt: string) => prompt.slice('<solve>'.length, -'<sep>'.length);
/** Of four answers one names the right nodes, one these and two more, one the node itself, and one does not parse. */
function write(prompt: string, i: number): string {
  const query = parseQuery(taskOf(prompt))!;
  const right = linksAt(query).join('');
  return [`<answer>${right}<eos>`, `<answer>${right}yz<eos>`, `<answer>${query.node}<eos>`, '<answer>'][i]!;
}
async function play(more: WriteOptions = {}) {
  const { plan, groups } = await playWritten(realTg, write, { tasks: 3, groupSize: 4, ...more });
  return { groups, items: (plan.updates[0]?.parts[0] as PolicyPart | undefined)?.items ?? [] };
}

test('answers are paid the F1 of their nodes, and credited within their group', async () => {
  const { groups, items } = await play();
  for (const [g, { task, samples, answersExact }] of groups.entries()) {
    const n = linksAt(parseQuery(task)!).length;
    // n of n; n hits of n + 2 named and n right; none; none.
    const paid = [1, (2 * n) / (2 * n + 2), 0, 0];
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual(paid.map((f1) => expect.closeTo(f1, 12)));
    expect(answersExact).toEqual([true, false, false, null]);
    const mean = (paid[0]! + paid[1]!) / 4;
    const deviation = Math.sqrt(paid.reduce((sum, f1) => sum + (f1 - mean) ** 2, 0) / 3);
    expect(items.slice(4 * g, 4 * g + 4).map(({ advantage }) => advantage)).toEqual(
      paid.map((f1) => expect.closeTo((f1 - mean) / deviation, 4)),
    );
  }
});

test('controls: any answer in grammar, and a coin', async () => {
  const format = await play({ rewardFunction: 'format' });
  expect(format.groups[0]!.samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 1, 0]);
  const random = await play({ rewardFunction: 'random', tasks: 8 });
  const paid = random.groups.flatMap(({ samples }) => samples.map(({ rewards }) => rewards.reward));
  expect(new Set(paid)).toEqual(new Set([0, 1]));
});

test('explanations: shares of true steps, and of answers that follow from their steps', () => {
  const task = 'ab3ac4ab5ac5:a7';
  const said = (text: string) => temporalGraphs.parseSolution(task, `${text}<eos>`);
  const answers = [
    said('<step>b35:7<step>c45:6<answer>b'),
    said('<step>b34:7<answer>bc'),
    said('<answer>b'),
    said('nothing'),
  ];
  // Two of three steps are true; the first answer alone follows from its steps.
  expect(explanations([task, task, task, task], answers)).toEqual({
    faithful: expect.closeTo(2 / 3, 12),
    aligned: expect.closeTo(1 / 3, 12),
  });
  expect(linksF1(task, 'b')).toBe(1);
});

test('an evaluation asks about unseen graphs, and about the same with other names', async () => {
  // It answers as it should where nodes have names of the first half of the alphabet, and names the node itself elsewhere.
  const { heldOut, figures } = await evaluateWritten(realTg, 20, (prompt) => {
    const query = parseQuery(taskOf(prompt))!;
    const steps = [...contactsOf(query)].map(([to, times]) => `<step>${exactStep(to, times)}`).join('');
    const right = linksAt(query).join('');
    return `${steps}<answer>${query.node < 'n' ? right : query.node}<eos>`;
  });
  expect(heldOut).toMatchObject({ n: 20, accuracy: 1, sampled: 1 });
  expect(figures).toEqual({ f1: 1, sampledF1: 1, renamedF1: 0, faithful: 1, aligned: 1 });
});
