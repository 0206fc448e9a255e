/** `policy eval`: checks a version's answers to files of questions against reference answers, and compares two versions on them. */
import { writeFile } from 'node:fs/promises';
import type { Extraction } from '../../core/checkers/extract.ts';
import { wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { type RendererKind, rendererOf } from '../../core/renderer/open.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import {
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
import { configOf, openPolicy } from './live-policy.ts';
import { fetchVersion } from './stored-version.ts';
import { type LeftOut, readTaskFiles, type TaskFileOptions, taskFileSettings } from './task-file-options.ts';

export interface EvalRequest extends TaskFileOptions {
  readonly tasks: readonly string[];
  readonly limit?: number;
  readonly renderer: RendererKind;
  /** Switches of the chat template, such as enable_thinking. */
  readonly template?: Readonly<Record<string, unknown>>;
  /** How answers are extracted; the default depends on the policy's kind of text. */
  readonly extract?: readonly Extraction[];
  /** New tokens at most. Default: 64 for the small policies, 512 for others, never more than half of the model's positions. */
  readonly maxNew?: number;
  readonly samples: number;
  readonly temperature: number;
  readonly seed: number;
  /** The version to compare with; its answers come first of the two. */
  readonly compare?: number;
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

/** Samples a version's answers to the questions that fit. */
async function answersOf(
  gateway: GatewayClient,
  ref: PolicyRef,
  tasks: readonly PlacedTask[],
  request: EvalRequest,
): Promise<{ answered: AnsweredQuestion[]; tooLong: number }> {
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
  const { samples, temperature, seed } = request;
  const extract = request.extract ?? EXTRACT[renderer.kind];
  const settings: QuestionSettings = { checker, extract, maxNew, samples, temperature, seed };
  const policy = await openPolicy(ref, files);
  try {
    return { answered: await answerQuestions(policy, renderer, fit, settings), tooLong };
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
  const leftOut: LeftOut[] = [];
  const read = await readTaskFiles(request.tasks, taskFileSettings(request, leftOut));
  const tasks = read.slice(0, request.limit);
  const { answered, tooLong } = await answersOf(gateway, ref, tasks, request);
  const records = answered.map((question) => line(ref, question));
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
    compared,
  };
}
