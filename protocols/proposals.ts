/**
 * A proposer, and the gates that its proposals must pass. Every text is kept as a sample with its outcome, and a text that passes becomes a task. The
 * recipe decides what the proposer is asked, what the gates admit, who verifies the attempts, and what proposals earn.
 */
import type { Game } from '../core/game/game.ts';
import type { AboutOf, TaskVerb } from '../core/game/verbs.ts';
import type { RoundRecords } from '../core/plan/training-plan.ts';
import { type RoundContext, sampleOf } from '../core/recipe/round-context.ts';
import type { ParseResult } from '../core/recipe/task-family.ts';
import { mean, present } from '../core/rl/statistics.ts';
import { proposalId } from '../core/round/sample-ids.ts';
import type { InvalidOutcome, Outcome } from '../core/schema/outcome.ts';
import type { Sample } from '../core/schema/sample.ts';
import { rewardOf } from './solver.ts';

/** The share of a task's attempts whose reward is 1, of those that have one; null where none has. */
export function solveRate(attempts: readonly Sample[]): number | null {
  const paid = present(attempts.map(rewardOf));
  return paid.length ? mean(paid.map((reward) => Number(reward === 1))) : null;
}

/** What each proposal earns by its outcome and by the share of attempts at its task that are right, which is null where it is not known. */
export const paidByRate =
  (reward: (outcome: Outcome, rate: number | null) => number | null) =>
  ({ proposals, groups }: RoundRecords): ReadonlyMap<string, number | null> => {
    const rates = new Map(groups.map(({ proposal, samples }) => [proposal, solveRate(samples)]));
    return new Map(proposals.samples.map(({ id, outcome }) => [id, reward(outcome, rates.get(id) ?? null)]));
  };

/** A prompt for the proposer, which is answered once for each id. */
export interface Request {
  readonly prompt: string;
  readonly sampleIds: readonly string[];
  /** What the proposer is shown: recorded with its proposals. */
  readonly about?: string;
}

/** The gates of proposals, in this order: the grammar, the held-out side of the split, and what else the recipe refuses. */
export interface Gate<R extends Request> {
  /** Parses the task that a text proposes; the text includes its stop token. */
  readonly parse: (text: string, request: R) => ParseResult<string>;
  /** Whether a task is held out. Such a proposal is recorded, and neither used nor trained on. */
  readonly isHeldOut: (task: string) => boolean;
  /** Why a task that passed the other gates is refused; null where it is admitted. Proposals come in the order in which they were asked for. */
  readonly refuse?: (task: string) => InvalidOutcome | null;
}

/** `task` is empty where the text proposes none; the task is admitted where the outcome is `ok`. */
export interface Proposal<R extends Request> {
  readonly request: R;
  readonly task: string;
  readonly sample: Sample;
}

/** The proposals that a role writes to the requests, in their order, each with its outcome at the gates. */
export async function proposeThrough<R extends Request>(
  context: RoundContext,
  role: string,
  requests: readonly R[],
  { parse, isHeldOut, refuse = () => null }: Gate<R>,
): Promise<Proposal<R>[]> {
  const { tokenizer } = context;
  const prompts = requests.map(({ prompt, sampleIds }) => ({ ids: tokenizer.encode(prompt), sampleIds }));
  const completions = await context.generate(role, prompts);
  return requests.flatMap((request, r) =>
    completions[r]!.map((completion, i): Proposal<R> => {
      const parsed = parse(tokenizer.decode(completion.ids), request);
      const outcome = (): Outcome => {
        if (!completion.stopped) return 'cut-off';
        if (!parsed.ok) return parsed.reason;
        return isHeldOut(parsed.value) ? 'held-out' : (refuse(parsed.value) ?? 'ok');
      };
      const { sampleIds, about } = request;
      const sample = sampleOf(context, role, sampleIds[i]!, prompts[r]!.ids, completion, outcome());
      return {
        request,
        task: parsed.ok ? parsed.value : '',
        sample: about === undefined ? sample : { ...sample, about },
      };
    }),
  );
}

/** What a role is asked to write a task about. */
export interface TaskRequest<V extends TaskVerb> {
  readonly on: AboutOf<V>;
  readonly sampleIds: readonly string[];
}

/** The task that another is written from; undefined where there is none. */
const sourceOf = (on: AboutOf<TaskVerb>): string | undefined =>
  'task' in on ? on.task : (on.like ?? undefined);

/** Tasks that a role writes by a verb of the game, through the game's gates and then the recipe's own (`refuse`). */
export async function writeTasks<V extends TaskVerb, R extends TaskRequest<V>>(
  { words, gate }: Pick<Game<V>, 'words' | 'gate'>,
  context: RoundContext,
  role: string,
  verb: V,
  requests: readonly R[],
  { refuse, isHeldOut }: Partial<Pick<Gate<Request>, 'refuse' | 'isHeldOut'>> = {},
): Promise<Proposal<R & Request>[]> {
  const gates = await gate(context);
  const asked = requests.map((request): R & Request => {
    const about = sourceOf(request.on);
    return {
      ...request,
      prompt: words[verb].ask(request.on, context),
      ...(about === undefined ? {} : { about }),
    };
  });
  return proposeThrough(context, role, asked, {
    parse: (text, { on }) => words[verb].read(text, on, context) as ParseResult<string>,
    isHeldOut: isHeldOut ?? gates.isHeldOut,
    refuse: (task) => gates.refuse(task) ?? refuse?.(task) ?? null,
  });
}

/** Requests for `count` new tasks: each beside one of the examples in turn, or all from one prompt where there are none. */
export function requestsLike(
  { round }: Pick<RoundContext, 'round'>,
  role: string,
  count: number,
  examples: readonly string[] | null,
  attempt?: number,
): TaskRequest<'propose'>[] {
  const sampleIds = Array.from({ length: count }, (_, i) => proposalId(round.id, role, i, attempt));
  if (!examples) return [{ on: { like: null }, sampleIds }];
  return sampleIds.map((id, i) => ({ on: { like: examples[i % examples.length]! }, sampleIds: [id] }));
}

/** The proposals that passed the gates, as tasks to admit. */
export const passed = (proposals: readonly Proposal<Request>[]): { task: string; proposal: string }[] =>
  proposals.flatMap(({ task, sample }) => (sample.outcome === 'ok' ? [{ task, proposal: sample.id }] : []));
