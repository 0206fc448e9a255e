import { expect, test } from 'vitest';
import type { PolicyPart, SftPart, TrainingPlan } from '../../core/plan/training-plan.ts';
import type { Recipe } from '../../core/recipe/recipe.ts';
import { invalid, ok } from '../../core/recipe/task-family.ts';
import { playWritten, type WriteOptions } from '../../local/testing/index.ts';
import { settled } from '../../recipes/dsmath-v2/evaluate.ts';
import { analysisFigures, metaAccuracy, selfError } from '../../recipes/dsmath-v2/figures.ts';
import { phaseOf } from '../../recipes/dsmath-v2/phases.ts';
import { analysisReward, labelOf, metaReward, proofReward } from '../../recipes/dsmath-v2/rewards.ts';
import { shipped } from '../../recipes/index.ts';
import type { Score } from '../../worlds/chains/analysis.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';
import { expectRows } from './records.ts';

/** 3 + 4 = 7, 7 - 9 = -2, -2 + 5 = 3, 3 + 1 = 4. In the second proof lines 2 and 4 do not follow, in the third line 2. */
const TASK = '3+4-9+5+1';
const SOUND = ['7', '-2', '3', '4'];
const FLAWED = ['7', '-3', '2', '9'];
const GAP = ['7', '-3', '2', '3'];
/** A proof as a verifier is shown it, and as text with its author's report. */
const shown = (steps: readonly string[]) => steps.map((step) => `${step}=`).join('');
const sums = (steps: readonly string[]) => `${steps.map((step) => `<step>${step}=`).join('')}<sep>`;
const proved = (steps: readonly string[], report: string) =>
  `${steps.map((step) => `<step>${step}`).join('')}<answer>${steps.at(-1)}<sep>${sums(steps)}${report}`;

const recipe: Recipe = {
  ...shipped.find('dsmath-v2'),
  propose: async ({ round }) => admitTasks(round, [TASK]),
};

interface Script {
  readonly proofs: readonly string[];
  /** Reports on a proof, by what is shown of it; the sums before them are copied. */
  readonly analyses?: Readonly<Record<string, readonly string[]>>;
  /** Verdicts on a report, by its text. */
  readonly verdicts?: Readonly<Record<string, readonly string[]>>;
}

/** Plays the round `index` of one task with these texts; sums and stop tokens are added. */
function play(index: number, { proofs, analyses = {}, verdicts = {} }: Script, more: WriteOptions = {}) {
  const write = (prompt: string, i: number): string => {
    if (prompt.startsWith('<solve>')) return `${proofs[i]}<eos>`;
    const [asked = '', , report = ''] = prompt.split('<sep>');
    const proof = asked.slice('<judge>'.length);
    const texts = report === '' ? analyses[proof] : verdicts[report];
    if (!texts) throw new Error(`nothing was written for ${prompt}`);
    return `${sums(proof.split('=').slice(0, -1))}${texts[i]}<eos>`;
  };
  return playWritten(recipe, write, { index, tasks: 1, ...more });
}

const rewardsOf = (samples: readonly { rewards: Readonly<Record<string, number | null>> }[]) =>
  samples.map(({ rewards }) => rewards.reward);
const advantagesOf = ({ updates }: TrainingPlan) =>
  (updates[0]!.parts[0] as PolicyPart).items.map(({ advantage }) => advantage as number);

test('verifier, meta-verifier, verifier; then three rounds of the prover to one of labels', () => {
  const rounds = [1, 2, 3, 4, 6, 7, 9, 10, 11, 14];
  expect(rounds.map((index) => phaseOf({ index }))).toEqual([
    'score',
    'meta',
    'meta',
    'verify',
    'verify',
    'prove',
    'prove',
    'label',
    'prove',
    'label',
  ]);
});

test('an analysis is paid for its score and its quality, a meta-verdict for its own', () => {
  const said = (score: Score) => ok({ issues: [], score });
  expect(analysisReward(said(0.5), 0, 1)).toBe(0.5);
  expect(analysisReward(said(0), 0, 0.5)).toBe(0.5);
  expect(analysisReward(said(1), 0, 1)).toBe(0);
  expect(analysisReward(invalid('off-grammar'), 0, 1)).toBe(0);
  // A proof without a label, and an analysis that nobody could check, are missing and not 0.
  expect(analysisReward(said(1), null, 1)).toBeNull();
  expect(analysisReward(said(1), 1, null)).toBeNull();
  expect(metaReward(ok({ marks: [], score: 0.5 }), 1)).toBe(0.5);
  expect(metaReward(invalid('verdict-count'), 1)).toBe(0);
});

