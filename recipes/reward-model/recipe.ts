/**
 * reward-model: a class head and the trunk below it learn from a file which answers are right or preferred: pairs of answers, answers with a label, or
 * answers with a label for each step. `--reward-model NAME@N` then pays another run by it.
 */
import * as v from 'valibot';
import type {
  LearnTools,
  RoundRecords,
  Sequence,
  TrainingPlan,
  UpdatePart,
} from '../../core/plan/training-plan.ts';
import type { FromFiles } from '../../core/recipe/from-files.ts';
import { arXiv, type Recipe } from '../../core/recipe/recipe.ts';
import type { EvaluationContext } from '../../core/recipe/round-context.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import type { Measurement } from '../../core/schema/measurement.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import { tallyOfShares } from '../../core/statistics/change.ts';
import {
  exampleStages,
  heldOutExamples,
  lastSpan,
  nothingExamined,
  pairSpans,
  total,
} from '../../protocols/examples/round.ts';
import { exampleData, exampleEntries, trainedOn } from '../../protocols/examples/settings.ts';
import { stepEnds } from '../../protocols/examples/steps.ts';
import { SOLVER } from '../../protocols/solver.ts';
import { ratingOf } from '../../worlds/file/rating.ts';
import type { FileTask } from '../../worlds/file/task.ts';
import { readTask } from '../../worlds/questions/task-text.ts';

const settings = v.strictObject(exampleEntries(1e-4));
const data = exampleData(settings);
export type RewardModelData = v.InferOutput<typeof data>;

const spansOf = (renderer: Renderer, task: FileTask): readonly Sequence[] =>
  ratingOf(task).kind === 'pair' ? pairSpans(renderer, task) : [lastSpan(renderer, task)];

/** The tokens of an example with what a file says of them. */
type Rated =
  | { readonly kind: 'pair'; readonly chosen: Sequence; readonly rejected: Sequence }
  | { readonly kind: 'marks'; readonly marks: readonly (Sequence & { readonly label: number })[] };

/** Null where an answer has another number of lines than of labels. */
function ratedOf(
  task: FileTask,
  spans: readonly Sequence[],
  tokenizer: Pick<LearnTools, 'decode'>,
): Rated | null {
  const rating = ratingOf(task);
  const [first, second] = spans;
  if (rating.kind === 'pair') return { kind: 'pair', chosen: first!, rejected: second! };
  const { prompt, ids } = first!;
  if (rating.kind === 'label') return { kind: 'marks', marks: [{ prompt, ids, label: rating.label }] };
  const ends = stepEnds(tokenizer, ids);
  if (ends.length !== rating.labels.length) return null;
  return {
    kind: 'marks',
    marks: ends.map((end, i) => ({ prompt, ids: ids.slice(0, end), label: rating.labels[i]! })),
  };
}

function learn(
  { groups }: Pick<RoundRecords, 'groups'>,
  tools: Pick<LearnTools, 'decode'>,
  epochs: number,
): TrainingPlan {
  const whole = groups.filter(({ samples }) => samples.every(({ outcome }) => outcome === 'ok'));
  const read = whole.map(({ task, samples }) => ratedOf(readTask(task), samples, tools));
  const rated = read.filter((one) => one !== null);
  const pairs = rated.flatMap((one) => (one.kind === 'pair' ? [one] : []));
  const items = rated.flatMap((one) => (one.kind === 'marks' ? one.marks : []));
  const about = { role: SOLVER, weight: 1 };
  const parts: UpdatePart[] = [
    ...(pairs.length ? [{ ...about, kind: 'reward-pairs' as const, pairs }] : []),
    ...(items.length ? [{ ...about, kind: 'classification' as const, items }] : []),
  ];
  return {
    updates: parts.length ? [{ set: MAIN_SET, epochs, parts }] : [],
    figures: { tooLong: groups.length - whole.length, otherSteps: read.length - rated.length },
  };
}

/** The log-odds of class 1 at each place; 0 before the head was trained. */
const scoresOf = ({ classes }: Measurement, places: number): number[] =>
  classes?.map(([other, own]) => own! - other!) ?? new Array<number>(places).fill(0);

