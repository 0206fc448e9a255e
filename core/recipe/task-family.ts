/** What a task family must offer: generate tasks, render them for each role, parse strictly, and verify by an exact oracle. */
import type { Random } from '../random.ts';
import type { Renderer } from '../renderer/renderer.ts';
import type { InvalidOutcome } from '../schema/outcome.ts';
import type { Sample } from '../schema/sample.ts';
import type { EvaluationTasks } from './split.ts';

/** What the text of a model means: the value (`ok`), or the reason why it does not parse (`invalid`). Such a text is data, not an exception. */
export type ParseResult<T, Reason extends string = InvalidOutcome> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: Reason };

export const ok = <T>(value: T): ParseResult<T, never> => ({ ok: true, value });
export const invalid = <Reason extends string>(reason: Reason): ParseResult<never, Reason> => ({
  ok: false,
  reason,
});

/** A judge's output: a verdict for each step and one for the whole. */
export interface Judgment {
  readonly steps: readonly boolean[];
  readonly right: boolean;
}

export interface Solution {
  readonly steps: readonly string[];
  readonly answer: string;
}

/** Tasks travel as canonical text; every method is pure. */
export interface TaskFamily {
  readonly name: string;
  /** Upper bounds on output tokens, stop token included, by role. */
  readonly maxNew: { readonly proposer: number; readonly solver: number; readonly judge: number };
  /** Token that ends every completion; empty where the policy's renderer says what ends one. */
  readonly stop: string;
  /** The beginning of every completion that writes its steps: appended to the solver's prompt, it forces the policy to write them. Empty where nothing does. */
  readonly workedPrefix: string;
  /**
   * For families that ask in messages: the family as a policy with this renderer is asked. Without it prompts cannot be written and texts
   * cannot be parsed. A solution of such a family is one step, its whole text.
   */
  renderedBy?(renderer: Renderer): TaskFamily;
  random(random: Random): string;
  /** The tasks of an evaluation. Without an argument: all that are never proposed, demonstrated or trained on, but for test-time training (ttrl, spine, ttcs). */
  heldOut(asked?: EvaluationTasks): readonly string[];
  isHeldOut(task: string): boolean;
  /** A scalar that says how hard a task is (here: number of operators). */
  difficulty(task: string): number;

  proposerPrompt(): string;
  solverPrompt(task: string): string;
  judgePrompt(task: string, solution: Solution): string;
  /** Parses the text of a completion, stop token included. */
  parseProposal(text: string): ParseResult<string>;
  parseSolution(task: string, text: string): ParseResult<Solution>;
  parseJudgment(solution: Solution, text: string): ParseResult<Judgment>;

  /** Does the oracle not know what is right, because a policy wrote the question? Absent = it always knows. */
  isUnlabelled?(task: string): boolean;
  /** By the oracle: is the final answer exact? False where the oracle does not know. */
  answerIsExact(task: string, solution: Solution): boolean;
  /** By the oracle: exact verdicts on every step and on the whole (right = every step and the answer are exact). */
  exactJudgment(task: string, solution: Solution): Judgment;
}

/** What a sample says of its task; a completion that did not end well says nothing. */
export const solutionOf = (
  family: Pick<TaskFamily, 'parseSolution'>,
  task: string,
  { ids, outcome }: Pick<Sample, 'ids' | 'outcome'>,
  { decode }: { readonly decode: (ids: readonly number[]) => string },
): ParseResult<Solution> => (outcome === 'ok' ? family.parseSolution(task, decode(ids)) : invalid(outcome));

/** The family as the policy of a stage is asked. */
export const rendered = (
  family: TaskFamily,
  { renderer }: { readonly renderer: () => Renderer },
): TaskFamily => family.renderedBy?.(renderer()) ?? family;
