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
  diagnosis:
    'The teacher that reads what the examiner found brings the student from 33.0 to 59.0 % greedy in 11 to 13 rounds, where rewards alone come to 38.5 % and a teacher who is told the answer alone to 37.0 %: 20.5 points above no teacher (11.0 to 30.0), 33.4 above the answer’s teacher on the four seeds that have one. The spread over seeds is wide (36.5 to 73.5 %), and one seed gains a point only. Sampled answers rise as well (25.0 to 38.2 %). That the questions become harder is not shown: the searches behind a question do not grow (0.06, −0.06 to 0.19). All seeds begin from one start.',
};
