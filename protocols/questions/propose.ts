/**
 * Questions that a policy writes: it is shown a question of the files and asked for another of the same kind. A new question has no reference answer,
 * so no checker can say what is right; the recipe labels the answers by votes or by a judge.
 */

import type { RoundContext } from '../../core/recipe/round-context.ts';
import { invalid, ok, type ParseResult } from '../../core/recipe/task-family.ts';
import { proposerMessages } from '../../core/renderer/role-messages.ts';
import { proposalId } from '../../core/round/sample-ids.ts';
import type { InvalidOutcome } from '../../core/schema/outcome.ts';
import { questionKey } from '../../worlds/file/task.ts';
import type { TaskSet } from '../../worlds/file/task-set.ts';
import { type Proposal, proposeThrough, type Request } from '../proposals.ts';
import { fittingIn, type Needs } from './draw.ts';
import { readTask, writeProposed, writeTask } from './task-text.ts';

/** A question to vary, as the text of a task, and the ids of the new ones that are asked for. */
export interface Example extends Pick<Request, 'sampleIds'> {
  readonly task: string;
}

/** Examples from `tasks` for `count` proposals of a role, one each; the tasks come again in turn where there are fewer. */
export const examplesOf = (
  { round }: Pick<RoundContext, 'round'>,
  role: string,
  tasks: readonly string[],
  count: number,
): Example[] =>
  tasks.length === 0
    ? []
    : Array.from({ length: count }, (_, i) => ({
        task: tasks[i % tasks.length]!,
        sampleIds: [proposalId(round.id, role, i)],
      }));

/** The questions of the files by their keys: which are held out, and which a proposal would only repeat. */
export interface KnownQuestions {
  readonly heldOut: ReadonlySet<string>;
  readonly trained: ReadonlySet<string>;
}

export const knownQuestions = ({
  sources,
  heldOut,
}: Pick<TaskSet, 'sources' | 'heldOut'>): KnownQuestions => ({
  heldOut: new Set(heldOut.map(questionKey)),
  trained: new Set(sources.flatMap(({ tasks }) => tasks.map(questionKey))),
});

const keyOf = (task: string): string => questionKey(readTask(task));

/** The question in place of the last message of the example, so that a system message before it stays. */
function parse(
  { readText, holdsControl }: ReturnType<RoundContext['renderer']>,
  text: string,
  example: string,
  parseProposal: QuestionGate['parseProposal'],
): ParseResult<string> {
  const written = readText(text).text.trim();
  if (written === '' || holdsControl(written)) return invalid('off-grammar');
  const { messages } = readTask(example);
  const asked = [...messages.slice(0, -1), { ...messages.at(-1)!, content: written }];
  if (!parseProposal) return ok(writeProposed(asked));
  const known = parseProposal(written);
  if (!known.ok) return known;
  const { answer, metadata } = known.value;
  return ok(writeTask({ messages: asked, answer, metadata, difficulty: null }));
}

/** What is known about a question in the wordings of a generator; the reason where it is not one of the generator's questions. */
export type ParseProposal = (question: string) => ParseResult<{
  readonly answer: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly isHeldOut: boolean;
}>;

export interface QuestionGate {
  /** Where given, only questions that it can parse are admitted, with the answers that it computes. */
  readonly parseProposal?: ParseProposal | undefined;
  readonly known: KnownQuestions;
  /** What a question must fit into the context with. */
  readonly needs: Needs;
}

/** The questions that a role writes, in their order. A question that is in the files or came before in the round is a duplicate. */
export async function proposeLike(
  context: RoundContext,
  role: string,
  examples: readonly Example[],
  { known, needs, parseProposal }: QuestionGate,
): Promise<Proposal<Example & Request>[]> {
  const renderer = context.renderer();
  const { fits } = fittingIn(context, needs);
  const seen = new Set(known.trained);
  const refuse = (task: string): InvalidOutcome | null => {
    const key = keyOf(task);
    if (seen.has(key)) return 'duplicate';
    seen.add(key);
    return fits(task) ? null : 'too-long';
  };
  const isReserved = (task: string): boolean => {
    const read = parseProposal?.(readTask(task).messages.at(-1)!.content);
    return read?.ok === true && read.value.isHeldOut;
  };
  const requests = examples.map((example) => ({
    ...example,
    prompt: renderer.begin(proposerMessages([readTask(example.task).messages.at(-1)!.content])).text,
  }));
  return proposeThrough(context, role, requests, {
    parse: (text, { task }) => parse(renderer, text, task, parseProposal),
    isHeldOut: (task) => known.heldOut.has(keyOf(task)) || isReserved(task),
    refuse,
  });
}
