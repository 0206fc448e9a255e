import { expect, test } from 'vitest';
import type { LearnTools, PreferencePart, SftPart, TrainingPlan } from '../../core/plan/training-plan.ts';
import { playWritten } from '../../local/testing/index.ts';
import { shipped } from '../../recipes/index.ts';
import { bestAndWorst, type Candidate } from '../../recipes/sipretrain/candidates.ts';
import { examined } from '../../recipes/sipretrain/recipe.ts';
import { truthOf } from '../../worlds/documents/family.ts';
import { recordsOf, solved, tokenizer, verdict } from './records.ts';

const sipretrain = shipped.find('sipretrain');

const FACTS = 'be3 da7 ko2 mi5 tu1';
/** Two of its sentences are false. */
const TASK = `${FACTS}:ko2 mi6 tu1 be4 da7`;
const REWRITE = 'ko2 mi5 tu1 be4 da7<eos>';
const OWN = ['tu1 mi5 ko2 be3 da7<eos>', 'tu2 mi6 ko2 be4 da8<eos>', 'no continuation<eos>'] as const;

/** What the judge says of a text: so many of its five sentences are right. */
const judged = (of: ReturnType<typeof solved>, text: string, right: number) => {
  const told = text.replace('<eos>', '');
  const marks = told.split(' ').map((s, i) => `${s.slice(0, 2)}${i < right ? '<right>' : '<wrong>'}`);
  return {
    ...verdict(of, `${marks.join('')}<eos>`, 1),
    about: `${FACTS}:${told}`,
  };
};

const tools = { decode: tokenizer.decode, encode: tokenizer.encode } as unknown as LearnTools;
const learn = (
  variant?: string,
  rights: readonly number[] = [3, 4, 5, 1],
  texts: readonly string[] = OWN,
) => {
  const rewrite = { ...solved(REWRITE, 0), role: 'rewriter' };
  const own = texts.map((text) => ({ ...solved(text, 0), role: 'author' }));
  const judgments = [TASK.split(':')[1]!, REWRITE, ...texts.slice(0, 2)].map((text, i) =>
    judged(i < 2 ? rewrite : own[i - 2]!, text, rights[i]!),
  );
  return sipretrain.learn(
    recordsOf('sipretrain', [{ task: TASK, samples: [rewrite, ...own], judgments }], {
      rewardFunction: 'judge',
      ...(variant ? { variant } : {}),
    }),
    tools,
  ) as TrainingPlan;
};
const partOf = ({ updates }: TrainingPlan) => updates[0]!.parts[0]!;
const text = ({ ids }: { ids: readonly number[] }) => tokenizer.decode(ids);

test('the best by the judge is preferred to the worst after the document’s facts alone; a text in no form is the worst', () => {
  const plan = learn();
  const part = partOf(plan) as PreferencePart;
  expect(part).toMatchObject({
    kind: 'preference',
    objective: { kind: 'dpo', beta: 0.1 },
    reference: { set: 'main', version: 0 },
  });
  const [{ chosen, rejected }] = part.pairs as [(typeof part.pairs)[number]];
  expect([text(chosen), text(rejected)]).toEqual([OWN[0], OWN[2]]);
  for (const { prompt } of [chosen, rejected]) expect(tokenizer.decode(prompt)).toBe(`${FACTS}:`);
  // Of three continuations five, two and no sentences of five are true. The judge is right on the document (3) and the rewrite (4), calls all of
  // the first right, which it is, and one of the second, where tu2, mi6, be4 and da8 are false.
  expect(plan.figures).toMatchObject({ chosen: 1, ownChosen: 1, rewritesChosen: 0, documentsChosen: 0 });
  expect(plan.figures!.truth).toBeCloseTo((1 + 1 / 5 + 0) / 3, 12);
  expect(plan.figures!.overrated).toBeCloseTo(0, 12);
});

test('the judge’s word decides, and not what is true', () => {
  const plan = learn(undefined, [5, 2, 0, 2]);
  const { pairs } = partOf(plan) as PreferencePart;
  expect(text(pairs[0]!.chosen)).toBe(`${TASK.split(':')[1]}<eos>`);
  expect(plan.figures).toMatchObject({ documentsChosen: 1, ownChosen: 0 });
  // Said 5, 2, 0, 2 fifths of what are 3, 4, 5, 1.
  expect(plan.figures!.overrated).toBeCloseTo((2 - 2 - 5 + 1) / 5 / 4, 12);
  expect(plan.figures!.misjudged).toBeCloseTo((2 + 2 + 5 + 1) / 5 / 4, 12);
});

