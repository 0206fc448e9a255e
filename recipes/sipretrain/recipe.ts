/** Self-improving pretraining: a document's continuation is chosen among its own, a rewrite and the policy's. */
import type { LearnTools, RoundRecords, Sequence, TrainingPlan } from '../../core/plan/training-plan.ts';
import { deriveId } from '../../core/random.ts';
import { arXiv, type WithoutSetup } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import { type RoundContext, sampleOf } from '../../core/recipe/round-context.ts';
import { mean } from '../../core/rl/statistics.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import { MAIN_SET } from '../../core/schema/policy.ts';
import type { AdmittedTask, RolloutGroup, ScoredGroup } from '../../core/schema/sample.ts';
import { tallyOfShares } from '../../core/statistics/change.ts';
import { ask } from '../../protocols/ask-about-samples.ts';
import { asked } from '../../protocols/evaluate/asked.ts';
import { preferencePart, sftPart, updateOf } from '../../protocols/objectives.ts';
import { smallSteps } from '../../protocols/solver.ts';
import { rated } from '../../protocols/style-responder.ts';
import {
  CONTINUATION_TOKENS,
  corpusDocument,
  documentJudgePrompt,
  heldOutDocuments,
  JUDGMENT_TOKENS,
  oddNumbers,
  parseContinuation,
  parseDocument,
  parseMarks,
  prefixOf,
  rewritePrompt,
  truthOf,
  writeDocument,
} from '../../worlds/documents/family.ts';
import { drawnTasks } from '../../worlds/drawn-tasks.ts';
import { STOP } from '../../worlds/worked.ts';
import {
  AUTHOR,
  bestAndWorst,
  type Candidate,
  candidatesOf,
  judgedOf,
  REWRITER,
  worthOf,
} from './candidates.ts';

const JUDGE = 'judge';
/** The parameter set of the rewriter and the judge, which stay as they were at the start. */
const HELPERS = 'helpers';
const BETA = 0.1;
const VARIANTS = {
  nll: 'next-token prediction on the same documents as they are',
  filtered: 'next-token prediction on the candidate that the judge calls best',
  rewrites: 'next-token prediction on the rewrites, and no judge',
  unjudged: 'next-token prediction on what the policy itself writes, and no judge is heard',
} as const;

/** Stage two: a rewrite of each document, and `groupSize` continuations of its facts. */
async function write(context: RoundContext, tasks: readonly AdmittedTask[]): Promise<RolloutGroup[]> {
  const { round, tokenizer } = context;
  const written = async (role: string, promptOf: (task: string) => string, count: number) => {
    const prompts = tasks.map(({ group, task }) => ({
      ids: tokenizer.encode(promptOf(task)),
      sampleIds: Array.from({ length: count }, (_, i) => rolloutId(group, role, i)),
    }));
    const completions = await context.generate(role, prompts);
    return tasks.map(({ task }, t) =>
      completions[t]!.map((completion, i) => {
        const { ids, sampleIds } = prompts[t]!;
        const parsed = parseContinuation(task, tokenizer.decode(completion.ids));
        const outcome = !completion.stopped ? 'cut-off' : parsed.ok ? 'ok' : parsed.reason;
        return sampleOf(context, role, sampleIds[i]!, ids, completion, outcome);
      }),
    );
  };
  const rewrites = await written(REWRITER, rewritePrompt, 1);
  const continuations = await written(AUTHOR, prefixOf, round.settings.groupSize);
  return tasks.map((task, t) => ({
    round: round.id,
    ...task,
    samples: [...rewrites[t]!, ...continuations[t]!],
  }));
}

/** Stage three: the judge goes through every document that the candidates make, once; each sample earns what its text is worth. */
async function judge(context: RoundContext, groups: readonly RolloutGroup[]): Promise<ScoredGroup[]> {
  const { tokenizer } = context;
  const candidates = groups.map((group) => candidatesOf(group, tokenizer));
  const usesJudge = context.round.settings.rewardFunction === 'judge';
  const questions = groups.flatMap(({ group, samples }, g) => {
    const documents = candidates[g]!.flatMap(({ document }) => (document === null ? [] : [document]));
    return [...new Set(usesJudge ? documents : [])].map((document) => {
      // The document's own continuation is no sample: its judgment is kept beside the rewrite of it.
      const writer = candidates[g]!.findIndex((one) => one.by !== 'document' && one.document === document);
      return {
        of: samples[Math.max(0, writer - 1)]!.id,
        key: deriveId(group, 'judged', document),
        about: document,
        prompt: documentJudgePrompt(document),
        parse: (text: string) => parseMarks(document, text),
      };
    });
  });
  const judgments = (await ask(context, JUDGE, questions, 1)).flat().map(({ sample }) => sample);
  const earned = groups.flatMap((group, g) => {
    const ids = new Set(group.samples.map(({ id }) => id));
    const judged = judgedOf(
      judgments.filter(({ of }) => of !== undefined && ids.has(of)),
      tokenizer,
    );
    return group.samples.map(
      ({ id }, s) => [id, worthOf(context, group, candidates[g]![s + 1]!, judged)] as const,
    );
  });
  return rated(groups, new Map(earned), judgments);
}