test('an honest report of a flawed proof is paid more than a false claim', () => {
  const proof = (score: Score) =>
    ok({ solution: { steps: SOUND, answer: '4' }, analysis: { issues: [], score } });
  const evidence = { score: 0, quality: 1, honesty: true };
  expect(proofReward(proof(1), { ...evidence, score: 1 })).toBe(1);
  expect(proofReward(proof(0), evidence)).toBeCloseTo(0.24);
  expect(proofReward(proof(1), evidence)).toBe(0);
  // 0.76 · 0.5 + 0.24 · (1 - 0.5) · 0.5
  expect(proofReward(proof(1), { ...evidence, score: 0.5, quality: 0.5 })).toBeCloseTo(0.44);
  expect(proofReward(proof(0), { ...evidence, honesty: false })).toBe(0);
  expect(proofReward(proof(0), { ...evidence, score: null })).toBeNull();
  expect(proofReward(proof(0), { ...evidence, quality: null })).toBeNull();
  expect(proofReward(invalid('cut-off'), evidence)).toBe(0);
});

test('a label is the lowest score that two approved reports give; 1 without one; none where they differ', () => {
  const report = (score: Score, ...metaScores: number[]) => ({ score, metaScores });
  const [fine, approved, refused] = [
    report(1, 1, 1, 1),
    report(0, 1, 1, 0),
    // Half of the verdicts are not most of them.
    report(0, 1, 1, 0, 0.5),
  ];
  expect(labelOf([fine, approved, approved])).toBe(0);
  expect(labelOf([fine, approved, report(0.5, 1), report(0.5, 1)])).toBeNull();
  expect(labelOf([fine, refused, report(0.5, 1), report(0.5, 1)])).toBe(0.5);
  expect(labelOf([fine, refused, refused])).toBe(1);
  expect(labelOf([approved])).toBeNull();
  // A report that no meta-verdict could be read of is not valid.
  expect(labelOf([report(0), report(0)])).toBe(1);
  expect(labelOf([])).toBeNull();
});

test('at first the verifier learns from exact scores, whatever issues it names', async () => {
  const analyses = { [shown(FLAWED)]: ['<bad>1<bad>3:0', ':1', '<bad>2:.5', 'x'] };
  const { plan, groups } = await play(1, { proofs: [proved(FLAWED, ':1')], analyses }, { groupSize: 4 });
  expect(rewardsOf(groups[0]!.judgments)).toEqual([1, 0, 0.5, 0]);
  expect(groups[0]!.samples[0]!.rewards).toEqual({ reward: 0 });
  expect(groups[0]!.judgments.map(({ oracle }) => oracle)).toEqual([
    { right: false, hit: true },
    { right: false, hit: false },
    { right: false, hit: true },
    { right: false, hit: false },
  ]);
  expect(plan.updates.map(({ set, parts }) => [set, parts[0]!.role])).toEqual([['verifier', 'judge']]);
  // Mean 0.375; deviations .625, -.375, .125, -.375; their squares' sum .6875, a third of it .229167, its root .478714.
  expectRows([advantagesOf(plan)], [[1.305582, -0.783349, 0.261116, -0.783349]], 4);
  // Of five issues named, one is real: line 2.
  expect(plan.figures?.issuePrecision).toBeCloseTo(1 / 3);
});

test('the meta-verifier learns from the exact quality of what it read', async () => {
  const { plan, groups } = await play(
    3,
    {
      proofs: [proved(FLAWED, ':1')],
      analyses: { [shown(FLAWED)]: ['<bad>1<bad>2:0', 'x'] },
      // One issue of two is real: the quality is 0.5.
      verdicts: { '<bad>1<bad>2:0': ['<bad><ok>:.5', '<ok><ok>:1', '<bad>:0', '<bad><bad>:0'] },
    },
    { groupSize: 4 },
  );
  const verdicts = groups[0]!.judgments.filter(({ role }) => role === 'meta-judge');
  expect(rewardsOf(verdicts)).toEqual([1, 0.5, 0, 0.5]);
  expect(new Set(verdicts.map(({ of }) => of))).toEqual(new Set([groups[0]!.judgments[0]!.id]));
  expect(verdicts[2]!.outcome).toBe('verdict-count');
  expect(plan.updates.map(({ set }) => set)).toEqual(['meta-verifier']);
  // Mean .5; deviations .5, 0, -.5, 0; a third of .5 is .166667, its root .408248.
  expectRows([advantagesOf(plan)], [[1.224745, 0, -1.224745, 0]], 4);
});

