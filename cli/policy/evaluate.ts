/** `policy eval`: checks a version's answers to files of questions against reference answers, and compares two versions on them. */
import { writeFile } from 'node:fs/promises';
import type { Extraction } from '../../core/checkers/extract.ts';
import { wrongInput } from '../../core/errors.ts';
import type { Policy, PolicyRef } from '../../core/policy/policy.ts';
import { rendererOf } from '../../core/renderer/open.ts';
import { TEXT_FILES } from '../../core/renderer/policy-text.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import type { RendererKind } from '../../core/renderer/renderer-kinds.ts';
import type { VersionFiles } from '../../core/schema/policy.ts';
import {
  type BestFigures,
  bestFigures,
  type Comparison,
  compare,
  figuresOf,
  type QuestionFigures,
} from '../../protocols/evaluate/figures.ts';
import {
  type AnsweredQuestion,
  answerQuestions,
  fitting,
  type QuestionSettings,
} from '../../protocols/evaluate/questions.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import type { CheckedAnswer } from '../../worlds/questions/check-answer.ts';
import type { SetName } from '../shared/version-name.ts';
import { configOf, openPolicy } from './live-policy.ts';
import { fetchRewardModel, openScorer } from './reward-scores.ts';
import { fetchVersion } from './stored-version.ts';
import { type LeftOut, readTaskFiles, type TaskFileOptions, taskFileSettings } from './task-file-options.ts';
import { withPython } from './with-python.ts';

/** How questions are asked, and their answers read. */
export interface AskedQuestions extends TaskFileOptions {
  readonly renderer: RendererKind;
  /** Switches of the chat template, such as enable_thinking. */
  readonly template?: Readonly<Record<string, unknown>>;
  /** How answers are extracted; the default depends on the policy's kind of text. */
  readonly extract?: readonly Extraction[];
  /** New tokens at most. Default: 64 for the small policies, 512 for others, never more than half of the model's positions. */
  readonly maxNew?: number;
}

export interface EvalRequest extends AskedQuestions {
  readonly tasks: readonly string[];
  readonly limit?: number;
  readonly samples: number;
  readonly temperature: number;
  readonly seed: number;
  /** The version to compare with; its answers come first of the two. */
  readonly compare?: number;
  /** Chooses among the samples of the version. */
  readonly rewardModel?: SetName;
  /** The file to which every question is written with its answers, one JSON object per line. */
  readonly write?: string;
}

export interface Evaluated extends QuestionFigures {
  /** Questions that were not asked because they have too many tokens for the model; n does not count them. */
  readonly tooLong: number;
  /** Lines that were left out because the checker cannot read their reference; n does not count them. */
  readonly leftOut: readonly LeftOut[];
  /** Shares of the greedy completions that hold an answer, and of those that write steps before it. */
  readonly answered: number;
  readonly worked: number;
  /** Best-of-k by the reward model, beside a scorer that knows nothing; null where none is named. */
  readonly best: (BestFigures & { readonly by: SetName }) | null;
  readonly compared: {
    readonly version: number;
    readonly figures: QuestionFigures;
    readonly difference: Comparison;
  } | null;
}

const EXTRACT: Readonly<Record<Renderer['kind'], readonly Extraction[]>> = {
  tags: ['answer'],
  chat: ['boxed', 'answer', 'whole'],
  plain: ['boxed', 'answer', 'whole'],
};
const MAX_NEW: Readonly<Record<Renderer['kind'], number>> = { tags: 64, chat: 512, plain: 512 };

/** A version that is opened to be asked, and the questions that fit it. */
export interface OpenQuestions {
  readonly files: VersionFiles;
  readonly policy: Policy;
  readonly renderer: Renderer;
  readonly fit: readonly PlacedTask[];
  readonly tooLong: number;
  readonly maxNew: number;
  readonly checker: QuestionSettings['checker'];
  readonly extract: readonly Extraction[];
}

