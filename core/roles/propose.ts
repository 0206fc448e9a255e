/** The proposer: writes tasks until enough have passed the gates. Every proposal is kept, rejected ones with their reason. */
import { groupId, proposalId } from '../sample-ids.ts';
import type { AdmittedTask, Proposals, Sample } from '../schema/sample.ts';
import { type Stage, sampleOf } from './stage.ts';
import type { ThreeRoles } from './three-role-game.ts';

/** Batches of proposals before a round goes on with the tasks it has. */
const MAX_ATTEMPTS = 6;

/**
 * Proposes `round.settings.tasks` tasks. Gates, in order: grammar, held-out, duplicate within the round. A proposal of a
 * held-out task is recorded, neither used nor trained on. Returns fewer tasks where the policy cannot write enough.
 */
export async function propose({ family }: ThreeRoles, stage: Stage): Promise<Proposals> {
  const { round, tokenizer } = stage;
  const want = round.settings.tasks;
  const prompt = tokenizer.encode(family.proposerPrompt());
  const samples: Sample[] = [];
  const tasks: AdmittedTask[] = [];
  const seen = new Set<string>();
  for (let attempt = 0; attempt < MAX_ATTEMPTS && tasks.length < want; attempt++) {
    const batch = want + Math.ceil(want / 4);
    const sampleIds = Array.from({ length: batch }, (_, i) => proposalId(round.id, 'proposer', i, attempt));
    const [completions] = await stage.generate('proposer', [{ ids: prompt, sampleIds }]);
    for (const [i, completion] of completions!.entries()) {
      // A surplus that comes after the last wanted task was drawn for nothing: it is not part of the round.
      if (tasks.length === want) break;
      const reading = family.readProposal(tokenizer.decode(completion.ids));
      const outcome = !completion.stopped
        ? 'cut-off'
        : !reading.ok
          ? reading.reason
          : family.isHeldOut(reading.value)
            ? 'held-out'
            : seen.has(reading.value)
              ? 'duplicate'
              : 'ok';
      const sample = sampleOf(stage, 'proposer', sampleIds[i]!, prompt, completion, outcome);
      samples.push(sample);
      if (outcome !== 'ok' || !reading.ok) continue;
      seen.add(reading.value);
      const index = tasks.length;
      tasks.push({
        group: groupId(round.id, index),
        index,
        task: reading.value,
        proposal: sample.id,
      });
    }
  }
  return { round: round.id, samples, tasks };
}
