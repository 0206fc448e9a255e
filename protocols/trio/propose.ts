/** The propose stage. The proposer writes tasks until enough have passed the gates. Every proposal is recorded, a rejected one with its reason. */
import type { Game } from '../../core/game/game.ts';
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { admit, refuseRepeated } from '../../core/round/admit.ts';
import type { InvalidOutcome } from '../../core/schema/outcome.ts';
import type { Proposals, Sample } from '../../core/schema/sample.ts';
import { passed, requestsLike, writeTasks } from '../proposals.ts';

/** The number of batches of proposals after which a round goes on with the tasks that it has. */
const MAX_ATTEMPTS = 6;

/**
 * Proposes `round.settings.tasks` tasks. The gates are, in this order: grammar, held-out, duplicate within the round. A proposal of a held-out task
 * is recorded, and neither used nor trained on. Returns fewer tasks where the policy does not write enough. Where tasks are given, the proposer is
 * shown one of them each time and writes half of the round's, once; given ones are the others. `refuseToo`: what else is refused, before repetitions.
 */
export async function propose(
  game: Game<'propose'>,
  context: RoundContext,
  refuseToo: (task: string) => InvalidOutcome | null = () => null,
): Promise<Proposals> {
  const { round } = context;
  const given = game.byExample ? await game.tasks(context) : null;
  const examples = given ? given.tasks.map(({ task }) => task) : null;
  const total = examples ? examples.length : round.settings.tasks;
  const want = examples ? Math.ceil(total / 2) : total;
  const batch = examples ? want : want + Math.ceil(want / 4);
  const samples: Sample[] = [];
  const tasks: { task: string; proposal: string | null }[] = [];
  const repeated = refuseRepeated();
  const refuse = (task: string) => refuseToo(task) ?? repeated(task);
  for (let attempt = 0; attempt < (examples ? 1 : MAX_ATTEMPTS) && tasks.length < want; attempt++) {
    const requests = requestsLike(context, 'proposer', batch, examples, examples ? undefined : attempt);
    for (const proposal of await writeTasks(game, context, 'proposer', 'propose', requests, { refuse })) {
      // Proposals after the last task that was needed are not part of the round.
      if (tasks.length === want) break;
      samples.push(proposal.sample);
      tasks.push(...passed([proposal]));
    }
  }
  const rest = (examples ?? []).slice(0, total - tasks.length).map((task) => ({ task, proposal: null }));
  return { ...given, round: round.id, samples, tasks: admit(round, [...tasks, ...rest]) };
}