/** Opens a version to ask it questions; whoever calls disposes of the policy. */
export async function openQuestions(
  gateway: GatewayClient,
  ref: PolicyRef,
  tasks: readonly PlacedTask[],
  request: AskedQuestions,
): Promise<OpenQuestions> {
  const { files } = await fetchVersion(gateway, ref);
  const renderer = rendererOf(files, ref.name, {
    kind: request.renderer,
    ...(request.template ? { variables: request.template } : {}),
  });
  const { maxPositions } = configOf(files);
  const maxNew = request.maxNew ?? Math.min(MAX_NEW[renderer.kind], Math.floor(maxPositions / 2));
  const { fit, tooLong } = fitting(tasks, renderer, { maxPositions, maxNew });
  if (!fit.length)
    throw wrongInput('tasks.too-long', `None of the ${tasks.length} questions fits the model.`, {
      expected: `at most ${maxPositions - maxNew} tokens, so that ${maxNew} are left for the answer`,
      next: 'Choose shorter questions, a smaller --max-new or a model with more positions.',
    });
  const { checker } = taskFileSettings(request);
  const extract = request.extract ?? EXTRACT[renderer.kind];
  return { files, policy: await openPolicy(ref, files), renderer, fit, tooLong, maxNew, checker, extract };
}

/** Samples a version's answers to the questions that fit. */
async function answersOf(
  gateway: GatewayClient,
  ref: PolicyRef,
  tasks: readonly PlacedTask[],
  request: EvalRequest,
): Promise<{ answered: AnsweredQuestion[]; tooLong: number }> {
  const { policy, renderer, fit, tooLong, ...opened } = await openQuestions(gateway, ref, tasks, request);
  const { samples, temperature, seed } = request;
  try {
    return {
      answered: await answerQuestions(policy, renderer, fit, { ...opened, samples, temperature, seed }),
      tooLong,
    };
  } finally {
    await policy.dispose();
  }
}

const line = (
  ref: PolicyRef,
  { task: { messages, answer, ...place }, greedy, samples }: AnsweredQuestion,
): string => {
  const { file, line: number, metadata } = place;
  const record = {
    policy: ref.name,
    version: ref.version,
    file,
    line: number,
    messages,
    reference: answer,
    metadata,
  };
  return `${JSON.stringify({ ...record, greedy, samples })}\n`;
};

export async function evaluateTasks(
  gateway: GatewayClient,
  ref: PolicyRef,
  request: EvalRequest,
): Promise<Evaluated> {
  if (request.rewardModel && request.samples < 1)
    throw wrongInput('eval.samples', 'A reward model chooses among samples, and none are drawn.', {
      expected: '--samples N with --reward-model',
    });
  await withPython(taskFileSettings(request).checker);
  const leftOut: LeftOut[] = [];
  const read = await readTaskFiles(request.tasks, request, leftOut);
  const tasks = read.slice(0, request.limit);
  const { answered, tooLong } = await answersOf(gateway, ref, tasks, request);
  const records = answered.map((question) => line(ref, question));
  const best = request.rewardModel ? await bestBy(gateway, ref, request.rewardModel, answered) : null;
  let compared: Evaluated['compared'] = null;
  if (request.compare !== undefined) {
    const other: PolicyRef = { ...ref, version: request.compare };
    const before = await answersOf(gateway, other, tasks, request);
    records.push(...before.answered.map((question) => line(other, question)));
    compared = {
      version: request.compare,
      figures: figuresOf(before.answered),
      difference: compare(before.answered, answered),
    };
  }
  if (request.write !== undefined) await writeFile(request.write, records.join(''));
  const share = (test: (greedy: CheckedAnswer) => boolean) =>
    answered.filter(({ greedy }) => test(greedy)).length / answered.length;
  return {
    ...figuresOf(answered),
    tooLong,
    leftOut,
    answered: share(({ answer }) => answer !== null),
    worked: share(({ answer, text }) => answer !== null && text.includes('<step>')),
    best,
    compared,
  };
}

async function bestBy(
  gateway: GatewayClient,
  ref: PolicyRef,
  by: SetName,
  answered: readonly AnsweredQuestion[],
): Promise<Evaluated['best']> {
  const { files } = await fetchVersion(gateway, ref, TEXT_FILES);
  const model = await fetchRewardModel(gateway, by, ref, files);
  const each = answered.map(({ tokens: { prompt, samples } }) => samples.map((ids) => ({ prompt, ids })));
  const scorer = await openScorer(model);
  const scores = await scorer.score(each.flat()).finally(() => scorer.dispose());
  return {
    by,
    ...bestFigures(
      answered,
      each.map((own) => scores.splice(0, own.length)),
    ),
  };
}