const CHECKED: Script = {
  proofs: [proved(FLAWED, ':1')],
  analyses: { [shown(FLAWED)]: ['<bad>1<bad>2:0', ':1', '<bad>2<bad>4:0', '<bad>2:.5'] },
  verdicts: {
    '<bad>1<bad>2:0': ['<bad><ok>:.5'],
    ':1': [':1'],
    '<bad>2<bad>4:0': ['<ok><ok>:1'],
    '<bad>2:.5': ['?'],
  },
};

test('then it is paid for its score and for issues that are real', async () => {
  const { groups, plan } = await play(5, CHECKED, { groupSize: 4 });
  const analyses = groups[0]!.judgments.filter(({ role }) => role === 'judge');
  expect(rewardsOf(analyses)).toEqual([0.5, 0, 1, null]);
  // Mean .5, deviation .5; what is missing is not trained on.
  expectRows([advantagesOf(plan)], [[0, -1, 1]], 4);
});

test('without a meta-verifier, and by a coin, analyses are paid otherwise, and it is not asked', async () => {
  const { verdicts: _, ...unchecked } = CHECKED;
  const paid = async (variant: string) => {
    const { groups } = await play(5, unchecked, { groupSize: 4, variant });
    expect(groups[0]!.judgments.every(({ role }) => role === 'judge')).toBe(true);
    return rewardsOf(groups[0]!.judgments);
  };
  expect(await paid('score-only')).toEqual([1, 0, 1, 0.5]);
  const byCoin = await paid('coin-meta');
  expect(byCoin.map((reward, i) => reward === 0 || reward === [1, 0, 1, 0.5][i])).not.toContain(false);
});

test('imitation: the analyses that earn 1 are imitated', async () => {
  const { plan, groups } = await play(5, CHECKED, { groupSize: 4, variant: 'imitation' });
  const part = plan.updates[0]!.parts[0] as SftPart;
  const { prompt, ids } = groups[0]!.judgments.find(({ rewards }) => rewards.reward === 1)!;
  expect([part.kind, part.items]).toEqual(['sft', [{ prompt, ids }]]);
});

const PROVED: Script = {
  proofs: [proved(SOUND, ':1'), proved(FLAWED, ':1'), proved(FLAWED, '<bad>2<bad>4:0'), proved(FLAWED, '')],
  analyses: { [shown(SOUND)]: [':1', ':1'], [shown(FLAWED)]: ['<bad>2<bad>4:0', '<bad>1<bad>2:0'] },
  verdicts: { ':1': [':1'], '<bad>2<bad>4:0': ['<ok><ok>:1'] },
};

test('the prover is paid by the verifier and for its honesty', async () => {
  const { plan, groups } = await play(7, PROVED, { groupSize: 4 });
  const [group] = groups;
  expectRows([rewardsOf(group!.samples) as number[]], [[1, 0, 0.24, 0]]);
  expect(group!.samples[1]!.rewards).toEqual({ reward: 0, score: 0, own: 1 });
  expect(group!.answersExact).toEqual([true, false, false, null]);
  // Nobody is paid for judging, and each proof's own analysis is judged as that proof's.
  expect(rewardsOf(group!.judgments).every((reward) => reward === undefined)).toBe(true);
  const verdicts = group!.judgments.filter(({ role }) => role === 'meta-judge');
  expect(verdicts.map(({ of }) => of)).toEqual(group!.samples.slice(0, 3).map(({ id }) => id));
  expect(plan.updates.map(({ set, parts }) => [set, parts[0]!.role])).toEqual([['main', 'solver']]);
  // Mean .31; deviations .69, -.31, -.07, -.31; squares .4761, .0961, .0049, .0961; a third of .6732 is .2244, its root .473709.
  expectRows([advantagesOf(plan)], [[1.456591, -0.654411, -0.14777, -0.654411]], 4);
  // Own scores 1, 1, 0 of proofs that are worth 1, 0, 0, and one that cannot be read.
  expect(plan.figures).toMatchObject({ selfError: 0.5, overrated: 0 });
  const { groups: dishonest } = await play(7, PROVED, { groupSize: 4, variant: 'no-honesty' });
  expect(rewardsOf(dishonest[0]!.samples)).toEqual([1, 0, 0, 0]);
});

