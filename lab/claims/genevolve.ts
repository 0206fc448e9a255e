/** The claim of GenEvolve: a lesson from the best and the worst attempt, read by a teacher alone, teaches a drawer faster than rewards. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, formatArm, POINTS, rises, seesMore } from '../rule/conditions.ts';

const SKILL = 'accuracy';

export const claim: Claim = {
  description:
    'A drawer whose tokens are also drawn to those of a teacher, who reads what the best attempt did and had that the worst did not, draws more held-out requests exactly than one that is taught by the same rewards alone, at equal tokens; and it is the lesson of its own request that helps.',
  rounds: 20,
  tokens: 48_000,
  evaluateEvery: 20,
  pictures: { accuracy: 'Requests drawn exactly, greedy', heldOutLooked: 'Attempts that look at the mark' },
  arms: [
    { name: 'genevolve', description: 'as published: rewards and a teacher' },
    { name: 'rewards alone', variant: 'grpo', description: 'no teacher' },
    {
      name: 'another’s lesson',
      variant: 'shuffled-lesson',
      description: 'the teacher reads the lesson of the next request',
    },
    {
      name: 'teacher alone',
      variant: 'teacher-alone',
      seedCount: 4,
      description: 'rewards choose the best and the worst attempt, and train nothing',
    },
    {
      name: 'other pictures',
      variant: 'other-pictures',
      seedCount: 4,
      description: 'control: the tool shows another mark',
    },
    coinArm('a fair coin pays an attempt'),
    formatArm('any attempt that ends with a drawing is paid'),
  ],
  conditions: [
    endsAbove('genevolve', 'rewards alone', POINTS, SKILL),
    endsAbove('genevolve', 'another’s lesson', POINTS, SKILL),
    rises('genevolve', POINTS, SKILL),
    doesNotRise('random', POINTS, SKILL),
  ],
  observations: [
    seesMore('genevolve', POINTS),
    endsAbove('genevolve', 'rewards alone', POINTS),
    endsAbove('genevolve', 'rewards alone', POINTS, 'heldOutLooked'),
    endsAbove('genevolve', 'teacher alone', POINTS, SKILL),
    endsAbove('genevolve', 'other pictures', POINTS, SKILL),
    endsAbove('genevolve', 'format', POINTS, SKILL),
  ],
};
