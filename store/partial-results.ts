/**
 * What stages had made of groups when their CPU budget was used up. It may hold what a node returned, so it goes when the node is shut out:
 * a stage that goes on from it would take over what is to be sampled again.
 */
import type { R2Bucket } from '@cloudflare/workers-types';
import { keys } from '../core/schema/round.ts';

/** The most objects that one call of the object store deletes, or lists. */
const AT_ONCE = 1000;

async function remove(bucket: R2Bucket, objects: readonly string[]): Promise<void> {
  for (let at = 0; at < objects.length; at += AT_ONCE) await bucket.delete(objects.slice(at, at + AT_ONCE));
}

/** Removes the partial results of some groups of a round; null = of all, and those of the proposals. It is safe to repeat. */
export async function removePartial(
  bucket: R2Bucket,
  round: string,
  groups: readonly string[] | null,
): Promise<void> {
  if (groups) {
    const stages = ['rollout', 'judge'] as const;
    return remove(
      bucket,
      groups.flatMap((group) => stages.map((stage) => keys.partial(round, stage, group))),
    );
  }
  for (let cursor: string | undefined; ; ) {
    const listed = await bucket.list({
      prefix: `rounds/${round}/groups/`,
      limit: AT_ONCE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    await remove(
      bucket,
      listed.objects.flatMap(({ key }) => (key.endsWith('-partial.json') ? [key] : [])),
    );
    if (!listed.truncated) return;
    ({ cursor } = listed);
  }
}
