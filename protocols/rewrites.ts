/**
 * Tasks that are written from others before anybody answers them: by a rule, in worlds that have one, otherwise by a role, whose text is kept among
 * the samples of the group.
 */
import type { Game, Speaker } from '../core/game/game.ts';
import type { Recipe } from '../core/recipe/recipe.ts';
import { role } from '../core/recipe/role.ts';
import type { RoundContext } from '../core/recipe/round-context.ts';
import type { AdmittedTask, RolloutGroup, Sample } from '../core/schema/sample.ts';
import { rolloutIds } from './roll-out.ts';
import { samplePrompts } from './sample-prompts.ts';

export interface Rewriting {
  readonly game: Pick<Game<never>, 'byRule' | 'also'>;
  readonly verb: 'vary' | 'rephrase';
  readonly role: string;
}

function wordingIn({ game, verb }: Rewriting) {
  const wording = game.also?.[verb];
  if (wording) return wording;
  throw new Error(`internal: nobody says ${verb} in this world, and no rule does it`);
}

/** The role that rewrites; none where a rule does. */
export const rewriterRole = (rewriting: Rewriting, set?: string): Recipe['roles'] =>
  rewriting.game.byRule?.[rewriting.verb]
    ? {}
    : {
        [rewriting.role]: role('writes another task from a task', wordingIn(rewriting).maxNew, {
          ...(set === undefined ? {} : { set }),
        }),
      };

/** What the role wrote about each task [tasks][0 or 1]. */
export async function rewrite(
  rewriting: Rewriting,
  context: RoundContext,
  tasks: readonly AdmittedTask[],
): Promise<Sample[][]> {
  if (rewriting.game.byRule?.[rewriting.verb]) return tasks.map(() => []);
  const { ask, read } = wordingIn(rewriting);
  return samplePrompts(
    context,
    rewriting.role,
    tasks.map(({ group, task }) => ({
      prompt: ask({ task }, context),
      sampleIds: rolloutIds(group, rewriting.role, 1),
      parse: (text) => read(text, { task }, context),
    })),
  );
}

/** The task that was written from the group's; null where there is none. `samples` are those of the group, or of the role alone. */
export function rewritten(
  rewriting: Rewriting,
  { group, task, samples }: Pick<RolloutGroup, 'group' | 'task' | 'samples'>,
  speaker: Speaker,
  decode: (ids: readonly number[]) => string,
): string | null {
  const rule = rewriting.game.byRule?.[rewriting.verb];
  if (rule) return rule(task, group);
  const sample = samples.find(({ role }) => role === rewriting.role);
  if (sample?.outcome !== 'ok') return null;
  const read = wordingIn(rewriting).read(decode(sample.ids), { task }, speaker);
  return read.ok ? read.value : null;
}
