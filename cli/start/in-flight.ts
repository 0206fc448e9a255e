/** Says in one line what a run is doing: which of its rounds are under way, how far each is, and which versions it samples with. */
import type { RoundAnswer } from '../../core/schema/answers.ts';

type Listed = Pick<RoundAnswer, 'index' | 'state' | 'expected' | 'groups' | 'roles' | 'report'>;

/** The versions that a round samples with, such as "version 3" or "versions 0 and 3". */
function versionsOf({ roles }: Pick<Listed, 'roles'>): string {
  const versions = [...new Set(Object.values(roles).map(({ version }) => version))].sort((a, b) => a - b);
  return `version${versions.length > 1 ? 's' : ''} ${versions.join(' and ')}`;
}

function roundWords(round: Listed, waits: boolean): string {
  const { index, state, expected, groups } = round;
  const judged = groups.scored + groups.trained + groups.failed;
  switch (state) {
    case 'proposing':
      return `round ${index} is proposed by ${versionsOf(round)}`;
    case 'rollout':
      return `round ${index} is rolled out by ${versionsOf(round)}, ${judged} of ${expected} groups judged`;
    default:
      return waits ? `round ${index} waits to be trained` : `round ${index} is trained`;
  }
}

/** `rounds`: rounds of one run in any order. Empty where nothing is known to be under way. */
export function inFlightWords(rounds: readonly Listed[]): string {
  const ordered = [...rounds].sort((a, b) => a.index - b.index);
  const open = ordered.filter(({ state }) => state !== 'done' && state !== 'failed');
  const first = ordered[0];
  // After a run's first round the learner evaluates the version that the run began from.
  const evaluates = first?.index === 1 && first.state === 'done' && first.report?.start === undefined;
  const words = open.map((round, i) => roundWords(round, i > 0));
  return [...(evaluates ? ['the start version is evaluated'] : []), ...words].join('; ');
}
