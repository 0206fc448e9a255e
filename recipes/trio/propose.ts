/** The propose stage. The proposer writes tasks until enough have passed the gates. Every proposal is recorded, a rejected one with its reason. */
import type { RoundContext } from '../../core/recipe/round-context.ts';
import { proposalId } from '../../core/round/sample-ids.ts';
import type { Proposals, Sample } from '../../core/schema/sample.ts';
import { admit, passed, proposeThrough, refuseRepeated } from '../../protocols/proposals.ts';
import { arithmetic } from '../../worlds/arithmetic/family.ts';

/** The number of batches of proposals after which a round goes on with the tasks that it has. */
const MAX_ATTEMPTS = 6;

/**
 * Proposes `round.settings.tasks` tasks. The gates are, in this order: grammar, held-out, duplicate within the round. A proposal of a held-out task
 * is recorded, and neither used nor trained on. Returns fewer tasks where the policy does not write enough.
 */
export async function propose(context: RoundContext): Promise<Proposals> {
  const { round } = context;
  const want = round.settings.tasks;
  const samples: Sample[] = [];
  const tasks: { task: string; proposal: string }[] = [];
  const gate = {
    parse: arithmetic.parseProposal,
    isHeldOut: arithmetic.isHeldOut,
    refuse: refuseRepeated(),
  };
  for (let attempt = 0; attempt < MAX_ATTEMPTS && tasks.length < want; attempt++) {
    const batch = want + Math.ceil(want / 4);
    const sampleIds = Array.from({ length: batch }, (_, i) => proposalId(round.id, 'proposer', i, attempt));
    const requests = [{ prompt: arithmetic.proposerPrompt(), sampleIds }];
    for (const proposal of await proposeThrough(context, 'proposer', requests, gate)) {
      // Proposals after the last task that was needed are not part of the round.
      if (tasks.length === want) break;
      samples.push(proposal.sample);
      tasks.push(...passed([proposal]));
    }
  }
  return { round: round.id, samples, tasks: admit(round, tasks) };
}