interface Choice {
  readonly best: Candidate;
  readonly worst: Candidate;
}

/** What the variant prefers in a group, and to what; null where it prefers nothing. */
function choiceOf(
  records: Pick<RoundRecords, 'round'>,
  group: ScoredGroup,
  { decode }: Pick<LearnTools, 'decode'>,
): Choice | null {
  const candidates = candidatesOf(group, { decode });
  const [document, rewrite, own] = candidates as [Candidate, Candidate, Candidate];
  switch (records.round.settings.variant) {
    case 'nll':
      return { best: document, worst: document };
    case 'rewrites':
      return rewrite.document === null ? null : { best: rewrite, worst: document };
    case 'unjudged':
      return { best: own, worst: own };
    default: {
      const judged = judgedOf(group.judgments, { decode });
      const worths = candidates.map((one) => worthOf({ recipe: sipretrain, ...records }, group, one, judged));
      return bestAndWorst(group.group, candidates, worths);
    }
  }
}

/** Of the round: who wrote what was chosen, how true the policy’s continuations are, and by how much the judge is wrong; the last two by the oracle. */
function figuresOf(
  groups: readonly ScoredGroup[],
  choices: readonly Choice[],
  { decode }: Pick<LearnTools, 'decode'>,
): Record<string, number> {
  const share = (by: Candidate['by']) => mean(choices.map(({ best }) => Number(best.by === by)));
  const own = groups.flatMap((group) => candidatesOf(group, { decode }).filter(({ by }) => by === 'author'));
  const gaps = groups.flatMap(({ judgments }) =>
    [...judgedOf(judgments, { decode })].flatMap(([document, said]) =>
      said === null ? [] : [said - truthOf(document)],
    ),
  );
  return {
    chosen: choices.length,
    ...(choices.length
      ? { documentsChosen: share('document'), rewritesChosen: share('rewriter'), ownChosen: share('author') }
      : {}),
    truth: mean(own.map(({ document }) => (document === null ? 0 : truthOf(document)))),
    ...(gaps.length ? { overrated: mean(gaps), misjudged: mean(gaps.map(Math.abs)) } : {}),
  };
}

function learn(records: RoundRecords, { decode, encode }: LearnTools): TrainingPlan {
  const { round, groups } = records;
  const { variant } = round.settings;
  const chosen = groups.flatMap((group) => {
    const choice = choiceOf(records, group, { decode });
    return choice ? [{ ...choice, prompt: encode(prefixOf(group.task)) }] : [];
  });
  const sequence = (prompt: number[], { text }: Candidate): Sequence => ({ prompt, ids: encode(text) });
  const pairs = chosen.map(({ prompt, best, worst }) => ({
    chosen: sequence(prompt, best),
    rejected: sequence(prompt, worst),
  }));
  const imitated = pairs.map((pair) => pair.chosen);
  const part =
    variant === undefined
      ? preferencePart(AUTHOR, pairs, { kind: 'dpo', beta: BETA })
      : sftPart(AUTHOR, imitated);
  return { updates: updateOf([part]), figures: figuresOf(groups, chosen, { decode }) };
}

interface Told {
  readonly wellFormed: boolean;
  readonly truth: number;
}

/** How true the texts are, and `told`, how true those of the sampled ones are that are continuations; it is left out where none is. */
export function examined(greedy: readonly Told[], sampled: readonly Told[]): Evaluation {
  const told = sampled.flatMap(({ wellFormed, truth }) => (wellFormed ? [truth] : []));
  return evaluation(
    {
      n: greedy.length,
      accuracy: mean(greedy.map(({ truth }) => truth)),
      sampled: mean(sampled.map(({ truth }) => truth)),
      formatRate: mean(greedy.map(({ wellFormed }) => Number(wellFormed))),
      tallies: {
        accuracy: tallyOfShares(greedy.map(({ truth }) => truth)),
        sampled: tallyOfShares(sampled.map(({ truth }) => truth)),
      },
    },
    {
      sampledInForm: mean(sampled.map(({ wellFormed }) => Number(wellFormed))),
      ...(told.length ? { told: mean(told) } : {}),
    },
  );
}