test('new proofs are labelled by many analyses, and the verifier learns from that', async () => {
  const script: Script = {
    proofs: [proved(GAP, ':1')],
    // Exactly 0.5, as two approved reports say; a third that says less is refused.
    analyses: { [shown(GAP)]: ['<bad>2:.5', '<bad>2:.5', '<bad>1<bad>2:0', ':1'] },
    verdicts: {
      '<bad>2:.5': ['<ok>:1', '<ok>:1', '<bad>:0'],
      '<bad>1<bad>2:0': ['<bad><ok>:.5', '<bad><ok>:.5', '<ok><ok>:1'],
      ':1': [':1', ':1', ':1'],
    },
  };
  const { plan, groups } = await play(10, script, { groupSize: 4 });
  expect(groups[0]!.samples[0]!.rewards).toEqual({ reward: 0.5 });
  const analyses = groups[0]!.judgments.filter(({ role }) => role === 'judge');
  // (1 - 0) · 2/3 twice, (1 - 0.5) · 2/3, (1 - 0.5) · 1
  expectRows([rewardsOf(analyses) as number[]], [[2 / 3, 2 / 3, 1 / 3, 1 / 2]]);
  expect(plan.figures).toMatchObject({ labelled: 1, labelsExact: 1 });
  expect(plan.updates.map(({ set }) => set)).toEqual(['verifier']);
  const { plan: rests } = await play(10, script, { groupSize: 4, variant: 'no-labels' });
  expect(rests.updates).toEqual([]);
});

test('by form alone all that can be read is paid, at random nothing of the oracle is', async () => {
  const { groups } = await play(7, PROVED, { groupSize: 4, rewardFunction: 'format' });
  expect(rewardsOf(groups[0]!.samples)).toEqual([1, 1, 1, 0]);
  const { groups: drawn } = await play(5, CHECKED, { groupSize: 4, rewardFunction: 'random' });
  expect([0, 0.5, 1]).toContain(drawn[0]!.samples[0]!.rewards.reward);
  const { groups: gold } = await play(
    10,
    { ...CHECKED, verdicts: everything },
    { groupSize: 4, rewardFunction: 'gold' },
  );
  // The exact quality of the four: 0.5, 1, 1, 1; the exact score is 0.
  expect(rewardsOf(gold[0]!.judgments.filter(({ role }) => role === 'judge'))).toEqual([0.5, 0, 1, 0.5]);
});
const everything = Object.fromEntries(
  Object.keys(CHECKED.verdicts!).map((analysis) => [analysis, ['?', '?', '?']]),
);

test('figures by the exact prover', () => {
  const solution = { steps: FLAWED, answer: '9' };
  const items = [
    { task: TASK, solution, parsed: ok({ issues: [1, 2], score: 0 as Score }) },
    { task: TASK, solution, parsed: ok({ issues: [], score: 1 as Score }) },
    { task: TASK, solution, parsed: invalid('off-grammar') },
  ];
  // Issues: one of two is real, of six wrong lines. Scores 1 + 0 + 0, qualities .5 + 1 + 0.
  expect(analysisFigures(items)).toEqual({
    scoreAccuracy: 1 / 3,
    issuePrecision: 0.5,
    issueRecall: 1 / 6,
    analysisQuality: 0.5,
  });
  expect(
    metaAccuracy([
      { exact: { marks: [], score: 1 }, parsed: ok({ marks: [], score: 0.5 }) },
      { exact: { marks: [], score: 0 }, parsed: invalid('off-grammar') },
    ]),
  ).toBe(0.25);
  const own = (score: Score) => ({
    task: TASK,
    parsed: ok({ solution, analysis: { issues: [], score } }),
  });
  expect(selfError([own(1), own(0), { task: TASK, parsed: invalid('cut-off') }])).toBeCloseTo(2 / 3);
});

test('in self-verification the first proof of the highest own score stands', () => {
  const attempt = (score: Score, step: string) => ({
    task: TASK,
    parsed: ok({ solution: { steps: [step], answer: step }, analysis: { issues: [], score } }),
  });
  const unread = { task: TASK, parsed: invalid('off-grammar') };
  const [low, high, again] = [attempt(0, 'a'), attempt(1, 'b'), attempt(1, 'c')];
  expect(settled([unread, low, high, again])).toBe(high);
  expect(settled([unread, low])).toBe(low);
  expect(settled([unread])).toBe(unread);
});
