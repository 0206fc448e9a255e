/**
 * A proposer and the gate before what it writes. Every text is kept as a sample with its outcome; a text that passes becomes a task. What is
 * asked, what the gate admits, who verifies the attempts and what proposals are paid is for a recipe to say.
 */
import { type RoundContext, sampleOf } from '../core/round-context.ts';
import { groupId } from '../core/sample-ids.ts';
import type { Outcome, Unreadable } from '../core/schema/outcome.ts';
import type { RoundSpec } from '../core/schema/round.ts';
import type { AdmittedTask, Sample } from '../core/schema/sample.ts';
import type { ParseResult } from '../core/task-family.ts';

/** What a proposer is asked, once for each id. */
export interface Request {
  readonly prompt: string;
  readonly sampleIds: readonly string[];
}

/** In this order: the grammar, the held-out side, and what else the recipe refuses. */
export interface Gate<R extends Request> {
  /** The task that a text proposes, stop token included. */
  readonly parse: (text: string, request: R) => ParseResult<string>;
  /** A held-out task is recorded, neither used nor trained on. */
  readonly isHeldOut: (task: string) => boolean;
  /** Why a task that passed the others is refused; null where it is admitted. Proposals come in the order in which they were asked for. */
  readonly refuse?: (task: string) => Unreadable | null;
}

/** `task` is empty where the text proposes none; it was admitted where the outcome is `ok`. */
export interface Proposal<R extends Request> {
  readonly request: R;
  readonly task: string;
  readonly sample: Sample;
}

/** The proposals that a role writes to the requests, in their order, as the gate finds them. */
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
      const id = request.sampleIds[i]!;
      return {
        request,
        task: parsed.ok ? parsed.value : '',
        sample: sampleOf(context, role, id, prompts[r]!.ids, completion, outcome()),
      };
    }),
  );
}

/** Those that passed, as tasks to admit. */
export const passed = (proposals: readonly Proposal<Request>[]): { task: string; proposal: string }[] =>
  proposals.flatMap(({ task, sample }) => (sample.outcome === 'ok' ? [{ task, proposal: sample.id }] : []));

/** Refuses what comes a second time, or is among `known`. */
export function refuseRepeated(known: Iterable<string> = []): (task: string) => Unreadable | null {
  const seen = new Set(known);
  return (task) => {
    if (seen.has(task)) return 'duplicate';
    seen.add(task);
    return null;
  };
}

/** Tasks of a round in their order, each with the proposal that it came from; null where nobody proposed it. */
export const admit = (
  { id }: Pick<RoundSpec, 'id'>,
  tasks: readonly Pick<AdmittedTask, 'task' | 'proposal'>[],
): AdmittedTask[] =>
  tasks.map(({ task, proposal }, index) => ({ group: groupId(id, index), index, task, proposal }));
