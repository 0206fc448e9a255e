/** The proposer writes tasks until enough have passed the gates. Every proposal is kept, a rejected one with its reason. */
import type { RoundContext } from '../../core/round-context.ts';
import { proposalId } from '../../core/sample-ids.ts';
import type { Proposals, Sample } from '../../core/schema/sample.ts';
import { admit, passed, proposeThrough, refuseRepeated } from '../../protocols/proposals.ts';
import { arithmetic } from '../../tasks/arithmetic/family.ts';

/** Batches of proposals before a round goes on with the tasks it has. */
const MAX_ATTEMPTS = 6;

/**
 * Proposes `round.settings.tasks` tasks. Gates, in order: grammar, held-out, duplicate within the round. A proposal of a
 * held-out task is recorded, neither used nor trained on. Returns fewer tasks where the policy cannot write enough.
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
      // A surplus that comes after the last wanted task was drawn for nothing: it is not part of the round.
      if (tasks.length === want) break;
      samples.push(proposal.sample);
      tasks.push(...passed([proposal]));
    }
  }
  return { round: round.id, samples, tasks: admit(round, tasks) };
}
