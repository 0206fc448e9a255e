/** SCoL: documents come in a stream, and the policy names the layers of its own that take each of them in. */
import type { LearnTools, RoundRecords, TrainingPlan } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import type { EvaluationContext, RoundContext } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { tallyOf } from '../../core/statistics/change.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { coinOf } from '../../protocols/gold.ts';
import { preferencePart, sftPart, updateOf } from '../../protocols/objectives.ts';
import { rolloutIds } from '../../protocols/roll-out.ts';
import { samplePrompts } from '../../protocols/sample-prompts.ts';
import { rewardNamed, smallSteps } from '../../protocols/solver.ts';
import {
  drawStream,
  heldOutFacts,
  LAYERS,
  layerSets,
  parseLayers,
  STREAM,
  UPDATE_TOKENS,
  updatePrompt,
} from '../../worlds/documents/streams.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';
import { STOP } from '../../worlds/worked.ts';
import { streamsOf, type Told, UPDATER } from './taking-in.ts';
import { keptBy, namedBy, type Walked, walk } from './walk.ts';

/** The margin of log-ratios that a pair is fitted to is 1/(2τ). */
const TAU = 0.5;

const VARIANTS = {
  'gain-alone': 'an update is worth what is gained, whatever earlier documents lose',
  'mean-loss': 'the mean of what earlier documents lose counts, and not the sum',
  imitation: 'next-token prediction on the best answer, in place of the preference',
} as const;

const rewards = {
  kept: {
    description: 'how much more is known of the document after its update, less what earlier ones lose',
    usesGold: false,
    /** It takes an update of the weights, which only the learner can try. */
    pay: (): number | null => null,
  },
  format: {
    description: 'control: 1 for any answer that names layers',
    usesGold: false,
    pay: (named: string | null): number | null => Number(named !== null),
  },
  random: {
    description: 'control: a coin says what a set of layers is worth',
    usesGold: false,
    pay: (named: string | null, group: string): number | null =>
      named === null ? 0 : Number(coinOf(`${group}/${named}`)),
  },
};

async function name(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const { id: round, settings } = context.round;
  const samples = await samplePrompts(
    context,
    UPDATER,
    tasks.map(({ group, task }) => ({
      prompt: updatePrompt(task),
      sampleIds: rolloutIds(group, UPDATER, settings.groupSize),
      parse: parseLayers,
    })),
  );
  return tasks.map((task, t) => ({ round, ...task, samples: samples[t]! }));
}

function judge({ round, tokenizer }: RoundContext, groups: readonly RolloutGroup[]): ScoredGroup[] {
  const { pay } = rewardNamed<(typeof rewards)['random']>(rewards, round.settings.rewardFunction);
  return groups.map((group) => {
    const unknown = group.samples.map(() => null);
    return {
      ...group,
      samples: group.samples.map((sample) => {
        const named = namedBy(sample, tokenizer)?.join('') ?? null;
        return { ...sample, rewards: { reward: pay(named, group.group) } };
      }),
      judgments: [],
      answersExact: unknown,
      solutionsExact: unknown,
    };
  });
}

async function learn({ round, groups, version }: RoundRecords, tools: LearnTools): Promise<TrainingPlan> {
  const streams = streamsOf(groups);
  const walks: Walked[] = [];
  for (const stream of streams) walks.push(await walk(round, stream, tools));
  const pairs = walks.flatMap((walked) => walked.pairs);
  const ways: Record<string, (told: Told) => readonly number[] | null> = {
    kept: ({ group }) => namedBy(group.samples[0]!, tools),
    'kept.random': ({ group }) => new Random(`layers/${group.group}`).pick(layerSets),
    'kept.last': () => LAYERS.slice(-2),
    'kept.all': () => LAYERS,
  };
  const kept: Record<string, number> = { 'kept.best': mean(walks.flatMap((walked) => walked.kept)) };
  for (const [figure, layersOf] of Object.entries(ways)) {
    const ends: number[] = [];
    for (const stream of streams) ends.push(...(await keptBy(stream, layersOf, tools)));
    kept[figure] = mean(ends);
  }
  const named = groups.flatMap(({ samples }) =>
    samples.flatMap((sample) => namedBy(sample, tools)?.length ?? []),
  );
  const part =
    round.settings.variant === 'imitation'
      ? sftPart(
          UPDATER,
          pairs.map(({ chosen }) => chosen),
        )
      : preferencePart(UPDATER, pairs, { kind: 'ipo', tau: TAU, level: 'sum' }, { set: MAIN_SET, version });
  const atOnce = walks.flatMap((walked) => walked.atOnce);
  const worths = walks.flatMap((walked) => walked.worths);
  return {
    updates: updateOf([part]),
    figures: {
      ...kept,
      pairs: pairs.length,
      ...(atOnce.length ? { atOnce: mean(atOnce), worth: mean(worths), layers: mean(named) } : {}),
    },
  };
}