/** Half a hit where it cannot tell. */
const hit = (margin: number): number => (margin > 0 ? 1 : margin < 0 ? 0 : 0.5);

async function examine(
  context: EvaluationContext,
  { tasks, examined }: { readonly tasks: RewardModelData; readonly examined: number },
): Promise<Evaluation> {
  const found = heldOutExamples(context, { tasks, examined, spans: spansOf });
  const rated = found.flatMap(({ task, sequences }) => ratedOf(task, sequences, context.tokenizer) ?? []);
  if (rated.length === 0) return nothingExamined();
  const places = (one: Rated) => (one.kind === 'pair' ? [one.chosen, one.rejected] : one.marks);
  const measured = await context.measure(
    SOLVER,
    rated.flatMap((one) => places(one).map(({ prompt, ids }) => ({ prompt, ids }))),
  );
  let at = 0;
  const margins = rated.map((one) => {
    const scores = places(one).map(() => scoresOf(measured[at++]!, 1)[0]!);
    if (one.kind === 'pair') return [scores[0]! - scores[1]!];
    return scores.map((score, i) => (one.marks[i]!.label === 1 ? score : -score));
  });
  const shares = margins.map((of) => total(of.map(hit)) / of.length);
  const all = margins.flat();
  const logLoss =
    total(all.map((margin) => Math.log1p(Math.exp(-Math.abs(margin))) + Math.max(0, -margin))) / all.length;
  return evaluation(
    {
      n: shares.length,
      accuracy: total(shares) / shares.length,
      tallies: { accuracy: tallyOfShares(shares) },
    },
    { logLoss, margin: total(all) / all.length },
  );
}

function recipeOf(given: RewardModelData): Recipe {
  const { epochs, examined } = given.settings;
  return {
    ...trainedOn('reward-model', given, { kind: 'classes', count: 2 }),
    title: 'A reward model from pairs, labels or step labels',
    paper: arXiv('2110.14168', 'Training Verifiers to Solve Math Word Problems'),
    summary:
      'A policy with a head of two classes learns which answers of a file are right or preferred. Its probability of the second class then pays the answers of other runs, and chooses among them.',
    method: {
      setting:
        'Questions with rated answers come from files: pairs of which one is preferred, answers with a label, or answers with a label for each line. The policy is any that the mesh can train.',
      roles: 'Nobody samples: a round’s groups hold the tokens of the rated answers.',
      rewards: 'None: the files say what is right.',
      credit:
        'The head reads the hidden state after the last token of an answer, or of each of its lines; the score is the log-odds of its second class.',
      objective:
        'Labels are learned by cross-entropy, pairs by the loss of Bradley and Terry, −log σ(score of the chosen answer − score of the rejected one). Trunk and head are trained together.',
      schedule: 'Every example is learned from once before any comes again.',
    },
    differences: [
      'The paper’s verifier predicts after every token of an answer, and learns the language model’s loss beside; here the head reads the last token of the answer or of a line alone.',
      'Pairs are learned as reward models of preferences are (arXiv:2203.02155), one pair a question.',
    ],
    figures: {
      tooLong: 'Number of examples that were left out because they do not fit into the policy’s context.',
      otherSteps:
        'Number of examples that were left out because they have another number of lines than of labels.',
      logLoss:
        'Mean of −log of the probability that the model gives what the held-out examples say, nats; 0.69 is chance.',
      margin: 'Mean log-odds that the model gives what the held-out examples say, nats.',
    },
    tasks: 32,
    groupSize: 1,
    ...exampleStages({ name: given.name, tasks: given, spans: spansOf }),
    learn: (records, tools) => learn(records, tools, epochs),
    evaluate: (context) => examine(context, { tasks: given, examined }),
  };
}

export const rewardModel: FromFiles = {
  reads: 'ratings',
  needs: ['ratings'],
  settings,
  data,
  make: (given) => recipeOf(v.parse(data, given)),
};
