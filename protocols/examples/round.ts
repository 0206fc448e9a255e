/**
 * The shape of round over examples from files, in which nothing is sampled. A round's groups hold the tokens of its examples, as the policy's own
 * renderer writes them, so that records, audit and training treat them like rollouts.
 */
import * as v from 'valibot';
import type { Sequence } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import type { RoundShape } from '../../core/recipe/recipe.ts';
import { role } from '../../core/recipe/role.ts';
import {
  type EvaluationContext,
  type ReadStored,
  type RoundContext,
  refOf,
} from '../../core/recipe/round-context.ts';
import { type Message, message, type Tool } from '../../core/renderer/message.ts';
import type { Dialogue, Renderer } from '../../core/renderer/renderer.ts';
import { rolloutId } from '../../core/round/sample-ids.ts';
import { type Evaluation, evaluation } from '../../core/schema/evaluation.ts';
import type { RunSettings } from '../../core/schema/round.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../../core/schema/sample.ts';
import { admitTasks } from '../../worlds/drawn-tasks.ts';
import { drawFileTasks } from '../../worlds/file/sampler.ts';
import type { GivenTasks } from '../../worlds/file/stored-set.ts';
import { lengthsOf, type Place, tasksAt, tasksHere } from '../../worlds/file/stored-tasks.ts';
import type { FileTask } from '../../worlds/file/task.ts';
import { readTask, writeTask } from '../../worlds/questions/task-text.ts';
import { SOLVER } from '../solver.ts';

export interface Examples {
  /** Name of the set, for reports. */
  readonly name: string;
  readonly tasks: GivenTasks;
  /** The largest number of held-out examples in an evaluation; the first ones are used. */
  readonly examined: number;
}

/** The spans of a dialogue that the assistant wrote, each with all that precedes it as its prompt. */
const spansOf = (renderer: Renderer, messages: readonly Message[], tools?: readonly Tool[]): Sequence[] =>
  renderer.demonstrate(messages, tools).flatMap(spansIn);

function spansIn({ ids, mask }: Pick<Dialogue, 'ids' | 'mask'>): Sequence[] {
  const spans: Sequence[] = [];
  for (let from = mask.indexOf(1); from >= 0; ) {
    const end = mask.indexOf(0, from);
    const to = end < 0 ? ids.length : end;
    spans.push({ prompt: ids.slice(0, from), ids: ids.slice(from, to) });
    from = mask.indexOf(1, to);
  }
  return spans;
}

/** What the reader of examples keeps beside a conversation: the tools, and what the last messages have besides their texts. */
const beside = v.object({
  tools: v.optional(v.array(v.record(v.string(), v.unknown()))),
  answered: v.optional(v.record(v.string(), v.unknown())),
  rejectedWith: v.optional(v.record(v.string(), v.unknown())),
});
const besideOf = ({ metadata }: FileTask) => v.parse(beside, metadata);

const answered = (
  { messages }: FileTask,
  content: string,
  more: Readonly<Record<string, unknown>> = {},
): Message[] => [...messages, v.parse(message, { ...more, role: 'assistant', content })];

/** The last answer of a conversation, with all that precedes it as its prompt. */
export const lastSpan = (renderer: Renderer, task: FileTask): Sequence =>
  conversationSpans(renderer, task).at(-1)!;

/** Every answer of the assistant in a conversation. */
export const conversationSpans = (renderer: Renderer, task: FileTask): Sequence[] =>
  spansOf(renderer, answered(task, task.answer, besideOf(task).answered), besideOf(task).tools);

/** The two answers of a pair: the chosen one, then the rejected one. */
export const pairSpans = (renderer: Renderer, task: FileTask): [Sequence, Sequence] => {
  const { tools, answered: more, rejectedWith } = besideOf(task);
  const last = (content: string, fields: typeof more) =>
    spansOf(renderer, answered(task, content, fields), tools).at(-1)!;
  return [last(task.answer, more), last(String(task.metadata.rejected), rejectedWith)];
};

/**
 * The examples of a round. Every example is used once before any is used again, and each pass has an order of the run's own. Files with different
 * weights are sampled by these weights instead.
 */
export async function examplesOf(
  { sources }: Pick<Examples['tasks'], 'sources'>,
  {
    id,
    run,
    index,
    settings,
  }: { id: string; run: string; index: number; settings: Pick<RunSettings, 'tasks'> },
  read: ReadStored,
): Promise<FileTask[]> {
  const lengths = lengthsOf(sources);
  if (new Set(lengths.map(({ weight }) => weight)).size > 1)
    return drawFileTasks(read, new Random(`${id}/tasks`), sources, settings.tasks);
  const all = lengths.flatMap(({ length }, source) =>
    Array.from({ length }, (_, at): Place => ({ source, at })),
  );
  const count = Math.min(settings.tasks, all.length);
  const passes = new Map<number, Place[]>();
  const places = Array.from({ length: count }, (_, i) => {
    const at = (index - 1) * count + i;
    const pass = Math.floor(at / all.length);
    const order = passes.get(pass) ?? new Random(`${run}/pass/${pass}`).shuffle(all);
    passes.set(pass, order);
    return order[at % all.length]!;
  });
  return tasksAt(read, sources, places);
}

