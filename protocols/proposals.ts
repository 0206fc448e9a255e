/**
 * A proposer, and the gates that its proposals must pass. Every text is kept as a sample with its outcome, and a text that passes becomes a task. The
 * recipe decides what the proposer is asked, what the gates admit, who verifies the attempts, and what proposals earn.
 */
import { type RoundContext, sampleOf } from '../core/recipe/round-context.ts';
import type { ParseResult } from '../core/recipe/task-family.ts';
import { groupId } from '../core/round/sample-ids.ts';
import type { InvalidOutcome, Outcome } from '../core/schema/outcome.ts';
import type { RoundSpec } from '../core/schema/round.ts';
import type { AdmittedTask, Sample } from '../core/schema/sample.ts';

/** A prompt for the proposer, which is answered once for each id. */
export interface Request {
  readonly prompt: string;
  readonly sampleIds: readonly string[];
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
      const id = request.sampleIds[i]!;
      return {
        request,
        task: parsed.ok ? parsed.value : '',
        sample: sampleOf(context, role, id, prompts[r]!.ids, completion, outcome()),
      };
    }),
  );
}

/** The proposals that passed the gates, as tasks to admit. */
export const passed = (proposals: readonly Proposal<Request>[]): { task: string; proposal: string }[] =>
  proposals.flatMap(({ task, sample }) => (sample.outcome === 'ok' ? [{ task, proposal: sample.id }] : []));

/** Refuses a task that comes a second time, or that is among `known`. */
export function refuseRepeated(known: Iterable<string> = []): (task: string) => InvalidOutcome | null {
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
