/** The proposer writes tasks until enough have passed the gates. Every proposal is kept, a rejected one with its reason. */
import { type RoundContext, sampleOf } from '../../core/round-context.ts';
import { groupId, proposalId } from '../../core/sample-ids.ts';
import type { AdmittedTask, Proposals, Sample } from '../../core/schema/sample.ts';
import { arithmetic } from '../../tasks/arithmetic/family.ts';

/** Batches of proposals before a round goes on with the tasks it has. */
const MAX_ATTEMPTS = 6;

/**
 * Proposes `round.settings.tasks` tasks. Gates, in order: grammar, held-out, duplicate within the round. A proposal of a
 * held-out task is recorded, neither used nor trained on. Returns fewer tasks where the policy cannot write enough.
 */
export async function propose(context: RoundContext): Promise<Proposals> {
  const { round, tokenizer } = context;
  const want = round.settings.tasks;
  const prompt = tokenizer.encode(arithmetic.proposerPrompt());
  const samples: Sample[] = [];
  const tasks: AdmittedTask[] = [];
  const seen = new Set<string>();
  for (let attempt = 0; attempt < MAX_ATTEMPTS && tasks.length < want; attempt++) {
    const batch = want + Math.ceil(want / 4);
    const sampleIds = Array.from({ length: batch }, (_, i) => proposalId(round.id, 'proposer', i, attempt));
    const [completions] = await context.generate('proposer', [{ ids: prompt, sampleIds }]);
    for (const [i, completion] of completions!.entries()) {
      // A surplus that comes after the last wanted task was drawn for nothing: it is not part of the round.
      if (tasks.length === want) break;
      const parsed = arithmetic.parseProposal(tokenizer.decode(completion.ids));
      const outcome = !completion.stopped
        ? 'cut-off'
        : !parsed.ok
          ? parsed.reason
          : arithmetic.isHeldOut(parsed.value)
            ? 'held-out'
            : seen.has(parsed.value)
              ? 'duplicate'
              : 'ok';
      const sample = sampleOf(context, 'proposer', sampleIds[i]!, prompt, completion, outcome);
      samples.push(sample);
      if (outcome !== 'ok' || !parsed.ok) continue;
      seen.add(parsed.value);
      const index = tasks.length;
      tasks.push({
        group: groupId(round.id, index),
        index,
        task: parsed.value,
        proposal: sample.id,
      });
    }
  }
  return { round: round.id, samples, tasks };
}