test('the arms: the document, the rewrite, the best candidate, and the policy’s own text, whatever the judge says', () => {
  const learnt = (variant: string, rights?: readonly number[], texts?: readonly string[]) => {
    const part = partOf(learn(variant, rights, texts)) as SftPart;
    expect(part.kind).toBe('sft');
    return part.items.map(text);
  };
  expect(learnt('nll')).toEqual([`${TASK.split(':')[1]}<eos>`]);
  expect(learnt('rewrites')).toEqual([REWRITE]);
  expect(learnt('filtered')).toEqual([OWN[0]]);
  for (const rights of [
    [5, 0, 0, 0],
    [0, 0, 0, 5],
  ])
    expect(learnt('unjudged', rights)).toEqual([OWN[0]]);
  // Also where it is no continuation.
  expect(learnt('unjudged', [0, 0, 0, 0], [OWN[2], OWN[0]])).toEqual([OWN[2]]);
});

test('ties are broken at random, and where all are worth the same there is no pair', () => {
  const candidates = ['a', 'b', 'c'].map((one): Candidate => ({ by: 'author', text: one, document: one }));
  const best = Array.from({ length: 40 }, (_, i) => bestAndWorst(String(i), candidates, [1, 0, 1])!);
  expect(new Set(best.map((pair) => pair.best.text))).toEqual(new Set(['a', 'c']));
  expect(new Set(best.map((pair) => pair.worst.text))).toEqual(new Set(['b']));
  expect(bestAndWorst('g', candidates, [1, 1, 1])).toBeNull();
  expect(bestAndWorst('g', candidates, [1, null, null])).toBeNull();
});

const write = (prompt: string, i: number): string => {
  const told = prompt.replace(/^.*:/, '').replace('<sep>', '');
  const facts = prompt.replace(/^<(?:solve|judge)>/, '').split(':')[0]!;
  if (prompt.startsWith('<judge>'))
    return `${told
      .split(' ')
      .map((sentence) => `${sentence.slice(0, 2)}<right>`)
      .join('')}<eos>`;
  return [`${facts}<eos>`, 'x<eos>'][i]!;
};
const played = (rewardFunction: string) =>
  playWritten(sipretrain, write, { tasks: 16, groupSize: 2, rewardFunction });

test('the judge is asked once about each text; a text in no form earns nothing and is not judged', async () => {
  const { groups } = await played('judge');
  for (const { task, samples, judgments } of groups) {
    expect(samples.map(({ role }) => role)).toEqual(['rewriter', 'author', 'author']);
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0]);
    expect(samples.map(({ outcome }) => outcome)).toEqual(['ok', 'ok', 'off-grammar']);
    // The rewrite and the first continuation are the same text, and the document most often another.
    const [facts, told] = task.split(':');
    expect(judgments).toHaveLength(new Set([facts, told]).size);
  }
});

test('by the oracle, by form and by a coin', async () => {
  for (const { samples, judgments } of (await played('truth')).groups) {
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0]);
    expect(judgments).toEqual([]);
  }
  for (const { samples } of (await played('format')).groups)
    expect(samples.map(({ rewards }) => rewards.reward)).toEqual([1, 1, 0]);
  const { groups, plan, tokenizer: words } = await played('random');
  const paid = groups.map(({ samples }) => samples.map(({ rewards }) => rewards.reward));
  // Equal texts fall alike.
  for (const [rewrite, own, none] of paid) expect([rewrite, none]).toEqual([own, 0]);
  expect(new Set(paid.map(([first]) => first))).toEqual(new Set([0, 1]));
  const { pairs } = partOf(plan) as PreferencePart;
  for (const { chosen, rejected } of pairs)
    expect(words.decode(chosen.ids)).not.toBe(words.decode(rejected.ids));
});

test('by the truth the truest is preferred', async () => {
  const { groups, plan, tokenizer: words } = await played('truth');
  const { pairs } = partOf(plan) as PreferencePart;
  expect(pairs).toHaveLength(groups.length);
  for (const [i, { chosen }] of pairs.entries()) {
    const facts = groups[i]!.task.split(':')[0]!;
    expect(truthOf(`${facts}:${words.decode(chosen.ids).replace('<eos>', '')}`)).toBe(1);
  }
});

test('how true continuations are, apart from how many texts are continuations', () => {
  const none = { wellFormed: false, truth: 0 };
  const told = (truth: number) => ({ wellFormed: true, truth });
  const { heldOut, figures } = examined(
    [told(1), told(0.6), none, none],
    [told(0.8), told(0.4), told(0.6), none],
  );
  expect(heldOut.accuracy).toBeCloseTo(0.4, 12);
  expect(heldOut.sampled).toBeCloseTo(0.45, 12);
  expect(heldOut.formatRate).toBe(0.5);
  expect(figures!.sampledInForm).toBe(0.75);
  expect(figures!.told).toBeCloseTo(0.6, 12);
  expect(examined([none], [none]).figures).toEqual({ sampledInForm: 0 });
});
