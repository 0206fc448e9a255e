/**
 * What a policy answers to questions with reference answers: one greedy answer to each, and several samples. Every answer is kept with its text and
 * its outcome, so that all figures can be computed again from the record.
 */
import type { Checker } from '../../core/checkers/checker.ts';
import type { Extraction } from '../../core/checkers/extract.ts';
import type { Completion, Policy, TokenIds } from '../../core/policy/policy.ts';
import { deriveId } from '../../core/random.ts';
import type { Renderer } from '../../core/renderer/renderer.ts';
import type { PlacedTask } from '../../worlds/file/task.ts';
import { type CheckedAnswer, checkAnswer } from '../../worlds/questions/check-answer.ts';

export interface QuestionSettings {
  readonly checker: Checker;
  /** Where to look for the answer in the text, in this order. */
  readonly extract: readonly Extraction[];
  /** Longest answer in tokens, its end included. */
  readonly maxNew: number;
  /** Sampled answers to each question, beside the greedy one; may be 0. */
  readonly samples: number;
  readonly temperature: number;
  /** Another seed draws other samples. */
  readonly seed: number;
}

export interface AnsweredQuestion {
  readonly task: PlacedTask;
  readonly greedy: CheckedAnswer;
  readonly samples: readonly CheckedAnswer[];
  /** The tokens of the question and of each sample, for those who score them. */
  readonly tokens: { readonly prompt: TokenIds; readonly samples: readonly TokenIds[] };
}

/** The questions whose prompts leave room for an answer in the model's context, and how many do not. */
export function fitting(
  tasks: readonly PlacedTask[],
  renderer: Renderer,
  { maxPositions, maxNew }: { readonly maxPositions: number; readonly maxNew: number },
): { readonly fit: readonly PlacedTask[]; readonly tooLong: number } {
  const fit = tasks.filter(({ messages }) => renderer.begin(messages).ids.length + maxNew <= maxPositions);
  return { fit, tooLong: tasks.length - fit.length };
}

/** Asks questions again and again: draws as many answers to each as are asked for, and checks them. */
function asking(
  policy: Pick<Policy, 'generate'>,
  renderer: Renderer,
  tasks: readonly PlacedTask[],
  { checker, extract, maxNew, seed }: Pick<QuestionSettings, 'checker' | 'extract' | 'maxNew' | 'seed'>,
) {
  const prompts = tasks.map(({ messages }) => renderer.begin(messages).ids);
  const checks = tasks.map((task) => checker.prepare(task));
  return {
    prompts,
    draw: (name: string, count: number, temperature: number): Promise<Completion[][]> =>
      count === 0
        ? Promise.resolve(tasks.map(() => []))
        : policy.generate(
            prompts.map((ids, i) => ({
              ids,
              sampleIds: Array.from({ length: count }, (_, s) => deriveId('question', name, seed, i, s)),
            })),
            { ...renderer.ends(), maxNew, temperature },
          ),
    /** `i`: the place of the question. */
    checked: (i: number, { ids }: Completion): CheckedAnswer => {
      const read = renderer.read(prompts[i]!, ids);
      return { text: read.text, tokens: ids.length, ...checkAnswer(read, checks[i]!, extract) };
    },
  };
}

/** Answers, in the order of the questions. The samples depend only on the seed, the question's place and the sample's number. */
export async function answerQuestions(
  policy: Pick<Policy, 'generate'>,
  renderer: Renderer,
  tasks: readonly PlacedTask[],
  settings: QuestionSettings,
): Promise<AnsweredQuestion[]> {
  const { prompts, draw, checked } = asking(policy, renderer, tasks, settings);
  const greedy = await draw('greedy', 1, 0);
  const sampled = await draw('sampled', settings.samples, settings.temperature);
  return tasks.map((task, i) => ({
    task,
    greedy: checked(i, greedy[i]![0]!),
    samples: sampled[i]!.map((one) => checked(i, one)),
    tokens: { prompt: prompts[i]!, samples: sampled[i]!.map(({ ids }) => ids) },
  }));
}

/** The samples of each question at one temperature, [questions][samples]: others than those of `answerQuestions`, and than those at another temperature. */
export async function samplesAt(
  policy: Pick<Policy, 'generate'>,
  renderer: Renderer,
  tasks: readonly PlacedTask[],
  settings: QuestionSettings,
): Promise<CheckedAnswer[][]> {
  const { samples, temperature } = settings;
  const { draw, checked } = asking(policy, renderer, tasks, settings);
  const drawn = await draw(`at ${temperature}`, samples, temperature);
  return drawn.map((of, i) => of.map((one) => checked(i, one)));
}
