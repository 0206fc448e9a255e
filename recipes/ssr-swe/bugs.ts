/** Bugs that a policy injects into programs, bugs that replace those that are refused, and bugs that failed repairs leave behind. */
import * as v from 'valibot';
import type { LearnTools } from '../../core/plan/training-plan.ts';
import { Random } from '../../core/random.ts';
import { readState } from '../../core/recipe/recipe-state.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { admit, refuseRepeated } from '../../core/round/admit.ts';
import { proposalId } from '../../core/round/sample-ids.ts';
import type { InvalidOutcome } from '../../core/schema/outcome.ts';
import type { Proposals, Sample, ScoredGroup } from '../../core/schema/sample.ts';
import { passed, proposeThrough } from '../../protocols/proposals.ts';
import { proposerPromptWith } from '../../worlds/programs/questions.ts';
import {
  gate,
  parseInjection,
  randomBug,
  randomRepository,
  repair,
  withBug,
} from '../../worlds/programs/repair.ts';

export const INJECTOR = 'injector';

/** The number of bugs that are asked for in one program. */
const EACH = 4;
/** At most one in so many of a round’s tasks is a failed repair. */
const SECOND_ORDER = 4;
const MAX_BUGS = 256;
const MAX_FAILED = 64;

export const ssrState = v.object({
  /** Injected bugs of earlier rounds, oldest first. */
  bugs: v.array(v.string()),
  /** The bugs that the last round's failed repairs are. */
  failed: v.array(v.string()),
});
export type SsrState = v.InferOutput<typeof ssrState>;
export const stateOf = (recipeState: unknown): SsrState =>
  readState(ssrState, recipeState) ?? { bugs: [], failed: [] };

/** Why a bug that parses is refused: by the gates of the method or, in the arm without them, only because it repeats another. */
function refusal(gated: boolean): (task: string) => InvalidOutcome | null {
  const repeats = refuseRepeated();
  return (task) => (gated ? gate(task) : null) ?? repeats(task);
}

/**
 * At most a quarter of a round’s tasks are failed repairs of the round before. For the others, four bugs are asked for in each of some programs.
 * Those that pass the gates become tasks, and bugs of earlier rounds replace those that do not, as long as there are any.
 */
export async function injectBugs(context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const { tasks: count, variant } = round.settings;
  const random = new Random(`${round.id}/repositories`);
  const { bugs, failed } = stateOf(await context.recipeState());
  const second = random.shuffle(failed).slice(0, Math.floor(count / SECOND_ORDER));
  const wanted = count - second.length;
  const repositories = Array.from({ length: Math.ceil(wanted / EACH) }, () => randomRepository(random));
  const unproposed = (tasks: readonly string[]) => tasks.map((task) => ({ task, proposal: null }));
  if (variant === 'repair-only') {
    const drawn = Array.from({ length: wanted }, (_, i) =>
      randomBug(random, repositories[Math.floor(i / EACH)]!),
    );
    return { round: round.id, samples: [], tasks: admit(round, unproposed([...drawn, ...second])) };
  }
  const proposed = await proposeThrough(
    context,
    INJECTOR,
    repositories.map((repository, r) => {
      const program = repository.split(';')[0]!;
      return {
        repository,
        about: program,
        prompt: proposerPromptWith('deduction', [program]),
        sampleIds: Array.from({ length: EACH }, (_, i) => proposalId(round.id, INJECTOR, r * EACH + i)),
      };
    }),
    {
      parse: (text, { repository }) => parseInjection(repository, text),
      isHeldOut: repair.isHeldOut,
      refuse: refusal(variant !== 'no-gates'),
    },
  );
  const fresh = passed(proposed).slice(0, wanted);
  const stored = random.shuffle(bugs).slice(0, wanted - fresh.length);
  return {
    round: round.id,
    samples: proposed.map(({ sample }) => sample),
    tasks: admit(round, [...fresh, ...unproposed([...stored, ...second])]),
  };
}

/** A failed repair as a bug of its own, if it passes the gates. A failed repair of such a bug makes no further one. */
const secondOrder = (
  { task, samples }: Pick<ScoredGroup, 'task' | 'samples'>,
  decode: LearnTools['decode'],
): string[] =>
  samples.flatMap(({ ids, rewards }: Sample) => {
    const parsed = repair.parseSolution(task, decode(ids));
    if (!parsed.ok || rewards.reward === 1) return [];
    const failed = withBug(task, parsed.value.answer);
    return gate(failed) === null ? [failed] : [];
  });

/** The state after a round. */
export function stateAfter(
  before: SsrState,
  groups: readonly Pick<ScoredGroup, 'task' | 'proposal' | 'samples'>[],
  decode: LearnTools['decode'],
  higher: boolean,
): SsrState {
  const fresh = groups.filter(({ proposal }) => proposal !== null);
  const known = new Set(before.failed);
  const failed = groups.filter(({ task }) => !known.has(task)).flatMap((group) => secondOrder(group, decode));
  return {
    bugs: [...new Set([...before.bugs, ...fresh.map(({ task }) => task)])].slice(-MAX_BUGS),
    failed: higher ? [...new Set(failed)].slice(0, MAX_FAILED) : [],
  };
}
