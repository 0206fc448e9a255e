/** The claim of π-Play: what the examiner found, as notes of a teacher, teaches a student more than the rewards of self-play alone. */
import type { Claim } from '../rule/claim.ts';
import { coinArm, doesNotRise, endsAbove, rises } from '../rule/conditions.ts';
import { early, lately } from '../rule/curves.ts';

export const claim: Claim = {
  description:
    'A student that answers the questions of an examiner, and is corrected by a teacher who reads what the examiner had found, answers more held-out questions after the same tokens than one that has the rewards alone. A teacher who is told the answer alone does not do that.',
  rounds: 24,
  tokens: 24_000,
  evaluateEvery: 24,
  arms: [
    { name: 'pi-play', description: 'as published: the teacher reads what the examiner found' },
    { name: 'no teacher', variant: 'no-teacher', description: 'rewards alone' },
    {
      name: 'answer teacher',
      variant: 'answer-teacher',
      seedCount: 4,
      description: 'the teacher is told the answer, and not what was found',
    },
    coinArm('a fair coin pays the student, and the examiner by it', { variant: 'no-teacher' }),
  ],
  conditions: [
    endsAbove('pi-play', 'no teacher', 0.05, 'accuracy'),
    rises('pi-play', 0.1, 'accuracy'),
    doesNotRise('random', 0.05, 'accuracy'),
  ],
  observations: [
    endsAbove('pi-play', 'no teacher', 0.05),
    endsAbove('pi-play', 'answer teacher', 0.05, 'accuracy'),
    {
      description: 'pi-play: searches behind an admitted question, last five rounds less first three',
      measure: (r, s) => lately(r, 'pi-play', s, 'hops') - early(r, 'pi-play', s, 'hops'),
      atLeast: 0.3,
    },
  ],
};