/** A sequence as a record's sample. It was not sampled: its log-probabilities are zeros, and no ratio to them is ever computed. */
function given(
  context: RoundContext,
  { group }: AdmittedTask,
  place: number,
  { prompt, ids }: Sequence,
): Sample {
  const fits = prompt.length + ids.length <= context.contextLength;
  return {
    id: rolloutId(group, SOLVER, place),
    role: SOLVER,
    policy: { ...refOf(context.round, SOLVER) },
    prompt: [...prompt],
    ids: [...ids],
    logprobs: ids.map(() => 0),
    stopped: true,
    outcome: fits ? 'ok' : 'too-long',
    rewards: {},
  };
}

type Spans = (renderer: Renderer, task: FileTask) => readonly Sequence[];
/** Which examples are examined, and which of their tokens. */
type Examined = Pick<Examples, 'tasks' | 'examined'> & { readonly spans: Spans };

interface ExampleRound extends Examples {
  /** The role that learns; default the solver. */
  readonly role?: string;
  readonly spans: Spans;
  /** Scores held-out examples: their spans [examples] with the log-probabilities of each span's tokens, nats. */
  readonly examine: (examples: readonly (readonly Float64Array[])[]) => Evaluation;
}

/** The held-out examples that are examined and fit into the policy's context, each with its spans. */
export function heldOutExamples(
  context: EvaluationContext,
  { tasks, examined, spans }: Examined,
): { readonly task: FileTask; readonly sequences: readonly Sequence[] }[] {
  const renderer = context.renderer();
  const { heldOut, most } = context.evaluationTasks;
  const side = heldOut ? tasks.heldOut : tasksHere(tasks);
  return side
    .slice(0, Math.min(examined, most))
    .map((task) => ({ task, sequences: spans(renderer, task) }))
    .filter(({ sequences }) =>
      sequences.every(({ prompt, ids }) => prompt.length + ids.length <= context.contextLength),
    );
}

async function evaluate(examples: ExampleRound, context: EvaluationContext): Promise<Evaluation> {
  const { role = SOLVER, examine } = examples;
  const found = heldOutExamples(context, examples);
  const scores = await context.score(
    role,
    found.flatMap(({ sequences }) => sequences.map(({ prompt, ids }) => [...prompt, ...ids])),
  );
  let at = 0;
  return examine(
    found.map(({ sequences }) =>
      sequences.map(({ ids }) => Float64Array.from(scores[at++]!.logprobs.slice(-ids.length))),
    ),
  );
}

export const exampleRound = (examples: ExampleRound): RoundShape => ({
  ...exampleStages(examples),
  evaluate: (context) => evaluate(examples, context),
});

/** The round without its evaluation. */
export function exampleStages(
  examples: Pick<Examples, 'name' | 'tasks'> & { readonly spans: Spans },
): Omit<RoundShape, 'evaluate'> {
  return {
    taskName: examples.name,
    rewards: { none: { description: 'nothing is rewarded: the files say what is right', usesGold: true } },
    roles: {
      [SOLVER]: role('learns from examples', 1),
    },
    propose: async ({ round, readStored }) =>
      admitTasks(round, (await examplesOf(examples.tasks, round, readStored)).map(writeTask)),
    rollOut: async (context, tasks) =>
      tasks.map((task): RolloutGroup => {
        const sequences = examples.spans(context.renderer(), readTask(task.task));
        const samples = sequences.map((sequence, place) => given(context, task, place, sequence));
        // A group is trained on as a whole: if one of its answers does not fit, all are left out.
        const isWhole = samples.every(({ outcome }) => outcome === 'ok');
        return {
          round: context.round.id,
          ...task,
          samples: isWhole ? samples : samples.map((sample) => ({ ...sample, outcome: 'too-long' as const })),
        };
      }),
    judge: async (_, groups) =>
      groups.map((group) => {
        const unknown = group.samples.map(() => null);
        return { ...group, judgments: [], answersExact: unknown, solutionsExact: unknown };
      }),
  };
}

/** The sum of some numbers. */
export const total = (values: ArrayLike<number>): number => {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum;
};

/** The evaluation for the case that every held-out example is longer than the policy's context, so that none is scored. */
export const nothingExamined = (): Evaluation => evaluation({ n: 0, accuracy: 0 });