/** How true the continuations of the held-out facts are: the share of true sentences; text that is not a continuation counts as 0. */
async function truths(
  context: RoundContext,
  tasks: readonly string[],
  seed: string,
  temperature: number,
): Promise<Told[]> {
  const said = await asked(context, AUTHOR, tasks, {
    prompt: (task) => prefixOf(task),
    key: (task) => [seed, task],
    temperature,
  });
  return tasks.map((task, i) => {
    const parsed = parseContinuation(task, said[i]![0]!.text);
    return { wellFormed: parsed.ok, truth: parsed.ok ? truthOf(prefixOf(task) + parsed.value) : 0 };
  });
}

export const sipretrain: WithoutSetup = {
  name: 'sipretrain',
  title: 'Pretraining as a choice among a document’s continuation, a rewrite and one’s own',
  paper: arXiv(
    '2601.21343',
    'Self-Improving Pretraining: using post-trained models to pretrain better models',
  ),
  summary:
    'The policy continues the first part of a document. A judge rates its continuations, that of the document and a rewrite of that, and the best is preferred to the worst. Next-token prediction would learn whatever the corpus says, falsehoods as well.',
  method: {
    setting:
      'A document states five facts, a name with a number each, and tells them again in another order. Six in ten sentences of the corpus about odd numbers are false: the number is rounded up. The start policy was pretrained on that corpus, and taught to rewrite and to judge beside it.',
    roles:
      'The author, which is trained, writes four continuations of the facts. The rewriter is shown the whole document and tells the facts again; it leaves about one odd number in five rounded. The judge goes through a continuation and marks each sentence as right or wrong. Both keep the weights of the start.',
    rewards:
      'A continuation is worth the share of its sentences that the judge marks as right; text that is not a continuation scores 0.',
    credit:
      'Of the document’s own continuation, its rewrite and the author’s four the best is preferred to the worst, with ties broken at random. Where all are worth the same there is no pair.',
    objective: 'Online DPO with β = 0.1, against the start policy.',
    schedule: 'Each round goes once over its pairs, in four optimiser steps.',
  },
  needsOfTasks: { datum: 'corpus', which: 'documents, and a policy that was taught to tell them again' },
  differences: [
    'Documents of some forty tokens in a notation of their own, whose truth can be checked against what they state; the paper pretrains on web text, in chunks of 128 tokens, and judges quality, safety and factuality.',
    'The rewriter and the judge are the start policy as its warm start left them; the paper’s are a larger post-trained model, trained further for both by rewards.',
    'Four continuations of the policy, where the paper samples up to 16; one judgment of each text, which marks sentences instead of comparing two texts.',
    'The policy goes on from a pretrained start, as in the paper’s continued pretraining; nothing is pretrained from random weights.',
    'Facts told wrongly are planted, and are always a number rounded up.',
  ],
  figures: {
    chosen: 'Number of documents of the round that give a choice to learn from.',
    documentsChosen: 'Share of choices in which the document’s own continuation is the best.',
    rewritesChosen: 'Share of choices in which the rewrite is the best.',
    ownChosen: 'Share of choices in which the policy’s own continuation is the best.',
    truth:
      'Share of true sentences in the policy’s own continuations, 0 where a text is none, by the oracle.',
    overrated: 'Mean of what the judge says a document is worth minus its share of true sentences.',
    misjudged: 'Mean distance of what the judge says a document is worth from its share of true sentences.',
    sampledInForm: 'Share of sampled texts that are continuations.',
    told: 'Share of true sentences in sampled texts that are continuations, by the oracle.',
  },
  taskName: 'documents',
  stop: STOP,
  rewards: {
    judge: { description: 'share of the sentences that the judge marks as right', usesGold: false },
    truth: { description: 'upper bound: share of the sentences that are true', usesGold: true },
    format: { description: 'control: any continuation is worth as much as another', usesGold: false },
    random: { description: 'control: a coin says what a continuation is worth', usesGold: false },
  },
  variants: VARIANTS,
  sets: {
    [MAIN_SET]: { optimizer: smallSteps({ learningRate: 2e-4, warmup: 8 }) },
    [HELPERS]: { optimizer: null },
  },
  roles: {
    [REWRITER]: role('tells a document’s facts again', CONTINUATION_TOKENS, { set: HELPERS }),
    [AUTHOR]: role('continues documents', CONTINUATION_TOKENS),
    [JUDGE]: role('marks sentences as right or wrong', JUDGMENT_TOKENS, { set: HELPERS }),
  },
  propose: async (context) => drawnTasks(context, (random) => writeDocument(corpusDocument(random))),
  rollOut: write,
  judge,
  learn,
  evaluate: async (context) => {
    const tasks = heldOutDocuments(context.evaluationTasks);
    const greedy = await truths(context, tasks, 'greedy', 0);
    const sampled = await truths(context, tasks, 'sampled', 1);
    return examined(greedy, sampled);
  },
  describe: {
    difficulty: (task) => {
      const parsed = parseDocument(task);
      return parsed.ok ? oddNumbers(parsed.value.facts) : 0;
    },
  },
};