/** Which layers are named for held-out documents. Nothing is taken in here. */
async function evaluate(context: EvaluationContext): Promise<Evaluation> {
  const documents = heldOutFacts(context.evaluationTasks);
  const named = async (seed: string, temperature: number) =>
    (
      await asked(context, UPDATER, documents, {
        prompt: updatePrompt,
        key: (document) => [seed, document],
        temperature,
      })
    ).map(([said]) => parseLayers(said!.text));
  const greedy = await named('greedy', 0);
  const sampled = await named('sampled', 1);
  const share = (answers: typeof greedy) => mean(answers.map(({ ok }) => Number(ok)));
  const sets = sampled.flatMap((answer) => (answer.ok ? [answer.value] : []));
  return evaluation(
    {
      n: documents.length,
      accuracy: share(greedy),
      sampled: share(sampled),
      formatRate: share(greedy),
      tallies: {
        accuracy: tallyOf(greedy.map(({ ok }) => ok)),
        sampled: tallyOf(sampled.map(({ ok }) => ok)),
      },
    },
    {
      sets: new Set(sets).size,
      ...Object.fromEntries(
        LAYERS.map((layer) => [`names.${layer}`, mean(sets.map((set) => Number(set.includes(layer))))]),
      ),
    },
  );
}

export const scol: WithoutSetup = {
  name: 'scol',
  title: 'Layers that the policy names to take in a stream of documents (stand-in)',
  paper: arXiv(
    '2605.07076',
    'Self-Consolidating Language Models: Continual Knowledge Incorporation from Context',
  ),
  summary:
    'The policy reads a document and names the layers of its own that may change when it is trained on that. Each named set is tried; it is worth what is then known of the document more, less what earlier documents of the stream lose. The best is preferred to the worst.',
  method: {
    setting:
      'A document states the numbers, 1 to 8, of five names. Six documents make a stream, in which no name comes twice. The policy has four layers; its start names all fifteen sets of them about equally often, whatever the document says. Untrained on a document it knows its numbers by chance.',
    roles:
      'The updater, which is the policy itself, reads a document and names layers, eight times. It does so for all documents of a stream before any is taken in.',
    rewards:
      'An update takes ten steps of AdamW at 3e-3 on four orders of the document’s facts, in the named layers alone. Known of a document is the mean probability of its numbers in two other orders. An update is worth what it adds to that, less the sum of what all earlier documents of the stream lose by it.',
    credit:
      'Every named set is tried from the same weights, and the stream goes on from the best of them. For each document the best answer is preferred to the worst; one that names no layers is the worst. Where all are worth the same there is no pair.',
    objective: 'IPO with τ = 0.5 on whole answers, against the policy that the round trains from.',
    schedule:
      'The updates are undone at the end of a stream. The policy from which the round began is then trained on the pairs of all its streams, once, in four optimiser steps.',
  },
  needsOfTasks: {
    datum: 'corpus',
    which: 'documents that come in a stream, and numbers in them that are asked for afterwards',
  },
  differences: [
    'Four layers, and documents of five facts in a notation of their own; the paper has 28 layers, passages of SQuAD and chunks of LongBench v2.',
    'All weights of a named layer are trained; the paper trains a low-rank adapter in it and merges that.',
    'What is known is the probability of numbers; the paper asks questions whose answers are graded, or takes the likelihood of the text.',
    'The policy names layers for a whole stream before it takes any of it in; in the paper the updated model names them for the next document.',
    'Eight answers instead of ten. The best against the worst is our choice of pairs; it and τ could not be checked against the paper’s.',
    'The start is taught to write sets of layers, without preference; a language model follows an instruction.',
    'An evaluation cannot try updates, and its accuracy says how many held-out documents are answered with layers at all. What is kept is a figure of each round, on documents that the policy has not seen.',
  ],
  figures: {
    kept: 'Mean probability of the numbers of all documents at the end of their stream, each taken in by the layers that its first answer names.',
    'kept.best': 'The same where each is taken in by the set that was worth most.',
    'kept.random': 'The same with sets of layers that are drawn at random.',
    'kept.last': 'The same with the last two layers.',
    'kept.all': 'The same with all layers.',
    atOnce: 'Mean probability of a document’s numbers when it has just been taken in by the best set.',
    worth:
      'Mean worth of the answers that name layers, as a change of probability; for controls, what they are paid.',
    pairs: 'Number of documents of the round whose answers are not all worth the same.',
    layers: 'Mean number of layers that an answer names.',
    sets: 'Number of different sets that are named for held-out documents.',
    names:
      'Share of held-out documents for which this layer is named, of those that are answered with layers.',
  },
  taskName: 'documents',
  stop: STOP,
  rewards,
  variants: VARIANTS,
  sets: { [MAIN_SET]: { optimizer: smallSteps({ learningRate: 2e-4, warmup: 8 }) } },
  roles: { [UPDATER]: role('names the layers that take a document in', UPDATE_TOKENS) },
  propose: async ({ round }) => {
    const random = new Random(`${round.id}/tasks`);
    const streams = Array.from({ length: Math.ceil(round.settings.tasks / STREAM) }, () =>
      drawStream(random),
    );
    return admitTasks(round, streams.flat().slice(0, round.settings.tasks));
  },
  rollOut: name,
  judge: async (context, groups) => judge(context, groups),
  learn,
  evaluate,
};
